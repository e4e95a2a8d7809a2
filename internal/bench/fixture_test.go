package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/nightporter/nightporter/config"
	"github.com/nightporter/nightporter/internal/scenario"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/engine"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/store"
	"github.com/nightporter/nightporter/store/storetest"
)

// Events with which the shipped hats of plan-build-review end well.
var events = map[string]struct{ kind, data string }{
	"planner":  {"plan.complete", `{"summary":"Totals are rounded in one place","steps":["add round.go","use it in cart.go","test the halves"]}`},
	"builder":  {"build.complete", `{"summary":"Totals round half up","files_modified":["cart.go","round.go"]}`},
	"reviewer": {"review.verdict", `{"summary":"Does what the plan says; the halves are tested","issues":[]}`},
}

// defaultTasks is the length of a plan.
const defaultTasks = 200

// fixture is the real core, engine, store and shipped hats on a disk. The ports
// for git and processes answer at once, so that a benchmark measures nightporter
// alone.
type fixture struct {
	b       *testing.B
	ledger  *store.Store
	engine  *engine.Engine
	project string
	tasks   int           // of each project's plan
	repos   string        // folder of the projects' repositories
	ready   chan launched // sessions of agents that were started

	mu    sync.Mutex
	trees int
	exits map[string]chan ledger.Exit // of sessions of agents
}

// launched is a session that was started, and when the runner was told to.
type launched struct {
	ledger.Launch
	at time.Time
}

// newFixture starts a run of 200 tasks with verification commands that pass at
// once.
func newFixture(b *testing.B, verify ...string) *fixture {
	b.Helper()
	return openFixture(b, []string{"shop"}, verify, nil)
}

// newFixtureOf is newFixture with a plan of another length.
func newFixtureOf(b *testing.B, tasks int, verify ...string) *fixture {
	b.Helper()
	return openFixture(b, []string{"shop"}, verify, func(w *fixture, _ *engine.Options) { w.tasks = tasks })
}

// openFixture starts a run of 200 tasks in each of the projects, and a session
// in each at a time. more, unless nil, changes the engine's options, for which
// the ledger is open already.
func openFixture(b *testing.B, projects, verify []string, more func(*fixture, *engine.Options)) *fixture {
	b.Helper()
	w := &fixture{b: b, ledger: storetest.Open(b, b.TempDir()), project: projects[0], tasks: defaultTasks, repos: b.TempDir(), ready: make(chan launched, len(projects)), exits: map[string]chan ledger.Exit{}}
	ports := scenario.NewPorts(ledger.Snapshot{Name: "checkout", Path: "plan.md"}, w.session)
	o := engine.Options{
		Ledger: w.ledger,
		Ports: func(ctx context.Context, set ledger.Settings) (engine.Ports, error) {
			p, err := ports.Project(ctx, set)
			r := instantRepository{p.Repository, p.Files, p.Place.Folders, w}
			p.Repository, p.Files, p.Scoper, p.Place.Folders = r, r, r, r
			return p, err
		},
	}
	if more != nil {
		more(w, &o)
	}
	ports.Plan.Tasks = planOf(w.tasks)
	streams, err := w.ledger.Streams(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	w.engine, _ = scenario.RunEngine(b, o, streams, true)
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
func (w *fixture) settings(name string, verify []string) ledger.Settings {
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
func (w *fixture) next() launched {
	w.b.Helper()
	select {
	case l := <-w.ready:
		return l
	case <-time.After(3 * time.Minute):
		s, _ := w.engine.State(w.project)
		w.b.Fatalf("no session was started: run %+v", s.Project.Run)
	}
	return launched{}
}

// emit ends a session with its hat's event, through the engine.
func (w *fixture) emit(l launched) {
	w.b.Helper()
	e := events[l.Hat]
	if err := scenario.Emit(w.b.Context(), w.engine, w.project, loop.Emit{Session: l.Session, Type: e.kind, Data: json.RawMessage(e.data)}); err != nil {
		w.b.Fatal(err)
	}
}

// exit ends a session's process and returns its time.
func (w *fixture) exit(session string) time.Time {
	w.mu.Lock()
	exits := w.exits[session]
	w.mu.Unlock()
	x := exited(session)
	exits <- x
	return x.Ended
}

func exited(session string) ledger.Exit {
	x := scenario.Exited(session, 0)
	x.Started = time.Now()
	x.Ended = x.Started
	return x
}

// session reports a session of an agent as ready and waits for its exit. A command
// ends at once.
func (w *fixture) session(l ledger.Launch) ledger.Exit {
	if l.Kind != ledger.KindAgent {
		return exited(l.Session)
	}
	at, exits := time.Now(), make(chan ledger.Exit, 1)
	w.mu.Lock()
	w.exits[l.Session] = exits
	w.mu.Unlock()
	select {
	case w.ready <- launched{l, at}:
	case <-w.b.Context().Done():
	}
	select {
	case x := <-exits:
		return x
	case <-w.b.Context().Done():
		return exited(l.Session)
	}
}

// planOf returns a plan of so many tasks.
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

// instantRepository changes two files with each session.
type instantRepository struct {
	engine.Repository
	engine.Files
	engine.WorkFolders
	w *fixture
}

func (r instantRepository) Capture(context.Context, ledger.CaptureRequest) (ledger.Capture, error) {
	r.w.mu.Lock()
	defer r.w.mu.Unlock()
	r.w.trees++
	return ledger.Capture{
		Tree:  fmt.Sprintf("t%d", r.w.trees),
		Files: []ledger.FileChange{{Path: "cart.go", Added: 12, Removed: 3}, {Path: "round.go", Added: 20}},
	}, nil
}

func (instantRepository) Commit(_ context.Context, c ledger.CommitTask, _ map[string][]byte) (ledger.Committed, error) {
	return ledger.Committed{Commit: "c" + c.Tree, Files: []ledger.FileChange{{Path: "cart.go", Added: 12, Removed: 3}}}, nil
}

func (instantRepository) Read(_ context.Context, _, path string) ([]byte, error) {
	if path == "AGENTS.md" {
		return []byte("Run `go test ./...`. No new dependencies.\n"), nil
	}
	return nil, nil
}

func (instantRepository) Diff(context.Context, string, string, int) (string, error) {
	return "diff --git a/cart.go b/cart.go\n--- a/cart.go\n+++ b/cart.go\n@@ -1 +1 @@\n-return sum\n+return round(sum)\n", nil
}

func (instantRepository) Changed(context.Context, string, string) ([]ledger.FileChange, error) {
	return []ledger.FileChange{{Path: "cart.go", Added: 12, Removed: 3}}, nil
}

func (instantRepository) ResolveScope(context.Context, string, ledger.Scope) ([]string, []ledger.Diagnostic, error) {
	return []string{"cart.go", "round.go"}, nil, nil
}
