package loop

import (
	"cmp"
	"slices"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
)

// A report that somebody else works on is left to them (docs/spec 7.8): a person, another
// agent or another nightporter. The source says who (ledger.ReportClaim); what this
// nightporter works on, the ledger knows. A claim without progress is told, and not
// respected, and a person who asks for the report stands above every claim.

// Claims returns the reports that could be taken up and that somebody else works on, in
// the order of the source.
func (s State) Claims(now time.Time) (all []ledger.Claimed) {
	for _, t := range s.Project.Tasks.All() {
		if c, is := s.Project.claimOn(t, now); is {
			all = append(all, c)
		}
	}
	if r := s.Project.Run; r != nil && r.Wave != nil { // of branches, as the wave's triage saw them
		for _, c := range r.Wave.Claimed {
			t, ok := s.Project.Find(c.Task)
			if known := slices.ContainsFunc(all, func(o ledger.Claimed) bool { return ledger.SameID(o.Task, c.Task) }); ok && !known && c.How == ledger.ClaimBranch && t.Attempt == nil && !s.Project.asked(&t) && (t.Status == ledger.Ready || t.Status == ledger.Pending) {
				all = append(all, c)
			}
		}
	}
	return all
}

// claimOn returns the claim on a report that could be taken up. is is false for one that
// nobody claims, or that a person asked for.
func (p Project) claimOn(t *TaskState, now time.Time) (c ledger.Claimed, is bool) {
	open := (t.Status == ledger.Ready || t.Status == ledger.Pending) && t.Attempt == nil || t.Aside != ""
	if !open || t.Task.Report == nil || t.Task.Report.Claim == nil || isPart(t.Task) || t.ownClaim(*t.Task.Report.Claim) || p.asked(t) {
		return c, false
	}
	by := *t.Task.Report.Claim
	c = ledger.Claimed{Task: t.Task.ID, By: by.By, How: by.How, Since: by.Since, Last: by.Last}
	c.Stale = !by.Moved().IsZero() && now.Sub(by.Moved()) > p.Run.StaleClaim()
	return c, true
}

// ClaimedBy returns who works on a report that could be taken up, "" for nobody else.
// Whether their claim is stale is not asked.
func (s State) ClaimedBy(t TaskState) string {
	c, is := s.Project.claimOn(&t, time.Time{})
	if !is {
		return ""
	}
	return c.By
}

// ownClaim reports whether nightporter wrote what shows a claim: the label, or the status,
// of what is at work.
func (t *TaskState) ownClaim(c ledger.ReportClaim) bool {
	return (c.How == ledger.ClaimLabel || c.How == ledger.ClaimStatus) && (t.Marked == ledger.MarkWorking || t.Status == ledger.Active)
}

// StaleClaim returns how long a claim without progress is respected.
func (r *Run) StaleClaim() time.Duration {
	if r == nil {
		return ledger.StaleClaim
	}
	return cmp.Or(r.Settings.StaleClaim, ledger.StaleClaim)
}

// asked reports whether a person asked for the report: by /fix, /next or --only.
func (p Project) asked(t *TaskState) bool {
	if t.Asked != "" {
		return true
	}
	if p.Run.Over() || p.Run.Settings.Only == "" {
		return false
	}
	n := p.Tasks.find(p.Run.Settings.Only)
	return n >= 0 && p.Tasks.At(n).Task.ID == t.Task.ID
}

// claiming returns what a mark says of who works on a report, nil for other tasks and
// marks.
func (d *decision) claiming(t TaskState, m ledger.Mark) *ledger.Claiming {
	r := d.run()
	if m != ledger.MarkWorking || t.Task.Report == nil || !r.Settings.InWaves() {
		return nil
	}
	c := &ledger.Claiming{At: d.in.Time.UTC().Truncate(time.Second)}
	if !d.Project.asked(&t) {
		c.Respect = c.At.Add(-r.StaleClaim())
	}
	return c
}

// yieldTo gives a report up that somebody else has claimed since the inbox was read:
// nothing was written for it.
func (d *decision) yieldTo(b MarkMade) {
	d.add(scope{task: b.Task}, ledger.SourceMarked{Mark: b.Mark, Error: (&ledger.ClaimedError{Task: b.Task, Claim: *b.Claim}).Error(), Claim: b.Claim})
	t, ok := d.task(b.Task)
	if !ok || t.Status != ledger.Active || t.committing() {
		return
	}
	why := "claimed by " + b.Claim.By
	d.cutTask(t, why)
	d.add(scope{task: t.Task.ID}, ledger.AttemptEnded{Replan: true, Outcome: ledger.OutcomeAnew, Why: why})
	d.add(scope{task: t.Task.ID}, ledger.TaskSet{From: ledger.Active, To: ledger.Ready, Why: why})
}

// yielded reports whether the source shows the work of somebody else at the report, and
// nothing of nightporter's: what stands there is theirs.
func (t *TaskState) yielded() bool {
	return t.Task.Report != nil && t.Task.Report.Claim != nil && t.Marked != ledger.MarkWorking && !t.ownClaim(*t.Task.Report.Claim)
}

// sameClaim reports whether two readings of a report say the same of who works on it.
func sameClaim(a, b *ledger.Task) bool {
	return a.Report == nil || b.Report == nil || a.Report.Claim.Same(b.Report.Claim)
}

// withClaim returns the task with another claim.
func withClaim(t ledger.Task, c *ledger.ReportClaim) ledger.Task {
	r := *t.Report
	r.Claim, t.Report = c, &r
	return t
}
