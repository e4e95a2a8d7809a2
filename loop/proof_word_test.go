package loop_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nightporter/nightporter/internal/scenario"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// prove folds the word of a task as a run's entry.
func prove(n *scenario.Night, run, task string, p ledger.Proof) {
	n.Entry(ledger.Entry{Stream: ledger.ProjectStream("shop"), Time: n.Now, Run: run, Task: task, Actor: "daemon", Body: ledger.TaskProved{Proof: p}})
}

// TestProofOf counts the words of a run's tasks, and checks which of them a person
// has to look at.
func TestProofOf(t *testing.T) {
	n := scenario.New("shop", time.Date(2026, 11, 19, 23, 10, 0, 0, time.UTC))
	n.Start(n.Settings(), n.Base("r1"), scenario.Task(1, "One"), scenario.Task(2, "Two"), scenario.Task(3, "Three"), scenario.Task(4, "Four"))
	changed := ledger.Proof{Word: ledger.ChangedChecks, Changes: []ledger.CheckChange{{Path: "a_test.go", Kind: "test", Action: "deleted"}}}
	prove(n, "r1", "Task 1", ledger.Proof{Word: ledger.Proved})
	prove(n, "r1", "Task 2", changed)
	prove(n, "r0", "Task 3", ledger.Proof{Word: ledger.Unproved}) // by an earlier run
	check := func(step string, want ledger.ProofCount, unsure, unallowed int, look ...string) {
		t.Helper()
		p := n.State.Project
		got, u, a := p.ProofOf("r1")
		if diff := cmp.Diff(want, got); diff != "" || u != unsure || a != unallowed {
			t.Errorf("%s: %d unsure, %d unallowed (-want +got):\n%s", step, u, a, diff)
		}
		var ids []string
		for _, t := range p.Unsure() {
			ids = append(ids, t.Task.ID)
		}
		if diff := cmp.Diff(look, ids); diff != "" {
			t.Errorf("%s: to look at (-want +got):\n%s", step, diff)
		}
	}
	check("worked", ledger.ProofCount{ledger.Proved: 1, ledger.ChangedChecks: 1}, 1, 1, "Task 2")
	n.State.Project.Run.Base.From = "nightporter/shop/r0" // the branch holds r0's work as well
	check("continues r0", ledger.ProofCount{ledger.Proved: 1, ledger.ChangedChecks: 1}, 2, 1, "Task 2", "Task 3")
	n.State.Project.Run.Base.From = ""
	changed.Allowed = "Mira"
	prove(n, "", "Task 2", changed) // by a person, after the run
	check("allowed", ledger.ProofCount{ledger.Proved: 1, ledger.ChangedChecks: 1}, 0, 0)
	prove(n, "r1", "Task 4", ledger.Proof{Word: ledger.Unproved})
	check("unproved", ledger.ProofCount{ledger.Proved: 1, ledger.ChangedChecks: 1, ledger.Unproved: 1}, 1, 0, "Task 4")
	n.Entry(ledger.Entry{Stream: ledger.ProjectStream("shop"), Time: n.Now, Run: "r1", Task: "Task 4", Body: ledger.TaskSet{From: ledger.Done, To: ledger.Ready, Fresh: true}})
	check("done again", ledger.ProofCount{ledger.Proved: 1, ledger.ChangedChecks: 1}, 0, 0)
}

// TestPartsProof checks that a task has the weakest word of its parts, and counts
// once.
func TestPartsProof(t *testing.T) {
	part := func(id string, p *ledger.Proof) loop.TaskState {
		return loop.TaskState{Task: ledger.Task{ID: "Task 1/" + id, Parent: "Task 1", Own: true}, Status: ledger.Done, Proof: p, ProvedIn: "r1"}
	}
	for name, c := range map[string]struct {
		parts []loop.TaskState
		want  ledger.ProofWord
	}{
		"worst of three":      {[]loop.TaskState{part("a", &ledger.Proof{Word: ledger.Proved}), part("b", &ledger.Proof{Word: ledger.Reviewed}), part("c", &ledger.Proof{Word: ledger.Tested})}, ledger.Reviewed},
		"unallowed is worse":  {[]loop.TaskState{part("a", &ledger.Proof{Word: ledger.ChangedChecks}), part("b", &ledger.Proof{Word: ledger.Reviewed})}, ledger.ChangedChecks},
		"unknown is no claim": {[]loop.TaskState{part("a", nil)}, ""},
	} {
		whole := loop.TaskState{Task: ledger.Task{ID: "Task 1"}, Status: ledger.Done}
		for _, p := range c.parts {
			whole.Parts = append(whole.Parts, p.Task.ID)
		}
		p := loop.Project{Tasks: loop.NewTaskList(append([]loop.TaskState{whole}, c.parts...)...)}
		got := p.TaskProof(whole)
		count, _, _ := p.ProofOf("r1")
		if c.want == "" {
			if got != nil || len(count) > 0 {
				t.Errorf("%s: %v, %v", name, got, count)
			}
			continue
		}
		if got == nil || got.Word != c.want {
			t.Errorf("%s: %+v, want %s", name, got, c.want)
		}
		if diff := cmp.Diff(ledger.ProofCount{c.want: 1}, count); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestRunEndsWithProof checks that the end of a run holds the words, and that it is
// never 0 while changed checks are not allowed.
func TestRunEndsWithProof(t *testing.T) {
	for word, exit := range map[ledger.ProofWord]int{ledger.Proved: 0, ledger.Unproved: 0, ledger.ChangedChecks: 1} {
		n := scenario.New("shop", time.Date(2026, 11, 19, 23, 10, 0, 0, time.UTC))
		n.Start(n.Settings(), n.Base("r1"), scenario.Task(1, "One"))
		n.Until(func() bool { return n.State.Project.Run.Commits == 1 })
		prove(n, "r1", "Task 1", ledger.Proof{Word: word})
		n.Until(nil)
		end := n.State.Project.Run.Ended
		if end == nil || end.Exit != exit || end.Proof[word] != 1 {
			t.Errorf("%s: %+v", word, end)
		}
	}
}
