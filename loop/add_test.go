package loop

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/nightporter/nightporter/loop/ledger"
)

// addTo returns what a source does with AddTasks, and its content after that.
func addTo(plan ledger.Snapshot, a ledger.AddTasks) (ledger.AddedTasks, ledger.Snapshot) {
	ids, all := a.Has(plan.Tasks)
	plan.Tasks = slices.Clone(plan.Tasks)
	for n, t := range a.Tasks {
		if ids[n] != "" {
			continue
		}
		next := len(plan.Tasks) + 1
		for slices.ContainsFunc(plan.Tasks, func(o ledger.Task) bool { return ledger.SameID(o.ID, fmt.Sprintf("Task %d", next)) }) {
			next++
		}
		t.ID, t.Mark = fmt.Sprintf("Task %d", next), ledger.MarkOpen
		ids[n] = t.ID
		plan.Tasks = append(plan.Tasks, t)
	}
	return ledger.AddedTasks{IDs: ids, Text: "- " + a.Tasks[0].Title, Found: all, Snapshot: plan}, plan
}

// removeFrom returns a source's content without what was added.
func removeFrom(plan ledger.Snapshot, r ledger.RemoveTasks) ledger.Snapshot {
	plan.Tasks = slices.DeleteFunc(slices.Clone(plan.Tasks), func(t ledger.Task) bool {
		return slices.ContainsFunc(r.IDs, func(id string) bool { return ledger.SameID(id, t.ID) })
	})
	return plan
}

// TestAddBySession: what a session may add, and what it is told instead.
func TestAddBySession(t *testing.T) {
	d := newDirector(t, "adds")
	d.play("tasks 1")
	hats := maps.Clone(d.settings.Hats)
	for name, hat := range hats {
		hat.MayAdd = true
		hats[name] = hat
	}
	d.settings.Hats = hats
	d.play("go quiet")
	session := d.session().ID
	add := func(tasks ...ledger.Task) ledger.Answer {
		d.seq++
		a := d.do(AddTasks{Tasks: tasks, Session: session}, fmt.Sprintf("add%d", d.seq)).Answer
		d.settle()
		return a
	}
	if a := add(ledger.Task{Title: "More", DependsOn: []string{"1"}}); !a.OK {
		t.Fatalf("refused: %+v", a)
	}
	if got, ok := d.s.Project.Find("2"); !ok || got.Task.Title != "More" || got.Status != ledger.Pending || !slices.Equal(got.Task.DependsOn, []string{"Task 1"}) {
		t.Fatalf("the task is %+v", got)
	}
	for _, c := range []struct {
		name  string
		tasks []ledger.Task
		want  ledger.AnswerCode
	}{
		{"the title again", []ledger.Task{{Title: " more. "}}, ledger.CodeTwice},
		{"the id again", []ledger.Task{{ID: "task 2", Title: "Other"}}, ledger.CodeTwice},
		{"twice in one", []ledger.Task{{Title: "Other"}, {Title: "other"}}, ledger.CodeTwice},
		{"an unknown dependency", []ledger.Task{{Title: "Other", DependsOn: []string{"Task 9"}}}, ledger.CodeNoTask},
		{"a circle", []ledger.Task{{ID: "Task 7", Title: "A", DependsOn: []string{"Task 8"}}, {ID: "Task 8", Title: "B", DependsOn: []string{"Task 7"}}}, ledger.CodeCycle},
		{"itself", []ledger.Task{{ID: "Task 7", Title: "A", DependsOn: []string{"Task 7"}}}, ledger.CodeCycle},
		{"no title", []ledger.Task{{Title: " "}}, ledger.CodeNoWords},
		{"a long title", []ledger.Task{{Title: strings.Repeat("long ", 20)}}, ledger.CodeTooLong},
		{"none", nil, ledger.CodeNoWords},
	} {
		if a := add(c.tasks...); a.OK || a.Code != c.want || a.Text == "" {
			t.Errorf("%s: got %+v, want %s", c.name, a, c.want)
		}
	}
	if a := add(ledger.Task{Title: "Other"}, ledger.Task{Title: " other "}); !strings.Contains(a.Text, `two of these have the title "other"`) {
		t.Errorf("two of one title: %q", a.Text)
	}
	if d.s.Project.Run.Added != 1 {
		t.Errorf("%d tasks are counted", d.s.Project.Run.Added)
	}
	if a := add(ledger.Task{ID: "Task 5\u200b", Title: "\x1b[31mPaint\x1b[0m it\u202e red", Body: "now\r\n\x00please ", Acceptance: []string{"a\x07\nb"}}); !a.OK {
		t.Fatalf("refused: %+v", a)
	}
	if got := d.s.Project.Additions[len(d.s.Project.Additions)-1].Tasks[0]; got.ID != "Task 5" || got.Title != "Paint it red" || got.Body != "now\nplease" || got.Acceptance[0] != "a b" {
		t.Errorf("what nobody sees is left: %+v", got)
	}
	if a := add(ledger.Task{Title: "\u200b"}); a.Code != ledger.CodeNoWords {
		t.Errorf("an invisible title: %+v", a)
	}
	for added, ok := range map[int]bool{499: true, 500: false} {
		s, r := d.s, *d.s.Project.Run
		r.Added = added
		s.Project.Run = &r
		a := Decide(s, Input{Key: "last", Time: d.now, Project: "shop", Body: AddTasks{Tasks: []ledger.Task{{Title: "One more"}}, Session: session}}).Answer
		if a.OK != ok || !ok && a.Code != ledger.CodeTooMany {
			t.Errorf("after %d: %+v", added, a)
		}
	}
}
