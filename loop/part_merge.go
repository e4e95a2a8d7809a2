package loop

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/payload"
)

// A pattern whose route divides the plan (ledger.EachSection) has one builder for each
// section. The parts of its tasks have no commits: the change of each is merged into the
// tree of its task, one after the other, in the order of the plan if several wait. When
// all are in it, the tree is verified, and the attempt goes on as after one session of
// the builder: one review of the whole, one commit (docs/spec 4.5). A part that fails
// leaves what the others merged as it is.

// MergedParts are the changes of a task's parts so far. They are kept apart from the
// attempt's own tree, because a planner can revise other sections meanwhile.
type MergedParts struct {
	Tree  string       `json:"tree"` // of the attempt before them, with all of them
	Parts []MergedPart `json:"parts,omitempty"`
	Setup bool         `json:"setup,omitempty"` // one of them changed a lockfile
	Whole bool         `json:"whole,omitempty"` // no other section becomes a part

	Made []string `json:"made,omitempty"` // ids of the parts, as written
	Hat  string   `json:"hat,omitempty"`  // that works on them; "" = the one after the plan
}

// MergedPart is one of them.
type MergedPart struct {
	ID      string `json:"id"`
	Session string `json:"session"` // that wrote it
	Summary string `json:"summary,omitempty"`

	Manual    string `json:"manual,omitempty"`    // what a person has to look at
	Learnings string `json:"learnings,omitempty"` // of its sessions

	Disputed json.RawMessage `json:"disputed,omitempty"` // a list, of what it had to mend
}

// mergesParts reports whether the parts of the task's plan are merged into its own tree.
// All parts of a task are of one kind, whatever the pattern of a later run says: a task
// whose parts have commits is never committed itself.
func (d *decision) mergesParts(t TaskState) bool {
	if len(t.Parts) > 0 {
		return t.joinedBy(d.Project.Tasks)
	}
	return d.run().Settings.For(t.Task).Pattern.BuilderOf(ledger.EachSection) != "" && !isPart(t.Task)
}

// startOf returns the commit and the tree that the task's next attempt begins with: the
// tip of the branch or, for a part, what the parts before it made of its task's tree.
func (d *decision) startOf(t TaskState) (base, tree string) {
	if of, ok := d.task(t.Task.Parent); ok && t.Task.Joins && of.Attempt != nil && of.Attempt.Merged != nil {
		return of.Attempt.Base, of.Attempt.Merged.Tree
	}
	return d.run().Tip, d.run().TipTree
}

// awaitParts parks a task until the changes of its n parts are merged into its tree.
func (d *decision) awaitParts(t TaskState, n int, until string) {
	id := t.Task.ID
	about := scope{task: id, session: t.Attempt.Session}
	d.add(about, ledger.AttemptEnded{Outcome: ledger.OutcomeParked, Why: "goes on when " + until})
	t, _ = d.task(id)
	d.add(about, ledger.TaskSet{From: t.Status, To: ledger.Pending, Why: partsText(n)})
}

func partsText(n int) string {
	if n == 1 {
		return "1 part"
	}
	return fmt.Sprintf("%d parts", n)
}

// mergePart merges the change of a part that converged into the tree of its task, or
// lets it wait for its turn.
func (d *decision) mergePart(t TaskState) {
	w, id := t.Attempt, t.Task.ID
	of, _ := d.task(t.Task.Parent)
	if of.Attempt == nil || of.Attempt.Merged == nil {
		// Another attempt at the part would end here, too.
		if !slices.Contains(of.Parts, id) {
			of.Parts = append(slices.Clip(of.Parts), id)
		}
		d.planAnew(of, "the attempt at "+ledger.ShortID(t.Task.Parent)+" is over")
		return
	}
	about, into := scope{task: id, session: w.Session}, of.Attempt.Merged.Tree
	switch {
	case w.Tree == w.Start:
		d.partMerged(t, of, into, of.Attempt.Facts)
	case d.mergingPart(of):
		d.add(about, ledger.StageSet{Stage: ledger.StageTurn})
	default:
		d.add(about, ledger.StageSet{Stage: ledger.StageMerge})
		d.effect(fmt.Sprintf("%s/%s/a%d/%s", d.run().ID, ledger.FoldID(id), w.N, into), ledger.EffectMerge{Task: id, Merge: ledger.MergeTree{
			Run: d.run().ID, Base: of.Attempt.Base, BaseTree: w.Start, Tree: w.Tree, Onto: of.Attempt.Base, OntoTree: into,
			Proof: d.proofRequest(of), Since: of.Attempt.Start,
		}})
	}
}

