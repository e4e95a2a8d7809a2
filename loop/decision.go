package loop

import (
	"fmt"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
)

// Decision is what one input leads to. Entries and Effects are committed
// together or not at all. State is the fold of Entries over the state that was
// decided on, and After[n] that of the entries up to Entries[n], so that nobody
// who looks at single entries has to fold them again.
type Decision struct {
	Entries []ledger.Entry
	After   []State
	Effects []ledger.Effect
	Answer  Answer
	State   State
}

// decision is a Decision in the making. Every entry is folded as soon as it
// is added, so what follows is decided on the state that it led to.
type decision struct {
	State
	in      Input
	entries []ledger.Entry
	after   []State // after each of entries
	effects []ledger.Effect
	answer  Answer
}

// scope is what an entry is about.
type scope struct{ task, session string }

// Decided returns a decision of the given entries alone, made on a state.
func Decided(s State, entries ...ledger.Entry) Decision {
	d := Decision{State: s}
	for _, e := range entries {
		d.Add(e)
	}
	return d
}

// Add adds an entry to a decision, behind those that it has.
func (d *Decision) Add(e ledger.Entry) {
	d.Entries, d.State = append(d.Entries, e), Apply(d.State, e)
	d.After = append(d.After, d.State)
}

// run is the project's last run; nil before the first one.
func (d *decision) run() *Run { return d.Project.Run }

// task returns a task by its id as written.
func (d *decision) task(id string) (TaskState, bool) {
	n := d.Project.index(id)
	if n < 0 {
		return TaskState{}, false
	}
	return *d.Project.Tasks.At(n), true
}

// add records an entry of the project's stream.
func (d *decision) add(about scope, body ledger.Body) {
	e := ledger.Entry{
		Stream: ledger.ProjectStream(d.in.Project), Time: d.in.Time, Task: about.task, Session: about.session,
		Actor: d.in.Actor, Cause: d.in.Key, Body: body,
	}
	if r := d.run(); r != nil && !r.Over() {
		e.Run = r.ID
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

// addShared records an entry of the house's stream.
func (d *decision) addShared(body ledger.Body) {
	d.push(ledger.Entry{Stream: ledger.SharedStream, Time: d.in.Time, Actor: d.in.Actor, Cause: d.in.Key, Body: body})
}

func (d *decision) push(e ledger.Entry) {
	d.entries = append(d.entries, e)
	d.State = Apply(d.State, e)
	d.after = append(d.after, d.State)
}

func (d *decision) effect(key string, body ledger.EffectBody) {
	d.effects = append(d.effects, ledger.Effect{Project: d.in.Project, Key: key, Body: body})
}

// uniqueKey makes an effect's key unique where the same effect may be wanted
// again later: the decision is part of its meaning.
func (d *decision) uniqueKey(key string) string {
	cause := d.in.Key
	if cause == "" {
		cause = d.in.Time.UTC().Format(time.RFC3339Nano)
	}
	return fmt.Sprintf("%s/%s @%s #%d", d.in.Project, key, cause, len(d.effects))
}

// nextID takes the next number of a kind: r14, g9, q7.
func (d *decision) nextID(kind string) string {
	n := d.Shared.Issued[kind] + 1
	d.addShared(ledger.IDIssued{Kind: kind, N: n})
	return fmt.Sprintf("%s%d", kind, n)
}

func (d *decision) refuse(code ledger.AnswerCode, format string, args ...any) {
	d.answer = Answer{Code: code, Text: fmt.Sprintf(format, args...)}
}

func (d *decision) say(format string, args ...any) {
	d.answer.Text = fmt.Sprintf(format, args...)
}

// by is who caused the input, as people are shown it.
func (d *decision) by() string {
	if d.in.Name != "" {
		return d.in.Name
	}
	return d.in.Actor
}

func (d *decision) setTask(id string, to ledger.Status, why string) {
	t, ok := d.task(id)
	if !ok || (t.Status == to && t.Why == why) {
		return
	}
	d.add(scope{task: id}, ledger.TaskSet{From: t.Status, To: to, Why: why})
}

// workOf returns the task whose attempt a session belongs to.
func (d *decision) workOf(session string) (TaskState, bool) {
	for _, t := range d.Project.Tasks.of(setAttempt) {
		if t.Attempt.Session == session {
			return *t, true
		}
	}
	return TaskState{}, false
}
