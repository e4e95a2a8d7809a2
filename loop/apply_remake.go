package loop

import (
	"slices"

	"github.com/nightporter/nightporter/loop/ledger"
)

// applyRemake folds an entry about a branch that is made again into the run.
func (r *Run) applyRemake(e ledger.Entry) {
	switch b := e.Body.(type) {
	case ledger.TaskCommitted:
		r.Made = append(slices.Clip(r.Made), MadeCommit{Task: e.Task, Commit: b.Commit})
	case ledger.TipFound:
		r.Made = append(slices.Clip(r.Made), MadeCommit{Commit: b.Commit, Since: r.Tip})
	case ledger.RemakeAsked:
		r.Remake = &Remake{Wish: b.Wish, By: b.By, Stage: RemakeWaits}
	case ledger.RemakeBegun:
		if r.Remake != nil {
			n := *r.Remake
			n.Stage, n.Branch = RemakeMaking, b.Branch
			r.Remake = &n
		}
	case ledger.RemakeEnded:
		if r.Remake = nil; b.Made {
			r.Checks = nil
		}
	case ledger.Verified:
		if e.Task == "" && b.Kind == ledger.KindFinal {
			r.tipVerified(b)
		}
		if r.Remake != nil && r.Remake.Stage == RemakeChecking && e.Task == "" && b.Kind == ledger.KindFinal && b.Tree == r.Remake.Tip {
			r.Remake = nil
		}
	}
}

// tipVerified folds the verification of the run's tip into its commit: it may pass only
// with later ones.
func (r *Run) tipVerified(v ledger.Verified) {
	n := slices.IndexFunc(r.Made, func(m MadeCommit) bool { return m.tip() == v.Tree })
	if n < 0 {
		return
	}
	r.Made = slices.Clone(r.Made)
	r.Made[n].Red = firstRedRun(v.Results)
}

// doneAgain reports whether an entry ends a task's attempt with what it came to: a
// commit, or nothing to change. A task that was taken out before is done without its
// old commits then.
func (p Project) doneAgain(e ledger.Entry) bool {
	switch b := e.Body.(type) {
	case ledger.TaskCommitted:
		return true
	case ledger.TaskSet:
		return b.From == ledger.Active && b.To == ledger.Done && p.Run.leftOut(e.Task)
	}
	return false
}

// madeAgain returns the commits of the run's branch after one of a task: what was taken
// out of that task before, also of other parts, cannot come back beside it.
func (p Project) madeAgain(task string) []MadeCommit {
	made, whole := slices.Clone(p.Run.Made), p.wholeOf(task)
	for n := range made {
		if m := &made[n]; m.Out && ledger.SameID(p.wholeOf(m.Task), whole) {
			m.Replaced = true
		}
	}
	return made
}

// remade folds a branch that was made again into the project.
func (p Project) remade(b ledger.BranchRemade) Project {
	if p.Run == nil {
		return p
	}
	r := *p.Run
	r.Made = slices.Clone(r.Made)
	if b.Foreign != nil {
		r.Made = append(r.Made, MadeCommit{Commit: b.Foreign.Tip, Since: b.Foreign.Since})
	}
	drop, back := p.allOf(b.Wish.Drop), p.allOf(b.Wish.Back)
	was := p.Tasks // a task can have two commits, and one word
	for n := range r.Made {
		m := &r.Made[n]
		at := p.index(m.Task)
		switch {
		case at < 0:
		case !m.Out && holds(drop, m.Task):
			m.Out = true
			if whole := was.index(p.wholeOf(m.Task)); whole >= 0 {
				m.Done = was.At(whole).Status == ledger.Done
			}
			t := *p.Tasks.At(at)
			m.Proof, m.ProvedIn = was.At(at).Proof, was.At(at).ProvedIn
			t.Proof, t.ProvedIn = nil, ""
			t.Lifted = t.Task.Mark // the tick in the source, until it is taken off
			p.Tasks = p.Tasks.with(at, &t)
		case m.Out && !m.Replaced && holds(back, m.Task):
			m.Out = false
			t := *p.Tasks.At(at)
			t.Proof, t.ProvedIn, t.Commit = m.Proof, m.ProvedIn, m.Commit
			p.Tasks = p.Tasks.with(at, &t)
		}
	}
	for _, c := range b.Commits {
		for n := range r.Made {
			if m := &r.Made[n]; c.Task != "" && !c.Undo && m.Commit == c.Of && ledger.SameID(m.Task, c.Task) {
				m.Now, m.Empty, m.Red = c.Commit, c.Commit == "", ""
			}
		}
		if at := p.index(c.Task); at >= 0 && c.Commit != "" && !c.Undo {
			t := *p.Tasks.At(at)
			t.Commit = c.Commit
			p.Tasks = p.Tasks.with(at, &t)
		}
	}
	if b.Branch != b.From {
		r.Remakes++
	}
	if r.Remake != nil {
		n := *r.Remake
		n.Stage, n.Tip = RemakeChecking, b.Tip
		r.Remake = &n
	}
	r.Base.Branch, r.Tip, r.TipTree, r.TipTests = b.Branch, b.Tip, b.Tree, nil
	p.Run = &r
	p.Branches = with(p.Branches, p.Source, Tip{Branch: b.Branch, Commit: b.Tip})
	return p
}
