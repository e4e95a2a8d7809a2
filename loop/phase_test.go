package loop

import (
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/nightporter/nightporter/loop/ledger"
)

// TestPhasesOfChangedTasks checks that a list whose tasks were changed one by one has
// the sets of one that is made at once, and that ready tasks wait for no phase.
func TestPhasesOfChangedTasks(t *testing.T) {
	status := rapid.SampledFrom([]ledger.Status{ledger.Pending, ledger.Ready, ledger.Active, ledger.Done, ledger.Blocked, ledger.Skipped, ledger.Withdrawn})
	rapid.Check(t, func(rt *rapid.T) {
		var tasks []TaskState
		for n := range rapid.IntRange(1, 12).Draw(rt, "tasks") {
			x := TaskState{Task: ledger.Task{ID: fmt.Sprint(n), Phase: rapid.IntRange(-1, 4).Draw(rt, "phase")}, Status: status.Draw(rt, "status")}
			if rapid.IntRange(0, 5).Draw(rt, "repeats") == 0 {
				x.Task.Repeat = &ledger.Repeat{Cooldown: time.Hour}
			}
			if n > 0 && rapid.Bool().Draw(rt, "needs") {
				x.Task.DependsOn = []string{fmt.Sprint(rapid.IntRange(0, n-1).Draw(rt, "on"))}
			}
			tasks = append(tasks, x)
		}
		l := NewTaskList(tasks...)
		for range rapid.IntRange(0, 20).Draw(rt, "changes") {
			n := rapid.IntRange(0, len(tasks)-1).Draw(rt, "at")
			x := *l.At(n)
			x.Status = status.Draw(rt, "to")
			l = l.With(n, x)
		}
		whole := NewTaskList(l.Slice()...)
		if !reflect.DeepEqual(l.in, whole.in) || l.phase != whole.phase {
			rt.Fatalf("phase %d and sets %v; made at once, phase %d and %v", l.phase, l.in, whole.phase, whole.in)
		}
		for n, x := range l.All() {
			for _, o := range l.All() {
				holds := o.Task.Phase > 0 && o.Task.Phase < x.Task.Phase && o.Task.Repeat == nil && o.todo()
				if holds && x.Status == ledger.Ready && !l.in[setUnsettled].has(n) {
					rt.Fatalf("%s of phase %d is ready before %s of phase %d", x.Task.ID, x.Task.Phase, o.Task.ID, o.Task.Phase)
				}
			}
		}
	})
}

// TestPhaseKnots checks that tasks that could never begin are found, with their line.
func TestPhaseKnots(t *testing.T) {
	task := func(id string, phase int, on ...string) ledger.Task {
		return ledger.Task{ID: id, Phase: phase, DependsOn: on, Line: 7}
	}
	for _, c := range []struct {
		name  string
		tasks []ledger.Task
		want  []string
	}{
		{"in order", []ledger.Task{task("a", 1), task("b", 2, "a"), task("c", 2, "b"), task("d", 0, "c")}, nil},
		{"directly", []ledger.Task{task("a", 1, "b"), task("b", 2)}, []string{"a is in phase 1 and needs b of phase 2, which begins only when phase 1 is over"}},
		{"through one without a phase", []ledger.Task{task("a", 1, "B"), task("b", 0, "c"), task("c", 3)}, []string{"a is in phase 1 and needs c of phase 3, which begins only when phase 1 is over"}},
		{"done already", []ledger.Task{task("a", 1, "b"), {ID: "b", Phase: 2, Mark: ledger.MarkDone}}, nil},
		{"a cycle is somebody else's to report", []ledger.Task{task("a", 1, "b"), task("b", 1, "a")}, nil},
		{"unknown", []ledger.Task{task("a", 1, "z")}, nil},
	} {
		var got []string
		for _, f := range phaseKnots(ledger.Snapshot{Path: "tasks.json", Tasks: c.tasks}) {
			if f.File != "tasks.json" || f.Line != 7 || f.Remedy == "" {
				t.Errorf("%s: %+v", c.name, f)
			}
			got = append(got, f.Text)
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, d)
		}
	}
}
