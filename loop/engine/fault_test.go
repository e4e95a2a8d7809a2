package engine_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nightporter/nightporter/internal/scenario"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/engine"
	"github.com/nightporter/nightporter/loop/ledger"
)

// faults makes calls fail, by their name, as often as it says.
type faults struct {
	mu    sync.Mutex
	left  map[string]int
	err   error
	calls map[string]int
}

func (f *faults) at(name string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls[name]++
	if f.left[name] != 0 {
		f.left[name]--
		return fmt.Errorf("%s: %w", name, f.err)
	}
	return nil
}

func (f *faults) set(name string, times int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.left[name] = times
}

func (f *faults) count(name string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.calls[name]
}

type faultyFolders struct {
	engine.WorkFolders
	*faults
}

func (r faultyFolders) Restore(ctx context.Context, use ledger.WorkUse) error {
	return errors.Join(r.at("restore"), r.WorkFolders.Restore(ctx, use))
}

func (r faultyFolders) Capture(ctx context.Context, t ledger.CaptureRequest) (ledger.Capture, error) {
	if err := r.at("capture"); err != nil {
		return ledger.Capture{}, err
	}
	return r.WorkFolders.Capture(ctx, t)
}

type faultyRepository struct {
	engine.Repository
	*faults
}

func (r faultyRepository) Begin(ctx context.Context, b ledger.Begin) (ledger.Base, error) {
	if err := r.at("preflight"); err != nil {
		return ledger.Base{}, err
	}
	return r.Repository.Begin(ctx, b)
}

func (r faultyRepository) Commit(ctx context.Context, c ledger.CommitTask, files map[string][]byte) (ledger.Committed, error) {
	if err := r.at("commit"); err != nil {
		return ledger.Committed{}, err
	}
	return r.Repository.Commit(ctx, c, files)
}

type faultyRunner struct {
	engine.Runner
	*faults
}

func (r faultyRunner) Start(ctx context.Context, l ledger.Launch) error {
	if err := r.at("start"); err != nil {
		return err
	}
	return r.Runner.Start(ctx, l)
}

type faultySource struct {
	engine.Source
	*faults
}

func (r faultySource) Mark(ctx context.Context, m []ledger.Marking) error {
	if err := r.at("mark"); err != nil {
		return err
	}
	return r.Source.Mark(ctx, m)
}

func (r faultySource) Log(ctx context.Context, p ledger.Progress) error {
	if err := r.at("log"); err != nil {
		return err
	}
	return r.Source.Log(ctx, p)
}

// faultyFixture starts a run of two tasks in which calls fail with err.
func faultyFixture(t *testing.T, err error, left map[string]int) (*fixture, *faults) {
	t.Helper()
	x := &faults{left: left, err: err, calls: map[string]int{}}
	f := newFixture(t, succeeded)
	f.wrap = func(p engine.Ports) engine.Ports {
		p.Place.Folders, p.Place.Runner = faultyFolders{p.Place.Folders, x}, faultyRunner{p.Place.Runner, x}
		p.Repository, p.Source = faultyRepository{p.Repository, x}, faultySource{p.Source, x}
		return p
	}
	f.restart()
	f.do(loop.StartRun{Settings: settings(), MaxSessions: 1}, "")
	synctest.Wait()
	return f, x
}

func (f *fixture) checkUnharmed(t *testing.T) {
	t.Helper()
	if exit, over := f.outcome(); exit != 0 || !over {
		t.Errorf("outcome %d, %v; run %+v", exit, over, f.state().Project.Run)
	}
	for _, task := range f.state().Project.Tasks.All() {
		if task.Status != ledger.Done || task.Failed > 0 || task.Attempts != 1 {
			t.Errorf("%s is %s after %d attempts and %d failures", task.Task.ID, task.Status, task.Attempts, task.Failed)
		}
	}
	if left := f.state().Project.Failing; len(left) > 0 {
		t.Errorf("still failing: %+v", left)
	}
}

