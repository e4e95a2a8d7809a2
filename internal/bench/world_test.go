package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/nightporter/nightporter/config"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/engine"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/store"
)

// Events with which the shipped hats of plan-build-review end well.
var events = map[string]struct{ kind, data string }{
	"planner":  {"plan.complete", `{"summary":"Totals are rounded in one place","steps":["add round.go","use it in cart.go","test the halves"]}`},
	"builder":  {"build.complete", `{"summary":"Totals round half up","files_modified":["cart.go","round.go"]}`},
	"reviewer": {"review.verdict", `{"summary":"Does what the plan says; the halves are tested","issues":[]}`},
}

// planned is how many tasks the plan has.
const planned = 200

// world is the real core, engine, store and shipped hats on a disk. What
// stands for git and for processes answers at once, so that what is measured
// is nightporter alone.
type world struct {
	b       *testing.B
	ledger  *store.Store
	engine  *engine.Engine
	project string
	tasks   int           // of each project's plan
	repos   string        // folder of the projects' repositories
	ready   chan launched // sessions of agents that were started

	mu    sync.Mutex
	trees int
	ended map[string]chan ledger.Exit
}

// launched is a session that was started, and when the runner was told to.
type launched struct {
	ledger.Launch
	at time.Time
}

// newWorld starts a run of 200 tasks; verify are its verification commands,
// which are green at once.
func newWorld(b *testing.B, verify ...string) *world {
	b.Helper()
	return openWorld(b, []string{"shop"}, verify, nil)
}

// newWorldOf is newWorld with a plan of another length.
func newWorldOf(b *testing.B, tasks int, verify ...string) *world {
	b.Helper()
	return openWorld(b, []string{"shop"}, verify, func(w *world, _ *engine.Options) { w.tasks = tasks })
}

// openWorld starts a run of 200 tasks in each of the projects, and a session
// in each at a time. more, unless nil, changes the engine's options, for which
// the ledger is open already.
func openWorld(b *testing.B, projects, verify []string, more func(*world, *engine.Options)) *world {
	b.Helper()
	w := &world{b: b, project: projects[0], tasks: planned, repos: b.TempDir(), ready: make(chan launched, len(projects)), ended: map[string]chan ledger.Exit{}}
	var err error
	if w.ledger, err = store.Open(b.TempDir()); err != nil {
		b.Fatal(err)
	}
	o := engine.Options{
		Ledger: w.ledger, Runner: runner{w}, Agents: agents{}, Sockets: door{},
		Ports: func(context.Context, ledger.Settings) (engine.Ports, error) {
			return engine.Ports{Source: plan{w.tasks}, Workspace: tree{w}, Files: tree{w}, Scoper: tree{w}, Zone: time.UTC}, nil
		},
	}
	if more != nil {
		more(w, &o)
	}
	streams, err := w.ledger.Streams(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	streams = slices.DeleteFunc(streams, func(s string) bool { return s == ledger.SharedStream })
	if w.engine, err = engine.Open(b.Context(), o, streams); err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(b.Context())
	done := make(chan error, 1)
	go func() { done <- w.engine.Run(ctx, func(string) bool { return true }) }()
	b.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			b.Error(err)
		}
		if err := w.ledger.Close(); err != nil {
			b.Error(err)
		}
	})
	for _, name := range projects {
		a, err := w.engine.Do(b.Context(), loop.Input{
			Project: name, Actor: "console", Body: loop.StartRun{Settings: w.settings(name, verify), MaxSessions: len(projects)},
		})
		if err != nil || !a.OK {
			b.Fatalf("start of %s: %v %s", name, err, a.Text)
		}
	}
	return w
}

// settings are those of `nightporter run --profile overnight` in a repository.
func (w *world) settings(name string, verify []string) ledger.Settings {
	repo := filepath.Join(w.repos, name)
	if out, err := exec.CommandContext(w.b.Context(), "git", "init", "--quiet", repo).CombinedOutput(); err != nil {
		w.b.Fatalf("git init: %v\n%s", err, out)
	}
	if err := os.WriteFile(filepath.Join(repo, "plan.md"), []byte("- [ ] **Task 1: One**\n"), 0o600); err != nil {
		w.b.Fatal(err)
	}
	none := 0
	flags := config.Overrides{Repo: repo, Source: "plan:plan.md", Profile: "overnight", Agent: "demo", Verify: verify, MaxIterations: &none}
	cfg := config.Empty()
	p, err := cfg.Pick(flags, repo)
	if err != nil {
		w.b.Fatal(err)
	}
	s, err := p.Settings(cfg, flags, time.Now())
	if err != nil {
		w.b.Fatal(err)
	}
	return s
}

// next returns the next session of an agent once it was started.
func (w *world) next() launched {
	w.b.Helper()
	select {
	case l := <-w.ready:
		return l
	case <-time.After(20 * time.Second):
		s, _ := w.engine.State(w.project)
		w.b.Fatalf("no session was started: run %+v", s.Project.Run)
	}
	return launched{}
}

// emit ends a session with its hat's event, through the engine.
func (w *world) emit(l launched) {
	w.b.Helper()
	e := events[l.Hat]
	a, err := w.engine.Do(w.b.Context(), loop.Input{
		Project: w.project, Actor: "agent", Body: loop.Emit{Session: l.Session, Type: e.kind, Data: json.RawMessage(e.data)},
	})
	if err != nil || !a.OK {
		w.b.Fatalf("%s of %s: %v %s", e.kind, l.Session, err, a.Text)
	}
}

