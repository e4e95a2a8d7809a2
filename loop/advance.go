package loop

import (
	"fmt"
	"strings"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
)

// advance plans what can be planned in the state that an input led to. It is
// the only place where work begins, so what holds work back stands here once.
func (d *decision) advance() {
	// Every pass plans something, ends something, or returns; the bound only
	// keeps a mistake in here from becoming an endless loop.
	for range 10_000 {
		r := d.run()
		if r.Over() || d.Project.busy() {
			return
		}
		if r.State == ledger.RunPlanning || r.Finishing != nil {
			// Only the run's own check can be in hand; one that was cut off
			// begins again, unless something holds it.
			if r.Checks != nil && r.Wait != ledger.WaitDisk && !(r.StopNow && r.Signal != "") {
				d.nextCheck(scope{}, true)
			}
			return
		}
		d.settleParts()
		d.settleReady()
		switch r.State {
		case ledger.RunStopping:
			if r.StopNow && r.Signal != "" {
				return // unfinished: the same command resumes it
			}
			d.finish(ledger.RunEnded{Reason: ledger.ReasonStopped, Exit: signalExit(r.Signal)})
			return
		case ledger.RunPausing:
			wait := r.Wait
			if wait == "" {
				wait = ledger.WaitPerson
			}
			d.add(scope{}, ledger.RunStateSet{State: ledger.RunPaused, Wait: wait})
			return
		case ledger.RunPaused:
			return
		case ledger.RunWaiting:
			if r.Wait == ledger.WaitDisk {
				return
			}
		}
		if d.heldCheck() || d.limited() {
			return
		}
		if t, ok := d.Project.inHand(); ok {
			if !d.planSession(t) {
				return
			}
			continue
		}
		t, ok := d.pick()
		if d.run().Over() || d.run().Finishing != nil {
			return
		}
		if !ok {
			d.nothingReady()
			return
		}
		d.claim(t)
	}
	last := ""
	for _, e := range d.entries[max(0, len(d.entries)-10):] {
		last += " " + e.Task + " " + e.Body.EntryType()
	}
	panic("loop: advance does not settle:" + last)
}

// WithLimits ends the run at a limit that holds whatever is ready (docs/spec 2.4).
func (d *decision) limited() bool {
	r := d.run()
	done, total := d.Project.Count()
	switch {
	case !r.Settings.Until.IsZero() && !d.in.Time.Before(r.Settings.Until):
		d.finish(ledger.RunEnded{Reason: ledger.ReasonUntil, Exit: 2, Text: r.Settings.Until.Format("15:04") + " has come"})
	case r.Streak >= ledger.MaxBlockedInARow:
		d.finish(ledger.RunEnded{Reason: ledger.ReasonStreak, Exit: 1, Text: fmt.Sprintf("%d tasks blocked in a row", r.Streak)})
	case r.Settings.MaxTasks > 0 && len(r.DoneNow) >= r.Settings.MaxTasks && done < total && d.anyLeft():
		d.pauseForReview()
	default:
		return false
	}
	return true
}

// anyLeft reports whether an agent could still do something in this run.
func (d *decision) anyLeft() bool {
	for _, t := range d.Project.Tasks.All() {
		if (t.Status == ledger.Ready || t.Status == ledger.Active || t.Status == ledger.Waiting) && d.wanted(t) {
			return true
		}
	}
	return false
}

func (d *decision) pauseForReview() {
	r := d.run()
	n := len(r.DoneNow)
	done, total := d.Project.Count()
	d.park("pause for review")
	next := ""
	if t, ok := d.firstReady(); ok {
		next = t.Task.ID
	}
	q := ledger.Question{
		ID: d.nextID("q"), Kind: ledger.AskReview, Run: r.ID, Title: "Pause for review",
		Text:  fmt.Sprintf("%d/%d done: %s committed on %s. Next: %s", done, total, strings.Join(shortIDs(r.DoneNow), " "), r.Base.Branch, ledger.ShortID(next)),
		Asked: d.in.Time,
	}
	d.add(scope{}, ledger.QuestionAsked{Question: q})
	d.add(scope{}, ledger.RunStateSet{State: ledger.RunPaused, Wait: ledger.WaitReview, Text: q.Text})
	d.effect(d.uniqueKey(r.ID+" review"), ledger.EffectProgress{Progress: ledger.Progress{
		Key: r.ID + " review " + q.ID, Time: d.local(d.in.Time),
		Status: "paused", Text: fmt.Sprintf("Paused after %d tasks for review", n), Next: next,
	}})
}

// pick returns the task whose turn it is: document order, unless a person
// wants one next. A mark that a person wrote beforehand counts when its
// task's turn comes.
func (d *decision) pick() (TaskState, bool) {
	// Where it is written what has to be done before, a person is asked as soon
	// as that is done: they may be awake now, and not when the task's turn comes.
	for _, t := range d.Project.Tasks.of(setToCheck) {
		if d.wanted(t) && !d.yields(t) {
			d.askManual(*t, "")
		}
	}
	if next := d.run().Next; next != "" {
		if t, ok := d.task(next); ok && t.Status == ledger.Ready && t.wish() == ledger.MarkOpen {
			return t, true
		}
	}
	for _, t := range d.Project.Tasks.ofEither(setReady, setBlocked) {
		if !d.wanted(t) || d.yields(t) {
			continue
		}
		switch {
		case t.Status == ledger.Ready && t.wish() == ledger.MarkManualVerify:
			d.askManual(*t, "")
			continue
		case t.Status == ledger.Ready && t.wish() == ledger.MarkBlocked:
			d.block(t.Task.ID, blockage{reason: "marked (blocked) in " + d.run().Settings.Source.Path, marked: true})
			if d.run().Over() || d.run().Finishing != nil {
				return TaskState{}, false
			}
			continue
		case t.Status == ledger.Blocked && d.run().Settings.OnBlocked == ledger.OnBlockedStop:
			d.finish(ledger.RunEnded{Reason: ledger.ReasonBlocked, Exit: 1, Text: ledger.ShortID(t.Task.ID) + " is blocked: " + t.Why})
			return TaskState{}, false
		case t.Status == ledger.Ready:
			return *t, true
		}
	}
	return TaskState{}, false
}

