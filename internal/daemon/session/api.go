package session

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/nightporter/nightporter/internal/api"
	"github.com/nightporter/nightporter/internal/socket"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/engine"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/prompt"
	"github.com/nightporter/nightporter/loop/workspace/secret"
)

// API answers the requests that sessions send with the hat program. All exported fields
// are required.
type API struct {
	Engine Engine
	Books  Notebooks
	Log    *slog.Logger

	strays strays
}

var _ socket.SessionHandler = (*API)(nil)

// Engine decides inputs, returns the state of every project and passes on signs of
// life.
type Engine interface {
	Do(ctx context.Context, in loop.Input) (ledger.Answer, error)
	State(project string) (loop.State, bool)
	Projects() []string
	Touch(project, session string)
	// Undoes returns the path in the repository of a file whose change by a session would
	// be undone; else "".
	Undoes(ctx context.Context, project, session, path string) (string, error)
	// Written waits until all decided changes to people's own files are written.
	Written(ctx context.Context) error
}

// Notebooks opens a project's notebooks, in which sessions leave notes for
// later ones.
type Notebooks interface {
	Ports(ctx context.Context, s ledger.Settings) (engine.Ports, error)
}

// find returns the project's state and the unfinished session with that id. Its
// request is a sign of life.
func (a *API) find(session string) (loop.State, loop.Session, bool) {
	for _, name := range a.Engine.Projects() {
		s, _ := a.Engine.State(name)
		if ses, ok := s.Project.Session(session); ok {
			a.Engine.Touch(name, session)
			return s, ses, true
		}
	}
	return loop.State{}, loop.Session{}, false
}

// Emit decides the event of a session. What looks like a secret in its words is
// removed before anything records it (docs/spec 9.6). api.ErrLater means that the caller may
// retry.
func (a *API) Emit(ctx context.Context, session string, e api.Emit) (api.Reply, error) {
	s, _, ok := a.find(session)
	if !ok {
		return api.Reply{Text: "this session has ended; nothing was recorded"}, nil
	}
	// A caller that hangs up must not interrupt the decision.
	answer, err := a.Engine.Do(context.WithoutCancel(ctx), loop.Input{
		Project: s.Project.Name, Actor: "agent", Body: loop.Emit{Session: session, Type: e.Type, Data: secret.RedactJSON(e.Data)},
	})
	if errors.Is(err, engine.ErrStopped) {
		return api.Reply{}, fmt.Errorf("%w: nightporter restarts", api.ErrLater)
	}
	if err != nil {
		return api.Reply{}, fmt.Errorf("%w: %w", api.ErrLater, err)
	}
	return api.Reply{OK: answer.OK, Text: answer.Text, Receipt: answer.Receipt}, nil
}

// Task shows one task or all of them, or adds tasks.
func (a *API) Task(ctx context.Context, session string, q api.TaskQuery) (api.Reply, error) {
	s, ses, ok := a.find(session)
	switch {
	case !ok:
		return api.Reply{Text: "this session has ended"}, nil
	case len(q.Add) > 0:
		return a.addTasks(ctx, s, ses, q.Add)
	case q.ID != "":
		t, ok := s.Project.Find(q.ID)
		if !ok {
			return api.Reply{Text: fmt.Sprintf("there is no task %q; see: hat task list", q.ID)}, nil
		}
		shown := apiTask(s, t, ses)
		return api.Reply{OK: true, Task: &shown}, nil
	}
	r := api.Reply{OK: true}
	for _, t := range s.Project.Tasks.All() {
		if t.Status != ledger.Withdrawn {
			r.Tasks = append(r.Tasks, apiTask(s, *t, ses))
		}
	}
	return r, nil
}

// apiTask returns a task as its session sees it. Text by strangers is for sessions that
// have read such text, as in memories.
func apiTask(s loop.State, t loop.TaskState, ses loop.Session) api.Task {
	shown := api.Task{
		ID: t.Task.ID, Title: t.Task.Title, Status: string(t.Status), Body: t.Task.Body, Scope: t.Task.Scope,
		DependsOn: t.Task.DependsOn, Acceptance: t.Task.Acceptance, Current: ledger.SameID(t.Task.ID, ses.Task),
	}
	if ses.Planned.Outside == "" && !shown.Current && s.Project.HoldsOutsideText(t) {
		shown.Title, shown.Body, shown.Scope, shown.Acceptance = "(not shown: text by strangers)", "", "", nil
	}
	return shown
}

