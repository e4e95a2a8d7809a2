package loop

import (
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
)

// advance plans the next work that the state allows. Work begins nowhere else,
// so each reason to hold it back is checked in this one place.
func (d *decision) advance() {
	d.publishRemade()
	// Every pass plans something, ends something, or returns; the bound only
	// keeps a mistake in advance from becoming an endless loop.
	for range 10_000 {
		r := d.run()
		if r.idle() {
			return
		}
		if d.stepTurns() {
			continue
		}
		if d.Project.busy() {
			if d.advanceLanes() {
				continue
			}
			return
		}
		if d.stepRemake() {
			continue
		}
		if r.Over() {
			return
		}
		d.restTasks()
		if d.drained() {
			continue
		}
		if r.State == ledger.RunPlanning || r.Finishing != nil {
			// Before the run has started and while it finishes, only the run's
			// own check and its last batch can be unfinished. A check that was
			// cut off begins again, unless a fault of the machine or a signal holds
			// it.
			switch {
			case isFaultWait(r.Wait) || r.StopNow && r.Signal != "":
			case r.Checks != nil:
				d.nextCheck(scope{}, true)
			case r.Batch != nil:
				d.stepBatch()
				continue
			case r.Finishing != nil:
				d.checkLift()
			}
			return
		}
		d.settleParts()
		d.settleReady()
		d.settleRepeats() // a task that is new to the run can bring them back
		d.settleReady()
		d.settleBudget()
		if r.Batch != nil && r.Batch.Made > 0 && !isFaultWait(r.Wait) && !(r.StopNow && r.Signal != "") {
			d.stepBatch() // what was verified as one is committed as one
			continue
		}
		switch r.State {
		case ledger.RunStopping:
			if r.StopNow && r.Signal != "" {
				return // unfinished: the next start of the same run continues it
			}
			e := ledger.RunEnded{Reason: ledger.ReasonStopped, Signal: r.Signal}
			if d.Project.Queued != nil {
				e = ledger.RunEnded{Reason: ledger.ReasonReplaced, Text: "a run was started"}
			}
			d.finish(e)
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
			if isFaultWait(r.Wait) {
				return
			}
		}
		if d.heldCheck() {
			continue
		}
		if d.run().Batch != nil {
			d.stepBatch()
			continue
		}
		if d.limited() {
			return
		}
		if d.verifyTip() {
			continue // where checks run beside each other, work goes on beside this one
		}
		d.publish()
		if d.checkLift() {
			return
		}
		if d.Project.Tasks.count(setDoubted) > 0 && !d.run().Aside() {
			return // the reading that decides about them is under way
		}
		if d.run().Lanes() > 1 && d.stepLanes() {
			continue
		}
		if d.run().Over() || d.run().Finishing != nil {
			continue
		}
		if t, ok := d.Project.inHand(); ok {
			if !d.planSession(t) {
				return
			}
			continue
		}
		if t, ok := d.outdated(); ok {
			d.claim(t)
			continue
		}
		if d.joinIdea() {
			continue
		}
		if d.batchDue() && d.beginBatch() {
			continue
		}
		moved, waits := d.stepWave()
		if waits {
			return
		}
		if moved {
			continue
		}
		if d.shootForPerson() {
			continue // or what it waits for is under way
		}
		t, ok := d.pick()
		if d.run().Over() || d.run().Finishing != nil {
			return
		}
		if !ok && d.run().Wave != nil { // what was left of it needs a person
			continue
		}
		if !ok && d.beginBatch() {
			continue
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

// limited stops the run at a limit that applies even if tasks are ready: a task
// that was blocked and ends it, its end time, too many blocked tasks in a row, or max_tasks (docs/spec 2.4). It
// reports whether a limit was reached.
func (d *decision) limited() bool {
	r := d.run()
	if e, ok := d.atLimit(); ok {
		d.finish(e)
		return true
	}
	done, total := d.Project.Count()
	if r.Settings.MaxTasks > 0 && len(r.DoneNow) >= r.Settings.MaxTasks && done < total && d.anyLeft() {
		d.pauseForReview()
		return true
	}
	return false
}

// atLimit returns the end of a run that is at one of these limits but max_tasks, and
// whether it is.
func (d *decision) atLimit() (ledger.RunEnded, bool) {
	r := d.run()
	q, blocked := d.blockedHere()
	switch {
	case blocked:
		return endedAt(q), true
	case !r.Settings.Until.IsZero() && !d.in.Time.Before(r.Settings.Until):
		return ledger.RunEnded{Reason: ledger.ReasonUntil, Text: r.Settings.Until.In(d.in.Time.Location()).Format("15:04") + " has come"}, true
	case r.Streak >= ledger.MaxBlockedInARow && !r.InWaves(): // there, waves without a success end it
		return ledger.RunEnded{Reason: ledger.ReasonStreak, Text: d.streakText()}, true
	}
	return ledger.RunEnded{}, false
}

// anyLeft reports whether the run has a task left that an agent can work on now
// or after a question is answered.
func (d *decision) anyLeft() bool {
	for _, t := range d.Project.Tasks.All() {
		if (t.Status == ledger.Ready || t.Status == ledger.Active || t.Status == ledger.Waiting) && d.wanted(t) {
			return true
		}
	}
	return false
}

// pauseForReview parks the active task, if any, asks a person to review the tasks done
// since the run started or resumed, and pauses the run until they answer.
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
	if r.Scripted > 0 && r.Settings.ScriptedMarks == ledger.ScriptedWithheld {
		return
	}
	d.effect(d.uniqueKey(r.ID+" review"), ledger.EffectProgress{Progress: ledger.Progress{
		Key: r.ID + " review " + q.ID, Time: d.local(d.in.Time),
		Status: "paused", Text: fmt.Sprintf("Paused after %d tasks for review", n), Next: next,
	}, Source: d.Project.Source})
}

// pick returns the next task to work on: the task that a person asked for with
// /next, or else the first ready one in the order of the run. A status mark that a
// person wrote into the source takes effect when its task's turn comes: pick
// then asks about the task or blocks it. pick may end the run.
func (d *decision) pick() (TaskState, bool) {
	// A task that names its dependencies need not wait for its turn: a person
	// is asked as soon as the dependencies are done, because they may be awake
	// now and asleep later.
	for _, t := range d.Project.Tasks.of(setToCheck) {
		if d.wanted(t) && !d.yields(t) {
			d.askManual(*t, "")
		}
	}
	for t := range d.turns() {
		return *t, true
	}
	return TaskState{}, false
}

// turns iterates over the ready tasks in the order in which the run takes them. Where a
// mark in the source wants it, a task is asked about or blocked instead, which may end
// the run: then there are no more.
func (d *decision) turns() iter.Seq[*TaskState] {
	return func(yield func(*TaskState) bool) {
		chosen, ok := d.chosen()
		if ok && !yield(&chosen) {
			return
		}
		for _, t := range d.byTurn(setReady, setBlocked) {
			if !d.wanted(t) || d.yields(t) || !d.inWave(t) || ok && ledger.SameID(t.Task.ID, chosen.Task.ID) {
				continue
			}
			switch {
			case t.Status == ledger.Ready && t.wish() == ledger.MarkManualVerify:
				d.askManual(*t, "")
			case t.Status == ledger.Ready && t.wish() == ledger.MarkBlocked:
				d.block(t.Task.ID, blockage{reason: "marked (blocked) in " + d.run().Settings.Source.Path, marked: true})
				if q, ok := d.blockedHere(); ok {
					d.finish(endedAt(q))
					return
				}
			case t.Status == ledger.Blocked && d.run().Settings.OnBlocked == ledger.OnBlockedStop:
				d.finish(ledger.RunEnded{Reason: ledger.ReasonBlocked, Text: ledger.ShortID(t.Task.ID) + " is blocked: " + t.Why})
				return
			case t.Status != ledger.Ready || t.Queued() || d.unfit(t):
			default:
				next := t
				if other, ok := d.besides(*t); ok && d.suspect(*t) {
					next = &other
				}
				if !yield(next) {
					return
				}
			}
		}
	}
}

// nothingReady handles a run without a ready task. The run waits if an open
// question of a task has an expiry time, and ends otherwise (docs/spec 2.4).
func (d *decision) nothingReady() {
	var manual, open int
	var until time.Time
	text := ""
	for _, t := range d.Project.Tasks.All() {
		if !d.isOpen(t) || !d.wanted(t) {
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
	case d.run().Aside() && until.IsZero():
		d.finish(ledger.RunEnded{Reason: d.run().asideOver()})
	case open == 0:
		d.finish(d.nothingLeft())
	case !until.IsZero():
		d.wait(ledger.WaitQuestion, until, "", text)
	case d.standsAtBudget():
	case manual > 0 && manual == open:
		d.finish(ledger.RunEnded{Reason: ledger.ReasonManual, Text: fmt.Sprintf("%d for you to look at", manual)})
	default:
		d.finish(ledger.RunEnded{Reason: ledger.ReasonNothing, Text: d.standing()})
	}
}

// isOpen reports whether a task is still to do, or to ask about. A part of a task
// that rests is not.
func (d *decision) isOpen(t *TaskState) bool {
	return t.Status != ledger.Withdrawn && t.Status != ledger.Done && t.Status != ledger.Skipped && !d.lineGone(t)
}

// nothingLeft returns the ending of a run that has worked through its tasks. It is
// decided twice: when no task is left, and again when the run ends, because the
// source may change while the branch tip is verified.
func (d *decision) nothingLeft() ledger.RunEnded {
	var open, left []string
	for _, t := range d.Project.Tasks.All() {
		switch {
		case !d.isOpen(t):
		case d.wanted(t):
			open = append(open, t.Task.ID)
		default:
			left = append(left, t.Task.ID)
		}
	}
	n := slices.IndexFunc(d.Project.Questions, func(q ledger.Question) bool { return q.Kind == ledger.AskUnticked })
	switch {
	case len(open) > 0:
		return ledger.RunEnded{Reason: ledger.ReasonNothing, Text: joinFew(shortIDs(open)) + " to do since the run began to end"}
	case n >= 0:
		q := d.Project.Questions[n]
		return ledger.RunEnded{Reason: ledger.ReasonNothing, Text: q.Text + " (" + q.ID + ")"}
	case len(d.lost()) > 0:
		return ledger.RunEnded{Reason: ledger.ReasonNothing, Text: d.lostText()}
	case len(left) > 0 && d.run().Settings.Only == "":
		return ledger.RunEnded{Reason: ledger.ReasonNothing, Before: left, Text: fmt.Sprintf("%s before --from %s still to do", joinFew(shortIDs(left)), ledger.ShortID(d.run().Settings.From))}
	case len(left) > 0:
		return ledger.RunEnded{Reason: ledger.ReasonChosen, Text: fmt.Sprintf("%d more were left out by --only", len(left))}
	}
	return ledger.RunEnded{Reason: ledger.ReasonDone}
}

// standing returns one line that says why each open task cannot run.
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
			if why := d.Project.Tasks.waitsFor(n, t); why != "" {
				parts = append(parts, ledger.ShortID(t.Task.ID)+" "+why)
			}
		}
	}
	if len(d.lost()) > 0 {
		parts = append(parts, d.lostText())
	}
	return strings.Join(parts, " · ")
}

