package loop

import (
	"cmp"
	"slices"

	"github.com/nightporter/nightporter/loop/ledger"
)

// With parallel = N a run works on several tasks at a time (docs/spec 4.5). Each attempt
// has a lane, which is a work folder of its own. What the project has once is used in
// turn: the room, in which one check runs at a time (StageRoom), and the branch's tip,
// onto which one change is merged, verified and committed at a time (StageTurn). Both
// turns go by the order of the source, so they do not depend on who was faster.
//
// All that concerns the whole run (its end, a pause, a batch, a branch that is made
// again) waits until no attempt is busy, and no other work begins meanwhile. With one
// lane nothing of this applies.

// Lanes returns the number of tasks that the run works on at a time. Waves fix one
// report after another, and what keeps a request green is one task.
func (r *Run) Lanes() int {
	if r == nil || r.InWaves() || r.Aside() || r.Check {
		return 1
	}
	return max(r.Settings.Parallel, 1)
}

// inLanes returns the tasks whose attempts are under way, in document order. In a run
// with one lane there is at most one, but for a run that had more when it was stopped.
func (p Project) inLanes() (tasks []TaskState) {
	for _, t := range p.Tasks.of(setAttempt) {
		if t.Status == ledger.Active && t.Attempt.Stage != ledger.StageHeld {
			tasks = append(tasks, *t)
		}
	}
	return tasks
}

// freeLane returns the first lane that no attempt works in, and whether there is one.
func (d *decision) freeLane() (int, bool) {
	taken := map[int]bool{}
	for _, t := range d.Project.inLanes() {
		taken[t.Attempt.Lane] = true
	}
	for _, s := range d.Project.Sessions { // also those of attempts that are over
		taken[s.Lane] = taken[s.Lane] || s.Task != ""
	}
	for lane := range d.run().Lanes() {
		if !taken[lane] {
			return lane, true
		}
	}
	return 0, false
}

// LaneFree reports whether the run has a lane in which no attempt works.
func (s State) LaneFree() bool {
	_, free := (&decision{State: s}).freeLane()
	return free
}

// advanceLanes plans more work while other work of the run is under way. It reports
// whether it did.
func (d *decision) advanceLanes() bool {
	if d.run().Lanes() == 1 {
		return false
	}
	if d.loaded = false; d.wantsQuiet() {
		d.noteLoad()
		return false
	}
	d.settleParts() // else they wait for the other lanes
	d.settleReady()
	if d.Project.roomFree() && !d.landing("") && d.verifyTip() {
		return true
	}
	d.publish()
	if d.resumeChecks() || d.stepLanes() {
		return true
	}
	d.noteLoad()
	return false
}

// wantsQuiet reports whether the run has something to do for which nothing may be under
// way, or has to stop before it begins more.
func (d *decision) wantsQuiet() bool {
	r := d.run()
	if r.Over() || r.Finishing != nil || r.Batch != nil {
		return true
	}
	if r.State != ledger.RunRunning && (r.State != ledger.RunWaiting || isFaultWait(r.Wait)) {
		return true
	}
	if _, stops := d.atLimit(); stops {
		return true
	}
	return d.Project.Tasks.count(setDoubted) > 0
}

// stepLanes plans the next session of an attempt that can have one, or takes another
// task into a free lane. It reports whether it did. It never lets the run wait.
func (d *decision) stepLanes() bool {
	for _, t := range d.Project.inLanes() {
		if t.Attempt.Stage == ledger.StageReady && !d.flies(t.Task.ID) && d.canPlan(&t) && d.planSession(t) {
			return true
		}
	}
	if d.takesNoMore() {
		return false
	}
	t, ok := d.pickBeside()
	if ok {
		d.claim(t)
	}
	return ok || d.run().Over() || d.run().Finishing != nil
}

// canPlan reports whether the task's next session could start now: its agent is not
// held and has a session left, a slot is free, it fits into the budget beside what others
// have reserved, and the machine has room for it.
func (d *decision) canPlan(t *TaskState) bool {
	hat, ok := d.run().upcoming().Hats[d.hatOf(t)]
	if !ok {
		return true // planSession says what is wrong
	}
	agent, held, ok := d.agentFor(t.Attempt, hat)
	if held != nil || ok && d.onTrial(agent) {
		return false
	}
	if n := d.Shared.MaxSessions; n > 0 && len(d.Shared.Leases) >= n {
		return false
	}
	if d.accountBusy(agent) {
		return false
	}
	_, short := d.reserve(*t, hat, agent)
	return short == nil && !d.holdsForLoad()
}

// takesNoMore reports whether the tasks in hand are all that the run takes before
// something else has its turn: a person's look at what is done, a batch, or a branch that
// is made again.
func (d *decision) takesNoMore() bool {
	r := d.run()
	return d.lastTasks() && !d.partsInHand() || r.Remake != nil || d.batchDue()
}

