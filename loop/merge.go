package loop

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/request"
)

// A request is merged when an admin asks for it and confirms it (docs/spec 9.4). The
// confirmation is for one head: commits that come later are not merged by it. The
// engine looks again right before the merge, because the last look may be old.

// askMerge asks whether a request is to be merged. It refuses one that the last look
// shows as not green.
func (d *decision) askMerge(number int) {
	b, ok := d.Project.Requests.Numbered(number)
	switch {
	case !ok && number == 0:
		d.refuse(ledger.CodeNoRequest, "%s has no open request", d.in.Project)
		return
	case !ok:
		d.refuse(ledger.CodeNoRequest, "there is no request %d of %s", number, d.in.Project)
		return
	case b.Merging != "":
		d.refuse(ledger.CodeMerging, "PR %d is being merged", b.Request.Number)
		return
	}
	head := b.Pushed
	if b.Seen != nil {
		head = b.Seen.HeadCommit
	}
	if why := d.unmergeable(b); why != nil {
		d.refuse(ledger.CodeNotGreen, "%s", d.refusedMerge(b, why))
		return
	}
	for _, q := range d.Project.Questions {
		if q.Kind == ledger.AskMerge {
			d.withdraw(q, "asked again")
		}
	}
	text := fmt.Sprintf("merge PR %d into %s", b.Request.Number, b.Request.Base)
	if b.Red != "" {
		text += fmt.Sprintf(", although %s fails without those above it", b.Red)
	}
	q := ledger.Question{
		ID: d.nextID("q"), Kind: ledger.AskMerge, Run: b.Run, Text: text + "?",
		Merge: &ledger.MergeAsked{Number: b.Request.Number, HeadCommit: head},
		By:    d.by(), Asked: d.in.Time, Expires: d.in.Time.Add(offerTime),
	}
	d.add(scope{}, ledger.QuestionAsked{Question: q})
	d.answer = ledger.Answer{OK: true, Code: ledger.CodeAsked, ID: q.ID, Text: fmt.Sprintf("%s %s merge · %s cancel", q.Text, q.ID, q.ID)}
}

// unmergeable returns why a request is not asked about, as far as that is known. A
// standing that nobody keeps up to date refuses nothing.
func (d *decision) unmergeable(b request.Branch) *ledger.ForgeError {
	switch {
	case !b.IsOpen():
		return request.Refusal(ledger.RequestStanding{State: b.Request.State}, false)
	case d.Project.RequestStale(b):
		return &ledger.ForgeError{Failure: ledger.ForgeMoved, Text: BranchName(b.Name) + " was made again and is not pushed yet", Remedy: "It is, once it is verified"}
	case !d.Project.watches(b.Run):
		return nil
	}
	if why := d.Project.Requests.Blocked(b); why != nil || b.Seen == nil || b.Seen.Failure != "" {
		return why
	}
	why := request.Refusal(b.Seen.RequestStanding, d.Project.KeepsGreen(b.Run))
	if why != nil && why.Failure == ledger.ForgeEarly && !d.in.Time.Before(why.RetryAt) {
		return nil // the forge is asked right before the merge
	}
	return why
}

// RequestStale reports whether a branch's request still has what a person took out of
// the branch, or lacks what they brought back.
func (p Project) RequestStale(b request.Branch) bool {
	if b.Stale != "" || b.Lift != nil && b.Pushed != "" && (b.Lift.UnderWay || b.Pushed != b.Lift.Tip) {
		return true
	}
	return p.Run != nil && p.Run.ID == cmp.Or(b.Of, b.Run) && (p.Run.Remake != nil || b.Lift != nil && p.Run.turned(*b.Lift))
}

// turned reports whether a commit of the run was taken out of its branch, or brought
// back, since it was lifted.
func (r *Run) turned(l request.Lift) bool {
	return slices.ContainsFunc(r.Made, func(m MadeCommit) bool {
		return m.Task != "" && (l.Commit == m.Commit || l.Commit == m.Now) && m.Out != l.Back
	})
}

// withdrawMerges closes the questions that confirm a merge of a run's requests.
func (d *decision) withdrawMerges(run, why string) {
	for _, q := range d.Project.Questions {
		if of := d.Project.Requests.Branch(q.Run).Of; q.Kind == ledger.AskMerge && cmp.Or(of, q.Run) == run {
			d.withdraw(q, why)
		}
	}
}

// refusedMerge says why a request is not merged, and what to do.
func (d *decision) refusedMerge(b request.Branch, why *ledger.ForgeError) string {
	if b.IsMerged() {
		return fmt.Sprintf("PR %d is merged already.", b.Request.Number)
	}
	text := fmt.Sprintf("PR %d is not merged: %s.", b.Request.Number, why.Text)
	if remedy := d.mergeRemedy(why); remedy != "" {
		text += " " + remedy + "."
	}
	return text
}

// mergeRemedy says what a person has to do about a merge that was refused, and when.
func (d *decision) mergeRemedy(why *ledger.ForgeError) string {
	if why.Failure != ledger.ForgeEarly {
		return why.Remedy
	}
	if wait := why.RetryAt.Sub(d.in.Time); wait > time.Minute {
		return fmt.Sprintf("Ask again in %d minutes", (wait+time.Minute-1)/time.Minute)
	}
	return "Ask again in a minute"
}

// applyMerge merges the request that a person confirmed.
func applyMerge(d *decision, a answerGiven) {
	if a.choice != "merge" || a.q.Merge == nil {
		d.say("%s: nothing is merged", a.q.ID)
		return
	}
	b := d.Project.Requests.Branch(a.q.Run)
	begun, effect, ok := b.Merge(*a.q.Merge, d.by())
	if !ok {
		d.say("PR %d is not open any more", a.q.Merge.Number)
		return
	}
	d.add(scope{}, begun)
	d.effect(request.MergeKey(b.Run, begun.N), effect)
	d.say("PR %d is being merged", a.q.Merge.Number)
}

func (d *decision) expireMerge(q ledger.Question) { d.withdraw(q, "not merged") }

// requestMerged records what became of a merge.
func (d *decision) requestMerged(b RequestMerged) {
	of := d.Project.Requests.Branch(b.Run)
	if of.Merging == "" || of.Merging != b.Head {
		return
	}
	e := ledger.MergeEnded{Run: b.Run, Request: b.Request, Method: b.Method}
	if b.Failure != nil {
		e.Failure, e.Text, e.Remedy = b.Failure.Failure, b.Failure.Text, d.mergeRemedy(b.Failure)
	}
	d.add(scope{}, e)
	d.endComments(b.Run)
	if b.Request.State == ledger.RequestMerged {
		d.restack(d.Project.Requests.Branch(b.Run))
	}
}
