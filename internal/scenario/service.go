package scenario

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/bot/patch"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/engine"
	"github.com/nightporter/nightporter/loop/ledger"
)

// Service is the bot.Service of a Night: of a run in a terminal. It records what
// the conversation asks for.
type Service struct {
	*Night
	Names    []string // of the projects
	Patch    string
	Versions []bot.DiffVersion // of every diff; nil = the Patch
	Err      error             // result of every call, unless nil
	Inputs   []loop.Input
}

// NewService returns the Service of a Night with its one project.
func NewService(n *Night) *Service { return &Service{Night: n, Names: []string{n.project}} }

// Do decides an input.
func (s *Service) Do(_ context.Context, in loop.Input) (ledger.Answer, error) {
	if s.Err != nil {
		return ledger.Answer{}, s.Err
	}
	s.Inputs = append(s.Inputs, in)
	return s.Night.Do(in), nil
}

// State returns the night's state for each of the Names.
func (s *Service) State(project string) (loop.State, bool) {
	return s.Night.State, slices.Contains(s.Names, project)
}

// Projects returns the Names.
func (s *Service) Projects() []string { return s.Names }

// Changes returns the Patch as one commit, unless Versions is set.
func (s *Service) Changes(context.Context, string, string) ([]bot.DiffVersion, error) {
	if s.Versions != nil || s.Patch == "" {
		return s.Versions, s.Err
	}
	return []bot.DiffVersion{{Version: patch.Version{Files: Changes(s.Patch)}, Commit: "9c41e07", Time: s.Now}}, s.Err
}

// Diff returns the Patch.
func (s *Service) Diff(context.Context, string, string) (string, error) { return s.Patch, s.Err }

// Hats returns the shipped hats.
func (s *Service) Hats(context.Context, string, string) (bot.HatSet, error) {
	return hatSet(s.Settings()), s.Err
}

func hatSet(set ledger.Settings) bot.HatSet {
	return bot.HatSet{Pattern: set.Pattern, Hats: set.Hats, Agent: set.Agent}
}

// Records returns the night's records of a task, or all for "".
func (s *Service) Records(_ context.Context, _, task string) ([]ledger.Record, error) {
	return s.Night.Records(task), s.Err
}

// Runs returns the ids of the night's runs.
func (s *Service) Runs(context.Context, string) ([]string, error) { return s.Night.Runs(), s.Err }

// CheckChain finds the chain whole: a Night has no hashes to recompute.
func (s *Service) CheckChain(context.Context, string) bot.ChainCheck { return wholeChain }

// wholeChain is the check of every chain in a scenario.
var wholeChain = bot.ChainCheck{Recomputed: true, Whole: true, End: 9057, Named: 9041, Commit: "3f2c1d0a9b8c7d6e5f4a3b2c1d0e9f8a7b6c5d4e"}

// RunRecords returns the night's records of a run.
func (s *Service) RunRecords(_ context.Context, _, run string, types ...string) ([]ledger.Record, error) {
	return s.Night.RunRecords(run, types...), s.Err
}

// RecordStore is what a DaemonService reads of the store.
type RecordStore interface {
	RecordsOfTask(ctx context.Context, stream, task string, yield func(ledger.Record) error) error
	RecordsOfRun(ctx context.Context, stream, run string, yield func(ledger.Record) error) error
	RecordsOfTypes(ctx context.Context, stream, run string, types []string, yield func(ledger.Record) error) error
	RunsOf(ctx context.Context, stream string) ([]string, error)
}

// DaemonService is the inbound.Service of an engine and its store: of a daemon.
type DaemonService struct {
	*engine.Engine
	Store    RecordStore
	Names    []string // of the configured projects
	Quiet    ledger.Hours
	Settings func(project string) ledger.Settings // of a run that a person asks for; nil: nobody does
	Tasks    int                                  // of such a run
}

