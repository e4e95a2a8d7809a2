package task

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/task/form"
)

// testAdding is the part of the conformance suite about new tasks (docs/spec 3.8), for
// kinds whose form can add.
func testAdding(t *testing.T, k *Kind, variants int, open func(t testing.TB, dir string, variant int) fixture) {
	switch s := open(t, t.TempDir(), 0).source.(type) {
	case *folderSource, *backlogSource:
	case *fileSource:
		if _, adds := s.form.(form.Adder); !adds {
			t.Logf("%s takes no tasks", k.Name)
			return
		}
	default:
		t.Logf("what is added to a %s cannot be taken out", k.Name)
		return
	}
	one := func(title string) ledger.AddTasks { return ledger.AddTasks{Tasks: []ledger.Task{{Title: title}}} }

	t.Run("added once, and taken out again", func(t *testing.T) {
		t.Parallel()
		for v := range variants {
			f := open(t, t.TempDir(), v)
			before, _ := f.all(t)
			was, err := f.source.Read(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			added, err := AddOnce(t.Context(), f.source, one("Zoom on a tap"))
			if err != nil || len(added.IDs) != 1 || added.Found {
				t.Fatalf("%+v %v", added, err)
			}
			grown, _ := f.all(t)
			at := bytes.Index(grown, []byte(added.Text))
			if at < 0 || !bytes.Equal(slices.Concat(grown[:at], grown[at+len(added.Text):]), before) {
				t.Fatalf("other bytes changed:\n%s", grown)
			}
			now, err := f.source.Read(t.Context())
			if err != nil || len(now.Tasks) != len(was.Tasks)+1 || !slices.ContainsFunc(now.Tasks, func(t ledger.Task) bool { return t.Title == "Zoom on a tap" }) {
				t.Fatalf("%v %+v", err, now.Tasks)
			}
			// A crash between the file and its result: the effect is repeated by
			// another process.
			again, err := AddOnce(t.Context(), f.reopen(), one("Zoom on a tap"))
			if text, _ := f.all(t); err != nil || !again.Found || !slices.Equal(again.IDs, added.IDs) || !bytes.Equal(text, grown) {
				t.Fatalf("added again: %+v %v\n%s", again, err, text)
			}
			undo := ledger.RemoveTasks{IDs: added.IDs, Text: added.Text}
			for range 2 {
				err := RemoveAdded(t.Context(), f.source, undo)
				if text, _ := f.all(t); err != nil || !bytes.Equal(text, before) {
					t.Fatalf("taken out: %v\n%s", err, text)
				}
			}
		}
	})

	t.Run("tasks that depend on each other", func(t *testing.T) {
		for v := range variants {
			f := open(t, t.TempDir(), v)
			plan := ledger.AddTasks{Needs: [][]int{nil, {0}, {0, 1}}, Tasks: []ledger.Task{{Title: "Tap on the map"}, {Title: "Draw a map"}, {Title: "Test the map"}}}
			added, err := AddOnce(t.Context(), f.source, plan)
			if err != nil || len(added.IDs) != 3 {
				t.Fatalf("%+v %v", added, err)
			}
			now, err := f.source.Read(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			last := -1
			for n, needs := range plan.Needs {
				at := slices.IndexFunc(now.Tasks, func(t ledger.Task) bool { return ledger.SameID(t.ID, added.IDs[n]) })
				if at < 0 || now.Tasks[at].Title != plan.Tasks[n].Title {
					t.Fatalf("%s is not there: %+v", added.IDs[n], now.Tasks)
				}
				if at < last {
					t.Errorf("variant %d: %q stands before what it needs", v, plan.Tasks[n].Title)
				}
				last = at
				if len(now.Tasks[at].DependsOn) == 0 && n > 0 {
					t.Logf("variant %d has no place for dependencies", v)
					continue
				}
				for _, m := range needs {
					if !slices.ContainsFunc(now.Tasks[at].DependsOn, func(id string) bool { return ledger.SameID(id, added.IDs[m]) }) {
						t.Errorf("variant %d: %q depends on %v, want %s too", v, now.Tasks[at].Title, now.Tasks[at].DependsOn, added.IDs[m])
					}
				}
			}
			again, err := AddOnce(t.Context(), f.reopen(), plan)
			if err != nil || !again.Found || !slices.Equal(again.IDs, added.IDs) {
				t.Errorf("variant %d: added again: %+v %v", v, again, err)
			}
		}
	})

	t.Run("what was changed stays", func(t *testing.T) {
		t.Parallel()
		f := open(t, t.TempDir(), 0)
		added, err := AddOnce(t.Context(), f.source, one("Zoom on a tap"))
		if err != nil {
			t.Fatal(err)
		}
		if err := f.source.Mark(t.Context(), []ledger.Marking{{Task: added.IDs[0], Mark: ledger.MarkDone}}); err != nil {
			t.Fatal(err)
		}
		before, _ := f.all(t)
		err = RemoveAdded(t.Context(), f.source, ledger.RemoveTasks{IDs: added.IDs, Text: added.Text})
		if text, _ := f.all(t); !errors.As(err, new(*ChangedError)) || !bytes.Equal(before, text) {
			t.Errorf("got %v", err)
		}
	})

	t.Run("adds and marks at once", func(t *testing.T) {
		t.Parallel()
		f := open(t, t.TempDir(), 0)
		was, err := f.source.Read(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		const writers, each = 4, 5
		var group sync.WaitGroup
		for w := range writers {
			source := f.reopen()
			group.Go(func() {
				for n := range each {
					if _, err := AddOnce(context.Background(), source, one(fmt.Sprintf("Writer %d wants %d", w, n))); err != nil {
						t.Error(err)
					}
					mark := ledger.Marking{Task: was.Tasks[w%len(was.Tasks)].ID, Mark: []ledger.Mark{ledger.MarkDone, ledger.MarkOpen}[n%2]}
					if err := source.Mark(context.Background(), []ledger.Marking{mark}); err != nil {
						t.Error(err)
					}
				}
			})
		}
		group.Wait()
		now, err := f.source.Read(t.Context())
		if err != nil || len(now.Tasks) != len(was.Tasks)+writers*each {
			t.Fatalf("%d tasks, want %d: %v", len(now.Tasks), len(was.Tasks)+writers*each, err)
		}
		ids, titles := map[string]bool{}, map[string]bool{}
		for _, task := range now.Tasks {
			ids[task.ID], titles[task.Title] = true, true
		}
		if len(ids) != len(now.Tasks) {
			t.Error("two tasks have one id")
		}
		for w := range writers {
			for n := range each {
				if !titles[fmt.Sprintf("Writer %d wants %d", w, n)] {
					t.Errorf("task %d of writer %d is lost", n, w)
				}
			}
		}
	})
}
