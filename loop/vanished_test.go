package loop

import (
	"slices"

	"github.com/nightporter/nightporter/guidance"
	"github.com/nightporter/nightporter/loop/ledger"
)

// lacks notes which open tasks a reading of the source lacks, before it is decided
// on. A line that was gone before the run's first reading is no loss of the run.
func (n *night) lacks(old State) {
	switch b := n.last.Body.(type) {
	case StartRun:
		n.lost, n.absent = map[string]bool{}, map[string]bool{}
	case Preflighted:
		if n.absent == nil || len(b.Problems) > 0 {
			return
		}
		first := SourceChanged{Snapshot: b.Snapshot}
		for _, t := range old.Project.Tasks.All() {
			if !first.has(t.Task.ID) {
				n.absent[ledger.FoldID(t.Task.ID)] = true
			}
		}
	case SourceChanged:
		if b.Err != "" {
			return
		}
		for _, t := range old.Project.Tasks.All() {
			open := t.Status != ledger.Done && t.Status != ledger.Skipped && t.Status != ledger.Withdrawn && !isPart(t.Task)
			if id := ledger.FoldID(t.Task.ID); b.has(id) {
				delete(n.lost, id)
				delete(n.absent, id)
			} else if open && n.lost != nil && !n.absent[id] {
				n.lost[id] = true
			}
		}
	}
}

// has reports whether the reading has the task's line.
func (b SourceChanged) has(task string) bool {
	return slices.ContainsFunc(b.Snapshot.Tasks, func(t ledger.Task) bool { return ledger.SameID(t.ID, task) })
}

// vanished checks that nothing ends by what the source lacks: no session, no
// attempt, no guidance, and no run as done. Guidance ends once.
func (n *night) vanished(fail func(string, ...any), s State, e ledger.Entry) {
	b, reading := n.last.Body.(SourceChanged)
	lacks := reading && e.Task != "" && !b.has(e.Task)
	switch body := e.Body.(type) {
	case ledger.RunPlanned: // also by an answer, after the last run
		n.lost, n.absent = map[string]bool{}, map[string]bool{}
	case ledger.SessionCut:
		if t, ok := s.Project.Find(e.Task); lacks && ok && !isPart(t.Task) {
			fail("session %s is cut, and the reading lacks the line of %s", e.Session, e.Task)
		}
	case ledger.AttemptEnded:
		if t, ok := s.Project.Find(e.Task); lacks && ok && !isPart(t.Task) && body.Outcome != ledger.OutcomeParked {
			fail("the attempt at %s ends as %s, and the reading lacks its line", e.Task, body.Outcome)
		}
	case ledger.TaskSet:
		t, _ := s.Project.Find(e.Task)
		after, _ := Apply(s, e).Project.Find(e.Task)
		if body.To == ledger.Withdrawn && body.Rest != nil && (t.Attempt == nil) != (after.Attempt == nil) {
			fail("%s rests, and its attempt is lost", e.Task)
		}
		if body.From == ledger.Withdrawn && !body.Fresh && (t.Attempt == nil) != (after.Attempt == nil) && after.Status == ledger.Ready {
			fail("the line of %s is back, and its attempt is not", e.Task)
		}
		if body.To == ledger.Done {
			delete(n.lost, ledger.FoldID(e.Task))
		}
	case ledger.GuidanceExpired:
		i, _ := s.Project.Guidance.Get(body.ID)
		if i.Over() {
			fail("%s ends twice", body.ID)
		}
		if t, ok := s.Project.Find(e.Task); lacks && ok && !isPart(t.Task) {
			fail("%s expires, and the reading lacks the line of %s", body.ID, e.Task)
		}
	case ledger.GuidanceReported:
		if i, _ := s.Project.Guidance.Get(body.ID); i.State == guidance.Expired && s.Project.Rests(i) {
			fail("%s is reported on after it expired", body.ID)
		}
	case ledger.RunEnded:
		for _, t := range s.Project.Tasks.All() {
			if of, ok := s.Project.Find(t.Task.Parent); ok && t.Task.Parent != "" && of.Rest != nil {
				continue // the part waits for the line of its task
			}
			if body.Reason == ledger.ReasonDone && t.Status != ledger.Done && t.Status != ledger.Skipped && t.Status != ledger.Withdrawn {
				fail("the run ends as done, and %s is %s", t.Task.ID, t.Status)
			}
		}
		if len(n.lost) > 0 && body.Reason == ledger.ReasonDone {
			for id := range n.lost {
				t, ok := s.Project.Find(id)
				skipped := ok && (t.Status == ledger.Skipped || t.Rest != nil && t.Rest.Status == ledger.Skipped) // by a person
				if ok && !skipped {
					fail("the run ends as done, and lost %s, which is %s", id, t.Status)
				}
			}
		}
	}
}
