package engine_test

import (
	"context"
	"fmt"
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

// editedSource is a plan that a person edits.
type editedSource struct {
	engine.Source
	mu      sync.Mutex
	plan    ledger.Snapshot
	left    int           // readings that fail for a fault of the machine
	settle  time.Duration // between a change and the word of it
	changed chan struct{}
}

func (s *editedSource) Read(context.Context) (ledger.Snapshot, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.left--; s.left >= 0 {
		return ledger.Snapshot{}, fmt.Errorf("p.md: %w", syscall.EMFILE)
	}
	return s.plan, nil
}

func (s *editedSource) Watch(ctx context.Context, changed func()) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-s.changed:
			time.Sleep(s.settle)
			changed()
		}
	}
}

// fail lets so many readings fail.
func (s *editedSource) fail(readings int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.left = readings
}

// save replaces the tasks of the plan.
func (s *editedSource) save(tasks ...ledger.Task) {
	s.mu.Lock()
	s.plan.Tasks = tasks
	s.mu.Unlock()
	s.changed <- struct{}{}
}

// editing starts a run whose first session lasts, on a plan that can be edited and
// a ledger that can be full. withdrawn has the tasks that were put away for a line
// that is gone.
func editing(t *testing.T) (f *fixture, plan *editedSource, full *fullLedger, withdrawn *[]string) {
	f = newFixture(t, func(f *fixture, l ledger.Launch) ledger.Exit {
		<-f.t.Context().Done()
		return scenario.Exited(l.Session, 1)
	})
	full, withdrawn = &fullLedger{Ledger: f.ledger}, new([]string)
	plan = &editedSource{plan: f.ports.Plan, changed: make(chan struct{}, 8)}
	f.options = func(o *engine.Options) {
		o.Ledger = full
		o.Observe = func(_, _ loop.State, e ledger.Entry) {
			if b, is := e.Body.(ledger.TaskSet); is && b.To == ledger.Withdrawn {
				*withdrawn = append(*withdrawn, e.Task)
			}
		}
	}
	f.wrap = func(p engine.Ports) engine.Ports {
		plan.Source = p.Source
		p.Source = plan
		return p
	}
	f.restart()
	s := settings()
	s.Verify = nil
	f.do(loop.StartRun{Settings: s, MaxSessions: 1}, "")
	synctest.Wait()
	return f, plan, full, withdrawn
}

// TestEditDuringOutage edits the plan while the ledger takes nothing: the edit
// counts once it does.
func TestEditDuringOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, plan, full, _ := editing(t)
		full.set(syscall.ENOSPC)
		plan.save(append(f.ports.Plan.Tasks, scenario.Task(3, "Three"))...)
		time.Sleep(20 * time.Minute)
		full.set(nil)
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		if _, known := f.state().Project.Find("Task 3"); !known {
			t.Error("a task that was added while the disk was full is not known")
		}
	})
}

// TestEditAfterRestart edits the plan after a restart that finds nothing to decide,
// because the session of before goes on.
func TestEditAfterRestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, plan, _, _ := editing(t)
		f.restart()
		synctest.Wait()
		plan.save(append(f.ports.Plan.Tasks, scenario.Task(3, "Three"))...)
		time.Sleep(time.Minute)
		synctest.Wait()
		if _, known := f.state().Project.Find("Task 3"); !known {
			t.Error("a task that was added after a restart is not known")
		}
	})
}

// TestTaskAddedWhileDown adds a task while no daemon runs, and the last thing that its
// run waited for ends meanwhile: the run does not end as done.
func TestTaskAddedWhileDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended := make(chan struct{})
		f := newFixture(t, func(f *fixture, l ledger.Launch) ledger.Exit {
			if l.Kind == ledger.KindBaseline {
				<-ended
				return scenario.Exited(l.Session, 0)
			}
			return succeeded(f, l)
		})
		f.ports.Plan.Tasks = f.ports.Plan.Tasks[:1]
		f.ports.Plan.Tasks[0].Mark = ledger.MarkDone
		plan := &editedSource{plan: f.ports.Plan, changed: make(chan struct{}, 8), settle: time.Second}
		var ends []ledger.RunEnded
		f.options = func(o *engine.Options) {
			o.Observe = func(_, _ loop.State, e ledger.Entry) {
				if b, is := e.Body.(ledger.RunEnded); is {
					ends = append(ends, b)
				}
			}
		}
		f.wrap = func(p engine.Ports) engine.Ports {
			plan.Source = p.Source
			p.Source = plan
			return p
		}
		f.restart()
		f.do(loop.StartRun{Settings: settings()}, "")
		synctest.Wait()
		if r := f.state().Project.Run; r.Over() {
			t.Fatalf("the run is over: %+v", ends)
		}
		f.stop()
		plan.save(append(f.ports.Plan.Tasks, scenario.Task(3, "Three"))...)
		close(ended)
		f.open(true)
		time.Sleep(time.Hour)
		synctest.Wait()
		if three, known := f.state().Project.Find("Task 3"); !known || three.Status != ledger.Done || len(ends) != 1 || ends[0].Done != 2 {
			t.Errorf("Task 3 is known: %v, %s; ends: %+v", known, three.Status, ends)
		}
	})
}

