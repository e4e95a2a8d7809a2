package loop

import "github.com/nightporter/nightporter/loop/ledger"

// whyScripted is why a task is open again after the scripted agent was through
// with it.
const whyScripted = "the scripted agent did nothing"

// withheld reports whether marks and progress of the task stay out of the
// person's file: the scripted agent had its sessions, which is no result
// (docs/spec 10.5).
func (d *decision) withheld(t TaskState) bool {
	return t.Scripted && d.run().Settings.ScriptedMarks == ledger.ScriptedWithheld
}

// reopenScripted opens the tasks that the scripted agent ended without ticking
// them. Their attempts and results are dropped.
func (d *decision) reopenScripted() {
	for _, t := range d.Project.Tasks.All() {
		switch {
		case !t.Scripted, isPart(t.Task), t.Status == ledger.Withdrawn, t.Status == ledger.Skipped:
			continue
		case t.Task.Mark == ledger.MarkDone:
			continue // a person ticked it
		}
		d.dropParts(*t, whyScripted)
		d.closeQuestions(t.Task.ID, "withdrawn")
		d.add(scope{task: t.Task.ID}, ledger.TaskSet{From: t.Status, To: ledger.Ready, Why: whyScripted, Fresh: true})
	}
}
