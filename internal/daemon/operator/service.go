package operator

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/internal/api"
	"github.com/nightporter/nightporter/internal/daemon/digest"
	"github.com/nightporter/nightporter/internal/daemon/project"
	"github.com/nightporter/nightporter/internal/service"
	"github.com/nightporter/nightporter/internal/socket"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/agent"
	"github.com/nightporter/nightporter/loop/engine"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/store"
)

// Service is where people's lines arrive: it is bot's view of the engine, and
// the operator socket's handler.
type Service struct {
	o       Options
	watched timelines // of runs that somebody looks at
}

var (
	_ bot.Service            = (*Service)(nil)
	_ socket.OperatorHandler = (*Service)(nil)
)

// Options are what a Service works with.
type Options struct {
	Engine   Engine
	Chats    Chats // nil where Stays is false
	Store    *store.Store
	Projects *project.Planner
	Sessions Sessions
	Digests  *digest.Maker
	Threads  bot.Placer         // where projects are talked of; nil where Stays is false
	Ways     func() []PairWay   // in which a pairing code can be sent
	Changes  *service.Broadcast // rung after every committed entry
	Closing  <-chan struct{}    // closed when the daemon is about to end: nobody waits for news any more
	Person   string             // who types at the terminal
	Stays    bool               // every configured project is worked on, and shown
	Serves   bool               // this process stays to act on what it is told
	Log      *slog.Logger
}

// Engine decides inputs and knows the state of all projects.
type Engine interface {
	Do(ctx context.Context, in loop.Input) (loop.Answer, error)
	State(project string) (loop.State, bool)
	Projects() []string
	Shared() loop.Shared
}

// Chats commits what is answered in chats, with the cursor of what was asked.
type Chats interface {
	DoWith(ctx context.Context, in loop.Input, with func(loop.Answer) ([]ledger.Outgoing, *ledger.Cursor)) (loop.Answer, error)
	Say(ctx context.Context, key string, at time.Time, messages []ledger.Outgoing, cursor *ledger.Cursor) error
}

// Sessions shows what sessions print.
type Sessions interface {
	Glimpse(session string, most int) (agent.OutputTail, error)
}

// New returns the service.
func New(o Options) *Service { return &Service{o: o} }

// Do decides an input.
func (d *Service) Do(ctx context.Context, in loop.Input) (loop.Answer, error) {
	return d.o.Engine.Do(ctx, in)
}

// State returns a project's state. One that is configured, and of which the
// ledger knows nothing yet, is there too where it is worked on.
func (d *Service) State(project string) (loop.State, bool) {
	s, ok := d.o.Engine.State(project)
	if !ok && d.o.Stays {
		if _, ok = d.o.Projects.Find(project); ok {
			s.Project.Name = project
		}
	}
	return s, ok
}

// Projects returns the names of all projects, sorted: those of the ledger, and
// under `up` those of the configuration.
func (d *Service) Projects() []string {
	names := d.o.Engine.Projects()
	if d.o.Stays {
		for _, pr := range d.o.Projects.Config().Projects {
			names = append(names, pr.Name)
		}
		slices.Sort(names)
		names = slices.Compact(names)
	}
	return slices.DeleteFunc(names, func(name string) bool { return name == "" }) // the house is none
}

// Records returns the ledger's records of a task, or of the last run.
func (d *Service) Records(ctx context.Context, project, task string) ([]ledger.Record, error) {
	var out []ledger.Record
	keep := func(r ledger.Record) error { out = append(out, r); return nil }
	stream := ledger.ProjectStream(project)
	if task != "" {
		err := d.o.Store.RecordsOfTask(ctx, stream, task, keep)
		return out, err
	}
	s, ok := d.State(project)
	if !ok || s.Project.Run == nil {
		return nil, nil
	}
	return d.RunRecords(ctx, project, s.Project.Run.ID)
}

// Runs returns the ids of a project's runs, in the order in which they were
// planned.
func (d *Service) Runs(ctx context.Context, project string) ([]string, error) {
	return d.o.Store.RunsOf(ctx, ledger.ProjectStream(project))
}

