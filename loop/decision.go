package loop

import (
	"fmt"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
)

// Decision is the result of deciding on one input. Entries and Effects are
// committed together or not at all. State is the fold of Entries over the state
// that Decide was given. After[n] is the state after Entries[n]: readers of
// single entries need not fold them again.
type Decision struct {
	Entries []ledger.Entry
	After   []State
	Effects []ledger.Effect
	Answer  ledger.Answer
	State   State
}

// decision builds a Decision. It folds every entry as soon as it is added, so
// the rest of the decision sees the state after that entry.
type decision struct {
	State
	in       Input
	entries  []ledger.Entry
	after    []State // After[n] of the Decision
	effects  []ledger.Effect
	answer   ledger.Answer
	attached int                             // how many of the input's files were recorded
	loaded   bool                            // the load of the machine keeps a session of another lane from beginning
	reword   func(ledger.Entry) ledger.Entry // lets a test change an entry's sentences before anything sees them; nil: none
}

// scope names the task and the session that an entry is about; either may be empty.
type scope struct{ task, session string }

// Decided returns a decision on state s that has the given entries and nothing
// else: no effects, and the zero Answer.
func Decided(s State, entries ...ledger.Entry) Decision {
	d := Decision{State: s}
	for _, e := range entries {
		d.Add(e)
	}
	return d
}

// Add appends an entry to the decision and folds it into State.
func (d *Decision) Add(e ledger.Entry) {
	d.Entries, d.State = append(d.Entries, e), Apply(d.State, e)
	d.After = append(d.After, d.State)
}

// run returns the project's last run, which may be over; nil before the first one.
func (d *decision) run() *Run { return d.Project.Run }

// task returns the task with an id, and whether the project has it.
func (d *decision) task(id string) (TaskState, bool) {
	n := d.Project.index(id)
	if n < 0 {
		return TaskState{}, false
	}
	return *d.Project.Tasks.At(n), true
}

// add records an entry in the project's stream. It fills in the run, unless that
// is over, and the attempt of the task.
func (d *decision) add(about scope, body ledger.Body) {
	e := ledger.Entry{
		Stream: ledger.ProjectStream(d.in.Project), Time: d.in.Time, Task: about.task, Session: about.session,
		Actor: d.in.Actor, Cause: d.in.Key, Body: body,
	}
	if r := d.run(); !r.idle() {
		e.Run = r.ID
	}
	if b, ok := body.(ledger.QuestionAsked); ok && (b.Question.Task != "" || len(b.Question.Tasks) > 0) {
		b.Question.Source = d.Project.Source
		e.Body = b
	}
	if b, ok := body.(ledger.RunPlanned); ok {
		e.Run = b.Run
	}
	if t, ok := d.task(about.task); ok && t.Attempts > 0 {
		n := t.Attempts
		if c, ok := body.(ledger.Commitment); ok && !c.Resume {
			n++
		}
		e.Attempt = fmt.Sprintf("a%d", n)
	} else if _, ok := body.(ledger.Commitment); ok {
		e.Attempt = "a1"
	}
	d.push(e)
}

// addShared records entries in the stream that all projects share.
func (d *decision) addShared(bodies ...ledger.Body) {
	for _, body := range bodies {
		d.push(ledger.Entry{Stream: ledger.SharedStream, Time: d.in.Time, Actor: d.in.Actor, Cause: d.in.Key, Body: body})
	}
}

func (d *decision) push(e ledger.Entry) {
	if d.reword != nil {
		e = d.reword(e)
	}
	d.entries = append(d.entries, e)
	d.State = Apply(d.State, e)
	d.after = append(d.after, d.State)
}

// effect adds an effect. Its result comes as another input. key must be unique among
// the effects of its kind; see uniqueKey.
func (d *decision) effect(key string, body ledger.EffectBody) {
	d.effects = append(d.effects, ledger.Effect{Project: d.in.Project, Key: key, Body: body})
}

// uniqueKey returns an effect key that no other decision produces: it includes
// the input's key, or its time. Effects that may be needed again later use it, because the
// store refuses a second effect of the same kind and key.
func (d *decision) uniqueKey(key string) string {
	cause := d.in.Key
	if cause == "" {
		cause = d.in.Time.UTC().Format(time.RFC3339Nano)
		if d.in.Same > 0 {
			cause += fmt.Sprintf(" +%d", d.in.Same)
		}
	}
	return fmt.Sprintf("%s/%s @%s #%d", d.in.Project, key, cause, len(d.effects))
}

// nextID issues the next number of a kind and returns the id, such as r14 (run),
// g9 (guidance) or q7 (question).
func (d *decision) nextID(kind string) string {
	n := d.Shared.Issued[kind] + 1
	d.addShared(ledger.IDIssued{Kind: kind, N: n})
	return fmt.Sprintf("%s%d", kind, n)
}

// refuse makes the answer a refusal. Entries that were added before stay.
func (d *decision) refuse(code ledger.AnswerCode, format string, args ...any) {
	d.answer = ledger.Answer{Code: code, Text: fmt.Sprintf(format, args...)}
}

func (d *decision) say(format string, args ...any) {
	d.answer.Text = fmt.Sprintf(format, args...)
}

// by returns the name of the input's sender for people, or the actor if there is
// no name.
func (d *decision) by() string {
	if d.in.Name != "" {
		return d.in.Name
	}
	return d.in.Actor
}

// setTask changes a task's status. It adds no entry if status and reason stay the
// same, or if the task is unknown.
func (d *decision) setTask(id string, to ledger.Status, why string) {
	d.changeTask(id, ledger.TaskSet{To: to, Why: why})
}

// changeTask is setTask for an entry with more fields. It sets From.
func (d *decision) changeTask(id string, b ledger.TaskSet) {
	t, ok := d.task(id)
	if !ok || (t.Status == b.To && t.Why == b.Reason()) {
		return
	}
	b.From = t.Status
	d.add(scope{task: id}, b)
}

// workOf returns the task whose attempt has the given session as its current one.
func (d *decision) workOf(session string) (TaskState, bool) {
	for _, t := range d.Project.Tasks.of(setAttempt) {
		if t.Attempt.Session == session {
			return *t, true
		}
	}
	return TaskState{}, false
}
