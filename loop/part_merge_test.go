package loop

import (
	"testing"

	"github.com/nightporter/nightporter/loop/ledger"
)

// TestPartMergedCarriesOutside checks that what sessions of a part had read, and that the
// scripted agent had one of them, holds for the attempt whose tree has their change.
func TestPartMergedCarriesOutside(t *testing.T) {
	d := playing(t, "set pattern=ultrawork parallel=2", "tasks 1", "go quiet", "sections a b")
	merged := ledger.PartMerged{Part: "Task 1/a", Session: "r1-2", Tree: "t1", Outside: ledger.OutsideClosed, Scripted: true}
	s := Apply(d.s, ledger.Entry{Stream: ledger.ProjectStream("shop"), Task: "Task 1", Session: "r1-2", Time: d.now, Body: merged})
	of, ok := s.Project.Find("Task 1")
	if !ok || of.Attempt == nil || of.Attempt.Outside != ledger.OutsideClosed || !of.Attempt.Scripted {
		t.Fatalf("the attempt does not have what its part had: %+v", of.Attempt)
	}
	if !s.Project.Tainted(TaintWork, taintID(s.Project.Source, "Task 1")) {
		t.Error("later prompts of the task quote outside text, and it is not marked")
	}
}