// RunRecords returns the ledger's records of a run, of some types or all.
func (d *Service) RunRecords(ctx context.Context, project, run string, types ...string) ([]ledger.Record, error) {
	var out []ledger.Record
	keep := func(r ledger.Record) error { out = append(out, r); return nil }
	stream := ledger.ProjectStream(project)
	if len(types) == 0 {
		err := d.o.Store.RecordsOfRun(ctx, stream, run, keep)
		return out, err
	}
	err := d.o.Store.RecordsOfTypes(ctx, stream, run, types, keep)
	return out, err
}

// maxDiff is the most of a diff that is shown, in bytes.
const maxDiff = 1 << 20

// Diff returns the patch of a task or a run.
func (d *Service) Diff(ctx context.Context, project, target string) (string, error) {
	s, ok := d.State(project)
	if !ok || s.Project.Run == nil {
		return "", nil
	}
	r := s.Project.Run
	w, err := d.o.Projects.Workspace(ctx, r.Settings, nil)
	if err != nil {
		return "", err
	}
	from, to := r.Base.Commit, r.Tip
	if target != "" && !strings.EqualFold(target, r.ID) {
		if t, ok := s.Project.Find(target); ok {
			from, to, err = d.trees(ctx, project, t)
		} else {
			from, to, err = d.pastTips(ctx, project, target)
		}
		if err != nil {
			return "", err
		}
	}
	if from == "" || to == "" || from == to {
		return "", nil
	}
	return w.Diff(ctx, from, to, maxDiff)
}

// pastTips returns what an earlier run's diff is between: where it began and
// its last commit; nothing where there is no such run.
func (d *Service) pastTips(ctx context.Context, project, run string) (from, to string, err error) {
	records, err := d.RunRecords(ctx, project, strings.ToLower(run), ledger.PreflightDone{}.EntryType(), ledger.TipFound{}.EntryType(), ledger.TaskCommitted{}.EntryType())
	if err != nil {
		return "", "", err
	}
	for _, r := range records {
		e, err := r.Entry()
		if err != nil {
			return "", "", err
		}
		switch b := e.Body.(type) {
		case ledger.PreflightDone:
			from, to = b.Base.Commit, b.Base.Commit
		case ledger.TipFound:
			to = b.Commit
		case ledger.TaskCommitted:
			to = b.Commit
		}
	}
	return from, to, nil
}

// trees returns what a task's diff is between: its commit and that one's
// parent, or the start and the newest tree of its last attempt.
func (d *Service) trees(ctx context.Context, project string, t loop.TaskState) (from, to string, err error) {
	records, err := d.Records(ctx, project, t.Task.ID)
	if err != nil {
		return "", "", err
	}
	for _, r := range records {
		e, err := r.Entry()
		if err != nil {
			return "", "", err
		}
		switch b := e.Body.(type) {
		case ledger.Commitment:
			if !b.Resume {
				from, to = b.Base, ""
			}
		case ledger.TakenOver:
			to = b.Taken.Tree
		case ledger.TreeKept:
			if to == "" {
				to = b.Tree
			}
		case ledger.TaskCommitted:
			from, to = b.Parent, b.Commit
		}
	}
	return from, to, nil
}

// Command carries out a line, as the terminal's /commands do.
func (d *Service) Command(ctx context.Context, c api.Command) (api.Reply, error) {
	actor := c.Actor
	if actor == "" {
		actor = "console"
	}
	var desk bot.Service = d
	if d.o.Stays {
		desk = d.Host()
	}
	m, err := bot.Handle(ctx, desk, bot.Request{
		Key: c.Key, Actor: actor, Name: d.o.Person, Project: d.project(c.Project), Text: c.Text, Time: time.Now(),
	})
	if err != nil {
		d.o.Log.Error("command", "text", c.Text, "error", err)
		if errors.Is(err, engine.ErrStopped) {
			return api.Reply{}, fmt.Errorf("%w: nightporter is stopping", api.ErrLater)
		}
	}
	return api.Reply{OK: err == nil && !m.Refused, Text: m.Text(80)}, nil
}

