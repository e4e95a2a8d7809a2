package engine

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// merger answers merges by the tree that is merged, and keeps what it was asked.
type merger struct {
	Repository
	gives map[string]ledger.Merged
	onto  []string
}

func (m *merger) Merge(_ context.Context, r ledger.MergeTree) (ledger.Merged, error) {
	m.onto = append(m.onto, r.Tree+" onto "+r.Onto+"/"+r.OntoTree)
	return m.gives[r.Tree], nil
}

// TestChain lays six changes one on top of the other. Those whose place in the
// chain would prove nothing are left out, and the next one is laid under them.
func TestChain(t *testing.T) {
	tests := &ledger.ProofFacts{OnStart: "s1", Tests: []string{"a_test.go"}}
	moved := &ledger.ProofFacts{OnStart: "s2", Tests: []string{"a_test.go"}}
	guard := &ledger.ProofFacts{Guard: "g", Changes: []ledger.CheckChange{{Path: "a_test.go", Kind: "test", Action: "changed"}}}
	repo := &merger{gives: map[string]ledger.Merged{
		"t2": {Tree: "m2", Proof: moved}, "t3": {Conflicts: []string{"a.go"}}, "t4": {Tree: "m2", Proof: &ledger.ProofFacts{}},
		"t5": {Tree: "m5", Proof: guard}, "t6": {Tree: "m6", Proof: tests}, "t7": {Tree: "m7"},
	}}
	link := func(task, tree string, facts *ledger.ProofFacts) ledger.ChainLink {
		return ledger.ChainLink{Task: task, Attempt: 1, Merge: ledger.MergeTree{Base: "tip", Tree: tree, Onto: "tip"}, Proof: facts}
	}
	got, err := chain(t.Context(), repo, ledger.EffectChain{Batch: "r1-b1", Onto: "tip", Merges: []ledger.ChainLink{
		link("1", "t1", guard), link("2", "t2", tests), link("3", "t3", nil), link("4", "t4", &ledger.ProofFacts{}),
		link("5", "t5", guard), link("6", "t6", &ledger.ProofFacts{}), link("7", "t7", nil),
	}})
	if err != nil {
		t.Fatal(err)
	}
	want := loop.ChainMade{Batch: "r1-b1",
		Links: []ledger.BatchLink{{Task: "1", Attempt: 1, Tree: "t1"}, {Task: "2", Attempt: 1, Tree: "m2", Proof: moved}, {Task: "7", Attempt: 1, Tree: "m7"}},
		Left: []ledger.BatchLeft{
			{Task: "3", Why: "conflicts with the others", Conflicts: []string{"a.go"}},
			{Task: "4", Why: "the others have all of its change"},
			{Task: "5", Why: "changes checks, and has to pass by those of the others"},
			{Task: "6", Why: "changes checks, and has to pass by those of the others"},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	onto := []string{"t2 onto tip/t1", "t3 onto tip/m2", "t4 onto tip/m2", "t5 onto tip/m2", "t6 onto tip/m2", "t7 onto tip/m2"}
	if diff := cmp.Diff(onto, repo.onto); diff != "" {
		t.Errorf("merges (-want +got):\n%s", diff)
	}
}