// claim makes a task active and begins an attempt at it, or resumes the attempt
// that was parked.
func (d *decision) claim(t TaskState) {
	r := d.run()
	id := t.Task.ID
	resume, queued, from := t.Attempt != nil, t.Queued(), ""
	lane, _ := d.freeLane()
	if resume {
		from = t.Attempt.Run
	}
	d.setTask(id, ledger.Active, "")
	c := ledger.Commitment{TaskID: id, Title: t.Task.Title, Branch: r.Base.Branch, Resume: resume}
	c.Base, c.Tree = d.startOf(t)
	if r.merging(t) {
		c.Tree = r.Base.Upkeep.Tree
	}
	if resume {
		c.Base, c.Tree = t.Attempt.Base, t.Attempt.Tree
	}
	d.add(scope{task: id}, c)
	d.add(scope{task: id}, ledger.Claim{AgentID: r.Settings.Agent, StartedAt: d.in.Time, Lane: lane})
	if r.State == ledger.RunWaiting {
		d.add(scope{}, ledger.RunStateSet{State: ledger.RunRunning})
	}
	switch t, _ = d.task(id); {
	case queued:
		d.dequeue(t, from)
	case resume && d.orphaned(t):
		d.replan(id, fmt.Sprintf("the pattern has no %s any more", t.Attempt.Hat))
	case resume && t.Attempt.Checks != nil:
		d.checkAgain(id)
	case resume && d.partsIn(&t):
		d.goOnMerged(t)
	case resume && t.Attempt.Converged: // its line was gone when it was about to be committed
		d.dequeue(t, from)
	}
}

