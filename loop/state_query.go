package loop

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
)

// markGone is the mark of a task that has no line in the source any more.
const markGone ledger.Mark = ""

// local formats t in the person's time zone, which is the zone of the input's
// time.
func (d *decision) local(t time.Time) string { return t.In(d.in.Time.Location()).Format(time.RFC3339) }

// strayedAgain returns the paths outside the scope that the current session
// wrote although the attempt had them undone before. Paths that a person
// allowed or denied are left out.
func (t TaskState) strayedAgain() []string {
	w := t.Attempt
	if w.Captured == nil {
		return nil
	}
	var paths []string
	for _, p := range w.Captured.Outside {
		before := 0
		for _, q := range w.Strayed { // holds the current session too, once
			if q == p {
				before++
			}
		}
		if before > 1 && !slices.Contains(t.Denied, p) && !slices.Contains(t.Allowed, p) {
			paths = append(paths, p)
		}
	}
	return paths
}

// shelved returns the source of the tasks that q is about, if that is not the
// source that the project works on; otherwise "". Tasks of two sources can have
// the same id. The time of such a question stands still until its source is in use
// again. Questions of earlier releases do not say their source: there it is the one
// whose task waits for the answer.
func (p Project) shelved(q ledger.Question) string {
	switch q.Source {
	case "":
	case p.Source:
		return ""
	default:
		return q.Source
	}
	for _, source := range sortedKeys(p.Shelf) {
		for _, t := range p.Shelf[source].of(setAsks) {
			if t.Question == q.ID {
				return source
			}
		}
	}
	return ""
}

// questionsAbout returns the open questions about a task of the source that the
// project works on.
func (p Project) questionsAbout(task string) (about []ledger.Question) {
	for _, q := range p.Questions {
		if q.Task != "" && ledger.SameID(q.Task, task) && p.shelved(q) == "" {
			about = append(about, q)
		}
	}
	return about
}

// busy reports whether something is under way that has to end before the next
// session can be planned.
func (p Project) busy() bool {
	if len(p.Sessions) > 0 || p.attemptBusy() {
		return true
	}
	if p.Run.sorting() {
		return true
	}
	if p.Run != nil && p.Run.Batch != nil && !p.Run.Batch.Chained {
		return true
	}
	return p.Run != nil && p.Run.Remake != nil && p.Run.Remake.Stage == RemakeMaking
}

// attemptBusy reports whether an attempt waits for the result of an effect.
func (p Project) attemptBusy() bool {
	// A check without a session in flight was cut off and waits: it does not
	// count.
	for _, t := range p.Tasks.of(setAttempt) {
		switch t.Attempt.Stage {
		case ledger.StageReady, ledger.StageHeld, ledger.StageQueued, ledger.StageChecks, ledger.StageRoom, ledger.StageTurn:
		default:
			return true
		}
	}
	return false
}

// inHand returns the task whose attempt is under way, if there is one: the first of
// those in lanes.
func (p Project) inHand() (TaskState, bool) {
	tasks := p.inLanes()
	if len(tasks) == 0 {
		return TaskState{}, false
	}
	return tasks[0], true
}

// tries reports whether the run waits for an agent that only a person can make
// usable. The daemon then tries that agent again from time to time.
func (p Project) tries() bool {
	return !p.Run.Over() && p.Run.State == ledger.RunWaiting && p.Run.Wait == ledger.WaitAgent
}

// isPart reports whether a task has no line in the source, because it is a part
// or belongs to the run alone. No mark is written for it.
func isPart(t ledger.Task) bool { return t.Own || t.Parent != "" }

// inSource reports whether the task has a line in its source.
func (t *TaskState) inSource() bool {
	return t.Status != ledger.Withdrawn && t.Task.Mark != markGone && !isPart(t.Task)
}

// PartOf returns the id of the part that a section of the current plan became,
// or "".
func (t TaskState) PartOf(section string) string {
	for _, id := range t.Parts {
		if strings.TrimPrefix(id, t.Task.ID+"/") == section || strings.HasPrefix(id, t.Task.ID+"/"+section+".") {
			return id
		}
	}
	return ""
}