// TestFaultsOfTheMachine lets each call fail some times: nothing is held against
// anybody, and the run finishes by itself.
func TestFaultsOfTheMachine(t *testing.T) {
	for _, errno := range []syscall.Errno{syscall.EAGAIN, syscall.EMFILE, syscall.ENOMEM, syscall.EIO, syscall.EBUSY, syscall.ENOSPC, syscall.EROFS} {
		for _, call := range []string{"preflight", "restore", "start", "capture", "commit", "mark", "log"} {
			for _, times := range []int{1, 12} {
				synctest.Test(t, func(t *testing.T) {
					f, x := faultyFixture(t, errno, map[string]int{call: times})
					if times > 1 && call == "commit" {
						time.Sleep(6 * time.Minute)
						synctest.Wait()
						if r := f.state().Project.Run; r.State != ledger.RunWaiting || r.Wait != ledger.WaitDisk && r.Wait != ledger.WaitMachine {
							t.Errorf("%s at %s: after six minutes the run is %s %s", errno, call, r.State, r.Wait)
						}
					}
					time.Sleep(3 * time.Hour)
					synctest.Wait()
					f.checkUnharmed(t)
					if x.count(call) <= times {
						t.Errorf("%s was called %d times", call, x.count(call))
					}
				})
			}
		}
	}
}

// TestRepositoryAway keeps a commit from the user's repository for an hour: the run
// waits with the cause and the remedy, starts no other session, and finishes.
func TestRepositoryAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		away := &ledger.RepositoryError{Text: "/srv/shop is not there", Remedy: "mount it, or move it back"}
		f, x := faultyFixture(t, away, map[string]int{"commit": -1})
		time.Sleep(time.Minute)
		synctest.Wait()
		if got, known := f.state().Project.FailingEffect("commit", f.state().Project.Failing[0].Key); !known || got.Text != away.Text || got.Remedy != away.Remedy || got.Told {
			t.Errorf("after a minute it fails as %+v", got)
		}
		started := x.count("start")
		time.Sleep(time.Hour)
		synctest.Wait()
		if r := f.state().Project.Run; r.State != ledger.RunWaiting || r.Wait != ledger.WaitMachine || r.Text != away.Text {
			t.Errorf("after an hour the run is %s %s %q", r.State, r.Wait, r.Text)
		}
		if n := x.count("start") - started; n > 0 {
			t.Errorf("%d sessions began during the wait", n)
		}
		x.set("commit", 0)
		time.Sleep(time.Hour)
		synctest.Wait()
		f.checkUnharmed(t)
	})
}

// TestFaultForHours holds the run for as long as a fault lasts, records it a few
// times and not for each try, and tries at once when a person asks.
func TestFaultForHours(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, x := faultyFixture(t, syscall.EBUSY, map[string]int{"commit": -1})
		f.mu.Lock()
		before := f.entries
		f.mu.Unlock()
		time.Sleep(8 * time.Hour)
		synctest.Wait()
		f.mu.Lock()
		if n := f.entries - before; n > 5 {
			t.Errorf("eight hours of a fault are %d entries", n)
		}
		f.mu.Unlock()
		if n := x.count("commit"); n < 90 || n > 120 {
			t.Errorf("%d tries in eight hours", n)
		}
		held, ok := f.state().Project.Held()
		if !ok || held.Kind != "commit" || f.state().Project.Run.Over() {
			t.Errorf("the run is %+v, held by %+v", f.state().Project.Run, held)
		}

		f.restart() // it is the same fault, and nobody is told anew
		synctest.Wait()
		if again, _ := f.state().Project.Held(); again.Since != held.Since {
			t.Errorf("after a restart it fails since %s, not %s", again.Since, held.Since)
		}

		x.set("commit", 0)
		tries := x.count("commit")
		f.do(loop.Resume{}, "")
		synctest.Wait()
		if x.count("commit") == tries {
			t.Error("a person asks for a try, and there is none")
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		f.checkUnharmed(t)
	})
}

// TestStopDuringFault ends the run at once for a person, and leaves it unfinished
// for a signal; in both cases the next run finishes it.
func TestStopDuringFault(t *testing.T) {
	for _, call := range []string{"capture", "commit"} {
		for _, signal := range []string{"", "SIGTERM"} {
			synctest.Test(t, func(t *testing.T) {
				f, x := faultyFixture(t, syscall.EIO, map[string]int{call: -1})
				time.Sleep(time.Minute)
				f.do(loop.Stop{Now: true, Signal: signal}, "")
				time.Sleep(time.Second)
				synctest.Wait()
				s := f.state()
				if !loop.Settled(s) {
					t.Fatalf("%s %q: the run is %+v", call, signal, s.Project.Run)
				}
				if over := s.Project.Run.Over(); over != (signal == "") || over && s.Project.Run.Ended.Reason != ledger.ReasonStopped {
					t.Errorf("%s %q: over %v, %+v", call, signal, over, s.Project.Run.Ended)
				}
				x.set(call, 0)
				f.restart()
				f.do(loop.StartRun{Settings: settings(), MaxSessions: 1}, "")
				time.Sleep(10 * time.Minute)
				synctest.Wait()
				if exit, over := f.outcome(); exit != 0 || !over {
					t.Errorf("%s %q: outcome %d, %v; %+v", call, signal, exit, over, f.state().Project.Run)
				}
			})
		}
	}
}