// checkAgain resumes an attempt that was parked while its tree was being
// verified. The tree still exists, so no session is needed. Verification starts
// over, because the run's commands may be other ones by now.
func (d *decision) checkAgain(id string) {
	t, _ := d.task(id)
	if t.Attempt.Checks.Kind == ledger.KindRecheck { // a recheck runs on the start commit; the attempt's own tree is known to be red
		if v := *t.Attempt.Verified; v.OK {
			d.recount(t)
		} else {
			d.recheck(t, v)
		}
		return
	}
	switch t.Attempt.Checks.Kind { // the tree of these is not the attempt's own
	case ledger.KindGuard:
		d.guard(t)
		return
	case ledger.KindProof, ledger.KindShot:
		d.converge(t)
		return
	}
	about, tree := scope{task: id, session: t.Attempt.Session}, t.Attempt.Checks.Tree
	setup := t.Attempt.Captured != nil && t.Attempt.Captured.Lock
	hat := d.run().Settings.Hats[t.Attempt.Hat]
	if t.Attempt.Converged {
		hat.Expect = ledger.ExpectPass // a converged tree has to pass, whichever hat made it
	}
	c := d.checks(t, hat, tree, nil, setup)
	switch {
	case len(c.Commands) > 0:
		d.add(about, c)
		d.nextCheck(about, true)
	case t.Attempt.Converged:
		d.converge(t)
	default:
		d.routeEvent(t, tree)
	}
}
