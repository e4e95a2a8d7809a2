package loop

import (
	"testing"
	"time"

	"github.com/nightporter/nightporter/guidance"
	"github.com/nightporter/nightporter/loop/ledger"
)

// TestForget plans a run a hundred days later: what is settled is left out of the
// state, and what something may still need is not.
func TestForget(t *testing.T) {
	now := time.Date(2026, 11, 22, 22, 0, 0, 0, time.UTC)
	old, young := now.AddDate(0, 0, -100), now.AddDate(0, 0, -10)
	task := func(status ledger.Status, ended time.Time) TaskState {
		return TaskState{Task: ledger.Task{ID: "Task 1"}, Status: status, Ended: ended}
	}
	parked := task(ledger.Done, old)
	parked.Attempt = &Attempt{}
	asked := task(ledger.Skipped, old)
	asked.Question = "q1"
	shelves := map[string]struct {
		tasks []TaskState
		keep  bool
	}{
		"plan:done.md":      {[]TaskState{task(ledger.Done, old)}, false},
		"plan:withdrawn.md": {[]TaskState{task(ledger.Withdrawn, old), task(ledger.Skipped, time.Time{})}, false},
		"plan:young.md":     {[]TaskState{task(ledger.Done, young)}, true},
		"plan:timeless.md":  {[]TaskState{task(ledger.Done, time.Time{})}, false},
		"plan:blocked.md":   {[]TaskState{task(ledger.Blocked, old)}, false},
		"plan:waiting.md":   {[]TaskState{task(ledger.Waiting, old)}, true},
		"plan:parked.md":    {[]TaskState{parked}, true},
		"plan:asked.md":     {[]TaskState{asked}, true},
	}
	p := Project{Name: "shop", Source: "plan:now.md", Shelf: map[string]TaskList{}}
	waiting := task(ledger.Waiting, old)
	waiting.Task.ID = "Task 7"
	p.Tasks = NewTaskList(waiting)
	for source, s := range shelves {
		p.Shelf[source] = NewTaskList(s.tasks...)
	}
	items := map[string]struct {
		item guidance.Item
		keep bool
	}{
		"addressed":         {guidance.Item{State: guidance.Addressed, At: old, Bound: "task 9"}, false},
		"dropped":           {guidance.Item{State: guidance.Dropped, At: old, Sticky: true}, false},
		"expired":           {guidance.Item{State: guidance.Expired, At: old}, false},
		"expired young":     {guidance.Item{State: guidance.Expired, At: young}, true},
		"of an open task":   {guidance.Item{State: guidance.Addressed, At: old, Bound: "task 7"}, true},
		"of a shelved task": {guidance.Item{State: guidance.NotReported, At: old, Bound: "task 1"}, true},
		"queued":            {guidance.Item{State: guidance.Queued, At: old}, true},
		"injected":          {guidance.Item{State: guidance.Injected, At: old, Bound: "task 9"}, true},
		"sticky":            {guidance.Item{State: guidance.Addressed, At: old, Sticky: true}, true},
	}
	for id, i := range items {
		i.item.ID = id
		p.Guidance.Items = append(p.Guidance.Items, i.item)
	}
	before := State{Project: p}
	after := Apply(before, ledger.Entry{Stream: ledger.ProjectStream("shop"), Time: now, Body: ledger.RunPlanned{
		Run: "r9", Settings: ledger.Settings{Project: "shop", Source: ledger.SourceRef{Kind: "plan", Path: "now.md"}},
	}}).Project
	for source, s := range shelves {
		if _, kept := after.Shelf[source]; kept != s.keep {
			t.Errorf("%s is kept: %v, want %v", source, kept, s.keep)
		}
	}
	for id, i := range items {
		if _, kept := after.Guidance.Get(id); kept != i.keep {
			t.Errorf("guidance %q is kept: %v, want %v", id, kept, i.keep)
		}
	}
	if len(before.Project.Shelf) != len(shelves) || len(before.Project.Guidance.Items) != len(items) {
		t.Error("the state before was changed")
	}
}

// TestForgetClockAhead plans a run while the clock is a year ahead: what the run
// before it would have kept is kept.
func TestForgetClockAhead(t *testing.T) {
	now := time.Date(2026, 11, 22, 22, 0, 0, 0, time.UTC)
	young := TaskState{Task: ledger.Task{ID: "Task 1"}, Status: ledger.Done, Ended: now.AddDate(0, 0, -10)}
	for _, c := range []struct {
		last time.Time // last event of the run before
		keep bool
	}{{now.AddDate(0, 0, -1), true}, {now.AddDate(1, 0, -1), false}} {
		p := Project{Name: "shop", Source: "plan:now.md", Shelf: map[string]TaskList{"plan:young.md": NewTaskList(young)},
			Run: &Run{ID: "r8", LastEvent: c.last}}
		after := Apply(State{Project: p}, ledger.Entry{Stream: ledger.ProjectStream("shop"), Time: now.AddDate(1, 0, 0), Body: ledger.RunPlanned{
			Run: "r9", Settings: ledger.Settings{Project: "shop", Source: ledger.SourceRef{Kind: "plan", Path: "now.md"}},
		}}).Project
		if _, kept := after.Shelf["plan:young.md"]; kept != c.keep {
			t.Errorf("last run at %v: kept: %v, want %v", c.last, kept, c.keep)
		}
	}
}

// TestShelved: a plan that gives way to another one leaves its texts out, but for
// what is not settled.
func TestShelved(t *testing.T) {
	now := time.Date(2026, 11, 22, 22, 0, 0, 0, time.UTC)
	full := ledger.Task{ID: "Task 1", Title: "One", Body: "Text", Acceptance: []string{"it works"}, Mark: ledger.MarkDone}
	open := ledger.Task{ID: "Task 2", Title: "Two", Body: "Text", DependsOn: []string{"Task 1"}}
	p := Project{Name: "shop", Source: "plan:a.md", Tasks: NewTaskList(
		TaskState{Task: full, Status: ledger.Done, Commit: "c1", Ended: now, Plan: []byte(`{}`)},
		TaskState{Task: open, Status: ledger.Blocked, Failed: 2, Ended: now, Plan: []byte(`{}`)},
	)}
	plan := func(p Project, path string) Project {
		return Apply(State{Project: p}, ledger.Entry{Stream: ledger.ProjectStream("shop"), Time: now, Body: ledger.RunPlanned{
			Run: "r9", Settings: ledger.Settings{Project: "shop", Source: ledger.SourceRef{Kind: "plan", Path: path}},
		}}).Project
	}
	back := plan(plan(p, "b.md"), "a.md")
	one, two := back.Tasks.At(0), back.Tasks.At(1)
	if one.Status != ledger.Done || one.Commit != "c1" || one.Task.Title != "One" || one.Task.Mark != ledger.MarkDone || one.Task.Body != "" || one.Plan != nil {
		t.Errorf("the settled task is %+v", one)
	}
	if two.Failed != 2 || two.Task.Body != "Text" || two.Plan == nil || back.Tasks.missing(1, two) != "" {
		t.Errorf("the open task is %+v", two)
	}
	if p.Tasks.At(0).Task.Body == "" {
		t.Error("the state before was changed")
	}
}
