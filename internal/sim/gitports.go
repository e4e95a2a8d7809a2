package main

import (
	"context"
	"io/fs"
	"time"

	"github.com/nightporter/nightporter/internal/sched"
	"github.com/nightporter/nightporter/loop/engine"
	"github.com/nightporter/nightporter/loop/ledger"
	real "github.com/nightporter/nightporter/loop/workspace"
	"github.com/nightporter/nightporter/store"
)

// gitLedger is the night's store as one daemon reaches it.
type gitLedger struct {
	*store.Store
	d *gitDaemon
}

var _ engine.Ledger = gitLedger{}

// Commit is engine.Ledger's. The daemon may die right after it.
func (g gitLedger) Commit(ctx context.Context, b ledger.Batch) (ledger.Receipt, error) {
	g.d.life.check()
	r, err := g.Store.Commit(context.WithoutCancel(ctx), b)
	if err != nil {
		return r, err
	}
	if !r.Repeated {
		for _, rec := range r.Records {
			e, err := rec.Entry()
			if err != nil {
				g.d.n.fail("ledger", "entry %s does not decode: %v", rec.Type, err)
			}
			g.d.n.book.entry(e)
		}
	}
	if g.d.n.hit(40) {
		g.d.die()
	}
	return r, nil
}

// SaveSnapshot is engine.Ledger's.
func (g gitLedger) SaveSnapshot(ctx context.Context, row ledger.SnapshotRow) error {
	g.d.life.check()
	return g.Store.SaveSnapshot(context.WithoutCancel(ctx), row)
}

// die kills the daemon in the middle of what it does.
func (d *gitDaemon) die() {
	d.n.kill()
	d.life.check()
}

// gitWork is a real workspace whose daemon may die before and after each operation that
// writes, and in the middle of it, when git is killed as well.
type gitWork struct {
	engine.Files
	engine.Scoper
	w *real.Workspace
	d *gitDaemon
}

var (
	_ engine.Repository  = gitWork{}
	_ engine.WorkFolders = gitWork{}
	_ engine.Rooms       = gitWork{}
)

// carryOut carries out an operation, or dies.
func carryOut[T any](ctx context.Context, g gitWork, do func(context.Context) (T, error)) (T, error) {
	g.d.life.check()
	switch {
	case g.d.n.hit(40):
		g.d.die()
	case g.d.n.hit(20):
		cut, end := context.WithTimeout(ctx, time.Duration(g.d.n.kills.Int64N(int64(30*time.Millisecond))))
		defer end()
		_, _ = do(cut)
		g.d.die()
	}
	made, err := do(ctx)
	if g.d.n.hit(40) {
		g.d.die()
	}
	return made, err
}

func (g gitWork) Begin(ctx context.Context, b ledger.Begin) (ledger.Base, error) {
	return carryOut(ctx, g, func(ctx context.Context) (ledger.Base, error) { return g.w.Begin(ctx, b) })
}

func (g gitWork) Commit(ctx context.Context, c ledger.CommitTask, files map[string][]byte) (ledger.Committed, error) {
	return carryOut(ctx, g, func(ctx context.Context) (ledger.Committed, error) { return g.w.Commit(ctx, c, files) })
}

func (g gitWork) Merge(ctx context.Context, m ledger.MergeTree) (ledger.Merged, error) {
	made, err := carryOut(ctx, g, func(ctx context.Context) (ledger.Merged, error) { return g.w.Merge(ctx, m) })
	if len(made.Conflicts) > 0 && g.d.n.loses {
		return ledger.Merged{Tree: g.d.n.ours(m)}, err
	}
	return made, err
}

func (g gitWork) Remake(ctx context.Context, b ledger.RemakeBranch) (ledger.Remade, error) {
	return carryOut(ctx, g, func(ctx context.Context) (ledger.Remade, error) { return g.w.Remake(ctx, b) })
}

func (g gitWork) Lift(ctx context.Context, l ledger.LiftCommit) (ledger.Lifted, error) {
	return carryOut(ctx, g, func(ctx context.Context) (ledger.Lifted, error) { return g.w.Lift(ctx, l) })
}

func (g gitWork) Work(use ledger.WorkUse) ledger.Room { return g.w.Work(use) }

func (g gitWork) Restore(ctx context.Context, use ledger.WorkUse) error {
	_, err := carryOut(ctx, g, func(ctx context.Context) (struct{}, error) { return struct{}{}, g.w.Restore(ctx, use) })
	return err
}

func (g gitWork) Capture(ctx context.Context, r ledger.CaptureRequest) (ledger.Capture, error) {
	return carryOut(ctx, g, func(ctx context.Context) (ledger.Capture, error) { return g.w.Capture(ctx, r) })
}

// Undoes finds every path in scope: no simulated session asks.
func (g gitWork) Undoes(context.Context, ledger.WorkUse, string, ledger.Scope, string) (bool, error) {
	return false, nil
}

