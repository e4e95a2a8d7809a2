package loop

import (
	"fmt"
	"slices"

	"github.com/nightporter/nightporter/loop/ledger"
)

// remakeTurn reports whether a wish that waits can be carried out: nothing else
// moves the branch or stands on its tip.
func (d *decision) remakeTurn() bool {
	r := d.run()
	if r == nil || r.Remake == nil || r.Remake.Stage != RemakeWaits || d.Project.busy() || d.Project.stuck() {
		return false
	}
	if r.Over() {
		return true
	}
	_, inHand := d.Project.inHand()
	working := r.State == ledger.RunRunning && inHand
	return r.State != ledger.RunPlanning && r.Finishing == nil && r.Checks == nil && r.Batch == nil && !working
}

// makeBranch begins to make the branch again.
func (d *decision) makeBranch() {
	request := d.remakeRequest(d.Project.Pushed(d.run().Base.Branch))
	d.add(scope{}, ledger.RemakeBegun{Branch: request.Branch, From: request.From})
	d.effect(d.uniqueKey(request.Branch), ledger.EffectRemake{Remake: request})
}

// remakeRequest returns what carries out the wish: another branch with the commits
// that stay or, of a branch that was pushed, commits on top.
func (d *decision) remakeRequest(pushed bool) ledger.RemakeBranch {
	r := d.run()
	from, wish := r.Base.Branch, r.Remake.Wish
	request := ledger.RemakeBranch{
		Run: r.ID, Branch: fmt.Sprintf("%s.%d", r.firstBranch(), r.Remakes+1), From: from, Tip: r.Tip, Base: r.Base.Commit,
		Author: r.Base.Author, Committer: r.Base.Committer, Time: d.local(d.in.Time),
	}
	drop := d.Project.allOf(wish.Drop)
	back := d.Project.allOf(wish.Back)
	if pushed {
		request.Branch, request.Base = from, r.Tip
		for _, m := range slices.Backward(r.Made) {
			if !m.Out && holds(drop, m.Task) {
				t, _ := d.task(m.Task)
				request.Steps = append(request.Steps, ledger.RemakeStep{Task: m.Task, Commit: m.Commit, Undo: true, Subject: "revert: " + t.Task.ID + " - " + t.Task.Title})
			}
		}
		for _, m := range r.Made {
			if m.Out && !m.Replaced && holds(back, m.Task) {
				request.Steps = append(request.Steps, ledger.RemakeStep{Task: m.Task, Commit: m.Commit})
			}
		}
	} else {
		for _, m := range r.Made {
			out := m.Out && (m.Replaced || !holds(back, m.Task)) || holds(drop, m.Task)
			request.Steps = append(request.Steps, ledger.RemakeStep{Task: m.Task, Commit: m.Commit, Since: m.Since, Drop: out})
		}
	}
	return request
}

// remakeFinished records the branch that was made, or why there is none.
func (d *decision) remakeFinished(b RemakeFinished) {
	r := d.run()
	if r == nil || r.Remake == nil || r.Remake.Stage != RemakeMaking || r.Remake.Branch != b.Branch {
		return
	}
	m, from := *r.Remake, r.Base.Branch
	switch {
	case b.Made.Refused != nil:
		d.add(scope{}, ledger.RemakeEnded{Why: b.Made.Refused.Text, Remedy: b.Made.Refused.Remedy})
		return
	case len(b.Made.Needs) > 0:
		d.needed(m, b.Made.Needs)
		return
	}
	d.add(scope{}, ledger.BranchRemade{
		Branch: b.Branch, From: from, Tip: b.Made.Tip, Tree: b.Made.Tree, Wish: m.Wish, Commits: b.Made.Commits, Foreign: b.Made.Foreign,
	})
	for _, id := range m.Wish.Back {
		d.broughtBack(id, m.By)
	}
	for _, id := range m.Wish.Drop {
		t, ok := d.task(id)
		if !ok || t.Status == ledger.Withdrawn {
			continue
		}
		d.closeQuestions(id, "revert")
		if t.Status != ledger.Done {
			d.dropParts(t, "its task was reverted")
		}
		d.add(scope{task: id}, ledger.TaskSet{From: t.Status, To: ledger.Skipped, Why: "reverted", By: m.By})
		d.expireGuidance(id, "its task was reverted")
		if id != m.Wish.Redo {
			d.mark(id, ledger.MarkOpen)
		}
	}
	if m.Wish.Redo != "" {
		d.as(m.By, func() { d.doAgain(m.Wish.Redo, m.Wish.Words, m.Wish.Files) })
	}
	d.checkRemade()
}