// nothingReady waits for what settles itself, or ends the run (docs/spec 2.4).
func (d *decision) nothingReady() {
	var manual, open int
	var until time.Time
	text, left := "", 0
	var unticked []string
	for _, q := range d.Project.Questions {
		if q.Kind == ledger.AskUnticked {
			unticked = append(unticked, q.Text+" ("+q.ID+")")
		}
	}
	for _, t := range d.Project.Tasks.All() {
		if t.Status == ledger.Withdrawn || t.Status == ledger.Done || t.Status == ledger.Skipped {
			continue
		}
		if !d.wanted(t) {
			left++
			continue
		}
		open++
		switch t.Status {
		case ledger.ManualVerify:
			manual++
		case ledger.Waiting:
			if q, ok := d.Project.Question(t.Question); ok && !q.Expires.IsZero() {
				if until.IsZero() || q.Expires.Before(until) {
					until, text = q.Expires, fmt.Sprintf("%s asks (%s)", ledger.ShortID(t.Task.ID), q.ID)
				}
			}
		}
	}
	switch {
	case open == 0 && len(unticked) > 0:
		d.finish(ledger.RunEnded{Reason: ledger.ReasonNothing, Exit: 1, Text: unticked[0]})
	case open == 0 && left > 0:
		d.finish(ledger.RunEnded{Reason: ledger.ReasonChosen, Exit: 0, Text: fmt.Sprintf("%d more were left out by --from or --only", left)})
	case open == 0:
		d.finish(ledger.RunEnded{Reason: ledger.ReasonDone, Exit: 0})
	case !until.IsZero():
		d.wait(ledger.WaitQuestion, until, "", text)
	case manual > 0 && manual == open:
		d.finish(ledger.RunEnded{Reason: ledger.ReasonManual, Exit: 1, Text: fmt.Sprintf("%d for you to look at", manual)})
	default:
		d.finish(ledger.RunEnded{Reason: ledger.ReasonNothing, Exit: 1, Text: d.standing()})
	}
}

// standing says why each open task cannot run.
func (d *decision) standing() string {
	var parts []string
	for n, t := range d.Project.Tasks.All() {
		switch t.Status {
		case ledger.Blocked:
			parts = append(parts, ledger.ShortID(t.Task.ID)+" blocked")
		case ledger.ManualVerify:
			parts = append(parts, ledger.ShortID(t.Task.ID)+" manual verify")
		case ledger.Waiting:
			parts = append(parts, ledger.ShortID(t.Task.ID)+" waits for "+t.Question)
		case ledger.Pending:
			if dep := d.Project.Tasks.missing(n, t); dep != "" {
				parts = append(parts, ledger.ShortID(t.Task.ID)+" needs "+ledger.ShortID(dep))
			}
		}
	}
	return strings.Join(parts, " · ")
}

// claim begins an attempt, or takes up the one that was parked.
func (d *decision) claim(t TaskState) {
	r := d.run()
	id := t.Task.ID
	resume := t.Attempt != nil
	d.setTask(id, ledger.Active, "")
	c := ledger.Commitment{TaskID: id, Title: t.Task.Title, Branch: r.Base.Branch, Base: r.Tip, Tree: r.TipTree, Resume: resume}
	if resume {
		c.Base, c.Tree = t.Attempt.Base, t.Attempt.Tree
	}
	d.add(scope{task: id}, c)
	d.add(scope{task: id}, ledger.Claim{AgentID: r.Settings.Agent, StartedAt: d.in.Time})
	if r.State == ledger.RunWaiting {
		d.add(scope{}, ledger.RunStateSet{State: ledger.RunRunning})
	}
	switch t, _ = d.task(id); {
	case resume && d.orphaned(t):
		d.replan(id, fmt.Sprintf("the pattern has no %s any more", t.Attempt.Hat))
	case resume && t.Attempt.Checks != nil:
		d.checkAgain(id)
	}
}

// checkAgain takes up an attempt that was parked while its tree was being
// verified: the tree is there, and is verified from the beginning by what the
// run verifies with now.
func (d *decision) checkAgain(id string) {
	t, _ := d.task(id)
	if t.Attempt.Checks.Kind == ledger.KindRecheck { // of the start commit: the tree of the attempt is another one, and known to be red
		d.recheck(t, *t.Attempt.Verified)
		return
	}
	about, tree := scope{task: id, session: t.Attempt.Session}, t.Attempt.Checks.Tree
	setup := t.Attempt.Captured != nil && t.Attempt.Captured.Lock
	hat := d.run().Settings.Hats[t.Attempt.Hat]
	if t.Attempt.Converged {
		hat.Expect = ledger.ExpectPass // whichever hat it was that converged
	}
	kind, cmds, setups := d.checks(t, hat, nil, setup)
	switch {
	case len(cmds) > 0:
		d.add(about, ledger.ChecksBegun{Kind: kind, Tree: tree, Setup: setups, Commands: cmds})
		d.nextCheck(about, true)
	case t.Attempt.Converged:
		d.converge(t)
	default:
		d.routeEvent(t, tree)
	}
}
