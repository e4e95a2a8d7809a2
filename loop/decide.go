package loop

import (
	"fmt"
	"slices"
	"strings"
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

// Decide says what an input means. It is called once per input; calling it
// again with the same arguments gives the same decision.
func Decide(s State, in Input) Decision {
	in.Name = strings.ToValidUTF8(in.Name, "\uFFFD") // what is no text would come back from the ledger as something else
	d := &decision{State: s, in: in, answer: Answer{OK: true}}
	if d.roleRevoked() {
		return d.made()
	}
	switch b := in.Body.(type) {
	case StartRun:
		d.startRun(b)
	case Pause:
		d.pause(b)
	case Resume:
		d.resume(b.Agent)
	case Stop:
		d.stop(b)
	case Guide:
		d.guide(b.Text)
	case EditGuidance:
		d.editGuidance(b)
	case DropGuidance:
		d.dropGuidance(b.ID)
	case KeepGuidance:
		d.keepGuidance(b.ID)
	case Now:
		d.now(b.Text)
	case AnswerQuestion:
		d.answerQuestion(b)
	case SkipTask:
		d.skipTask(b.Task)
	case RetryTask:
		d.retryTask(b.Task)
	case NextTask:
		d.nextTask(b.Task)
	case OfferRun:
		d.offerRun(b)
	case Late:
		d.late(b)
	case OfferPairing:
		d.offerPairing(b)
	case TryPairing:
		d.tryPairing(b)
	case RemovePerson:
		d.removePerson(b)
	case SetQuiet:
		d.setQuiet(b)
	case MeetStranger:
		d.stranger(b)
	case RefuseCommand:
		d.refuseCommand(b)
	case CameBack:
		d.cameBack(b)
	case DigestDue:
		d.digestDue(b)
	case WeekDigestDue:
		d.weekDigestDue(b)
	case RedoPlan:
		d.redoPlan(b)
	case Emit:
		d.emit(b)
	case Remember:
		d.remember(b)
	case HatsChanged:
		d.hatsChanged(b)
	case Preflighted:
		d.preflighted(b)
	case SourceChanged:
		d.sourceChanged(b)
	case SessionExited:
		d.sessionExited(b.Exit)
	case TreeCaptured:
		d.treeCaptured(b)
	case MergeFinished:
		d.mergeFinished(b)
	case CommitMade:
		d.commitMade(b)
	case TipMoved:
		d.tipMoved(b)
	case MarkMade:
		d.markMade(b)
	case EffectBroken:
		d.effectBroken(b)
	case Tick:
		d.tick()
	case WorksOn:
		d.worksOn(b)
	case Wake:
	default:
		panic(fmt.Sprintf("loop: nobody decides on a %T", b))
	}
	if !in.Idle {
		d.advance()
	}
	return d.made()
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

func (d *decision) made() Decision {
	return Decision{Entries: d.entries, After: d.after, Effects: d.effects, Answer: d.answer, State: d.State}
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

// scope is what an entry is about.
type scope struct{ task, session string }

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

// busy reports whether anything is under way that has to be waited for
// before the next session can be planned.
func (p Project) busy() bool {
	if len(p.Sessions) > 0 {
		return true
	}
	// A check without a session in flight was cut off and is held.
	for _, t := range p.Tasks.of(setAttempt) {
		if s := t.Attempt.Stage; s != ledger.StageReady && s != ledger.StageHeld && s != ledger.StageChecks {
			return true
		}
	}
	return false
}

// inHand returns the task whose attempt is under way.
func (p Project) inHand() (TaskState, bool) {
	for _, t := range p.Tasks.of(setAttempt) {
		if t.Status == ledger.Active && t.Attempt.Stage != ledger.StageHeld {
			return *t, true
		}
	}
	return TaskState{}, false
}

// Due returns when a Tick is next needed, or the zero time.
func Due(s State) time.Time {
	var due time.Time
	need := func(t time.Time) {
		if !t.IsZero() && (due.IsZero() || t.Before(due)) {
			due = t
		}
	}
	for _, q := range s.Project.Questions {
		if s.Project.shelved(q) == "" {
			need(q.Expires)
			need(q.Remind)
		}
	}
	need(s.Project.Guidance.NextDue())
	for _, h := range s.Shared.Agents {
		if !h.Unusable || s.Project.tries() {
			need(h.Until)
		}
	}
	if s.Shared.Pairing != nil {
		need(s.Shared.Pairing.Until)
	}
	if r := s.Project.Run; !r.Over() {
		// Every other wait ends with its question or its agent, above.
		if r.Wait == ledger.WaitDisk {
			need(r.Until)
		}
		// While something is in hand, its end is what asks for the time: a due
		// time that nothing can be done about would only keep the clock busy.
		if !r.Settings.Until.IsZero() && r.Finishing == nil && r.Wait != ledger.WaitDisk && !s.Project.busy() && (r.State == ledger.RunRunning || r.State == ledger.RunWaiting) {
			need(r.Settings.Until)
		}
	}
	return due
}

// tries reports whether the project's run waits for an agent that only a
// person can make usable: it looks every now and then whether that was done.
func (p Project) tries() bool {
	return !p.Run.Over() && p.Run.State == ledger.RunWaiting && p.Run.Wait == ledger.WaitAgent
}

// tick acts on what is due.
func (d *decision) tick() {
	now := d.in.Time
	for _, q := range slices.Clone(d.Project.Questions) {
		if !q.Expires.IsZero() && !now.Before(q.Expires) && d.Project.shelved(q) == "" {
			d.expire(q)
		}
	}
	d.remind()
	for _, id := range d.Project.Guidance.Due(now) {
		d.add(scope{}, ledger.GuidanceExpired{ID: id, Why: "72 hours passed and no session took it"})
	}
	if r := d.run(); !r.Over() && r.Wait == ledger.WaitDisk && !now.Before(r.Until) {
		state := ledger.RunRunning
		if r.Started.IsZero() {
			state = ledger.RunPlanning
		}
		d.add(scope{}, ledger.RunStateSet{State: state})
	}
	for _, name := range sortedKeys(d.Shared.Agents) {
		h := d.Shared.Agents[name]
		if !h.Until.IsZero() && !now.Before(h.Until) && (!h.Unusable || d.Project.tries()) {
			d.addShared(ledger.AgentUsable{Agent: name, Trial: h.Unusable})
		}
	}
	d.endPairing()
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