// lastTasks reports whether the tasks in hand are the last ones before a pause for
// review or a batch. Parts in hand are one task.
func (d *decision) lastTasks() bool {
	r, inHand := d.run(), map[string]bool{}
	for _, t := range d.Project.inLanes() {
		inHand[ledger.FoldID(cmp.Or(t.Task.Parent, t.Task.ID))] = true
	}
	return r.Settings.MaxTasks > 0 && len(r.DoneNow)+len(inHand) >= r.Settings.MaxTasks || d.batchFills(len(inHand))
}

// partsInHand reports whether a part of a task is in hand, so that others of it may be.
func (d *decision) partsInHand() bool {
	return slices.ContainsFunc(d.Project.inLanes(), func(t TaskState) bool { return t.Task.Parent != "" })
}

// besideLast reports whether a task may be taken beside the last ones before a pause for
// review or a batch: a part of one of them.
func (d *decision) besideLast(t *TaskState) bool {
	return t.Task.Parent != "" && slices.ContainsFunc(d.Project.inLanes(), func(o TaskState) bool { return ledger.SameID(o.Task.Parent, t.Task.Parent) })
}

// pickBeside returns the next task to work on beside those in hand. The order of the
// run holds, but for tasks that would be in the way of one in hand: others go first. A
// task that has to be alone is not overtaken.
func (d *decision) pickBeside() (TaskState, bool) {
	if _, free := d.freeLane(); !free {
		return TaskState{}, false
	}
	inHand, landing, last := d.Project.inLanes(), d.landing(""), d.lastTasks()
	if t, ok := d.outdated(); ok && !landing && !last && !d.flies(t.Task.ID) && d.waitsBeside(&t, inHand) == "" {
		return t, true
	}
	for t := range d.turns() {
		switch {
		case d.flies(t.Task.ID), last && !d.besideLast(t):
		case landing && t.Attempt != nil && t.Attempt.Converged: // or it would land, too
		case d.waitsBeside(t, inHand) == "" && d.canPlan(t):
			return *t, true
		case d.alone(t):
			return TaskState{}, false
		}
	}
	return TaskState{}, false
}

// flies reports whether a session of a task is in flight, maybe of an attempt that is
// over.
func (d *decision) flies(task string) bool {
	return slices.ContainsFunc(d.Project.Sessions, func(s Session) bool { return ledger.SameID(s.Task, task) })
}

// hatOf returns the hat of the task's next session.
func (d *decision) hatOf(t *TaskState) string {
	if t.Attempt != nil {
		return t.Attempt.Hat
	}
	return firstHat(d.run().Settings.For(t.Task), t.Task, t.startsWithPlan())
}

// WaitsBeside returns the id of the task in hand that keeps a ready task from being
// worked on now, "" if none does. alone reports that the two are not in each other's
// way: one of them has no other beside it.
func (s State) WaitsBeside(t TaskState) (task string, alone bool) {
	d := &decision{State: s}
	if d.run().Lanes() == 1 {
		return "", false
	}
	inHand := s.Project.inLanes()
	task = d.waitsBeside(&t, inHand)
	if task == "" {
		return "", false
	}
	other, _ := d.task(task)
	return task, d.alone(&t) || d.alone(&other)
}

// waitsBeside returns the id of the first task in hand that a task cannot be worked on
// beside, or "".
func (d *decision) waitsBeside(t *TaskState, inHand []TaskState) string {
	for _, o := range inHand {
		if d.meet(t, &o) {
			return o.Task.ID
		}
	}
	for _, o := range d.Project.Tasks.of(setAttempt) {
		if o.Attempt.Merged == nil || o.Status != ledger.Pending && !d.argued(o) || ledger.SameID(o.Task.ID, t.Task.ID) || ledger.SameID(o.Task.ID, t.Task.Parent) {
			continue // it has no tree of several sections, which would have to be merged as a whole
		}
		if !d.argued(o) && !d.goesOn(o) {
			continue // whoever waits for a person keeps nobody
		}
		if d.alone(o) || !d.writeApart(t, o) {
			return o.Task.ID
		}
	}
	return ""
}

// goesOn reports whether a section of a divided task is at work or can be.
func (d *decision) goesOn(t *TaskState) bool {
	return slices.ContainsFunc(t.Parts, func(id string) bool {
		part, ok := d.task(id)
		return ok && (part.Status == ledger.Ready || part.Status == ledger.Active)
	})
}

// meet reports whether two tasks are in each other's way.
func (d *decision) meet(t, o *TaskState) bool {
	return !d.argued(t) && !d.argued(o) && (d.alone(t) || d.alone(o) || !d.writeApart(t, o))
}

