package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/internal/api"
	"github.com/nightporter/nightporter/internal/socket"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/engine"
	"github.com/nightporter/nightporter/loop/ledger"
)

// service is where people's lines arrive: it is bot's view of the engine, and
// the operator socket's handler.
type service struct{ porter *porter }

// Do decides an input.
func (d *service) Do(ctx context.Context, in loop.Input) (loop.Answer, error) {
	return d.porter.do(ctx, in)
}

// State returns a project's state. One that is configured, and of which the
// ledger knows nothing yet, is there too where it is worked on.
func (d *service) State(project string) (loop.State, bool) {
	s, ok := d.porter.engine.State(project)
	if !ok && d.porter.stays {
		if _, ok = d.porter.configured(project); ok {
			s.Project.Name = project
		}
	}
	return s, ok
}

// Projects returns the names of all projects, sorted: those of the ledger, and
// under `up` those of the configuration.
func (d *service) Projects() []string {
	names := d.porter.engine.Projects()
	if d.porter.stays {
		for _, pr := range d.porter.config().Projects {
			names = append(names, pr.Name)
		}
		slices.Sort(names)
		names = slices.Compact(names)
	}
	return slices.DeleteFunc(names, func(name string) bool { return name == "" }) // the house is none
}

// Records returns the ledger's records of a task, or of the last run.
func (d *service) Records(ctx context.Context, project, task string) ([]ledger.Record, error) {
	var out []ledger.Record
	keep := func(r ledger.Record) error { out = append(out, r); return nil }
	stream := ledger.ProjectStream(project)
	if task != "" {
		err := d.porter.store.RecordsOfTask(ctx, stream, task, keep)
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
func (d *service) Runs(ctx context.Context, project string) ([]string, error) {
	return d.porter.store.RunsOf(ctx, ledger.ProjectStream(project))
}

// RunRecords returns the ledger's records of a run, of some types or all.
func (d *service) RunRecords(ctx context.Context, project, run string, types ...string) ([]ledger.Record, error) {
	var out []ledger.Record
	keep := func(r ledger.Record) error { out = append(out, r); return nil }
	stream := ledger.ProjectStream(project)
	if len(types) == 0 {
		err := d.porter.store.RecordsOfRun(ctx, stream, run, keep)
		return out, err
	}
	err := d.porter.store.RecordsOfTypes(ctx, stream, run, types, keep)
	return out, err
}

// maxDiff is the most of a diff that is shown, in bytes.
const maxDiff = 1 << 20

// Diff returns the patch of a task or a run.
func (d *service) Diff(ctx context.Context, project, target string) (string, error) {
	s, ok := d.State(project)
	if !ok || s.Project.Run == nil {
		return "", nil
	}
	r := s.Project.Run
	w, err := d.porter.workspace(ctx, r.Settings, nil)
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
func (d *service) pastTips(ctx context.Context, project, run string) (from, to string, err error) {
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
func (d *service) trees(ctx context.Context, project string, t loop.TaskState) (from, to string, err error) {
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
func (d *service) Command(ctx context.Context, c api.Command) (api.Reply, error) {
	actor := c.Actor
	if actor == "" {
		actor = "console"
	}
	var office bot.Service = d
	if d.porter.stays {
		office = host{d}
	}
	m, err := bot.Handle(ctx, office, bot.Request{
		Key: c.Key, Actor: actor, Name: personName(), Project: d.project(c.Project), Text: c.Text, Time: time.Now(),
	})
	if err != nil {
		d.porter.log.Error("command", "text", c.Text, "error", err)
		if errors.Is(err, engine.ErrStopped) {
			return api.Reply{}, fmt.Errorf("%w: nightporter is stopping", api.ErrLater)
		}
	}
	return api.Reply{OK: err == nil && !m.Refused, Text: m.Text(80)}, nil
}

// project is the one that was named, or the only one there is.
func (d *service) project(name string) string {
	if names := d.Projects(); name == "" && len(names) == 1 {
		return names[0]
	}
	return name
}

// View answers with a read model.
func (d *service) View(ctx context.Context, v api.View) (api.Reply, error) {
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
var houseViews = map[string]func(*service, context.Context, api.View) (api.Reply, error){
	"pair": (*service).pair, "pairing": (*service).pairing, "people": (*service).people, "unpair": (*service).unpair, "export": (*service).export,
	"backup": (*service).backup, "prompt": (*service).prompt, api.ViewWatch: (*service).watch,
}

// status is where a project stands: also where nobody is there to go on.
func (d *service) status(s loop.State) string {
	m := bot.Status(s, time.Now())
	if !d.porter.worksOn(s.Project.Name) && !s.Project.Run.Over() {
		m = bot.Stopped(s, time.Now())
	}
	return strings.Join(append([]string{m.Text(80)}, d.porter.remarks.of(s.Project.Name)...), "\n")
}

// absent says that nobody is there to act on anything, "" where somebody is.
func (d *service) absent() string {
	if d.porter.serves() {
		return ""
	}
	return "\n\n" + bot.SignLater + " nightporter is not running; start it: nightporter up"
}

// statusOfAll is where every project stands.
func (d *service) statusOfAll() (api.Reply, error) {
	texts, all := []string{}, []statusJSON{}
	for _, name := range d.Projects() {
		s, _ := d.State(name)
		texts = append(texts, d.status(s))
		all = append(all, d.statusOf(s))
	}
	if len(all) == 0 {
		return reply(strings.Join(append([]string{"○ no project yet; begin with: nightporter run"}, d.porter.remarks.of("")...), "\n")+d.absent(), all)
	}
	return reply(strings.Join(texts, "\n\n")+d.absent(), all)
}

func reply(text string, data any) (api.Reply, error) {
	raw, err := json.Marshal(data)
	return api.Reply{OK: true, Text: text, Data: raw}, err
}

func (d *service) evidence(ctx context.Context, s loop.State, id string) (api.Reply, error) {
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

// sessionAPI is where a session's hat arrives.
type sessionAPI struct{ porter *porter }

// find returns the project and session in flight of that id.
func (d *sessionAPI) find(session string) (loop.State, loop.Session, bool) {
	for _, name := range d.porter.engine.Projects() {
		s, _ := d.porter.engine.State(name)
		if ses, ok := s.Project.Session(session); ok {
			return s, ses, true
		}
	}
	return loop.State{}, loop.Session{}, false
}

// Emit takes the session's event.
func (d *sessionAPI) Emit(ctx context.Context, session string, e api.Emit) (api.Reply, error) {
	d.porter.runner.Touch(session)
	s, _, ok := d.find(session)
	if !ok {
		return api.Reply{Text: "this session has ended; nothing was recorded"}, nil
	}
	// The caller may hang up; what was begun is decided all the same.
	answer, err := d.porter.do(context.WithoutCancel(ctx), loop.Input{
		Project: s.Project.Name, Actor: "agent", Body: loop.Emit{Session: session, Type: e.Type, Data: e.Data},
	})
	if errors.Is(err, engine.ErrStopped) {
		return api.Reply{}, fmt.Errorf("%w: nightporter restarts", api.ErrLater)
	}
	if err != nil {
		return api.Reply{}, fmt.Errorf("%w: %w", api.ErrLater, err)
	}
	return api.Reply{OK: answer.OK, Text: answer.Text, Receipt: answer.Receipt}, nil
}

// Task shows tasks; none can be added to a plan yet.
func (d *sessionAPI) Task(_ context.Context, session string, q api.TaskQuery) (api.Reply, error) {
	d.porter.runner.Touch(session)
	s, ses, ok := d.find(session)
	switch {
	case !ok:
		return api.Reply{Text: "this session has ended"}, nil
	case len(q.Add) > 0:
		return api.Reply{Text: "a plan takes no tasks from a session; say what is missing in your event's summary"}, nil
	case q.ID != "":
		t, ok := s.Project.Find(q.ID)
		if !ok {
			return api.Reply{Text: fmt.Sprintf("there is no task %q; see: hat task list", q.ID)}, nil
		}
		shown := apiTask(t, ses)
		return api.Reply{OK: true, Task: &shown}, nil
	}
	r := api.Reply{OK: true}
	for _, t := range s.Project.Tasks.All() {
		if t.Status != ledger.Withdrawn {
			r.Tasks = append(r.Tasks, apiTask(*t, ses))
		}
	}
	return r, nil
}

func apiTask(t loop.TaskState, ses loop.Session) api.Task {
	return api.Task{
		ID: t.Task.ID, Title: t.Task.Title, Status: string(t.Status), Body: t.Task.Body, Scope: t.Task.Scope,
		DependsOn: t.Task.DependsOn, Acceptance: t.Task.Acceptance, Current: ledger.SameID(t.Task.ID, ses.Task),
	}
}

// Guidance shows what this session was given.
func (d *sessionAPI) Guidance(_ context.Context, session string) (api.Reply, error) {
	d.porter.runner.Touch(session)
	s, ses, ok := d.find(session)
	if !ok {
		return api.Reply{Text: "this session has ended"}, nil
	}
	r := api.Reply{OK: true}
	b := ses.Planned.Guidance
	for _, id := range slices.Concat(b.Bound, b.Shown) {
		if i, ok := s.Project.Guidance.Get(id); ok {
			r.Guidance = append(r.Guidance, api.Guidance{ID: id, Text: i.Text, Bound: slices.Contains(b.Bound, id)})
		}
	}
	return r, nil
}

// Note keeps a text in one of the project's notebooks, or lists what is kept.
func (d *sessionAPI) Note(ctx context.Context, session, kind string, n api.Note) (api.Reply, error) {
	d.porter.runner.Touch(session)
	s, _, ok := d.find(session)
	if !ok {
		return api.Reply{Text: "this session has ended"}, nil
	}
	if n.Text == "" && kind == socket.KindMemory {
		return d.memories(ctx, s)
	}
	book := ledger.MemoryNote
	if kind == socket.KindMemory {
		if book = ledger.MemoryKind(n.Kind); book == "" {
			book = ledger.MemoryFact
		}
	}
	answer, err := d.porter.do(ctx, loop.Input{
		Time: time.Now(), Actor: "agent", Project: s.Project.Name,
		Body: loop.Remember{Session: session, Kind: book, Text: n.Text},
	})
	if err != nil {
		return api.Reply{}, fmt.Errorf("%w: %w", api.ErrLater, err)
	}
	return api.Reply{OK: answer.OK, Text: answer.Text}, nil
}

// Session says whether its event was accepted, or how to send it.
func (d *sessionAPI) Session(_ context.Context, session string) (api.Reply, error) {
	d.porter.runner.Touch(session)
	s, ses, ok := d.find(session)
	switch {
	case !ok || ses.Cut:
		return api.Reply{Text: "this session has ended"}, nil
	case ses.Event != nil:
		return api.Reply{OK: true, Receipt: ses.Event.Receipt}, nil
	}
	var hat ledger.Hat
	if s.Project.Run != nil {
		hat = s.Project.Run.Settings.Hats[ses.Planned.Hat]
	}
	emits := slices.Concat(hat.Emits, []string{ledger.EventQuestion, ledger.EventBlocked})
	return api.Reply{OK: true, Text: "This session has not sent its event yet, and counts as failed without one. Send exactly one of them, as \"How to end\" in your prompt shows it: hat emit " +
		strings.Join(emits, " | ") + ". See that it is accepted, then stop."}, nil
}

// memories lists what the project's notebooks hold.
func (d *sessionAPI) memories(ctx context.Context, s loop.State) (api.Reply, error) {
	ports, err := d.porter.ports(ctx, s.Project.Run.Settings)
	if err != nil {
		return api.Reply{}, err
	}
	var parts []string
	for _, name := range []string{"memories.md", "decisions.md", "scratchpad.md"} {
		text, err := ports.Notebook.Read(ctx, ".ralph/agent/"+name)
		if err != nil {
			return api.Reply{Text: err.Error()}, nil //nolint:nilerr // the session is told, and can do nothing about it
		}
		if t := strings.TrimSpace(string(text)); t != "" {
			parts = append(parts, t)
		}
	}
	if len(parts) == 0 {
		return api.Reply{OK: true, Text: "Nothing is kept yet."}, nil
	}
	return api.Reply{OK: true, Text: strings.Join(parts, "\n\n")}, nil
}
