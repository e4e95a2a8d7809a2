package loop

import (
	"fmt"
	"slices"

	"github.com/nightporter/nightporter/loop/ledger"
)

// marksWith returns the marks that the commit of task t carries: its own mark,
// and earlier marks that no commit carried.
func (d *decision) marksWith(t TaskState) []ledger.Marking {
	var marks []ledger.Marking
	for _, u := range d.Project.Tasks.All() {
		m := markOf(u.Status)
		if ledger.SameID(u.Task.ID, t.Task.ID) {
			m = ledger.MarkDone
			if t.Attempt.Manual != "" || t.Person {
				m = ledger.MarkManualVerify
			}
		}
		if d.lastPart(t, u) {
			m = ledger.MarkDone // mark it with this commit: no later commit may come
		}
		if m != "" && m != ledger.MarkOpen && !d.withheld(*u) && u.Task.Mark != markGone && !isPart(u.Task) {
			marks = append(marks, ledger.Marking{Task: u.Task.ID, Mark: m})
		}
	}
	return marks
}

// expireGuidance expires the guidance that no session will take any more
// because its task is over.
func (d *decision) expireGuidance(task, why string) {
	for _, i := range d.Project.Guidance.Items {
		if i.Source != "" && i.Source != d.Project.Source {
			continue
		}
		mine := i.Task == ledger.FoldID(task) || (i.Bound == ledger.FoldID(task) && !i.Sticky)
		if mine && (i.Open() || i.Sticky && !i.Over()) {
			d.add(scope{task: task}, ledger.GuidanceExpired{ID: i.ID, Why: why})
		}
	}
}

// mark asks for a mark of the task in the source. It does nothing for tasks
// without a line there, and where marks travel in commits
// (Settings.CommitStatus).
func (d *decision) mark(id string, m ledger.Mark) {
	t, ok := d.task(id)
	if !ok || isPart(t.Task) || t.Status == ledger.Withdrawn || t.Task.Mark == markGone || d.run().Settings.CommitStatus {
		return
	}
	if back := t.Marked == ledger.MarkWorking && m == ledger.MarkOpen; d.withheld(t) && !back {
		return
	}
	d.effect(d.uniqueKey(id+" "+string(m)), ledger.EffectMark{Task: id, Mark: m, Source: d.Project.Source, Tries: d.triesOf(t, m), Claim: d.claiming(t, m)})
}

// markMade records the result of writing a mark. One of another plan changes no
// task of this one.
func (d *decision) markMade(b MarkMade) {
	if b.Mark == "" && b.Err == "" || b.Source != "" && b.Source != d.Project.Source {
		return
	}
	if b.Claim != nil {
		d.yieldTo(b)
		return
	}
	d.add(scope{task: b.Task}, ledger.SourceMarked{Mark: b.Mark, Error: b.Err, Tries: b.Tries})
	// Two marks of one task can be under way at once, and the older one may be
	// written last. Then the newer one is written again.
	t, ok := d.task(b.Task)
	if !ok || b.Err != "" || b.Mark == "" {
		return
	}
	if want := d.shown(t); want != "" && want != b.Mark {
		d.mark(b.Task, want)
	}
}

// markOf returns the mark that nightporter writes to the source for a status,
// or "" if it writes none.
func markOf(s ledger.Status) ledger.Mark {
	switch s {
	case ledger.Done:
		return ledger.MarkDone
	case ledger.Blocked:
		return ledger.MarkBlocked
	case ledger.ManualVerify:
		return ledger.MarkManualVerify
	case ledger.Pending, ledger.Ready, ledger.Active, ledger.Waiting:
		return ledger.MarkOpen
	}
	return ""
}

// progress appends an entry about a finished or blocked task to the progress
// log.
func (d *decision) progress(t TaskState, status, commit, blockers string) {
	p := d.progressOf(t, status, commit, blockers)
	if !d.run().Settings.CommitStatus && !d.withheld(t) {
		d.effect(d.uniqueKey(p.Key), ledger.EffectProgress{Progress: p, Source: d.Project.Source})
	}
}

// progressOf builds the entry of the progress log about a finished or blocked
// task.
func (d *decision) progressOf(t TaskState, status, commit, blockers string) ledger.Progress {
	r, w := d.run(), t.Attempt
	p := ledger.Progress{
		Key: fmt.Sprintf("%s %s a%d %s", r.ID, ledger.FoldID(t.Task.ID), t.Attempts, status), Time: d.local(d.in.Time),
		Task: t.Task.ID, Title: t.Task.Title, Attempt: t.Attempts, Status: status, Commit: commit, Blockers: blockers,
	}
	if proof := d.Project.TaskProof(t); proof != nil && blockers == "" {
		p.Proof = proof.Text()
	}
	if w != nil {
		p.Learnings = w.Learnings
		if w.Scripted {
			p.Changes = append(p.Changes, ledger.ScriptedNote)
		}
		for _, s := range w.History {
			if s.Summary != "" && s.changes() {
				p.Changes = append(p.Changes, s.Summary)
			}
		}
		if w.Verified != nil {
			for _, res := range w.Verified.Results {
				p.Commands = append(p.Commands, ledger.CommandMark{Run: res.Run, OK: res.OK})
			}
		}
	}
	d.settleReady() // a task that depended on this one may be next
	if next, ok := d.firstReady(); ok && blockers == "" {
		p.Next = ledger.ShortID(next.Task.ID) + " " + next.Task.Title
	}
	return p
}

// lastPart reports whether t is the only part of u that is not done yet, and no
// person has to look at it.
func (d *decision) lastPart(t TaskState, u *TaskState) bool {
	return t.Attempt.Manual == "" && !t.Person && u.Status == ledger.Pending && slices.Contains(u.Parts, t.Task.ID) &&
		!slices.ContainsFunc(u.Parts, func(id string) bool {
			p, ok := d.task(id)
			return ok && p.Status != ledger.Done && id != t.Task.ID
		})
}
