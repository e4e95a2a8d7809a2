package engine_test

import (
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// TestScopeBeforeSession checks that a scope that permits no file, of a part or
// of a task added during the run, blocks its task before a session that writes
// is paid for. Sessions that only read run before that.
func TestScopeBeforeSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var wrote []string
		w := newWorld(t, func(w *world, l ledger.Launch) ledger.Exit {
			w.narrow.Store(true) // preflight is over
			mu.Lock()
			if l.Kind == ledger.KindAgent && l.Hat == "builder" {
				wrote = append(wrote, l.Task)
			}
			mu.Unlock()
			return succeeded(w, l)
		})
		w.plan.Tasks = []ledger.Task{{ID: "Task 1", Title: "One", Scope: "elsewhere/", Mark: ledger.MarkOpen}, {ID: "Task 2", Title: "Two", Mark: ledger.MarkOpen}}
		s := settings()
		s.OnBlocked = ledger.OnBlockedContinue
		w.do(loop.StartRun{Settings: s, MaxSessions: 1}, "")
		time.Sleep(time.Hour)
		synctest.Wait()
		mu.Lock()
		defer mu.Unlock()
		state := w.state()
		first := state.Project.Tasks.At(0)
		if first.Status != ledger.Blocked || !strings.Contains(first.Why, "nothing to write") {
			t.Errorf("%s is %s: %s", first.Task.ID, first.Status, first.Why)
		}
		for _, id := range wrote {
			if id == first.Task.ID {
				t.Errorf("a builder was started for it")
			}
		}
		if len(wrote) == 0 || state.Project.Run.State != ledger.RunOver {
			t.Errorf("the others: builders for %v, run %s", wrote, state.Project.Run.State)
		}
	})
}
