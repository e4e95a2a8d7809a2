package engine_test

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nightporter/nightporter/internal/scenario"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/engine"
	"github.com/nightporter/nightporter/loop/ledger"
)

// lanesFixture is an engine with two tasks that may be worked on at the same time, whose
// first sessions take an hour.
func lanesFixture(t *testing.T) (f *fixture, s ledger.Settings, builders func() int) {
	var begun atomic.Int64
	f = newFixture(t, func(f *fixture, l ledger.Launch) ledger.Exit {
		if l.Hat == "builder" {
			begun.Add(1)
			time.Sleep(time.Hour)
		}
		return succeeded(f, l)
	})
	one, two := scenario.Task(1, "One"), scenario.Task(2, "Two")
	one.Labels, two.Labels = []string{"P"}, []string{"P"}
	f.ports.Plan.Tasks = []ledger.Task{one, two}
	s = settings()
	s.Parallel = 2
	return f, s, func() int { return int(begun.Load()) }
}

// TestLoadHoldsLanes holds the second of two lanes while the machine is loaded, and lets
// it begin soon after, though nothing else happens meanwhile.
func TestLoadHoldsLanes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, s, builders := lanesFixture(t)
		var load atomic.Int64
		load.Store(9)
		f.options = func(o *engine.Options) { o.Load = func() (float64, error) { return float64(load.Load()), nil } }
		f.restart()
		s.MaxLoad = 4
		f.do(loop.StartRun{Settings: s, MaxSessions: 2}, "")
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		f.mu.Lock()
		entries := f.entries
		f.mu.Unlock()
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		if now, most, held := f.state().Project.Run.HeldByLoad(); builders() != 1 || !held || now < 9 || most != 4 {
			t.Errorf("%d sessions began at a load of %g, held %v, max_load %g", builders(), now, held, most)
		}
		f.mu.Lock()
		if f.entries != entries {
			t.Errorf("%d entries were written while it was held", f.entries-entries)
		}
		f.mu.Unlock()
		load.Store(0)
		time.Sleep(20 * time.Second)
		synctest.Wait()
		if _, _, held := f.state().Project.Run.HeldByLoad(); builders() != 2 || held {
			t.Errorf("%d sessions have begun 20 seconds after the load went, held %v", builders(), held)
		}
		time.Sleep(3 * time.Hour)
		synctest.Wait()
		if r := f.state().Project.Run; !r.Over() || r.Ended.Exit != 0 {
			t.Errorf("the run is %+v", r)
		}
	})
}

// TestOneSessionAccount holds the second of two lanes while the agent's account is in use.
func TestOneSessionAccount(t *testing.T) {
	for _, one := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			f, s, builders := lanesFixture(t)
			f.wrap = func(p engine.Ports) engine.Ports {
				p.OneSession = func(agent string) (bool, error) { return one && agent == "a", nil }
				return p
			}
			f.restart()
			f.do(loop.StartRun{Settings: s, MaxSessions: 2}, "")
			time.Sleep(10 * time.Minute)
			synctest.Wait()
			two, _ := f.state().Project.Find("Task 2")
			agent, most := f.state().AwaitedAccount(two)
			if held := agent == "a" && most == 1; held != one || builders() == 1 != one {
				t.Errorf("one session at a time %v: %d have begun, and Task 2 waits for %q with %d", one, builders(), agent, most)
			}
			time.Sleep(4 * time.Hour)
			synctest.Wait()
			if r := f.state().Project.Run; !r.Over() || r.Ended.Exit != 0 {
				t.Errorf("the run is %+v", r)
			}
		})
	}
}

// TestCachesOfLanes: a session that may have others beside it does not share the place of
// its caches with them.
func TestCachesOfLanes(t *testing.T) {
	for _, lanes := range []int{1, 2} {
		synctest.Test(t, func(t *testing.T) {
			var launches, beside atomic.Int64
			f := newFixture(t, func(f *fixture, l ledger.Launch) ledger.Exit {
				launches.Add(1)
				if l.Cache.Beside {
					beside.Add(1)
				}
				return succeeded(f, l)
			})
			one, two := scenario.Task(1, "One"), scenario.Task(2, "Two")
			one.Labels, two.Labels = []string{"P"}, []string{"P"}
			f.ports.Plan.Tasks = []ledger.Task{one, two}
			f.restart()
			s := settings()
			s.Parallel = lanes
			f.do(loop.StartRun{Settings: s, MaxSessions: lanes}, "")
			time.Sleep(3 * time.Hour)
			synctest.Wait()
			if n, apart := launches.Load(), beside.Load(); n < 4 || lanes == 1 && apart != 0 || lanes == 2 && apart < n-1 { // setup and baseline come before the lanes
				t.Errorf("with %d lanes %d of %d sessions have their caches apart", lanes, apart, n)
			}
		})
	}
}
