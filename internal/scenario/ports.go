package scenario

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/engine"
	"github.com/nightporter/nightporter/loop/ledger"
)

// Ports takes the place of agents, processes and git below an engine. A
// testing/synctest bubble cannot contain those. It is the Runner, Agents
// and SessionSockets of every project's place; Project returns the ports of a
// project. To change one of them, a test wraps it.
type Ports struct {
	// Session runs a session and returns its exit, in a goroutine of its own. It
	// must be set before the first Start.
	Session func(l ledger.Launch) ledger.Exit
	Plan    ledger.Snapshot // of all projects; must not change after the first read
	Zone    *time.Location  // of all projects; nil = UTC

	Picture func(session string) []byte // what a session left for a picture; nil = none does

	Wanted   map[string][]ledger.HostUse // hosts that agents ask for when they are tried; nil = nobody tries
	Missing  map[string]error            // why agents cannot be started
	NoClosed string                      // why sessions can have no closed network; "" = they can

	mu       sync.Mutex
	started  map[string]int // starts by session
	running  map[string]chan struct{}
	ended    map[string]ledger.Exit
	checked  []string // agents, as preflight checked them
	files    []ledger.FileChange
	revision int // counts the trees
	commits  []ledger.CommitTask
	marks    []ledger.Marking
	hosts    hosts
}

// NewPorts returns Ports with a plan for all projects.
func NewPorts(plan ledger.Snapshot, session func(l ledger.Launch) ledger.Exit) *Ports {
	return &Ports{Session: session, Plan: plan, started: map[string]int{}, running: map[string]chan struct{}{}, ended: map[string]ledger.Exit{}}
}

// Project returns the ports of a project.
func (p *Ports) Project(_ context.Context, set ledger.Settings) (engine.Ports, error) {
	zone := p.Zone
	if zone == nil {
		zone = time.UTC
	}
	w := workspace{p, set.Project}
	ports := engine.Ports{
		Source: source{p}, Repository: w, Files: w, Scoper: w, Zone: zone,
		Place: engine.Place{Folders: w, Rooms: w, Runner: p, Agents: p, Sockets: p},
	}
	if p.Wanted != nil {
		ports.WantedHosts = func(_ context.Context, agent string) ([]ledger.HostUse, error) { return p.Wanted[agent], nil }
	}
	return ports, nil
}

// Write leaves changed files for the next captures. With files, those have a new
// tree.
func (p *Ports) Write(files ...ledger.FileChange) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.files = files; len(files) > 0 {
		p.revision++
	}
}

// Tree returns the number of trees so far.
func (p *Ports) Tree() int { return locked(p, &p.revision) }

// Started returns how often a session was started.
func (p *Ports) Started() map[string]int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return maps.Clone(p.started)
}

// Checked returns the agents that preflight checked, in order.
func (p *Ports) Checked() []string { return locked(p, &p.checked) }

// Commits returns the commits in order.
func (p *Ports) Commits() []ledger.CommitTask { return locked(p, &p.commits) }

// Marks returns the marks written into the plan, in order.
func (p *Ports) Marks() []ledger.Marking { return locked(p, &p.marks) }

func locked[T any](p *Ports, v *T) T {
	p.mu.Lock()
	defer p.mu.Unlock()
	return *v
}

// Exited returns the exit of a session that ended by itself, with unknown costs.
func Exited(session string, code int) ledger.Exit {
	return ledger.Exit{Session: session, Reason: ledger.ExitSelf, Code: code, Turns: -1, Tokens: -1, CostUSD: -1, Boundary: 3}
}

// Known reports whether a session was started.
func (p *Ports) Known(session string) bool { return p.Started()[session] > 0 }

// Start runs a session in the background.
func (p *Ports) Start(_ context.Context, l ledger.Launch) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.started[l.Session] > 0 {
		return nil
	}
	p.started[l.Session]++
	done := make(chan struct{})
	p.running[l.Session] = done
	go func() {
		x := p.Session(l)
		p.mu.Lock()
		defer p.mu.Unlock()
		p.ended[l.Session] = x
		close(done)
	}()
	return nil
}

// Wait blocks until a session has ended.
func (p *Ports) Wait(ctx context.Context, session string) (ledger.Exit, error) {
	p.mu.Lock()
	done := p.running[session]
	p.mu.Unlock()
	select {
	case <-done:
		p.mu.Lock()
		defer p.mu.Unlock()
		return p.ended[session], nil
	case <-ctx.Done():
		return ledger.Exit{}, ctx.Err()
	}
}

// Check records an agent. Every agent can be started.
func (p *Ports) Check(_ context.Context, agent string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.checked = append(p.checked, agent)
	return p.Missing[agent]
}

func (p *Ports) End(context.Context, string, ledger.Duration) error { return nil }
func (p *Ports) Touch(string)                                       {}
func (p *Ports) Level() (int, []string)                             { return 3, nil }
func (p *Ports) CheckCommands(string) error                         { return nil }
func (p *Ports) Mounts() (bool, string)                             { return true, "" }
func (p *Ports) ClosedNetwork() (bool, string)                      { return p.NoClosed == "", p.NoClosed }
func (p *Ports) Open(string) error                                  { return nil }
func (p *Ports) Token(session string) string                        { return "token of " + session }
func (p *Ports) Close(string)                                       {}