// exit ends a session's process and returns when that was.
func (w *world) exit(session string) time.Time {
	w.mu.Lock()
	ended := w.ended[session]
	w.mu.Unlock()
	now := time.Now()
	ended <- ledger.Exit{Session: session, Reason: ledger.ExitSelf, Turns: -1, Tokens: -1, CostUSD: -1, Started: now, Ended: now, Boundary: 3}
	return now
}

// runner starts nothing. Commands have ended well at once.
type runner struct{ w *world }

func (r runner) Known(session string) bool {
	r.w.mu.Lock()
	defer r.w.mu.Unlock()
	return r.w.ended[session] != nil
}

func (r runner) Start(_ context.Context, l ledger.Launch) error {
	at := time.Now()
	r.w.mu.Lock()
	r.w.ended[l.Session] = make(chan ledger.Exit, 1)
	r.w.mu.Unlock()
	if l.Kind != ledger.KindAgent {
		r.w.exit(l.Session)
		return nil
	}
	r.w.ready <- launched{l, at}
	return nil
}

func (r runner) Wait(ctx context.Context, session string) (ledger.Exit, error) {
	r.w.mu.Lock()
	ended := r.w.ended[session]
	r.w.mu.Unlock()
	select {
	case x := <-ended:
		return x, nil
	case <-ctx.Done():
		return ledger.Exit{}, ctx.Err()
	}
}

func (runner) End(context.Context, string, ledger.Duration) error { return nil }
func (runner) Touch(string)                                       {}

type agents struct{}

func (agents) Check(context.Context, string) error { return nil }
func (agents) Level() (int, []string)              { return 3, nil }

type door struct{}

func (door) Open(string) error           { return nil }
func (door) Token(session string) string { return "token of " + session }
func (door) Close(string)                {}

// plan is a list of tasks in a file that nobody changes.
type plan struct{ tasks int }

func (p plan) Read(context.Context) (ledger.Snapshot, error) {
	return ledger.Snapshot{Name: "checkout", Path: "plan.md", Tasks: planOf(p.tasks)}, nil
}

// planOf is a plan of so many tasks.
func planOf(tasks int) []ledger.Task {
	all := make([]ledger.Task, tasks)
	for n := range all {
		all[n] = ledger.Task{
			ID: fmt.Sprintf("Task %d", n+1), Title: "Round totals half up", Mark: ledger.MarkOpen, Scope: "`cart.go`, `round.go`", Line: n + 1,
			Body: "Sums of the cart are rounded once, at the end.", Acceptance: []string{"1.005 is 1.01", "no float is compared"},
		}
	}
	return all
}

func (plan) Mark(context.Context, []ledger.Marking) error { return nil }
func (plan) Log(context.Context, ledger.Progress) error   { return nil }
func (plan) Owned() []string                              { return []string{"plan.md"} }
func (plan) Watch(ctx context.Context, _ func()) error {
	<-ctx.Done()
	return nil
}

// tree is a repository in which everything is there already.
type tree struct{ w *world }

func (tree) Begin(_ context.Context, b ledger.Begin) (ledger.Base, error) {
	return ledger.Base{Commit: "c0", Tree: "t0", Head: "c0", HeadName: "main", Branch: "nightporter/shop/" + b.Run, Author: "Mira <mira@example.com>"}, nil
}
func (tree) Restore(context.Context, string, string) error { return nil }
func (t tree) Capture(context.Context, ledger.CaptureRequest) (ledger.Capture, error) {
	t.w.mu.Lock()
	defer t.w.mu.Unlock()
	t.w.trees++
	return ledger.Capture{
		Tree:  fmt.Sprintf("t%d", t.w.trees),
		Files: []ledger.FileChange{{Path: "cart.go", Added: 12, Removed: 3}, {Path: "round.go", Added: 20}},
	}, nil
}
func (tree) Commit(_ context.Context, c ledger.CommitTask, _ map[string][]byte) (ledger.Committed, error) {
	return ledger.Committed{Commit: "c" + c.Tree, Files: []ledger.FileChange{{Path: "cart.go", Added: 12, Removed: 3}}}, nil
}
func (tree) Merge(context.Context, ledger.MergeTree) (ledger.Merged, error) {
	return ledger.Merged{}, fmt.Errorf("nobody moved the branch")
}
func (tree) Work(run string) string { return "/state/runs/" + run + "/work" }
func (tree) Clean(_ context.Context, run, _ string) (string, error) {
	return "/state/runs/" + run + "/clean", nil
}
func (tree) Read(_ context.Context, _, path string) ([]byte, error) {
	if path == "AGENTS.md" {
		return []byte("Run `go test ./...`. No new dependencies.\n"), nil
	}
	return nil, nil
}
func (tree) Diff(context.Context, string, string, int) (string, error) {
	return "diff --git a/cart.go b/cart.go\n--- a/cart.go\n+++ b/cart.go\n@@ -1 +1 @@\n-return sum\n+return round(sum)\n", nil
}
func (tree) Changed(context.Context, string, string) ([]ledger.FileChange, error) {
	return []ledger.FileChange{{Path: "cart.go", Added: 12, Removed: 3}}, nil
}
func (tree) ResolveScope(context.Context, string, ledger.Scope) ([]string, []ledger.Diagnostic, error) {
	return []string{"cart.go", "round.go"}, nil, nil
}
