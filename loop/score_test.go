package loop

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/nightporter/nightporter/loop/ledger"
)

var scoredAt = time.Date(2026, 11, 19, 23, 10, 0, 0, time.UTC)

// TestScore holds the terms against worked examples of docs/spec 3.7.
func TestScore(t *testing.T) {
	needs := func(id string, s ledger.Status, on ...string) TaskState {
		return TaskState{Task: ledger.Task{ID: id, DependsOn: on}, Status: s}
	}
	for _, c := range []struct {
		name  string
		task  TaskState
		more  []TaskState
		want  Score
		total int
	}{
		{name: "nothing is known", want: Score{0, 5, 0, 0, 60, false}, total: 72},
		{name: "P0, small, unblocks two", task: TaskState{Task: ledger.Task{Priority: 4, Complexity: 1}},
			more: []TaskState{needs("b", ledger.Pending, "a"), needs("c", ledger.Pending, "a")}, want: Score{4, 1, 2, 0, 60, false}, total: 40 + 20 + 10 + 60},
		{name: "what is over is not unblocked", more: []TaskState{needs("b", ledger.Done, "a"), needs("c", ledger.Skipped, "a"), needs("d", ledger.Withdrawn, "a"), needs("e", ledger.Blocked, "a")},
			want: Score{0, 5, 1, 0, 60, false}, total: 77},
		{name: "named twice counts once", more: []TaskState{needs("b", ledger.Pending, "a", "a")}, want: Score{0, 5, 1, 0, 60, false}, total: 77},
		{name: "what depends on a dependent does not count", more: []TaskState{needs("b", ledger.Pending, "a"), needs("c", ledger.Pending, "b")}, want: Score{0, 5, 1, 0, 60, false}, total: 77},
		{name: "failed here and elsewhere, tried just now", task: TaskState{Task: ledger.Task{Failures: 2}, Failed: 1, Last: scoredAt}, want: Score{0, 5, 0, 3, 0, true}, total: 3},
		{name: "59.9 minutes ago", task: TaskState{Last: scoredAt.Add(-59*time.Minute - 54*time.Second)}, want: Score{0, 5, 0, 0, 59, true}, total: 71},
		{name: "hours ago", task: TaskState{Last: scoredAt.Add(-5 * time.Hour)}, want: Score{0, 5, 0, 0, 60, true}, total: 72},
		{name: "in the future, after a clock was set back", task: TaskState{Last: scoredAt.Add(time.Hour)}, want: Score{0, 5, 0, 0, 0, true}, total: 12},
		{name: "the source knows a later attempt", task: TaskState{Task: ledger.Task{Tried: scoredAt.Add(-10 * time.Minute)}, Last: scoredAt.Add(-time.Hour)}, want: Score{0, 5, 0, 0, 10, true}, total: 22},
		{name: "complexity out of range", task: TaskState{Task: ledger.Task{Complexity: 99}}, want: Score{0, 10, 0, 0, 60, false}, total: 62},
		{name: "negative complexity and failures", task: TaskState{Task: ledger.Task{Complexity: -7, Failures: -7}}, want: Score{0, 1, 0, 0, 60, false}, total: 80},
		{name: "a number as priority", task: TaskState{Task: ledger.Task{Priority: 100}}, want: Score{100, 5, 0, 0, 60, false}, total: 1072},
		{name: "an absurd priority does not wrap around", task: TaskState{Task: ledger.Task{Priority: 1 << 62}}, want: Score{mostPriority, 5, 0, 0, 60, false}, total: 10*mostPriority + 72},
	} {
		c.task.Task.ID = "a"
		got := NewTaskList(append([]TaskState{c.task}, c.more...)...).score(0, scoredAt)
		if d := cmp.Diff(c.want, got); d != "" || got.Total() != c.total {
			t.Errorf("%s: total %d, want %d; score (-want +got):\n%s", c.name, got.Total(), c.total, d)
		}
	}
}