// TestMistakesStillFail ends the run for what would fail again.
func TestMistakesStillFail(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, x := faultyFixture(t, syscall.EINVAL, map[string]int{"capture": -1})
		time.Sleep(time.Minute)
		synctest.Wait()
		if r := f.state().Project.Run; !r.Over() || r.Ended.Reason != ledger.ReasonInternal || x.count("capture") != 1 {
			t.Errorf("the run is %+v after %d tries", r, x.count("capture"))
		}
	})
}

// fullLedger is a ledger on a disk that can be full.
type fullLedger struct {
	engine.Ledger
	mu      sync.Mutex
	err     error
	refused int
}

func (l *fullLedger) set(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.err = err
}

func (l *fullLedger) refuse() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err != nil {
		l.refused++
	}
	return l.err
}

func (l *fullLedger) Commit(ctx context.Context, b ledger.Batch) (ledger.Receipt, error) {
	if err := l.refuse(); err != nil {
		return ledger.Receipt{}, err
	}
	return l.Ledger.Commit(ctx, b)
}

func (l *fullLedger) SaveSnapshot(ctx context.Context, row ledger.SnapshotRow) error {
	if err := l.refuse(); err != nil {
		return err
	}
	return l.Ledger.SaveSnapshot(ctx, row)
}

// TestWakeRefused refuses the commit of a project that another one wakes, and takes
// the next commit of that other one: the project is woken again.
func TestWakeRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stopped := make(chan struct{})
		f := newFixture(t, func(f *fixture, l ledger.Launch) ledger.Exit {
			if l.Kind == ledger.KindAgent {
				select {
				case <-stopped:
					stopped = nil // the next session lasts
				case <-f.t.Context().Done():
				}
			}
			return scenario.Exited(l.Session, 0)
		})
		picky := &pickyLedger{Ledger: f.ledger}
		f.options = func(o *engine.Options) { o.Ledger = picky }
		f.restart()
		begin := func(project string) {
			s := settings()
			s.Project, s.Repo = project, "/"+project
			_, err := f.current().Do(t.Context(), loop.Input{Project: project, Actor: "console", Name: "Mira", Body: loop.StartRun{Settings: s, MaxSessions: 1}})
			if err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		begin("p")
		begin("q")
		running := func(project string) int {
			s, _ := f.current().State(project)
			return len(s.Project.Sessions)
		}
		if running("p") != 1 || running("q") != 0 {
			t.Fatalf("%d sessions in p, %d in q", running("p"), running("q"))
		}
		picky.refuse("q", 1)
		f.do(loop.Stop{Now: true}, "")
		close(stopped)
		time.Sleep(time.Hour)
		synctest.Wait()
		if picky.left != 0 || running("q") != 1 {
			t.Errorf("%d commits of q left to refuse, %d sessions in q", picky.left, running("q"))
		}
	})
}

// pickyLedger refuses commits of one project.
type pickyLedger struct {
	engine.Ledger
	mu      sync.Mutex
	project string
	left    int // commits to refuse
}

func (l *pickyLedger) refuse(project string, commits int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.project, l.left = project, commits
}

func (l *pickyLedger) Commit(ctx context.Context, b ledger.Batch) (ledger.Receipt, error) {
	l.mu.Lock()
	of := func(r ledger.Record) bool { return r.Stream == ledger.ProjectStream(l.project) }
	refused := l.left > 0 && slices.ContainsFunc(b.Records, of)
	if refused {
		l.left--
	}
	l.mu.Unlock()
	if refused {
		return ledger.Receipt{}, syscall.EIO
	}
	return l.Ledger.Commit(ctx, b)
}