// mergingPart reports whether the change of a part of the task is being merged.
func (d *decision) mergingPart(of TaskState) bool {
	for _, t := range d.Project.inLanes() {
		if t.Task.Joins && t.Attempt.Stage == ledger.StageMerge && ledger.SameID(t.Task.Parent, of.Task.ID) {
			return true
		}
	}
	return false
}

// partMergeFinished continues a part after its change was merged. After a conflict it
// starts anew on the tree of its task as it is now, and is told both sides.
func (d *decision) partMergeFinished(t TaskState, b MergeFinished) {
	of, _ := d.task(t.Task.Parent)
	if of.Attempt == nil || of.Attempt.Merged == nil || of.Attempt.Merged.Tree != b.OntoTree {
		return // of an earlier attempt
	}
	if paths := b.Merged.Conflicts; len(paths) > 0 {
		d.add(scope{task: t.Task.ID, session: t.Attempt.Session}, ledger.TreeMerged{Onto: b.Onto, OntoTree: b.OntoTree, Conflicts: paths})
		t, _ = d.task(t.Task.ID)
		d.collided(t, fewOf(paths), "conflicts with other sections in "+joinFew(paths))
		return
	}
	d.partMerged(t, of, b.Merged.Tree, b.Merged.Proof)
}

// partMerged completes a part whose change is in the tree of its task.
func (d *decision) partMerged(t, of TaskState, tree string, facts *ledger.ProofFacts) {
	w, id := t.Attempt, t.Task.ID
	m := ledger.PartMerged{
		Part: id, Session: w.writer(), Tree: tree, Proof: facts,
		Manual: w.Manual, Learnings: w.Learnings, Outside: w.Outside, Scripted: w.Scripted,
	}
	if n := len(w.History); n > 0 {
		m.Summary = w.History[n-1].Summary
	}
	if disputed := payload.Field(w.Event.Data, "disputed"); len(payload.Items(disputed)) > 0 {
		m.Disputed = disputed
	}
	if w.Captured != nil {
		m.Files, m.Setup = len(w.Captured.Files)+w.Captured.More, w.Captured.Lock
	}
	d.submit(t, ledger.Submit{Result: "pass", Outcome: ledger.OutcomeConverged})
	d.add(scope{task: of.Task.ID, session: w.Session}, m)
	d.changeTask(id, ledger.TaskSet{To: ledger.Done, Why: "merged into " + ledger.ShortID(of.Task.ID)})
	d.expireGuidance(id, "its task ended")
}

// goneOn says that the tree of a part's task takes no change of the part any more, because
// the task goes on without it or is blocked; "" if it does, or if t is no such part.
func (p Project) goneOn(t TaskState) string {
	n := p.index(t.Task.Parent)
	if !t.Task.Joins || n < 0 {
		return ""
	}
	switch of := p.Tasks.At(n); {
	case of.Attempt != nil && of.Attempt.Merged != nil:
		return ""
	case of.Attempt != nil || of.Status == ledger.Done || of.Status == ledger.ManualVerify:
		return fmt.Sprintf("%s goes on without %s", ledger.ShortID(of.Task.ID), ledger.ShortID(t.Task.ID))
	default:
		return fmt.Sprintf("%s is %s", ledger.ShortID(of.Task.ID), of.Status)
	}
}

// partsIn reports whether the changes of all parts of a task are in its tree.
func (d *decision) partsIn(t *TaskState) bool {
	return t.Attempt != nil && t.Attempt.Merged != nil && t.Attempt.Merged.Whole && d.Project.Tasks.openPart(t) == ""
}

// mergedParts reports whether the task has parts, and the change of each is in its tree.
func (t *TaskState) mergedParts(l TaskList) bool {
	return t.joinedBy(l) && l.openPart(t) == ""
}

// joinedBy reports whether parts of the task are merged into its tree.
func (t *TaskState) joinedBy(l TaskList) bool {
	return slices.ContainsFunc(t.Parts, func(id string) bool {
		n := l.index(id)
		return n >= 0 && l.At(n).Task.Joins
	})
}

