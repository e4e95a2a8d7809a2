package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/engine"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/store"
)

// Both ledgers implement the engine's interface.
var (
	_ engine.Ledger = (*store.Store)(nil)
	_ engine.Ledger = (*store.Memory)(nil)
)

// world implements the engine's ports with the real store, but without
// processes and git, which a synctest bubble cannot contain.
type world struct {
	t      *testing.T
	ledger *store.Store
	engine *engine.Engine
	stop   func()

	mu         sync.Mutex
	act        func(w *world, l ledger.Launch) ledger.Exit // returns a session's exit
	narrow     atomic.Bool                                 // scopes in "elsewhere/" permit nothing from now on
	started    map[string]int                              // number of starts of each session
	running    map[string]chan ledger.Exit
	ended      map[string]ledger.Exit
	tree       int
	commits    []ledger.CommitTask
	marks      []ledger.Marking
	plan       ledger.Snapshot
	captureErr func(ledger.CaptureRequest) error // error of the next capture; nil: none
	entries    []ledger.Entry
	compose    func(before loop.State, d loop.Decision, in loop.Input) []ledger.Outgoing
	looked     []string   // agents that preflight checked
	woken      [][]string // chats passed to Options.Sent
}

func newWorld(t *testing.T, act func(w *world, l ledger.Launch) ledger.Exit) *world {
	t.Helper()
	w := &world{
		t: t, act: act, started: map[string]int{}, running: map[string]chan ledger.Exit{}, ended: map[string]ledger.Exit{},
		plan: ledger.Snapshot{Name: "p", Path: "p.md", Tasks: []ledger.Task{
			{ID: "Task 1", Title: "One", Mark: ledger.MarkOpen}, {ID: "Task 2", Title: "Two", Mark: ledger.MarkOpen, DependsOn: []string{"Task 1"}},
		}},
	}
	var err error
	if w.ledger, err = store.Open(t.TempDir()); err != nil {
		t.Fatal(err)
	}
	w.open()
	t.Cleanup(func() {
		w.stop()
		if err := w.ledger.Close(); err != nil {
			t.Error(err)
		}
	})
	return w
}

// open starts an engine on the ledger, as a new process would.
func (w *world) open() { w.openTo(true) }

// openTo starts an engine that carries out effects, or one that only answers
// commands.
func (w *world) openTo(work bool) {
	w.t.Helper()
	streams, err := w.ledger.Streams(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	e, err := engine.Open(w.t.Context(), engine.Options{
		Ledger: w.ledger, Runner: w, Agents: w, Sockets: w,
		Ports: func(context.Context, ledger.Settings) (engine.Ports, error) {
			return engine.Ports{Source: source{w}, Workspace: workspace{w}, Files: workspace{w}, Scoper: workspace{w}, Zone: time.UTC}, nil
		},
		Compose: w.compose,
		Sent: func(chats []string) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.woken = append(w.woken, chats)
		},
		Observe: func(_, _ loop.State, e ledger.Entry) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.entries = append(w.entries, e)
		},
	}, streams)
	if err != nil {
		w.t.Fatal(err)
	}
	w.mu.Lock()
	w.engine = e
	w.mu.Unlock()
	ctx, cancel := context.WithCancel(w.t.Context())
	done := make(chan error, 1)
	go func() {
		if work {
			done <- e.Run(ctx, func(string) bool { return true })
			return
		}
		done <- e.Run(ctx, nil)
	}()
	w.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			w.t.Error(err)
		}
	})
}

// restart stops the engine, which looks like a crash in the ledger, and opens
// another one. Sessions continue.
func (w *world) restart() {
	w.stop()
	w.open()
}

func settings() ledger.Settings {
	hat := func(name string, writes bool, emits ...string) ledger.Hat {
		h := ledger.Hat{Name: name, Prompt: name, Emits: emits, Expect: ledger.ExpectNone, MaxTokens: 40000}
		if writes {
			h.WriteAllowed, h.Expect = []string{"**"}, ledger.ExpectPass
		}
		return h
	}
	return ledger.Settings{
		Project: "p", Repo: "/repo", Source: ledger.SourceRef{Kind: "plan", Path: "p.md"}, Profile: "overnight", Agent: "a",
		OnBlocked: ledger.OnBlockedContinue, QuestionTimeout: ledger.DefaultQuestionTimeout, BaselineTimeout: ledger.DefaultBaselineTimeout,
		Grace: ledger.DefaultGrace, MaxIterations: 500, Verify: []ledger.Command{{Run: "make test"}},
		Hats: map[string]ledger.Hat{
			"builder": hat("builder", true, "build.complete"), "reviewer": hat("reviewer", false, "review.verdict"),
		},
		Pattern: ledger.Pattern{
			Name: "p", Start: "builder", Threshold: []ledger.Severity{ledger.Critical, ledger.Major}, MinRounds: 1,
			Routes: []ledger.Route{
				{From: "builder", On: "build.complete", To: "reviewer"},
				{From: "reviewer", On: "review.verdict", When: ledger.Above, To: "builder"},
				{From: "reviewer", On: "review.verdict", When: ledger.Below, To: ledger.Converged},
			},
		},
	}
}

func (w *world) do(body loop.InputBody, key string) ledger.Answer {
	w.t.Helper()
	a, err := w.current().Do(w.t.Context(), loop.Input{Key: key, Project: "p", Actor: "console", Name: "Mira", Body: body})
	if err != nil {
		w.t.Fatal(err)
	}
	return a
}

func (w *world) state() loop.State {
	s, _ := w.current().State("p")
	return s
}