// TestFullLedger takes commits from the ledger for a night: it is asked with
// growing pauses, logged and told once, and all goes on by itself.
func TestFullLedger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, succeeded)
		full := &fullLedger{Ledger: f.ledger}
		var log strings.Builder
		var told []engine.Outage
		f.options = func(o *engine.Options) {
			o.Ledger, o.Log = full, slog.New(slog.NewTextHandler(&log, nil))
			o.Outage = func(x engine.Outage) { told = append(told, x) }
		}
		hold := make(chan struct{})
		f.wrap = func(p engine.Ports) engine.Ports {
			p.Repository = waitingRepository{p.Repository, hold}
			return p
		}
		f.restart()
		f.do(loop.StartRun{Settings: settings(), MaxSessions: 1}, "")
		synctest.Wait()
		full.set(fmt.Errorf("database or disk is full: %w", syscall.ENOSPC))
		close(hold) // the result of the preflight cannot be committed
		time.Sleep(8 * time.Hour)
		synctest.Wait()
		if full.refused < 90 || full.refused > 400 {
			t.Errorf("the ledger was asked %d times in eight hours", full.refused)
		}
		if n := strings.Count(log.String(), "\n"); n > 3 {
			t.Errorf("%d lines in the log: %s", n, log.String())
		}
		if len(told) != 1 || told[0].Fault != ledger.FaultDisk || told[0].Since.IsZero() {
			t.Errorf("told: %+v", told)
		}
		full.set(nil)
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		if len(told) != 2 || told[1] != (engine.Outage{}) {
			t.Errorf("told when it was over: %+v", told)
		}
		f.checkUnharmed(t)
	})
}

// TestRefusedCommand ends an outage that only a person's command met: nothing else
// is due that could show its end.
func TestRefusedCommand(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, succeeded)
		full := &fullLedger{Ledger: f.ledger}
		var told []engine.Outage
		f.options = func(o *engine.Options) {
			o.Ledger = full
			o.Outage = func(x engine.Outage) { told = append(told, x) }
		}
		f.restart()
		f.do(loop.StartRun{Settings: settings(), MaxSessions: 1}, "")
		time.Sleep(time.Minute)
		synctest.Wait()
		full.set(syscall.ENOSPC)
		if _, err := f.current().Do(t.Context(), loop.Input{Key: "k", Project: "p", Actor: "console", Body: loop.Guide{Text: "mind the gap"}}); !errors.Is(err, engine.ErrNotSaved) {
			t.Errorf("the command: %v", err)
		}
		time.Sleep(time.Hour)
		full.set(nil)
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		if len(told) != 2 {
			t.Errorf("told: %+v", told)
		}
	})
}

// waitingRepository begins no run before hold is closed.
type waitingRepository struct {
	engine.Repository
	hold chan struct{}
}

func (r waitingRepository) Begin(ctx context.Context, b ledger.Begin) (ledger.Base, error) {
	select {
	case <-r.hold:
	case <-ctx.Done():
	}
	return r.Repository.Begin(ctx, b)
}

// unreadableLedger cannot say what is left to do, so many times.
type unreadableLedger struct {
	engine.Ledger
	left int
}

func (l *unreadableLedger) Pending(ctx context.Context) ([]ledger.PendingEffect, error) {
	if l.left--; l.left >= 0 {
		return nil, fmt.Errorf("disk I/O error: %w", syscall.EIO)
	}
	return l.Ledger.Pending(ctx)
}

// TestUnreadableEffects starts on a disk that cannot be read at first: the engine
// tells of it, waits, and then takes everything up.
func TestUnreadableEffects(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, succeeded)
		hold := make(chan struct{})
		f.wrap = func(p engine.Ports) engine.Ports {
			p.Repository = waitingRepository{p.Repository, hold}
			return p
		}
		f.restart()
		f.do(loop.StartRun{Settings: settings(), MaxSessions: 1}, "")
		synctest.Wait()
		f.stop()
		close(hold)
		var told []engine.Outage
		f.options = func(o *engine.Options) {
			o.Ledger = &unreadableLedger{Ledger: f.ledger, left: 8}
			o.Outage = func(x engine.Outage) { told = append(told, x) }
		}
		f.open(true)
		time.Sleep(time.Hour)
		synctest.Wait()
		if len(told) != 2 || told[0].Fault != ledger.FaultMachine || told[1] != (engine.Outage{}) {
			t.Errorf("told: %+v", told)
		}
		f.checkUnharmed(t)
	})
}
