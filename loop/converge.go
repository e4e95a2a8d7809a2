package loop

import (
	"fmt"
	"strings"

	"github.com/nightporter/nightporter/loop/ledger"
)

// converge begins the commit of an attempt's tree, or lets it wait for the batch. If the branch's tip has
// moved since the attempt began, the change is first merged onto the new tip.
// An attempt that changed nothing is done without a commit if a review or a
// person agrees, and has failed otherwise (docs/spec 2.5).
func (d *decision) converge(t TaskState) {
	r, w, id := d.run(), t.Attempt, t.Task.ID
	if d.lineGone(&t) {
		d.rest(t)
		return
	}
	if of, part := d.task(t.Task.Parent); !t.Doubted.IsZero() || part && !of.Doubted.IsZero() {
		// Another reading decides whether this is still the task's text.
		d.add(scope{task: id, session: w.Session}, ledger.AttemptEnded{Outcome: ledger.OutcomeParked, Why: whyReread})
		d.setTask(id, ledger.Ready, whyReread)
		return
	}
	if t.Task.Joins {
		d.mergePart(t)
		return
	}
	if w.Tree == w.Start {
		if s := r.Settings.For(t.Task); !t.looked() && !w.judged(s) && !s.ReadsOnly() {
			d.failAttempt(id, ledger.OutcomeFailed, "changed nothing, and nobody judged that nothing has to change")
			return
		}
		d.done(t, "")
		return
	}
	if d.landing(id) || r.Lanes() > 1 && r.Checks != nil {
		d.add(scope{task: id, session: w.Session}, ledger.StageSet{Stage: ledger.StageTurn})
		return
	}
	if w.Base != r.Tip {
		d.add(scope{task: id, session: w.Session}, ledger.StageSet{Stage: ledger.StageMerge})
		d.effect(fmt.Sprintf("%s/%s/a%d/%s", r.ID, ledger.FoldID(id), w.N, r.Tip), ledger.EffectMerge{Task: id, Merge: ledger.MergeTree{Run: r.ID, Base: w.Base, Tree: w.Tree, Onto: r.Tip, Proof: d.proofRequest(t)}})
		return
	}
	switch {
	case w.unguarded():
		d.guard(t)
		return
	case d.unshown(w):
		d.show(t)
		return
	case d.unpictured(t):
		d.shoot(t)
		return
	}
	p := d.proofOf(t)
	if p.Word == ledger.ChangedChecks && p.Allowed == "" && r.Settings.Profile != "overnight" {
		d.holdTask(t, d.checksQuestion(t))
		return
	}
	if d.batching() && !t.Task.Own { // the others can be verified only on what a task of nightporter's own mends
		d.enqueue(t)
		return
	}
	d.commit(t, nil)
}

// whyReread is the reason of a task whose commit waits for another reading of the
// source, for people.
const whyReread = "the source is read again first"

// commit begins the commit of an attempt's tree on its base. together names the
// tasks that the tree was verified together with.
func (d *decision) commit(t TaskState, together []string) {
	r, w, id := d.run(), t.Attempt, t.Task.ID
	d.add(scope{task: id, session: w.Session}, ledger.StageSet{Stage: ledger.StageCommit})
	footers := "Nightporter-Session: " + w.writer() + "\nNightporter-Proof: " + d.proofOf(t).Text() + "\n"
	if len(together) > 0 {
		footers += "Nightporter-Batch: " + strings.Join(together, ", ") + "\n"
	}
	for _, fails := range w.failsIn(exemptFor(r, id)) {
		footers += "Nightporter-Advisory: " + strings.Join(strings.Fields(fails), " ") + " fails as at the start\n"
	}
	if w.Scripted {
		footers += "Nightporter-Agent: " + ledger.ScriptedAgent + "\n"
	}
	if r.Settings.CoAuthor != "" {
		footers += "Co-authored-by: " + r.Settings.CoAuthor + "\n"
	}
	commit := ledger.EffectCommit{Task: id, Commit: ledger.CommitTask{
		Run: r.ID, Branch: r.Base.Branch, Parent: w.Base, Tree: w.Tree,
		Author: r.Base.Author, Committer: r.Base.Committer, Subject: subject(t.Task), Body: body(w), Footers: footers, Time: d.local(d.in.Time),
	}}
	if r.merging(t) {
		commit.Commit.Merges = r.Base.Upkeep.Into
	}
	if r.Settings.CommitStatus && !d.withheld(t) {
		commit.Marks = d.marksWith(t)
		p := d.progressOf(t, endStatus(t), "", "")
		commit.Progress = &p
	}
	d.effect(fmt.Sprintf("%s/%s/a%d/%s onto %s", r.ID, ledger.FoldID(id), w.N, w.Tree, w.Base), commit)
}

// endStatus returns the status that the progress log gives an attempt that
// converged.
func endStatus(t TaskState) string {
	if t.looked() {
		return "manual verify"
	}
	return "completed"
}