// Guidance returns the guidance that the session was given.
func (a *API) Guidance(_ context.Context, session string) (api.Reply, error) {
	s, ses, ok := a.find(session)
	if !ok {
		return api.Reply{Text: "this session has ended"}, nil
	}
	r := api.Reply{OK: true}
	b := ses.Planned.Guidance
	for _, id := range slices.Concat(b.Bound, b.Shown) {
		if i, ok := s.Project.Guidance.Get(id); ok {
			r.Guidance = append(r.Guidance, api.Guidance{ID: id, Text: i.Said(), Bound: slices.Contains(b.Bound, id)})
		}
	}
	return r, nil
}

// Note adds a text to one of the project's notebooks. Without a text it lists
// the memories.
func (a *API) Note(ctx context.Context, session, kind string, n api.Note) (api.Reply, error) {
	s, ses, ok := a.find(session)
	if !ok {
		return api.Reply{Text: "this session has ended"}, nil
	}
	if n.Text == "" && kind == socket.KindMemory {
		return a.memories(ctx, s, ses)
	}
	book := ledger.MemoryNote
	if kind == socket.KindMemory {
		if book = ledger.MemoryKind(n.Kind); book == "" {
			book = ledger.MemoryFact
		}
	}
	answer, err := a.Engine.Do(ctx, loop.Input{
		Time: time.Now(), Actor: "agent", Project: s.Project.Name,
		Body: loop.Remember{Session: session, Kind: book, Text: secret.Redact(n.Text)},
	})
	if err != nil {
		return api.Reply{}, fmt.Errorf("%w: %w", api.ErrLater, err)
	}
	return api.Reply{OK: answer.OK, Text: answer.Text}, nil
}

// Session reports whether the session's event was accepted, and otherwise
// explains how to send one.
func (a *API) Session(_ context.Context, session string) (api.Reply, error) {
	s, ses, ok := a.find(session)
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

// Throttled tells people that the session calls too often.
func (a *API) Throttled(ctx context.Context, session string, refused int) {
	s, _, ok := a.find(session)
	if !ok {
		return
	}
	_, err := a.Engine.Do(ctx, loop.Input{
		Project: s.Project.Name, Actor: "daemon", Body: loop.Throttled{Session: session, Refused: refused},
	})
	if err != nil && !errors.Is(err, engine.ErrStopped) {
		a.Log.Error("a session that calls too often cannot be recorded", "session", session, "error", err)
	}
}

// memories returns the contents of the project's notebooks. Those in which sessions
// wrote that had read text by strangers are for sessions that have read such text, too:
// the network of others may be open (docs/spec 12.1).
func (a *API) memories(ctx context.Context, s loop.State, ses loop.Session) (api.Reply, error) {
	ports, err := a.Books.Ports(ctx, s.Project.Run.Settings)
	if err != nil {
		return api.Reply{}, err
	}
	var parts []string
	for _, kind := range []ledger.MemoryKind{ledger.MemoryFact, ledger.MemoryDecision, ledger.MemoryNote} {
		tainted := s.Project.TaintedFile(kind.File())
		if tainted && ses.Planned.Outside == "" {
			parts = append(parts, "("+kind.File()+" is not shown: sessions that had read text by strangers wrote in it)")
			continue
		}
		text, err := ports.Notebook.Read(ctx, kind.File())
		if err != nil {
			return api.Reply{Text: err.Error()}, nil //nolint:nilerr // the reply carries the error
		}
		if t := strings.TrimSpace(string(text)); t != "" {
			if tainted {
				t = prompt.Tainted("Some of "+kind.File(), t)
			}
			parts = append(parts, t)
		}
	}
	if len(parts) == 0 {
		return api.Reply{OK: true, Text: "Nothing is kept yet."}, nil
	}
	return api.Reply{OK: true, Text: strings.Join(parts, "\n\n")}, nil
}