// goOnMerged continues an attempt with the tree that has the changes of all its parts:
// it is verified, then routed as after one session of the builder.
func (d *decision) goOnMerged(t TaskState) {
	id, s, m := t.Task.ID, d.run().Settings.For(t.Task), t.Attempt.Merged
	name := cmp.Or(m.Hat, s.Pattern.BuilderOf(ledger.EachSection), afterPlan(s))
	hat := s.Hats[name]
	session := t.Attempt.Session
	if n := len(m.Parts); n > 0 {
		session = m.Parts[n-1].Session
	}
	event := ledger.PartsMerged{Hat: name, Session: session, Type: hat.Emits[0], Tree: m.Tree, Data: t.saidByParts()}
	about := scope{task: id, session: session}
	d.add(about, event)
	t, _ = d.task(id)
	c := d.checks(t, hat, m.Tree, nil, m.Setup)
	if len(c.Commands) == 0 {
		d.stands(t, m.Tree)
		return
	}
	d.add(about, c)
	d.nextCheck(about, false)
}

// done says what the parts have done when all of them have.
func (m *MergedParts) done() string {
	if m.Hat != "" {
		return "its sections are mended"
	}
	return "its sections are built"
}

// saidByParts returns what the sessions of the task's parts said, as one event.
func (t *TaskState) saidByParts() json.RawMessage {
	var said, look, learnt []string
	var disputed []json.RawMessage
	left := "not built: a person skipped it"
	if t.Attempt.Merged.Hat != "" {
		left = "not mended: a person skipped it"
	}
	for _, part := range t.Attempt.Merged.Made {
		short, summary := ledger.ShortID(part), left
		for _, p := range t.Attempt.Merged.Parts {
			if !ledger.SameID(p.ID, part) {
				continue
			}
			if summary = p.Summary; p.Manual != "" {
				look = append(look, short+": "+p.Manual)
			}
			if p.Learnings != "" {
				learnt = append(learnt, short+": "+p.Learnings)
			}
			disputed = append(disputed, payload.Items(p.Disputed)...)
		}
		said = append(said, strings.TrimSpace(short+": "+summary))
	}
	fields := map[string]any{"summary": strings.Join(said, "\n"), "files_modified": []string{}}
	if len(look) > 0 {
		fields["manual_verify"] = strings.Join(look, "\n")
	}
	if len(learnt) > 0 {
		fields["learnings"] = strings.Join(learnt, "\n")
	}
	if len(disputed) > 0 {
		fields["disputed"] = disputed
	}
	data, _ := json.Marshal(fields) // strings and valid JSON cannot fail
	return data
}

// withParts folds that parts were made: from now on their changes have a tree, which
// begins with that of the attempt.
func (w *Attempt) withParts(b ledger.PartsMade) {
	if len(b.Parts) > 0 && !b.Parts[0].Joins || w.Merged == nil && len(b.Parts) == 0 {
		return
	}
	m := MergedParts{Tree: w.Tree}
	if w.Merged != nil {
		m = *w.Merged
	}
	m.Whole = m.Whole || b.Whole
	for _, t := range b.Parts {
		m.Made, m.Hat = append(slices.Clip(m.Made), t.ID), t.Hat
	}
	w.Merged = &m
}

// withPart folds that the change of a part was merged.
func (w *Attempt) withPart(b ledger.PartMerged) {
	if w.Merged == nil {
		return
	}
	m := *w.Merged
	m.Tree, m.Setup = b.Tree, m.Setup || b.Setup
	m.Parts = append(m.Parts[:len(m.Parts):len(m.Parts)], MergedPart{ID: b.Part, Session: b.Session, Summary: b.Summary, Manual: b.Manual, Learnings: b.Learnings, Disputed: b.Disputed})
	w.Merged, w.Facts = &m, b.Proof
	w.Scripted = w.Scripted || b.Scripted
	if b.Outside != "" && w.Outside != ledger.OutsideClosed {
		w.Outside = b.Outside
	}
}

// afterParts folds that the attempt goes on with the changes of all parts.
func (w *Attempt) afterParts(b ledger.PartsMerged) {
	w.Captured = &ledger.Capture{Tree: b.Tree, Lock: w.Merged != nil && w.Merged.Setup, Proof: w.Facts}
	w.Hat, w.Session, w.Event, w.Merged = b.Hat, b.Session, &ledger.EventAccepted{Type: b.Type, Data: b.Data}, nil
	w.Stage, w.Note, w.Replaces, w.Converged = ledger.StageChecks, "", "", false
}
