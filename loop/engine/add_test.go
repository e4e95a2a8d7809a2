package engine_test

import (
	"context"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/engine"
	"github.com/nightporter/nightporter/loop/ledger"
)

// fullAdder is a source on a disk that is full for its first tries.
type fullAdder struct{ fails, tried int }

func (a *fullAdder) AddOnce(_ context.Context, b ledger.AddTasks) (ledger.AddedTasks, error) {
	if a.tried++; a.tried <= a.fails {
		return ledger.AddedTasks{}, syscall.ENOSPC
	}
	return ledger.AddedTasks{IDs: []string{"Task 3"}, Text: "x", Snapshot: ledger.Snapshot{Tasks: b.Tasks}}, nil
}

func (a *fullAdder) RemoveAdded(context.Context, ledger.RemoveTasks) error { return nil }

// TestAddWithoutRun: a project that never had a run takes a task. A full disk keeps it
// waiting, also across a restart, and it is added when there is room.
func TestAddWithoutRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, nil)
		source := &fullAdder{fails: 3}
		f.stop()
		f.options = func(o *engine.Options) {
			o.Adder = func(string, ledger.SourceRef) (engine.Adder, error) { return source, nil }
		}
		f.open(true)
		add := loop.Input{Key: "tg:1", Project: "shop", Actor: "telegram:1", Body: loop.AddTasks{
			Tasks: []ledger.Task{{Title: "Zoom on a tap"}}, Repo: "/srv/shop", Source: ledger.SourceRef{Kind: "plan", Path: "p.md"},
		}}
		a, err := f.engine.Do(t.Context(), add)
		if err != nil || !a.OK || a.Code != ledger.CodeAdding {
			t.Fatalf("%+v %v", a, err)
		}
		synctest.Wait()
		if s, _ := f.engine.State("shop"); s.Project.Additions[0].Done || len(s.Project.Failing) != 1 {
			t.Fatalf("on a full disk: %+v %+v", s.Project.Additions, s.Project.Failing)
		}
		f.stop()
		f.open(true)
		time.Sleep(time.Minute)
		synctest.Wait()
		s, _ := f.engine.State("shop")
		got, ok := s.Project.Addition("3")
		if !ok || !got.Done || got.Place != 1 || source.tried != 4 || len(s.Project.Failing) != 0 {
			t.Errorf("with room again, after %d tries: %+v %+v", source.tried, got, s.Project.Failing)
		}
		if again, err := f.engine.Do(t.Context(), add); err != nil || again.ID != a.ID || source.tried != 4 {
			t.Errorf("the same message again: %+v %v", again, err)
		}
	})
}