// project is the one that was named, or the only one there is.
func (d *Service) project(name string) string {
	if names := d.Projects(); name == "" && len(names) == 1 {
		return names[0]
	}
	return name
}

// View answers with a read model.
func (d *Service) View(ctx context.Context, v api.View) (api.Reply, error) {
	project := d.project(v.Project)
	if v.Name == "status" && project == "" {
		return d.statusOfAll()
	}
	if of, ok := houseViews[v.Name]; ok {
		return of(d, ctx, v)
	}
	s, ok := d.State(project)
	if !ok && v.Name != "verify" {
		if names := d.Projects(); v.Project == "" && len(names) > 1 {
			return api.Reply{Text: "which project? --project " + strings.Join(names, " | ")}, nil
		}
		return api.Reply{Text: fmt.Sprintf("there is no project %q here (there are: %s)", v.Project, strings.Join(d.Projects(), " "))}, nil
	}
	switch v.Name {
	case "status":
		return reply(d.status(s)+d.absent(), []statusJSON{d.statusOf(s)})
	case "tasks":
		return reply(bot.TasksTable(s, 80), tasksOf(s))
	case "evidence":
		return d.evidence(ctx, s, v.Args["task"])
	case "verify":
		return d.verify(ctx)
	case "replay":
		return d.replay(ctx, s, v.Args["to"])
	case "digest":
		return d.digestView(ctx, s.Project.Name, v.Args)
	}
	return api.Reply{Text: "no view " + v.Name}, nil
}

// houseViews are views that are about no single project.
var houseViews = map[string]func(*Service, context.Context, api.View) (api.Reply, error){
	"pair": (*Service).pair, "pairing": (*Service).pairing, "people": (*Service).people, "unpair": (*Service).unpair, "export": (*Service).export,
	"backup": (*Service).backup, "prompt": (*Service).prompt, api.ViewWatch: (*Service).watch,
}

// status is where a project stands: also where nobody is there to go on.
func (d *Service) status(s loop.State) string {
	m := bot.Status(s, time.Now())
	if !d.o.Projects.Works(s.Project.Name) && !s.Project.Run.Over() {
		m = bot.Stopped(s, time.Now())
	}
	return strings.Join(append([]string{m.Text(80)}, d.o.Projects.WarningsOf(s.Project.Name)...), "\n")
}

// absent says that nobody is there to act on anything, "" where somebody is.
func (d *Service) absent() string {
	if d.o.Serves {
		return ""
	}
	return "\n\n" + bot.SignLater + " nightporter is not running; start it: nightporter up"
}

// statusOfAll is where every project stands.
func (d *Service) statusOfAll() (api.Reply, error) {
	texts, all := []string{}, []statusJSON{}
	for _, name := range d.Projects() {
		s, _ := d.State(name)
		texts = append(texts, d.status(s))
		all = append(all, d.statusOf(s))
	}
	if len(all) == 0 {
		return reply(strings.Join(append([]string{"○ no project yet; begin with: nightporter run"}, d.o.Projects.WarningsOf("")...), "\n")+d.absent(), all)
	}
	return reply(strings.Join(texts, "\n\n")+d.absent(), all)
}

func reply(text string, data any) (api.Reply, error) {
	raw, err := json.Marshal(data)
	return api.Reply{OK: true, Text: text, Data: raw}, err
}

func (d *Service) evidence(ctx context.Context, s loop.State, id string) (api.Reply, error) {
	t, ok := s.Project.Find(id)
	if !ok {
		return api.Reply{Text: fmt.Sprintf("%s has no task %q. Its tasks: nightporter tasks", s.Project.Name, id)}, nil
	}
	records, err := d.Records(ctx, s.Project.Name, t.Task.ID)
	if err != nil {
		return api.Reply{}, err
	}
	lines := []json.RawMessage{}
	for _, r := range records {
		line, err := bot.RecordJSON(r)
		if err != nil {
			return api.Reply{}, err
		}
		lines = append(lines, line)
	}
	return reply(bot.Evidence(records, time.Local).Text(80), lines)
}
