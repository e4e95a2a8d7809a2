package loop

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
)

// elsewhere works on another source for a time in which all others are archived.
func elsewhere(t *testing.T, d *director) {
	t.Helper()
	first, plan := d.settings, slices.Clone(d.plan.Tasks)
	d.settings.Source.Path = "other.md"
	for range 3 { // ages are as of the run before
		d.now = d.now.Add(keptShelf)
		for _, line := range []string{"tasks 1:done", "go quiet"} {
			d.play(line)
		}
	}
	if len(d.s.Project.Archive) == 0 {
		t.Fatalf("nothing is archived\n%s", d.dump())
	}
	d.settings, d.plan.Tasks = first, plan
}

// TestArchivedTasks works on a plan again long after: what is unticked in its file is
// asked about and not redone, what was blocked or skipped stays so, and what is new
// is worked on.
func TestArchivedTasks(t *testing.T) {
	d := playing(t, "tasks 1 2 3 4", "go quiet", "task", "stuck", "/answer q1 skip")
	for !d.s.Project.Run.Over() {
		d.play("failed")
	}
	before := d.statuses()
	if want := "1:done 2:skipped 3:blocked 4:blocked"; before != want {
		t.Fatalf("%s, want %s\n%s", before, want, d.dump())
	}
	elsewhere(t, d)
	d.play("tasks 1 2:skipped 3:blocked 4:blocked 5")
	d.play("go quiet")
	d.let("reread")
	if got := d.statuses(); !strings.HasPrefix(got, before) || d.s.Project.Run.Over() && len(d.s.Project.Questions) == 0 {
		t.Errorf("%s\n%s", got, d.dump())
	}
	asked := slices.ContainsFunc(d.s.Project.Questions, func(q ledger.Question) bool {
		return q.Kind == ledger.AskUnticked && slices.Equal(q.Tasks, []string{"Task 1"})
	})
	if !asked {
		t.Errorf("asked is %+v", d.s.Project.Questions)
	}
	if s := d.s.Project.Sessions; len(s) != 1 || s[0].Task != "Task 5" {
		t.Errorf("sessions %+v, want one for the new task", s)
	}
	if one, _ := d.s.Project.Find("1"); one.Task.Title != "Title 1" || one.Archived {
		t.Errorf("%+v, want its text from the file", one)
	}
}

// TestArchivedEdit archives a blocked task and takes it back: it counts as edited only
// if its text differs from that of long ago.
func TestArchivedEdit(t *testing.T) {
	task := ledger.Task{ID: "Task 1", Title: "One", Acceptance: []string{"it works"}, Mark: ledger.MarkBlocked}
	now := time.Date(2026, 11, 22, 22, 0, 0, 0, time.UTC)
	p := Project{Shelf: map[string]TaskList{"plan:a.md": NewTaskList(TaskState{Task: task, Status: ledger.Blocked, Failed: 2, Attempts: 2})}}
	for range 2 { // also of what was archived before
		p = p.archive("plan:a.md", now).unarchive("plan:a.md")
		one := p.Tasks.At(0)
		if one.Status != ledger.Blocked || one.Failed != 2 || one.Attempts != 2 || one.Task.Title != "" {
			t.Fatalf("%+v", one)
		}
		again := task
		again.Mark, again.Line = ledger.MarkOpen, 7
		if one.edited(again) {
			t.Error("the same text is an edit")
		}
		again.Acceptance = []string{"it works well"}
		if !one.edited(again) {
			t.Error("another text is no edit")
		}
		p = Project{Shelf: map[string]TaskList{"plan:a.md": p.Tasks}}
	}
}

// TestStateAfterNights works on ten plans of 12 tasks, one every 16 days: each night
// leaves no more behind than its tasks' ids and its branch, and a state of the same
// size is folded from its JSON.
func TestStateAfterNights(t *testing.T) {
	d := newDirector(t, t.Name())
	var sizes []int
	const nights = 10
	for night := range nights {
		d.trusts = night < nights-1 // all that they left is there in the last one
		d.settings.Source.Path = fmt.Sprintf("plan-%d.md", night)
		d.play("tasks 1 2 3 4 5 6 7 8 9 10 11 12")
		d.play("go quiet")
		for !d.s.Project.Run.Over() {
			switch planned := d.session().Planned; {
			case planned.Kind != ledger.KindAgent:
				d.exit(nil)
			case planned.Hat == "planner":
				d.play("plan")
			case planned.Hat == "builder":
				d.play("build")
			default:
				d.play("ok")
			}
		}
		data, err := json.Marshal(d.s)
		if err != nil {
			t.Fatal(err)
		}
		sizes = append(sizes, len(data))
		d.now = d.now.Add(keptShelf/4 + 1)
	}
	const branch = 250
	if grown, most := sizes[9]-sizes[4], 5*(12*len(`Task 12\n`)+branch); grown > most {
		t.Errorf("the state grew by %d bytes in five nights, want %d at most: %v", grown, most, sizes)
	}
	if n := len(d.s.Project.Shelf); n > 4 {
		t.Errorf("%d sources are on the shelf", n)
	}
}

// statuses returns the tasks that are in the source or were, with their statuses.
func (d *director) statuses() string {
	var list []string
	for _, t := range d.s.Project.Tasks.All() {
		list = append(list, strings.TrimPrefix(t.Task.ID, "Task ")+":"+string(t.Status))
	}
	slices.Sort(list)
	return strings.Join(list, " ")
}