// DoWith is Engine.DoWith.
func (s *DaemonService) DoWith(ctx context.Context, in loop.Input, with func(ledger.Answer) ([]ledger.Outgoing, *ledger.Cursor)) (ledger.Answer, error) {
	return s.Engine.DoWith(ctx, in, with)
}

// Projects returns the engine's projects.
func (s *DaemonService) Projects() []string {
	return slices.DeleteFunc(s.Engine.Projects(), func(name string) bool { return name == "" })
}

// Configured returns the Names.
func (s *DaemonService) Configured() []string { return s.Names }

// QuietHours returns Quiet.
func (s *DaemonService) QuietHours() ledger.Hours { return s.Quiet }

// Hats returns the hats of the project's settings.
func (s *DaemonService) Hats(_ context.Context, project, _ string) (bot.HatSet, error) {
	if s.Settings == nil {
		return bot.HatSet{}, nil
	}
	return hatSet(s.Settings(project)), nil
}

// CheckChain finds the chain whole.
func (s *DaemonService) CheckChain(context.Context, string) bot.ChainCheck { return wholeChain }

// Records reads the records of a task, or of the last run for "".
func (s *DaemonService) Records(ctx context.Context, project, task string) (out []ledger.Record, err error) {
	keep := func(r ledger.Record) error { out = append(out, r); return nil }
	if task != "" {
		err = s.Store.RecordsOfTask(ctx, ledger.ProjectStream(project), task, keep)
	} else if state, _ := s.State(project); state.Project.Run != nil {
		err = s.Store.RecordsOfRun(ctx, ledger.ProjectStream(project), state.Project.Run.ID, keep)
	}
	return out, err
}

// Runs reads the ids of the project's runs.
func (s *DaemonService) Runs(ctx context.Context, project string) ([]string, error) {
	return s.Store.RunsOf(ctx, ledger.ProjectStream(project))
}

// RunRecords reads the records of a run.
func (s *DaemonService) RunRecords(ctx context.Context, project, run string, types ...string) (out []ledger.Record, err error) {
	keep := func(r ledger.Record) error { out = append(out, r); return nil }
	if len(types) == 0 {
		err = s.Store.RecordsOfRun(ctx, ledger.ProjectStream(project), run, keep)
	} else {
		err = s.Store.RecordsOfTypes(ctx, ledger.ProjectStream(project), run, types, keep)
	}
	return out, err
}

// Changes returns no version.
func (s *DaemonService) Changes(context.Context, string, string) ([]bot.DiffVersion, error) {
	return nil, nil
}

// Diff returns no patch.
func (s *DaemonService) Diff(context.Context, string, string) (string, error) { return "", nil }

// Offer offers a run with Settings.
func (s *DaemonService) Offer(_ context.Context, project string, f bot.RunFlags) (loop.OfferRun, error) {
	if s.Settings == nil || !slices.Contains(s.Names, project) {
		return loop.OfferRun{}, errors.New("this test starts no run of " + project)
	}
	set := s.Settings(project)
	set.From, set.Only = f.From, f.Only
	return loop.OfferRun{Settings: set, MaxSessions: 1, Tasks: s.Tasks, First: "Task 1"}, nil
}

// ReadSource reads an empty source that takes tasks.
func (s *DaemonService) ReadSource(_ context.Context, project string) (bot.SourceReading, error) {
	set := s.Settings(project)
	return bot.SourceReading{Repo: set.Repo, Source: set.Source}, nil
}

// ReadInbox reads an empty inbox.
func (s *DaemonService) ReadInbox(_ context.Context, project string) (bot.SourceReading, error) {
	return bot.SourceReading{Repo: s.Settings(project).Repo, Source: ledger.SourceRef{Kind: ledger.SourceBugs, Path: "bugs.json", Foreign: true}}, nil
}

// Person returns the entry that pairs a person at a time.
func Person(id, name string, role ledger.Role, at time.Time) ledger.Entry {
	return ledger.Entry{Stream: ledger.SharedStream, Time: at, Body: ledger.PersonPaired{Person: ledger.Person{ID: id, Name: name, Role: role, Since: at}}}
}
