package loop

import (
	"iter"
	"slices"

	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/request"
)

// Bug reports have nothing to do with each other, so a run on them asks for requests
// that can be merged in any order (docs/spec 7.1, docs/decisions/0024). Its own branch
// has the fixes on top of each other, as they were made. Before one is pushed, its
// commit is lifted: made once more on the base as it is then, or on the branch of an
// earlier fix that changes the same files. What was made once more is verified before it
// is pushed. Where it cannot be made, or fails, the run's own commit is pushed, and its
// request says what else it has.

// apart reports whether the run has a branch for each of its tasks that stands on the
// base. What it began with holds, whatever the settings say after a restart.
func (d *decision) apart() bool { return d.Project.apart(d.run()) }

func (p Project) apart(r *Run) bool {
	if !p.stacks(r) {
		return false
	}
	if all := p.Requests.Stack(r.ID); len(all) > 0 {
		return all[0].Lift != nil
	}
	return r.Settings.Requests.Apart
}

// publishApart is publish for a run whose tasks have branches of their own.
func (d *decision) publishApart() bool {
	r := d.run()
	if d.pushable() {
		d.pushApart()
	}
	for _, run := range d.Project.publishedRuns() {
		d.askStack(run)
	}
	if d.Project.publishing() {
		return true
	}
	_, checks := d.liftToCheck()
	return checks && !r.Over()
}

// fixBranches returns what a run whose tasks have branches of their own pushes: the
// leftovers of earlier runs, and its own commits, as taskBranches returns them.
func (p Project) fixBranches() iter.Seq2[MadeCommit, request.Branch] {
	return func(yield func(MadeCommit, request.Branch) bool) {
		for _, l := range p.leftovers() {
			if !yield(l.MadeCommit, l.branch()) {
				return
			}
		}
		for m, b := range p.taskBranches() {
			if !yield(m, b) {
				return
			}
		}
	}
}

// pushApart lifts or pushes the next commit of each run that has any, in the order in
// which they were made, if nothing else is under way for that run's branches. What fails
// for one run does not hold up the others.
func (d *decision) pushApart() {
	r := d.run()
	checking := "" // the run whose next commit has to be verified first
	for m, b := range d.Project.fixBranches() {
		if _, busy := d.Project.Requests.Busy(b.Of); busy || b.Of == checking {
			continue
		}
		if had := d.Project.Requests.Branch(b.Run); had.Name != "" {
			b = had
		}
		switch l := b.Lift; {
		case b.Pushed == "" && (m.Out || m.Empty):
			continue
		case b.Pushed == "" && r.Over() && slices.Contains(r.Ended.Unpushed, m.Task):
			continue // the run's end said that it is not pushed
		case l == nil || b.Pushed == "" && l.Commit != m.tip():
			if r.StopNow {
				continue
			}
			if d.lift(b, ledger.LiftCommit{Commit: m.tip(), Base: r.Settings.Base, Head: d.headName(r.ID), Over: d.Project.Requests.Over(b)}, m.tip()) {
				continue
			}
		case l.Back != m.Out:
			t, _ := d.task(m.Task)
			if d.lift(b, ledger.LiftCommit{Commit: l.Made, Onto: b.Pushed, Undo: m.Out, Subject: "revert: " + m.Task + " - " + t.Task.Title, Author: r.Base.Author, Time: d.local(d.in.Time)}, l.Commit) {
				continue
			}
		case l.Passed || len(verifyCommands(r.Settings, ledger.KindLift, nil)) == 0:
		case r.Over() && r.StopNow:
			continue
		case r.Over():
			d.add(scope{}, ledger.LiftEnded{Run: b.Run, Commit: l.Commit, Lifted: ledger.Lifted{Why: "the run ended before it was verified without the rest of the run"}})
			b = d.Project.Requests.Branch(b.Run)
		default:
			checking = b.Of // checkLift comes first
			continue
		}
		d.pushLifted(m, b)
	}
}

// lift begins to lay a commit on another base. It reports whether it did.
func (d *decision) lift(b request.Branch, l ledger.LiftCommit, commit string) bool {
	r := d.run()
	l.Run, l.Task, l.Committer = r.ID, b.Task, r.Base.Committer
	begun, effect, ok := b.BeginLift(d.Project.Source, l, commit)
	if ok {
		d.add(scope{}, begun)
		d.effect(request.LiftKey(b.Run, begun.N), effect)
	}
	return ok
}

// pushLifted begins the push of what a branch is to have, with what its request says of
// it.
func (d *decision) pushLifted(m MadeCommit, b request.Branch) {
	l := b.Lift
	if b.Pushed == "" {
		b.On, b.With, b.Red, b.Joint = l.On, nil, "", false
		if b.IsOwn() && l.On == "" {
			b.On, b.With = d.Project.Requests.Under(b)
			if before := d.runBefore(); b.On == "" && before.Lift == nil {
				b.On = before.Run
			}
		}
		if b.IsOwn() {
			b.Red, b.Joint = m.Red, m.Now != "" && m.Now != m.Commit && m.tip() != d.run().Tip
		}
	}
	begun, effect, ok := b.Push(b.Name, d.Project.Source, l.Tip, "")
	if ok {
		d.add(scope{}, begun)
		d.effect(request.PushKey(b.Run, l.Tip), effect)
	}
}

// liftFinished records a lifted commit.
func (d *decision) liftFinished(b LiftFinished) {
	of := d.Project.Requests.Branch(b.Run)
	if l := of.Lift; l == nil || !l.UnderWay || l.N != b.N {
		return
	}
	d.add(scope{}, ledger.LiftEnded{Run: b.Run, Commit: of.Lift.Commit, Lifted: b.Lifted})
	d.published(b.Run)
}

// liftToCheck returns the lifted commit that has to be verified before it is pushed, if
// there is one.
func (d *decision) liftToCheck() (commit string, ok bool) {
	r := d.run()
	if !d.apart() || !d.pushable() || len(verifyCommands(r.Settings, ledger.KindLift, nil)) == 0 {
		return "", false
	}
	for m, b := range d.Project.fixBranches() {
		l := d.Project.Requests.Branch(b.Run).Lift
		if l != nil && !l.UnderWay && !l.Passed && !m.Out && l.Commit == m.tip() {
			return l.Tip, true
		}
	}
	return "", false
}

// checkLift begins the verification of a lifted commit. It reports whether that is under
// way.
func (d *decision) checkLift() bool {
	r := d.run()
	commit, ok := d.liftToCheck()
	if !ok {
		return false
	}
	d.add(scope{}, newCheck(r.Settings, ledger.KindLift, commit, false, verifyCommands(r.Settings, ledger.KindLift, nil)))
	d.nextCheck(scope{}, true)
	return true
}
