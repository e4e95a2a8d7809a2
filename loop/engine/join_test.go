package engine_test

import (
	"context"
	"slices"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/engine"
	"github.com/nightporter/nightporter/loop/ledger"
)

// TestEndRetried lets the end of a session fail for a fault of the machine: it is
// tried until it is carried out, also when a person stops the run at once and
// waits for nothing else.
func TestEndRetried(t *testing.T) {
	for _, body := range []loop.InputBody{loop.Stop{Now: true}, loop.Pause{Now: true}} {
		synctest.Test(t, func(t *testing.T) {
			ended := make(chan struct{})
			x := &faults{left: map[string]int{"end": 3}, err: syscall.EIO, calls: map[string]int{}}
			f := newFixture(t, func(_ *fixture, l ledger.Launch) ledger.Exit {
				select {
				case <-ended:
				case <-time.After(time.Hour):
				}
				return ledger.Exit{Session: l.Session, Reason: ledger.ExitAsked, Code: -1, Turns: -1, Tokens: -1, Started: time.Now(), Ended: time.Now()}
			})
			f.wrap = func(p engine.Ports) engine.Ports {
				p.Place.Runner = refusingEnd{p.Place.Runner, x, ended}
				return p
			}
			f.restart()
			s := settings()
			s.Verify = nil
			f.do(loop.StartRun{Settings: s, MaxSessions: 1}, "")
			synctest.Wait()
			f.do(body, "")
			time.Sleep(time.Minute)
			synctest.Wait()
			if p := f.state().Project; len(p.Sessions) > 0 || len(p.Failing) > 0 || x.count("end") != 4 {
				t.Errorf("%T: a minute later sessions %+v, failing %+v, %d tries", body, p.Sessions, p.Failing, x.count("end"))
			}
		})
	}
}

// refusingEnd is a Runner whose first calls of End fail.
type refusingEnd struct {
	engine.Runner
	*faults
	ended chan struct{}
}

func (r refusingEnd) End(ctx context.Context, session string, grace ledger.Duration) error {
	if err := r.at("end"); err != nil {
		return err
	}
	close(r.ended)
	return r.Runner.End(ctx, session, grace)
}

// TestMarkOfOtherPlan lets the marks of a plan wait for a fault until a run of
// another one has begun, whose task has the same id: nothing is written for it.
func TestMarkOfOtherPlan(t *testing.T) {
	for _, restart := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			f, x := faultyFixture(t, syscall.EIO, map[string]int{"mark": -1, "log": -1})
			time.Sleep(10 * time.Minute)
			synctest.Wait()
			if _, over := f.outcome(); !over {
				t.Fatalf("the run is %+v", f.state().Project.Run)
			}
			f.ports.Plan.Tasks = []ledger.Task{{ID: "Task 1", Title: "Another one", Mark: ledger.MarkBlocked}}
			other := settings()
			other.Source.Path = "other.md"
			f.do(loop.StartRun{Settings: other, MaxSessions: 1}, "")
			if restart {
				f.restart()
			}
			x.set("mark", 0)
			x.set("log", 0)
			time.Sleep(10 * time.Minute)
			synctest.Wait()
			task, _ := f.state().Project.Find("Task 1")
			if marks := f.ports.Marks(); slices.Contains(marks, ledger.Marking{Task: "Task 1", Mark: ledger.MarkDone}) || task.Marked == ledger.MarkDone {
				t.Errorf("Task 1 of the other plan is marked: %v, %+v", marks, task)
			}
		})
	}
}

// TestLittleSpaceAtStart starts a run with less space than a run needs: under `up`
// it waits, and begins by itself when there is space; else it ends.
func TestLittleSpaceAtStart(t *testing.T) {
	for _, stays := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			var free atomic.Uint64
			free.Store(1 << 30)
			f := newFixture(t, succeeded)
			f.options = func(o *engine.Options) { o.FreeDisk = func() (uint64, error) { return free.Load(), nil } }
			f.restart()
			s := settings()
			s.Stays = stays
			f.do(loop.StartRun{Settings: s, MaxSessions: 1}, "")
			time.Sleep(time.Hour)
			synctest.Wait()
			r := f.state().Project.Run
			if !stays {
				if !r.Over() || r.Ended.Exit != 3 {
					t.Errorf("the run is %+v", r)
				}
				return
			}
			if r.Over() || r.Wait != ledger.WaitDisk || r.Text != "1.0 GiB are free where state is kept; 2 GiB are the least" {
				t.Errorf("after an hour the run is %s %s %q", r.State, r.Wait, r.Text)
			}
			free.Store(3 << 30)
			time.Sleep(time.Hour)
			synctest.Wait()
			f.checkUnharmed(t)
		})
	}
}