// TestTurns checks for arbitrary tasks that turns are the ready tasks, each once,
// that no task stands behind one with a lower score, and that of equal ones the first
// in the source comes first.
func TestTurns(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var tasks []TaskState
		for n := range rapid.IntRange(0, 30).Draw(rt, "tasks") {
			x := TaskState{
				Task: ledger.Task{
					ID: fmt.Sprint("Task ", n), Mark: ledger.MarkOpen, Priority: rapid.IntRange(-2, 5).Draw(rt, "priority"),
					Complexity: rapid.IntRange(0, 11).Draw(rt, "complexity"),
				},
				Status: rapid.SampledFrom([]ledger.Status{ledger.Ready, ledger.Pending, ledger.Done, ledger.Blocked}).Draw(rt, "status"),
				Failed: rapid.IntRange(0, 2).Draw(rt, "failed"), Last: scoredAt.Add(-time.Duration(rapid.IntRange(0, 90).Draw(rt, "ago")) * time.Minute),
			}
			for range rapid.IntRange(0, 2).Draw(rt, "needs") {
				x.Task.DependsOn = append(x.Task.DependsOn, fmt.Sprint("Task ", rapid.IntRange(0, 30).Draw(rt, "on")))
			}
			tasks = append(tasks, x)
		}
		order := rapid.SampledFrom([]ledger.Order{"", ledger.OrderDocument, ledger.OrderScore}).Draw(rt, "order")
		s := State{Project: Project{Tasks: NewTaskList(tasks...), Run: &Run{State: ledger.RunRunning, Settings: ledger.Settings{Order: order}}}}
		turns := Turns(s, scoredAt)
		ready := 0
		for _, x := range tasks {
			if x.Status == ledger.Ready {
				ready++
			}
		}
		if len(turns) != ready {
			rt.Fatalf("%d turns for %d ready tasks", len(turns), ready)
		}
		for n, turn := range turns {
			if turn.Place != n+1 || (turn.Score != nil) != (order == ledger.OrderScore) {
				rt.Fatalf("turn %d is %+v", n, turn)
			}
			if n == 0 {
				continue
			}
			before, at := s.Project.Tasks.index(turns[n-1].Task), s.Project.Tasks.index(turn.Task)
			a, b := s.Project.Tasks.score(before, scoredAt).Total(), s.Project.Tasks.score(at, scoredAt).Total()
			if order == ledger.OrderScore && (a < b || a == b && before > at) || order != ledger.OrderScore && before > at {
				rt.Fatalf("%s (%d) stands before %s (%d)", turns[n-1].Task, a, turn.Task, b)
			}
		}
	})
}

// TestCountedOnce checks that a failed attempt that nightporter writes into the source
// weighs as much as before it was written, whatever order the readings come in.
func TestCountedOnce(t *testing.T) {
	list := func(x TaskState) TaskList { return NewTaskList(x) }
	x := TaskState{Task: ledger.Task{ID: "Task 1", Mark: ledger.MarkOpen, Failures: 2}, Status: ledger.Ready, Failed: 1, Uncounted: 1}
	for _, c := range []struct {
		name string
		fold func(*TaskState)
		want int
	}{
		{"before it is written", func(*TaskState) {}, 3},
		{"written", func(x *TaskState) { x.counted(3) }, 3},
		{"written and read again", func(x *TaskState) { x.counted(3); x.counted(3) }, 3},
		{"another tool's came on top", func(x *TaskState) { x.counted(3); x.counted(4) }, 4},
		{"taken up again by a person", func(x *TaskState) { x.counted(3); x.Failed = 0 }, 2},
		{"set back by another tool", func(x *TaskState) { x.counted(3); x.counted(0) }, 1},
	} {
		x := x
		c.fold(&x)
		if got := list(x).score(0, scoredAt).Failed; got != c.want {
			t.Errorf("%s: %d failed, want %d", c.name, got, c.want)
		}
	}
}

// BenchmarkSchedule takes the next of many ready tasks, each with dependents, by
// score.
func BenchmarkSchedule(b *testing.B) {
	for _, size := range []int{500, 10_000} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			var tasks []TaskState
			for n := range size {
				x := TaskState{Task: ledger.Task{ID: fmt.Sprint("Task ", n), Mark: ledger.MarkOpen, Priority: n * 7 % 5, Complexity: n % 11}, Status: ledger.Ready, Last: scoredAt.Add(-time.Duration(n%70) * time.Minute)}
				if n%2 == 1 {
					x.Status, x.Task.DependsOn = ledger.Pending, []string{fmt.Sprint("Task ", n/2*2), fmt.Sprint("Task ", n*3%size)}
				}
				tasks = append(tasks, x)
			}
			d := &decision{State: State{Project: Project{Tasks: NewTaskList(tasks...), Run: &Run{State: ledger.RunRunning, Settings: ledger.Settings{Order: ledger.OrderScore}}}}, in: Input{Time: scoredAt}}
			for b.Loop() {
				if _, ok := d.firstReady(); !ok {
					b.Fatal("nothing is ready")
				}
			}
		})
	}
}