// broughtBack settles a task whose commits are on the branch again. It is done, also
// where it was to be done again: a second time it would be done on top of itself.
func (d *decision) broughtBack(id, by string) {
	t, ok := d.task(id)
	switch {
	case !ok || t.Status == ledger.Done || t.Status == ledger.Active || t.Status == ledger.Withdrawn:
	case d.wasDone(t):
		d.closeQuestions(id, "keep")
		d.add(scope{task: id}, ledger.TaskSet{From: t.Status, To: ledger.Done, Why: "brought back", By: by})
		d.expireGuidance(id, "its task was brought back")
		d.mark(id, ledger.MarkDone)
	case t.Status == ledger.Skipped: // only some of its parts were done
		d.add(scope{task: id}, ledger.TaskSet{From: t.Status, To: ledger.Ready, Why: "brought back", By: by})
	}
}

// wasDone reports whether a task that was taken out had been done, by a commit of its
// own or by its parts.
func (d *decision) wasDone(t TaskState) bool {
	return slices.ContainsFunc(d.run().Made, func(m MadeCommit) bool {
		return m.Done && !m.Replaced && ledger.SameID(d.Project.wholeOf(m.Task), t.Task.ID)
	})
}

// needed asks about commits that do not apply without what was to be left out.
func (d *decision) needed(m Remake, needs []ledger.RemakeNeed) {
	wish := m.Wish
	for _, n := range needs {
		if n.Task == "" {
			d.add(scope{}, ledger.RemakeEnded{Why: fmt.Sprintf("commits that somebody else added need %s (%s)", joinFew(shortIDs(n.On)), joinFew(n.Files)), Remedy: "take it back by hand: git revert COMMIT", Needs: needs})
			return
		}
		if id := d.Project.wholeOf(n.Task); !holds(wish.Drop, id) {
			wish.Drop = append(slices.Clip(wish.Drop), id)
		}
	}
	wish.Back = slices.DeleteFunc(slices.Clone(wish.Back), func(id string) bool { return holds(wish.Drop, id) })
	d.add(scope{}, ledger.RemakeEnded{Why: "other tasks need it", Needs: needs})
	d.as(m.By, func() { d.askRemake(wish, needs) })
}

// as decides in the name of a person whose command is carried out only now.
func (d *decision) as(name string, do func()) {
	in := d.in
	d.in.Name = name
	do()
	d.in = in
}

// checkRemade begins the check of a branch that was made again. A run that is about
// to start verifies the commit that it begins on.
func (d *decision) checkRemade() {
	r := d.run()
	if r.Remake == nil || r.Remake.Stage != RemakeChecking || d.in.Idle {
		return
	}
	cmds := verifyCommands(r.Settings, ledger.KindFinal, nil)
	switch {
	case d.Project.Green[d.Project.Source] == r.Tip:
		d.add(scope{}, ledger.RemakeEnded{Why: "it was checked before", Made: true, Green: true})
		return
	case len(cmds) == 0:
		d.add(scope{}, ledger.RemakeEnded{Why: "nothing is configured that could verify it", Made: true})
		return
	}
	d.add(scope{}, newCheck(r.Settings, ledger.KindFinal, r.Tip, false, cmds))
	d.nextCheck(scope{}, true)
}

// cutRemakeCheck ends the check of a branch that was made again, without a result.
func (d *decision) cutRemakeCheck(why string) {
	d.add(scope{}, ledger.RemakeEnded{Why: why, Made: true})
	d.cutAll(why)
}

// stepRemake goes on with a branch that is being made again, when nothing else is
// under way. It reports whether there was anything to do.
func (d *decision) stepRemake() bool {
	r := d.run()
	switch {
	case r == nil || r.Remake == nil:
	case d.remakeTurn():
		d.makeBranch()
		return true
	case r.Over() && r.Remake.Stage == RemakeChecking && !d.Project.busy():
		if r.Checks == nil {
			d.checkRemade()
		} else {
			d.nextCheck(scope{}, true)
		}
		return true
	}
	return false
}