// parts applies PartsMade to the project. New parts stand directly after their
// task and its earlier parts.
func (p Project) parts(b ledger.PartsMade, parent string) Project {
	n := p.index(parent)
	if n < 0 {
		return p
	}
	tasks := p.Tasks.tasks.Slice()
	of := *tasks[n]
	of.Parts = slices.DeleteFunc(slices.Clone(of.Parts), func(id string) bool { return slices.Contains(b.Gone, id) })
	at := n + 1
	for at < len(tasks) && ledger.SameID(tasks[at].Task.Parent, parent) {
		at++
	}
	for _, t := range b.Parts {
		of.Parts = append(of.Parts, t.ID)
		plan := json.RawMessage(b.Plans[t.ID])
		if !json.Valid(plan) { // a state with invalid JSON could not be saved
			plan = nil
		}
		tasks = slices.Insert(tasks, at, &TaskState{Task: t, Status: ledger.Pending, Plan: plan})
		at++
	}
	if of.Attempt != nil && of.Attempt.Consensus != nil && len(b.Parts) > 0 {
		w, c := *of.Attempt, *of.Attempt.Consensus
		c.Yields = true
		w.Consensus = &c
		of.Attempt = &w
	}
	tasks[n] = &of
	p.Tasks = newTaskList(tasks, p.Tasks.ids)
	return p
}

// tookTurn ends the turn of a part, so that the plan of its task can be revised
// again.
func (p Project) tookTurn(part string) Project {
	k := p.index(part)
	if k < 0 {
		return p
	}
	n := p.index(p.Tasks.At(k).Task.Parent)
	if n < 0 {
		return p
	}
	t := *p.Tasks.At(n)
	if t.Attempt == nil || t.Attempt.Consensus == nil {
		return p
	}
	w, c := *t.Attempt, *t.Attempt.Consensus
	c.Yields = false
	w.Consensus = &c
	t.Attempt = &w
	p.Tasks = p.Tasks.with(n, &t)
	return p
}

// owns reports whether the session belongs to this run.
func (r *Run) owns(session string) bool { return strings.HasPrefix(session, r.ID+"-") }

// committing reports whether the task's commit is being made. From then on it
// cannot be stopped: the branch moves.
func (t TaskState) committing() bool {
	return t.Attempt != nil && t.Attempt.Stage == ledger.StageCommit
}

// bodyChanged reports whether an edit changed anything but the mark, and so
// changes the prompt of the task's sessions.
func bodyChanged(a, b ledger.Task) bool { return !sameBody(&a, &b) }

// sameBody compares field by field: the plan is read again after each mark that
// nightporter writes, and reflection would take milliseconds for 2,000 tasks.
// Nil and empty lists are equal, as in JSON. The mark, the line number, labels and
// what the source counts (Failures, Tried) are not compared.
func sameBody(a, b *ledger.Task) bool {
	return a.ID == b.ID && a.Title == b.Title && a.Body == b.Body && a.Scope == b.Scope &&
		slices.Equal(a.DependsOn, b.DependsOn) && slices.Equal(a.Acceptance, b.Acceptance) && a.Notes == b.Notes &&
		a.Priority == b.Priority && a.Complexity == b.Complexity && a.Role == b.Role && slices.Equal(a.Threshold, b.Threshold) &&
		a.Consensus == b.Consensus && a.SecondReview == b.SecondReview && slices.Equal(a.Allow, b.Allow) && a.Parent == b.Parent && a.Joins == b.Joins && a.Hat == b.Hat && a.Own == b.Own && a.Outside == b.Outside && a.Idea == b.Idea && slices.Equal(a.Sorts, b.Sorts) &&
		slices.Equal(a.Material, b.Material) && a.Phase == b.Phase && a.Author == b.Author && sameRepeat(a.Repeat, b.Repeat) &&
		slices.Equal(a.Inputs, b.Inputs) && slices.Equal(a.Outputs, b.Outputs) && a.Evaluation == b.Evaluation && a.Verifier == b.Verifier && a.Report.SaysAs(b.Report)
}

func sameRepeat(a, b *ledger.Repeat) bool { return a == b || a != nil && b != nil && *a == *b }
