package loop

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/payload"
)

// Judged returns the done tasks that an evaluator's task judges, in the order of the
// source: those that it depends on, or all that left a commit if it depends on none.
func (p Project) Judged(t TaskState) (judged []TaskState) {
	for _, id := range t.Task.DependsOn {
		if o, ok := p.Find(id); ok && o.Status == ledger.Done {
			judged = append(judged, o)
		}
	}
	if len(t.Task.DependsOn) > 0 {
		return judged
	}
	for _, o := range p.Tasks.of(setDone) {
		if o.Commit != "" && !o.Task.Own {
			judged = append(judged, *o)
		}
	}
	return judged
}

// wrongVerdict returns what is wrong with the verdict of the evaluator's task t, in
// words for the agent, or "".
func (p Project) wrongVerdict(t TaskState, data json.RawMessage) string {
	e := payload.ReadEvaluation(data)
	if e.OK {
		return ""
	}
	var ids []string
	for _, o := range p.Judged(t) {
		ids = append(ids, o.Task.ID)
	}
	named, ok := p.Find(e.Task)
	switch {
	case ok && slices.Contains(ids, named.Task.ID):
		return ""
	case len(ids) == 0:
		return fmt.Sprintf("there is no done task to send back, so not %q either", e.Task)
	}
	return fmt.Sprintf("%q is none of the tasks that you judge: %s", e.Task, strings.Join(ids, ", "))
}

// evaluated acts on the verdict of an evaluator whose attempt has converged. A task
// that it sends back is ready again, on top of its own commit, and the evaluator's
// task judges once more after it. What was sent back too often is for a person to
// decide.
func (d *decision) evaluated(t TaskState) {
	e := payload.ReadEvaluation(t.Attempt.Event.Data)
	back, ok := d.Project.Find(e.Task)
	if e.OK || !ok || back.Status != ledger.Done { // a person may have taken it up meanwhile
		d.converge(t)
		return
	}
	id, times := t.Task.ID, 1
	if back.Returned != nil {
		times = back.Returned.Times + 1
	}
	short := ledger.ShortID(back.Task.ID)
	if times > ledger.MaxReturned {
		why := reason(fmt.Sprintf("%s was sent back %d times and is still not right", short, ledger.MaxReturned), strings.Join(e.Findings, "; "))
		w := t.Attempt
		d.submit(t, ledger.Submit{Result: "fail", Outcome: ledger.OutcomeBlocked, Reason: why})
		d.add(scope{task: id, session: w.Session}, ledger.AttemptEnded{Failed: true, Outcome: ledger.OutcomeBlocked, Why: why})
		d.block(id, blockage{reason: why, work: w})
		return
	}
	d.add(scope{task: id, session: t.Attempt.Session}, ledger.AttemptEnded{Replan: true, Outcome: ledger.OutcomeAnew, Why: "sent " + short + " back"})
	d.setTask(id, ledger.Ready, "sent "+short+" back")
	d.closeQuestions(back.Task.ID, "sent back by the evaluator")
	d.dropParts(back, "sent back by the evaluator")
	d.add(scope{task: back.Task.ID}, ledger.TaskSet{
		From: ledger.Done, To: ledger.Ready, Why: "sent back by the evaluator", Fresh: true,
		Returned: &ledger.Returned{By: id, Findings: e.Findings, Times: times},
	})
	d.mark(back.Task.ID, ledger.MarkOpen)
}

// CheckTasks returns what is wrong with tasks that their source reads without an
// error, so that some of them could never be done in a run with the settings.
func CheckTasks(settings ledger.Settings, s ledger.Snapshot) (found []ledger.Diagnostic) {
	for _, t := range s.Tasks {
		if t.Mark == ledger.MarkDone || t.Role == "" || t.Role == ledger.RoleImplementer || t.Role == settings.Pattern.Name {
			continue
		}
		if _, known := settings.Roles[t.Role]; !known {
			names := append([]string{ledger.RoleImplementer, settings.Pattern.Name}, sortedKeys(settings.Roles)...)
			found = append(found, ledger.Diagnostic{
				File: s.Path, Line: t.Line, Text: fmt.Sprintf("%s has the role %q, and no pattern has that name", t.ID, t.Role),
				Remedy: "There are: " + strings.Join(names, ", ") + ". A pattern of your own is a file in patterns/ beside nightporter.toml.",
			})
			continue
		}
		if f, unproved := settings.For(t).Unproved(); unproved {
			f.File, f.Line, f.Text = s.Path, t.Line, t.ID+": "+f.Text
			found = append(found, f)
		}
	}
	return append(found, phaseKnots(s)...)
}