// argued reports whether the rest of a task's plan is argued about while its approved
// sections are built (docs/spec 4.4). Such sessions only read, and what is agreed
// becomes parts, so the task is in nobody's way.
func (d *decision) argued(t *TaskState) bool {
	w := t.Attempt
	if w == nil || w.Consensus == nil || w.Converged || len(t.Parts) == 0 {
		return false
	}
	hat, ok := d.run().upcoming().Hats[w.Hat]
	return ok && !hat.Writes()
}

// alone reports whether nothing may be worked on beside a task: nobody knows what it
// will change, it mends what the others stand on, or it met others too often.
func (d *decision) alone(t *TaskState) bool {
	return t.Task.Own || t.Conflicts >= ledger.MaxConflicts || !independent(t.Task) && areaOf(t) == nil
}

// landing reports whether the change of a task other than the given one is on its way
// into the branch: merged, verified on the tip, or being committed.
func (d *decision) landing(but string) bool {
	for _, t := range d.Project.inLanes() {
		if t.landing() && !ledger.SameID(t.Task.ID, but) {
			return true
		}
	}
	return false
}

// stepTurns lets the next attempt have what it waits for: the room, or the tip of the
// branch. It reports whether there was one. What a person stopped at once waits, and what
// is paused: a check that was cut off may have held the room until then.
func (d *decision) stepTurns() bool {
	r := d.run()
	if r.Over() || r.State == ledger.RunPaused || r.State == ledger.RunStopping && r.StopNow || isFaultWait(r.Wait) && r.State == ledger.RunWaiting {
		return false
	}
	for _, stage := range []ledger.Stage{ledger.StageRoom, ledger.StageTurn} {
		for _, t := range d.Project.inLanes() {
			switch {
			case t.Attempt.Stage != stage:
			case stage == ledger.StageTurn && t.Task.Joins:
				if of, _ := d.task(t.Task.Parent); d.mergingPart(of) {
					continue
				}
				d.mergePart(t)
				return true
			case stage == ledger.StageRoom && d.Project.roomFree() && r.Checks == nil:
				about := scope{task: t.Task.ID, session: t.Attempt.Session}
				d.add(about, ledger.StageSet{Stage: ledger.StageChecks})
				d.nextCheck(about, true)
				return true
			case stage == ledger.StageTurn && !d.landing("") && r.Checks == nil && r.Batch == nil:
				d.add(scope{task: t.Task.ID, session: t.Attempt.Session}, ledger.StageSet{Stage: ledger.StageCommit})
				t, _ = d.task(t.Task.ID)
				d.converge(t)
				return true
			}
		}
	}
	return false
}

// drains lets the run end with e once nothing is under way any more, and reports whether
// anything is. What is in hand completes: sessions, their verification, commits.
func (d *decision) drains(e ledger.RunEnded) bool {
	r := d.run()
	if r.Lanes() == 1 || r.Finishing != nil || r.State == ledger.RunPlanning || len(d.Project.Sessions) == 0 && !d.Project.attemptBusy() {
		return false
	}
	e.Exit = e.ExitCode()
	d.add(scope{}, ledger.RunFinishing{Ending: e, Drains: true})
	return true
}

// drained goes on with the end of a run that waited for what was in hand, and reports
// whether it did.
func (d *decision) drained() bool {
	r := d.run()
	if r.Finishing == nil || !r.Drains {
		return false
	}
	e := *r.Finishing
	d.add(scope{}, ledger.RunFinishing{Ending: e})
	d.park(string(e.Reason))
	if !d.batchThenEnd(e) {
		d.finalCheck(e)
	}
	return true
}

// collided ends an attempt whose change met what was done meanwhile: they conflict, or
// what they are together fails. That is nobody's failure. The next attempt begins on the
// newer tip and is told both sides (docs/spec 4.5). One that was alone met somebody
// outside of the run, who may go on for ever: it has failed.
func (d *decision) collided(t TaskState, paths []string, why string) {
	if t.Conflicts >= ledger.MaxConflicts {
		d.failAttempt(t.Task.ID, ledger.OutcomeFailed, why)
		return
	}
	b := ledger.AttemptEnded{Replan: true, Outcome: ledger.OutcomeAnew, Why: why}
	if m := t.Attempt.Merging; m != nil {
		c := *m
		c.Paths = paths
		b.Conflict = &c
	}
	d.add(scope{task: t.Task.ID}, b)
	d.planAnew(t, why)
	d.setTask(t.Task.ID, ledger.Ready, "starts anew: "+why)
}

// met folds the end of an attempt: whether its change met those of others. What it met
// stays known until the task is done: a next attempt that fails has not made that change
// again either.
func (t *TaskState) met(b ledger.AttemptEnded) {
	if b.Conflict != nil {
		t.Conflict = b.Conflict
		t.Conflicts++
	}
}