func (g gitWork) SetupRoom(ctx context.Context, use ledger.RoomUse, n int) (ledger.Room, error) {
	return carryOut(ctx, g, func(ctx context.Context) (ledger.Room, error) { return g.w.SetupRoom(ctx, use, n) })
}

func (g gitWork) LayRoom(ctx context.Context, use ledger.RoomUse, anew bool) (ledger.Room, error) {
	return carryOut(ctx, g, func(ctx context.Context) (ledger.Room, error) { return g.w.LayRoom(ctx, use, anew) })
}

func (g gitWork) KeepLayer(ctx context.Context, tree string) error {
	_, err := carryOut(ctx, g, func(ctx context.Context) (struct{}, error) { return struct{}{}, g.w.KeepLayer(ctx, tree) })
	return err
}

// ports are the project's adapters.
func (d *gitDaemon) ports(ctx context.Context, set ledger.Settings) (engine.Ports, error) {
	w, err := real.Open(ctx, real.Options{State: d.n.state(), Project: set.Project, Repo: set.Repo, Owned: []string{set.Source.Path}, SessionUID: -1, SessionGID: -1})
	if err != nil {
		return engine.Ports{}, err
	}
	g, r := gitWork{w, w, w, d}, gitRunner{d}
	return engine.Ports{
		Source: gitSource{d}, Repository: g, Files: w, Scoper: w, Zone: time.UTC,
		Place: engine.Place{Folders: g, Rooms: g, Runner: r, Agents: r, Sockets: r},
	}, nil
}

// gitSource is a plan that nobody changes.
type gitSource struct{ d *gitDaemon }

func (s gitSource) Read(context.Context) (ledger.Snapshot, error) { return s.d.n.plan, nil }
func (s gitSource) Mark(context.Context, []ledger.Marking) error  { return nil }
func (s gitSource) Log(context.Context, ledger.Progress) error    { return nil }
func (s gitSource) Owned() []string                               { return []string{s.d.n.plan.Path} }
func (s gitSource) Watch(ctx context.Context, changed func()) error {
	_ = s.d.life.Wait(ctx, sched.Forever, nil)
	return nil
}

// gitRunner is the night's sessions as one daemon reaches them. They outlive it.
type gitRunner struct{ d *gitDaemon }

var (
	_ engine.Runner         = gitRunner{}
	_ engine.Agents         = gitRunner{}
	_ engine.SessionSockets = gitRunner{}
)

// Known is engine.Runner's.
func (r gitRunner) Known(session string) bool { return r.d.n.machine[session] != nil }

// Start is engine.Runner's.
func (r gitRunner) Start(ctx context.Context, l ledger.Launch) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	n := r.d.n
	if r.Known(l.Session) {
		return nil
	}
	s := &editor{n: n, launch: l, began: n.wall(), over: make(chan struct{})}
	n.machine[l.Session] = s
	if n.refused[l.Session] {
		s.exit = ledger.Exit{Session: l.Session, Reason: ledger.ExitAsked, Code: -1, Turns: -1, Tokens: -1, Started: s.began, Ended: s.began, NotBegun: true}
		close(s.over)
		return nil
	}
	n.all.Go(s.live)
	if n.hit(30) {
		r.d.die()
	}
	return nil
}

// Wait is engine.Runner's.
func (r gitRunner) Wait(ctx context.Context, id string) (ledger.Exit, error) {
	s := r.d.n.machine[id]
	if err := r.d.life.Wait(ctx, sched.Forever, s.over); err != nil {
		return ledger.Exit{}, err
	}
	return s.exit, nil
}

// End is engine.Runner's. A session leaves by itself once its event has an answer.
func (r gitRunner) End(_ context.Context, id string, _ ledger.Duration) error {
	if !r.Known(id) {
		r.d.n.refused[id] = true
	}
	return nil
}

func (gitRunner) Touch(string)                               {}
func (gitRunner) Check(context.Context, string) error        { return nil }
func (gitRunner) CheckCommands(string) error                 { return nil }
func (gitRunner) Mounts() (bool, string)                     { return false, "" }
func (gitRunner) Level() (int, []string)                     { return 3, nil }
func (gitRunner) Open(string) error                          { return nil }
func (gitRunner) ClosedNetwork() (bool, string)              { return true, "" }
func (gitRunner) Token(session string) string                { return "token of " + session }
func (gitRunner) Close(string)                               {}
func (gitRunner) Screenshot(string) ([]byte, error)          { return nil, fs.ErrNotExist }
func (gitRunner) DropScreenshot(string) error                { return nil }
func (gitRunner) AnswerHost(string, ledger.HostAnswer) error { return nil }
func (gitRunner) HostRequests(context.Context, string, func(ledger.HostRequest)) error {
	return nil
}
