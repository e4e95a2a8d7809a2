package loop

import (
	"slices"

	"github.com/nightporter/nightporter/loop/ledger"
)

// TaskProof returns what a task's "done" is worth (docs/spec 8.4): its own word,
// or the weakest word of its parts. nil means that nothing is known, which is no
// claim: the task is from an earlier release, or a person ticked it.
func (p Project) TaskProof(t TaskState) *ledger.Proof {
	if t.Proof != nil {
		return t.Proof
	}
	var weakest *ledger.Proof
	for _, id := range t.Parts {
		if part, ok := p.Find(id); ok && part.Proof != nil && (weakest == nil || weaker(*part.Proof, *weakest)) {
			weakest = part.Proof
		}
	}
	return weakest
}

// weaker reports whether a proves less than b. What a person has to look at is
// weaker than all else.
func weaker(a, b ledger.Proof) bool {
	if a.Sure() != b.Sure() {
		return b.Sure()
	}
	words := ledger.ProofWords()
	return slices.Index(words, a.Word) > slices.Index(words, b.Word)
}

// ProofOf counts the words of the tasks that a run did. A part counts with its
// task. unsure and unallowed count the tasks on the run's branch that a person
// has to look at before a merge (Unsure), and those of them with changed checks
// that nobody allowed.
func (p Project) ProofOf(run string) (count ledger.ProofCount, unsure, unallowed int) {
	for _, t := range p.Tasks.All() {
		if t.Task.Parent == "" && p.provedIn(*t, run) {
			if count == nil {
				count = ledger.ProofCount{}
			}
			count[p.TaskProof(*t).Word]++
		}
	}
	for _, t := range p.unsureOn(run) {
		if unsure++; p.TaskProof(t).Word == ledger.ChangedChecks {
			unallowed++
		}
	}
	return count, unsure, unallowed
}

// Unsure returns the tasks on the branch of the project's run that a person has
// to look at before a merge, in the order of the source.
func (p Project) Unsure() []TaskState {
	if p.Run == nil {
		return nil
	}
	return p.unsureOn(p.Run.ID)
}

func (p Project) unsureOn(run string) []TaskState {
	// The branch of a run that continues another one holds the work of both.
	all := p.Run != nil && p.Run.ID == run && p.Run.Base.From != ""
	var out []TaskState
	for _, t := range p.Tasks.All() {
		if t.Task.Parent != "" {
			continue
		}
		if proof := p.TaskProof(*t); proof != nil && !proof.Sure() && (all || p.provedIn(*t, run)) {
			out = append(out, *t)
		}
	}
	return out
}

// provedIn reports whether a task, or one of its parts, got its first word in a
// run.
func (p Project) provedIn(t TaskState, run string) bool {
	if t.Proof != nil {
		return t.ProvedIn == run
	}
	return slices.ContainsFunc(t.Parts, func(id string) bool {
		part, ok := p.Find(id)
		return ok && part.Proof != nil && part.ProvedIn == run
	})
}