// TestLineBackDuringOutage reads a plan without a task's line and cannot save that;
// by the time it can, the line is back.
func TestLineBackDuringOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, plan, full, withdrawn := editing(t)
		all := f.ports.Plan.Tasks
		plan.save(all[0])
		synctest.Wait()
		full.set(syscall.ENOSPC)
		time.Sleep(time.Minute)
		plan.save(all...)
		time.Sleep(10 * time.Minute)
		full.set(nil)
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		if len(*withdrawn) > 0 {
			t.Errorf("withdrawn by a reading of long ago: %q", *withdrawn)
		}
		if task, _ := f.state().Project.Find("Task 2"); !task.Doubted.IsZero() || task.Task.Mark != ledger.MarkOpen {
			t.Errorf("the task whose line is back: %+v", task)
		}
	})
}

// TestUnreadablePlan edits a plan that the machine cannot read for a while, and then
// takes a line away that it cannot look for again: both count in the end.
func TestUnreadablePlan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, plan, _, withdrawn := editing(t)
		all := f.ports.Plan.Tasks
		plan.fail(5)
		plan.save(append(all, scenario.Task(3, "Three"))...)
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		if _, known := f.state().Project.Find("Task 3"); !known || f.state().Project.Run.Source != "" {
			t.Errorf("an edit that could not be read at first is not known; %q", f.state().Project.Run.Source)
		}
		plan.save(all...)
		synctest.Wait()
		plan.fail(5)
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		if len(*withdrawn) != 1 || (*withdrawn)[0] != "Task 3" {
			t.Errorf("withdrawn: %q", *withdrawn)
		}
	})
}

// TestTickAfterClockBack ticks a task that nightporter has marked, after the clock
// went back to before that mark.
func TestTickAfterClockBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, func(f *fixture, l ledger.Launch) ledger.Exit {
			switch {
			case l.Kind != ledger.KindAgent:
				return scenario.Exited(l.Session, 0)
			case l.Task == "Task 1":
				f.emit(l.Session, ledger.EventBlocked, map[string]any{"reason": "no key", "tried": "the docs", "needs": "a key"})
				return scenario.Exited(l.Session, 0)
			}
			<-f.t.Context().Done()
			return scenario.Exited(l.Session, 1)
		})
		f.ports.Plan.Tasks = []ledger.Task{scenario.Task(1, "One"), scenario.Task(2, "Two")}
		plan := &editedSource{plan: f.ports.Plan, changed: make(chan struct{}, 8)}
		f.wrap = func(p engine.Ports) engine.Ports {
			plan.Source = p.Source
			p.Source = plan
			return p
		}
		var back time.Duration
		f.options = func(o *engine.Options) { o.Clock = func() time.Time { return time.Now().Add(-back) } }
		f.restart()
		f.do(loop.StartRun{Settings: settings(), MaxSessions: 1}, "")
		time.Sleep(time.Minute)
		synctest.Wait()
		if task, _ := f.state().Project.Find("Task 1"); task.Status != ledger.Blocked || task.Marked != ledger.MarkBlocked {
			t.Fatalf("Task 1 is %s, marked %q", task.Status, task.Marked)
		}
		back = 24 * time.Hour
		ticked := scenario.Task(1, "One")
		ticked.Mark = ledger.MarkDone
		plan.save(ticked, scenario.Task(2, "Two"))
		synctest.Wait()
		if task, _ := f.state().Project.Find("Task 1"); task.Status != ledger.Done {
			t.Errorf("Task 1 was ticked, and is %s", task.Status)
		}
	})
}