// mergeFinished continues an attempt after its change was merged onto a newer tip.
// The merged tree is verified again. After a conflict the task starts anew on the
// newer tip.
func (d *decision) mergeFinished(b MergeFinished) {
	t, ok := d.task(b.Task)
	if ok && t.Task.Joins && t.Attempt != nil && t.Attempt.Stage == ledger.StageMerge {
		d.partMergeFinished(t, b)
		return
	}
	if !ok || t.Attempt == nil || t.Attempt.Stage != ledger.StageMerge || b.Onto != d.run().Tip { // the result is that of an earlier attempt, or of a merge onto an older tip
		return
	}
	about := scope{task: b.Task, session: t.Attempt.Session}
	d.add(about, ledger.TreeMerged{Onto: b.Onto, Tree: b.Merged.Tree, Conflicts: b.Merged.Conflicts, Proof: b.Merged.Proof})
	if len(b.Merged.Conflicts) > 0 {
		t, _ = d.task(b.Task)
		d.collided(t, fewOf(b.Merged.Conflicts), reason("conflicts with what was done since in "+joinFew(b.Merged.Conflicts)))
		return
	}
	if t, _ = d.task(b.Task); t.Attempt.Tree == t.Attempt.Start {
		// The review was of a change. Whether the newer tip settles the task
		// without one, nobody has judged.
		d.failAttempt(b.Task, ledger.OutcomeFailed, "changed nothing: the branch has all of it by now")
		return
	}
	s := d.run().Settings
	cmds := d.taskCommands(t, nil)
	if len(cmds) == 0 {
		t, _ = d.task(b.Task)
		d.converge(t)
		return
	}
	d.add(about, newCheck(s, ledger.KindVerify, b.Merged.Tree, false, cmds))
	d.nextCheck(about, true)
}

// tipMoved handles a commit that failed because somebody else added commits to
// the run's branch. The change is merged onto their tip, as onto any newer tip
// (docs/spec 9.2).
func (d *decision) tipMoved(b TipMoved) {
	t, ok := d.task(b.Task)
	if !ok || t.Attempt == nil || t.Attempt.Stage != ledger.StageCommit {
		return
	}
	d.add(scope{task: b.Task, session: t.Attempt.Session}, ledger.TipFound{Commit: b.Tip, Tree: b.Tree})
	t, _ = d.task(b.Task)
	if d.run().Batch != nil {
		d.enqueue(t)
		d.endBatch("somebody added commits to the branch")
		return
	}
	d.converge(t)
}

// commitMade records the commit of an attempt that converged and completes its
// task.
func (d *decision) commitMade(b CommitMade) {
	t, ok := d.task(b.Task)
	if !ok || t.Attempt == nil || t.Attempt.Stage != ledger.StageCommit {
		return
	}
	w := t.Attempt
	tree := w.Tree
	if b.Committed.Tree != "" {
		tree = b.Committed.Tree
	}
	files, more := boundFiles(b.Committed.Files)
	d.add(scope{task: b.Task, session: w.Session}, ledger.TaskCommitted{
		Commit: b.Committed.Commit, Parent: w.Base, Tree: tree, Subject: subject(t.Task), Files: files, More: more,
		Exempt: w.failsIn(exemptFor(d.run(), b.Task)), Outside: w.Outside != "",
	})
	d.narrowCommit(w)
	t, _ = d.task(b.Task)
	d.done(t, b.Committed.Commit)
}

// done completes a task whose attempt converged, or asks a person to look at it.
// commit is empty if nothing was changed.
func (d *decision) done(t TaskState, commit string) {
	w, id := t.Attempt, t.Task.ID
	about := scope{task: id, session: w.Session}
	for _, q := range d.Project.questionsAbout(id) {
		if q.Kind == ledger.AskAllow {
			d.add(about, ledger.QuestionExpired{ID: q.ID, Then: "its task ended"})
		}
	}
	d.submit(t, ledger.Submit{Result: "pass", Outcome: ledger.OutcomeConverged, Commit: commit})
	p := d.proofOf(t)
	if commit != "" || !d.run().Settings.For(t.Task).ReadsOnly() { // of what only looked nothing is claimed
		d.add(about, ledger.TaskProved{Proof: p})
	}
	if p.Word == ledger.ChangedChecks && p.Allowed == "" {
		d.askChecks(t)
	}
	t, _ = d.task(id)
	switch {
	case bodyChanged(w.Of, t.Task):
		// The task was edited while its commit was made. The commit stands, but
		// the task's new text is not done.
		d.add(about, ledger.TaskSet{From: t.Status, To: ledger.Ready, Why: "edited in the source", Fresh: true})
		return
	case t.looked():
		d.askManual(t, w.Manual)
	default:
		// A run without consensus builds a task as a whole, even if an earlier
		// run had begun it in parts.
		if !t.mergedParts(d.Project.Tasks) {
			d.dropParts(t, "its task was done as a whole")
		}
		d.add(about, ledger.TaskSet{From: t.Status, To: ledger.Done})
		d.expireGuidance(id, "its task ended")
		d.mark(id, ledger.MarkDone)
	}
	d.progress(t, endStatus(t), commit, "")
}
