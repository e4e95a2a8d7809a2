package loop

import (
	"testing"

	"github.com/nightporter/nightporter/loop/ledger"
)

// TestBatchExemptions: what is exempt for one task of a batch is new in a tree that
// also has the change of another one.
func TestBatchExemptions(t *testing.T) {
	red := ledger.Verified{Kind: ledger.KindBatch, Results: []ledger.Result{{Run: "go test", Exit: 1, Failures: failing("TestA")}}}
	one := ledger.Exemption{Run: "go test", Failures: failing("TestA"), Task: "Task 1"}
	two := one
	two.Task = "Task 2"
	for name, c := range map[string]struct {
		tree   string
		exempt []ledger.Exemption
		ok     bool
	}{
		"of the only task":      {"t1", []ledger.Exemption{one}, true},
		"of the first of two":   {"t2", []ledger.Exemption{one}, false},
		"of the second of two":  {"t2", []ledger.Exemption{two}, false},
		"of both":               {"t2", []ledger.Exemption{one, two}, true},
		"of a task not in them": {"t1", []ledger.Exemption{two}, false},
		"of all":                {"t2", []ledger.Exemption{{Run: "go test", Failures: failing("TestA")}}, true},
	} {
		d := &decision{}
		d.Project.Run = &Run{Exempt: c.exempt, Batch: &TaskBatch{Links: []ledger.BatchLink{{Task: "Task 1", Tree: "t1"}, {Task: "Task 2", Tree: "t2"}}}}
		v := red
		v.Tree = c.tree
		if got := d.judgeBatch(v); got.OK != c.ok || got.Results[0].Advisory != c.ok {
			t.Errorf("exempt %s: ok %v, %+v", name, got.OK, got.Results)
		}
	}
}

// TestBatchBounds: each chain of up to nine changes is bisected to the first one
// that fails, with the fewest checks, and what is before it passed.
func TestBatchBounds(t *testing.T) {
	for size := 1; size <= 9; size++ {
		for culprit := 1; culprit <= size+1; culprit++ {
			b := &TaskBatch{}
			for n := range size {
				b.Links = append(b.Links, ledger.BatchLink{Tree: string(rune('a' + n))})
			}
			check := func(n int) { b = b.checked(ledger.Verified{Tree: b.Links[n-1].Tree, OK: n < culprit}) }
			check(size)
			checks, green, red := 1, 0, 0
			for green, red = b.bounds(); red-green > 1; green, red = b.bounds() {
				check((green + red) / 2)
				checks++
			}
			if red != culprit || green != culprit-1 || checks > 5 || culprit > size && checks > 1 {
				t.Errorf("%d changes, %d fails: green %d, red %d after %d checks", size, culprit, green, red, checks)
			}
		}
	}
}

// TestSentBackIsOpen: an attempt that goes back has not converged any more, so that a
// pattern without its hat starts it anew.
func TestSentBackIsOpen(t *testing.T) {
	w := applyWork(&Attempt{Converged: true, Hat: "fixer"}, &TaskState{}, &Run{}, ledger.Entry{Body: ledger.Redo{Why: ledger.RedoRed, Tree: "t1"}})
	if w.Converged || w.Stage != ledger.StageReady {
		t.Errorf("converged %v, %s", w.Converged, w.Stage)
	}
}