// source is the plan, which only the engine changes.
type source struct{ *Ports }

func (s source) Read(context.Context) (ledger.Snapshot, error) { return s.Plan, nil }

func (s source) Mark(_ context.Context, marks []ledger.Marking) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.marks = append(s.marks, marks...)
	return nil
}

func (s source) Log(context.Context, ledger.Progress) error { return nil }
func (s source) Owned() []string                            { return []string{s.Plan.Path} }
func (s source) Watch(ctx context.Context, _ func()) error {
	<-ctx.Done()
	return nil
}

// workspace is a repository in which every command succeeds.
type workspace struct {
	*Ports
	project string
}

func (w workspace) Begin(_ context.Context, b ledger.Begin) (ledger.Base, error) {
	return ledger.Base{Commit: "c0", Tree: "tree0", Head: "c0", HeadName: "main", Branch: "nightporter/" + w.project + "/" + b.Run, Author: "Mira <mira@example.com>"}, nil
}

func (workspace) Restore(context.Context, ledger.WorkUse) error { return nil }

func (w workspace) Capture(context.Context, ledger.CaptureRequest) (ledger.Capture, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return ledger.Capture{Tree: fmt.Sprintf("tree%d", w.revision), Files: w.files}, nil
}

func (w workspace) Commit(_ context.Context, c ledger.CommitTask, _ map[string][]byte) (ledger.Committed, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.commits = append(w.commits, c)
	return ledger.Committed{Commit: "commit of " + c.Tree}, nil
}

func (w workspace) Merge(context.Context, ledger.MergeTree) (ledger.Merged, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.revision++
	return ledger.Merged{Tree: fmt.Sprintf("tree%d", w.revision)}, nil
}

// Lift finds no base: no run of a scenario asks for it.
func (w workspace) Lift(context.Context, ledger.LiftCommit) (ledger.Lifted, error) {
	return ledger.Lifted{Why: "a scenario has no base"}, nil
}

// Remake makes no commit: the branch has those that are left in.
func (w workspace) Remake(_ context.Context, b ledger.RemakeBranch) (ledger.Remade, error) {
	made := ledger.Remade{Tip: b.Base, Tree: "tree-" + b.Base}
	for _, s := range b.Steps {
		if !s.Drop {
			made.Tip, made.Tree = s.Commit, "tree-"+s.Commit
			made.Commits = append(made.Commits, ledger.RemadeCommit{Task: s.Task, Of: s.Commit, Commit: s.Commit})
		}
	}
	return made, nil
}

// Undoes finds every path in scope.
func (workspace) Undoes(context.Context, ledger.WorkUse, string, ledger.Scope, string) (bool, error) {
	return false, nil
}

func (workspace) ResolveScope(context.Context, string, ledger.Scope) ([]string, []ledger.Diagnostic, error) {
	return []string{"**"}, nil, nil
}

func (workspace) Work(use ledger.WorkUse) ledger.Room {
	return ledger.Room{Dir: "/state/runs/" + use.Run + "/work"}
}
func (w workspace) SetupRoom(context.Context, ledger.RoomUse, int) (ledger.Room, error) {
	return ledger.Room{Dir: "/state/rooms/" + w.project + "/room"}, nil
}
func (w workspace) LayRoom(context.Context, ledger.RoomUse, bool) (ledger.Room, error) {
	return ledger.Room{Dir: "/state/rooms/" + w.project + "/room"}, nil
}
func (workspace) KeepLayer(context.Context, string) error              { return nil }
func (workspace) Read(context.Context, string, string) ([]byte, error) { return nil, nil }
func (workspace) EachFile(context.Context, string, int, func(string) bool, func(string, []byte)) error {
	return nil
}
func (workspace) Changes(context.Context, string, string, int) ([]ledger.Change, error) {
	return nil, nil
}

// RunEngine opens an engine on o.Ledger for the projects that the ledger knows,
// and runs it until stop is called or the test ends. An engine that does not work
// answers and carries out no effects. Without Ports in o, no project has any.
func RunEngine(t testing.TB, o engine.Options, streams []string, work bool) (e *engine.Engine, stop func()) {
	t.Helper()
	if o.Ports == nil {
		o.Ports = func(context.Context, ledger.Settings) (engine.Ports, error) {
			return engine.Ports{}, errors.New("this test works on no project")
		}
	}
	streams = slices.DeleteFunc(slices.Clone(streams), func(s string) bool { return s == ledger.SharedStream })
	e, err := engine.Open(t.Context(), o, streams)
	if err != nil {
		t.Fatal(err)
	}
	var may func(string) bool
	if work {
		may = func(string) bool { return true }
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- e.Run(ctx, may) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(stop)
	return e, stop
}

// Emit sends a session's event to an engine, as hat does.
func Emit(ctx context.Context, e *engine.Engine, project string, b loop.Emit) error {
	a, err := e.Do(ctx, loop.Input{Project: project, Actor: "agent", Body: b})
	if err == nil && !a.OK {
		err = fmt.Errorf("%s of %s: %s", b.Type, b.Session, a.Text)
	}
	return err
}