// emit ends a session with an event, as the hat program does.
func (w *world) emit(session, typ string, data any) ledger.Answer {
	raw, err := json.Marshal(data)
	if err != nil {
		w.t.Error(err)
	}
	for {
		a, err := w.current().Do(w.t.Context(), loop.Input{Project: "p", Actor: "agent", Body: loop.Emit{Session: session, Type: typ, Data: raw}})
		if errors.Is(err, engine.ErrStopped) {
			time.Sleep(time.Millisecond) // like hat, try again until somebody answers
			continue
		}
		if err != nil && w.t.Context().Err() == nil {
			w.t.Error(err)
		}
		return a
	}
}

func (w *world) current() *engine.Engine {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.engine
}

// succeeded returns the exit of a session that succeeds.
func succeeded(w *world, l ledger.Launch) ledger.Exit {
	switch l.Hat {
	case "builder":
		w.mu.Lock()
		w.tree++
		w.mu.Unlock()
		w.emit(l.Session, "build.complete", map[string]any{"summary": "built", "files_modified": []string{"f"}})
	case "reviewer":
		w.emit(l.Session, "review.verdict", map[string]any{"summary": "fine", "issues": []any{}})
	}
	return exited(l.Session, 0)
}

func exited(session string, code int) ledger.Exit {
	return ledger.Exit{Session: session, Reason: ledger.ExitSelf, Code: code, Turns: -1, Tokens: -1, CostUSD: -1}
}

// --- Runner ---

func (w *world) Known(session string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.started[session] > 0
}

func (w *world) Start(_ context.Context, l ledger.Launch) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.started[l.Session] > 0 {
		return nil
	}
	w.started[l.Session]++
	done := make(chan ledger.Exit, 1)
	w.running[l.Session] = done
	go func() {
		x := w.act(w, l)
		w.mu.Lock()
		defer w.mu.Unlock()
		w.ended[l.Session] = x
		close(done)
	}()
	return nil
}

func (w *world) Wait(ctx context.Context, session string) (ledger.Exit, error) {
	w.mu.Lock()
	done := w.running[session]
	w.mu.Unlock()
	select {
	case <-done:
		w.mu.Lock()
		defer w.mu.Unlock()
		return w.ended[session], nil
	case <-ctx.Done():
		return ledger.Exit{}, ctx.Err()
	}
}

func (w *world) End(context.Context, string, ledger.Duration) error { return nil }
func (w *world) Touch(string)                                       {}
func (w *world) Check(_ context.Context, agent string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.looked = append(w.looked, agent)
	return nil
}
func (w *world) Level() (int, []string)      { return 3, nil }
func (w *world) Open(string) error           { return nil }
func (w *world) Token(session string) string { return "token of " + session }
func (w *world) Close(string)                {}

// --- Source ---

type source struct{ w *world }

func (s source) Read(context.Context) (ledger.Snapshot, error) {
	s.w.mu.Lock()
	defer s.w.mu.Unlock()
	return s.w.plan, nil
}

func (s source) Mark(_ context.Context, marks []ledger.Marking) error {
	s.w.mu.Lock()
	defer s.w.mu.Unlock()
	s.w.marks = append(s.w.marks, marks...)
	return nil
}

func (s source) Log(context.Context, ledger.Progress) error { return nil }
func (s source) Owned() []string                            { return []string{"p.md"} }
func (s source) Watch(ctx context.Context, _ func()) error {
	<-ctx.Done()
	return nil
}

// --- Workspace and Files ---

type workspace struct{ w *world }

func (s workspace) Begin(_ context.Context, b ledger.Begin) (ledger.Base, error) {
	return ledger.Base{Commit: "c0", Tree: "tree0", Branch: "nightporter/p/" + b.Run, Author: "Mira <mira@example.com>"}, nil
}
func (s workspace) Restore(context.Context, string, string) error { return nil }

func (s workspace) Capture(_ context.Context, t ledger.CaptureRequest) (ledger.Capture, error) {
	s.w.mu.Lock()
	defer s.w.mu.Unlock()
	if s.w.captureErr != nil {
		if err := s.w.captureErr(t); err != nil {
			return ledger.Capture{}, err
		}
	}
	return ledger.Capture{Tree: fmt.Sprintf("tree%d", s.w.tree), Files: []ledger.FileChange{{Path: "f", Added: 1}}}, nil
}

func (s workspace) Commit(_ context.Context, c ledger.CommitTask, _ map[string][]byte) (ledger.Committed, error) {
	s.w.mu.Lock()
	defer s.w.mu.Unlock()
	s.w.commits = append(s.w.commits, c)
	return ledger.Committed{Commit: "commit of " + c.Tree}, nil
}

func (s workspace) Merge(context.Context, ledger.MergeTree) (ledger.Merged, error) {
	return ledger.Merged{}, fmt.Errorf("nothing to merge in this test")
}
func (s workspace) ResolveScope(_ context.Context, _ string, scope ledger.Scope) ([]string, []ledger.Diagnostic, error) {
	if s.w.narrow.Load() && scope.Task == "elsewhere/" {
		return nil, nil, &ledger.InputError{Diagnostics: []ledger.Diagnostic{{Text: `scope "elsewhere/" leaves nothing to write`}}}
	}
	return []string{"**"}, nil, nil
}
func (s workspace) Work(run string) string { return "/state/runs/" + run + "/work" }
func (s workspace) Clean(_ context.Context, run, _ string) (string, error) {
	return "/state/runs/" + run + "/clean", nil
}
func (s workspace) Read(context.Context, string, string) ([]byte, error) { return nil, nil }
func (s workspace) Diff(context.Context, string, string, int) (string, error) {
	return "", nil
}
func (s workspace) Changed(context.Context, string, string) ([]ledger.FileChange, error) {
	return nil, nil
}
