package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/nightporter/nightporter/internal/scenario"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/engine"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/store"
	"github.com/nightporter/nightporter/store/storetest"
)

// Both ledgers implement the engine's port.
var (
	_ engine.Ledger = (*store.Store)(nil)
	_ engine.Ledger = (*store.Memory)(nil)
)

// fixture is an engine on the real store, which can be restarted. Sessions
// continue meanwhile.
type fixture struct {
	t      *testing.T
	ports  *scenario.Ports
	ledger *store.Store
	engine *engine.Engine
	stop   func()

	wrap    func(engine.Ports) engine.Ports // replaces ports; nil = none
	options func(*engine.Options)           // changes options; nil = none
	compose func(before loop.State, d loop.Decision, in loop.Input) []ledger.Outgoing

	mu      sync.Mutex
	entries int        // observed so far
	woken   [][]string // chats passed to Options.Sent
}

func newFixture(t *testing.T, session func(f *fixture, l ledger.Launch) ledger.Exit) *fixture {
	t.Helper()
	f := &fixture{t: t, ledger: storetest.Open(t, t.TempDir())}
	f.ports = scenario.NewPorts(ledger.Snapshot{Name: "p", Path: "p.md", Tasks: []ledger.Task{scenario.Task(1, "One"), scenario.Task(2, "Two", "Task 1")}},
		func(l ledger.Launch) ledger.Exit { return session(f, l) })
	f.open(true)
	return f
}

// open starts an engine on the ledger, as a new process would: one that carries
// out effects, or one that only answers.
func (f *fixture) open(work bool) {
	f.t.Helper()
	streams, err := f.ledger.Streams(f.t.Context())
	if err != nil {
		f.t.Fatal(err)
	}
	o := engine.Options{
		Ledger: f.ledger, Compose: f.compose,
		Ports: func(ctx context.Context, set ledger.Settings) (engine.Ports, error) {
			p, err := f.ports.Project(ctx, set)
			if f.wrap != nil {
				p = f.wrap(p)
			}
			return p, err
		},
		Sent: func(chats []string) {
			f.mu.Lock()
			defer f.mu.Unlock()
			f.woken = append(f.woken, chats)
		},
		Observe: func(loop.State, loop.State, ledger.Entry) {
			f.mu.Lock()
			defer f.mu.Unlock()
			f.entries++
		},
	}
	if f.options != nil {
		f.options(&o)
	}
	e, stop := scenario.RunEngine(f.t, o, streams, work)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.engine, f.stop = e, stop
}

// restart stops the engine as a crash would, as far as the ledger shows, and
// opens another one.
func (f *fixture) restart() {
	f.stop()
	f.open(true)
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

func (f *fixture) do(body loop.InputBody, key string) ledger.Answer {
	f.t.Helper()
	a, err := f.current().Do(f.t.Context(), loop.Input{Key: key, Project: "p", Actor: "console", Name: "Mira", Body: body})
	if err != nil {
		f.t.Fatal(err)
	}
	return a
}

func (f *fixture) state() loop.State {
	s, _ := f.current().State("p")
	return s
}

// emit ends a session with an event, as hat would.
func (f *fixture) emit(session, typ string, data any) ledger.Answer {
	raw, err := json.Marshal(data)
	if err != nil {
		f.t.Error(err)
	}
	for {
		a, err := f.current().Do(f.t.Context(), loop.Input{Project: "p", Actor: "agent", Body: loop.Emit{Session: session, Type: typ, Data: raw}})
		if errors.Is(err, engine.ErrStopped) {
			time.Sleep(time.Millisecond) // hat asks again while nobody answers
			continue
		}
		if err != nil && f.t.Context().Err() == nil {
			f.t.Error(err)
		}
		return a
	}
}

func (f *fixture) current() *engine.Engine {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.engine
}

// succeeded is a session that succeeds.
func succeeded(f *fixture, l ledger.Launch) ledger.Exit {
	switch l.Hat {
	case "builder":
		f.ports.Write(ledger.FileChange{Path: "f", Added: 1})
		f.emit(l.Session, "build.complete", map[string]any{"summary": "built", "files_modified": []string{"f"}})
	case "reviewer":
		f.emit(l.Session, "review.verdict", map[string]any{"summary": "fine", "issues": []any{}})
	}
	return scenario.Exited(l.Session, 0)
}
