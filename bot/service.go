package bot

import (
	"context"
	"strings"
	"time"

	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// Service gives the conversation access to the engine. Both a foreground run
// and the daemon implement it.
type Service interface {
	// Do decides an input. It returns once the decision is committed.
	Do(ctx context.Context, in loop.Input) (ledger.Answer, error)
	// State returns a project's current state, false for an unknown project.
	State(project string) (loop.State, bool)
	// Projects returns the names of all projects.
	Projects() []string
	// Records returns the ledger's records of a task in order. task is an id as
	// written; "" stands for the project's last run.
	Records(ctx context.Context, project, task string) ([]ledger.Record, error)
	// Runs returns the ids of all runs of a project, ended ones too, in the
	// order in which they were planned.
	Runs(ctx context.Context, project string) ([]string, error)
	// RunRecords returns the ledger's records of a run in order. types limits
	// them to those entry types; without types all are returned.
	RunRecords(ctx context.Context, project, run string, types ...string) ([]ledger.Record, error)
	// CheckChain recomputes the hash chain of a project's stream. A check that
	// could not be made is a result, too: it says why.
	CheckChain(ctx context.Context, project string) ChainCheck
	// Changes returns what a task (its id as written) or a run ("r14") changed, the
	// newest version first. "" stands for the last run, "Task 5.1" for an attempt of
	// a task. None, or one without files, means that nothing changed.
	Changes(ctx context.Context, project, target string) ([]DiffVersion, error)
	// Diff returns the newest of these versions as a patch of git's format.
	Diff(ctx context.Context, project, target string) (string, error)
	// Hats returns a pattern and its hats. With pattern "" it returns the
	// pattern of the run under way, or else of the run that would start now. An
	// unknown pattern, and hats that a person has to repair, are a
	// *ledger.InputError.
	Hats(ctx context.Context, project, pattern string) (HatSet, error)
}

// HatSet is a pattern together with the hats and patterns of its project.
type HatSet struct {
	Pattern  ledger.Pattern
	Hats     map[string]ledger.Hat // all that the project can use
	Agent    string                // agent of the hats that name none
	Patterns []string              // all that the project can use
	Routes   string                // the pattern's routes, drawn in lines of at most FirstWidth columns
}

// DaemonService is the Service of `nightporter up`: it also knows the paired
// people and can start runs. A foreground run does not implement it.
type DaemonService interface {
	Service
	// Shared returns the state that all projects share.
	Shared() loop.Shared
	// QuietHours returns the quiet hours of chats without hours of their own.
	QuietHours() ledger.Hours
	// Configured returns the names of the projects that can start runs, in the
	// order of the configuration.
	Configured() []string
	// Offer resolves the settings of a requested run and reads its source. A
	// problem that a person has to repair is a *ledger.InputError.
	Offer(ctx context.Context, project string, f RunFlags) (loop.OfferRun, error)
}

// Placer is implemented by a DaemonService that knows the chats of its projects.
type Placer interface {
	// Place names the chat that receives a project's news, from the point of
	// view of the request's sender: `topic "shop"`, "this chat". It returns ""
	// where no project has a chat of its own.
	Place(project string, r Request) string
}

// Blocker is implemented by a DaemonService that knows which projects cannot be
// worked on now.
type Blocker interface {
	// Blocked returns why a project cannot be worked on, in one line, and whether
	// its unfinished run waits for that. It returns "" for one that can.
	Blocked(project string) (why string, rests bool)
	// LookAgain looks at all projects: a person may have mended the reason just
	// now.
	LookAgain(ctx context.Context)
}

// SourceChecker is implemented by a Service that reads the sources of projects while
// no run does.
type SourceChecker interface {
	// SourceTrouble returns why a project's source could not be read the last time,
	// in one line, "" if it could.
	SourceTrouble(project string) string
}

// ActionReporter is implemented by a Service that reads the output of running
// sessions.
type ActionReporter interface {
	// LastAction returns what a session did last in a few words, such as
	// "npm test" or "edits cart/total.go", "" if that is unknown. It is foreign
	// text without secrets.
	LastAction(session string) string
}

// Request is one line that somebody sent.
type Request struct {
	Key     string // natural key: a command with the same key is carried out once
	Actor   string // "console", "telegram:48213377"
	Name    string // for people: "Mira"
	Project string // project of the chat that the line was sent to; "" = unknown
	Chat    string // address of a chat that other people read too; "" = the sender's private chat
	Text    string
	Time    time.Time // in the person's time zone
	// Reply is the id of the question or guidance whose message Text replies to in
	// plain words, About the task of the replied-to message as written; "" = none.
	Reply, About string
	// Terminal reports that the reply is read in a terminal: wide, and without
	// pictures and files.
	Terminal bool
}

// RunFlags are the settings of one run that a person chose in the /run command
// instead of the configured settings. The zero value changes nothing.
type RunFlags struct {
	Profile string // review or overnight
	From    string // id of the task to start at, as typed
	Only    string // id of the only task to do, as typed
}

// String returns the flags in the form that ParseRun reads.
func (f RunFlags) String() string {
	var parts []string
	if f.Profile != "" {
		parts = append(parts, f.Profile)
	}
	if f.From != "" {
		parts = append(parts, "from "+f.From)
	}
	if f.Only != "" {
		parts = append(parts, "only "+f.Only)
	}
	return strings.Join(parts, " ")
}
