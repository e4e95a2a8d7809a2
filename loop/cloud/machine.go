package cloud

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/nightporter/nightporter/internal/text"
	"github.com/nightporter/nightporter/loop/ledger"
)

// Policy is what a project permits. Its zero value merges nothing.
type Policy struct {
	Name       string // of the state file among others of the repository; part of every key
	Agent      string // for people
	AllowMerge bool
	Attempts   int           // jobs for one task; 0 = 3
	Rounds     int           // rounds at one request; 0 = 3
	Patience   time.Duration // for an answer of the agent, or a check; 0 = 6 h
}

// Defaults of a Policy.
const (
	defaultAttempts = 3
	defaultRounds   = 3
	defaultPatience = 6 * time.Hour
)

// noChecksTime is how long a commit may be without checks before it counts as one
// that has none: forges create them a while after the push.
const noChecksTime = 10 * time.Minute

// assignTime is how long a forge may take to show an agent among the assignees.
const assignTime = 10 * time.Minute

// maxPrompt limits what the state file keeps of a prompt, in characters.
const maxPrompt = 4000

func (p Policy) attempts() int           { return or(p.Attempts, defaultAttempts) }
func (p Policy) rounds() int             { return or(p.Rounds, defaultRounds) }
func (p Policy) patience() time.Duration { return or(p.Patience, defaultPatience) }

func or[T comparable](x, otherwise T) T {
	var zero T
	if x == zero {
		return otherwise
	}
	return x
}

// View is what is known besides the state: it grows while one step asks.
type View struct {
	Now        time.Time
	Tasks      []ledger.Task
	Dispatched *Dispatched
	Progress   *Progress
	Result     *Result
	Finished   *Result
}

// ActionKind is the method of Agent that a step calls.
type ActionKind string

// Kinds of actions.
const (
	None     ActionKind = "" // the step is over
	Dispatch ActionKind = "dispatch"
	Poll     ActionKind = "poll"
	Fetch    ActionKind = "fetch"
	Finish   ActionKind = "finish"
)

// Action is what a step needs next.
type Action struct {
	Kind  ActionKind
	Job   Job   // of Dispatch
	Work  Work  // of Poll and Fetch
	Merge Merge // of Finish
}

// Step takes a state one step further. If it needs something, it returns an
// action; the caller adds the answer to v and calls Step again, with the same
// state. Otherwise the action is None, and state and outcome are the result. A
// step has at most one action that changes something, and is over after it.
//
// Step is pure: the same arguments have the same result.
func Step(s State, v View, p Policy) (State, Action, Outcome) {
	m := &machine{s: s, v: v, p: p}
	m.s.Statuses = maps.Clone(s.Statuses)
	if m.s.Statuses == nil {
		m.s.Statuses = map[string]Status{}
	}
	m.s.Memory = slices.Clip(s.Memory)
	m.s.Tracked = slices.Clone(s.Tracked)
	m.o = Outcome{From: s.Phase, Task: s.Task, Issue: s.Issue, Request: s.Request, URL: s.RequestURL, Agent: p.Agent}
	action := m.run()
	if action.Kind != None {
		return s, action, Outcome{}
	}
	m.o.To = m.s.Phase
	changed := s.Phase != m.s.Phase || s.Own != m.s.Own || s.Request != m.s.Request || v.Finished != nil
	if m.o.Reason.row().memory && changed {
		m.s.Memory = append(m.s.Memory, fmt.Sprintf("iteration %d: %s", m.s.Iteration, m.o.Text()))
	}
	return m.s, action, m.o
}

// machine is one step. Its methods change s into the next state and fill in o.
type machine struct {
	s State
	v View
	p Policy
	o Outcome
}

func (m *machine) run() Action {
	switch m.s.Phase {
	case NeedsTrigger:
		return m.trigger()
	case AgentWorking:
		return m.poll()
	case NeedsVerification:
		return m.verify()
	case AwaitingReview:
		return m.review()
	default: // Completed
		m.o.Reason = ReasonNext
		m.clear()
		return m.to(NeedsTrigger)
	}
}

func (m *machine) to(p Phase) Action {
	m.s.Phase = p
	return Action{}
}

func (m *machine) work() Work {
	return Work{Issue: m.s.Issue, Request: m.s.Request, Ref: m.s.Own.Ref}
}

// trigger gives the next task to the agent.
func (m *machine) trigger() Action {
	next, why := pick(m.v.Tasks, m.s)
	if why != "" {
		m.o.Reason, m.o.Task, m.o.Issue, m.o.Request = why, "", 0, 0
		return Action{}
	}
	attempts := 0
	if ledger.SameID(m.s.Own.Task, next.ID) {
		attempts = m.s.Own.Attempts
	}
	if m.v.Dispatched == nil {
		return Action{Kind: Dispatch, Job: Job{
			Key: key(m.p.Name, next.ID, fmt.Sprint(m.s.Iteration+1)), Task: next, Attempt: attempts + 1,
		}}
	}
	d := m.v.Dispatched
	m.clear()
	m.s.Iteration++
	m.s.Task, m.s.Issue, m.s.Prompt = next.ID, d.Issue, text.First(d.Prompt, maxPrompt)
	m.setStatus(next.ID, StatusInProgress)
	m.s.Own = Own{Task: next.ID, Attempts: attempts + 1, Ref: d.Ref, Since: m.v.Now}
	m.o.Reason, m.o.Task, m.o.Issue, m.o.Request = ReasonDispatched, next.ID, d.Issue, 0
	return m.to(AgentWorking)
}

// pick returns the task to dispatch: the one in hand, else the first that can
// run. If there is none, it returns the reason.
func pick(tasks []ledger.Task, s State) (ledger.Task, Reason) {
	done := map[string]bool{}
	for _, t := range tasks {
		done[ledger.FoldID(t.ID)] = t.Mark == ledger.MarkDone || s.status(t.ID) == StatusCompleted
	}
	var first *ledger.Task
	left := false
	for i, t := range tasks {
		if done[ledger.FoldID(t.ID)] {
			continue
		}
		left = true
		if t.Mark != ledger.MarkOpen || s.status(t.ID) == StatusFailed {
			continue
		}
		if slices.ContainsFunc(t.DependsOn, func(id string) bool { return !done[ledger.FoldID(id)] }) {
			continue
		}
		if ledger.SameID(t.ID, s.Task) {
			return t, ""
		}
		if first == nil {
			first = &tasks[i]
		}
	}
	switch {
	case first != nil:
		return *first, ""
	case left:
		return ledger.Task{}, ReasonStuck
	}
	return ledger.Task{}, ReasonAllDone
}

// status returns what the state says of a task.
func (s State) status(id string) Status {
	if status, ok := s.Statuses[id]; ok {
		return status
	}
	for _, other := range slices.Sorted(maps.Keys(s.Statuses)) {
		if ledger.SameID(other, id) {
			return s.Statuses[other]
		}
	}
	return StatusPending
}

// setStatus keeps the id as the file writes it.
func (m *machine) setStatus(id string, status Status) {
	for other := range m.s.Statuses {
		if ledger.SameID(other, id) {
			id = other
		}
	}
	m.s.Statuses[id] = status
}

// poll asks how far the agent is.
func (m *machine) poll() Action {
	if m.s.Issue == 0 && m.s.Own.Ref == "" {
		m.o.Reason = ReasonLost
		return m.to(NeedsTrigger)
	}
	if m.v.Progress == nil {
		return Action{Kind: Poll, Work: m.work()}
	}
	m.start()
	p := *m.v.Progress
	if p.Request == nil {
		return m.noRequest(p)
	}
	m.track(*p.Request)
	open := p.Request.State == ledger.RequestOpen
	switch {
	case open && m.busy(p.Session, p.Request.HeadCommit) && m.late():
		return m.person(ReasonSilentRequest)
	case open && m.busy(p.Session, p.Request.HeadCommit):
		m.o.Reason = ReasonOpened
		return Action{}
	}
	m.o.Reason = ReasonHandedIn
	m.s.Own.Since = m.v.Now
	return m.to(NeedsVerification)
}

// noRequest judges a job of which the agent has handed in nothing.
func (m *machine) noRequest(p Progress) Action {
	switch {
	case p.Issue == ClosedRefused:
		return m.setAside(ReasonIssueRefused)
	case p.Issue == ClosedDone && m.s.Own.Attempts >= m.p.attempts():
		return m.setAside(ReasonGaveUp)
	case p.Issue == ClosedDone:
		m.o.Reason, m.o.Round, m.o.Of = ReasonNoRequest, max(m.s.Own.Attempts, 1), m.p.attempts()
		return m.to(NeedsTrigger)
	case m.late():
		return m.setAside(ReasonSilent)
	case !p.Assigned && m.since() > assignTime:
		m.o.Reason = ReasonUnassigned
	default:
		m.o.Reason = ReasonWorking
	}
	return Action{}
}

// start notes the time of a wait that another program began.
func (m *machine) start() {
	if m.s.Own.Since.IsZero() {
		m.s.Own.Task, m.s.Own.Since = m.s.Task, m.v.Now
	}
}

func (m *machine) since() time.Duration { return m.v.Now.Sub(m.s.Own.Since) }
func (m *machine) late() bool           { return m.since() > m.p.patience() }

// busy reports whether the agent still works, or has not answered the latest
// round: it takes a minute or two until a session begins.
func (m *machine) busy(s Session, head string) bool {
	if s.Working {
		return true
	}
	return m.s.Own.Head != "" && head == m.s.Own.Head && !s.Ended.After(m.s.Own.Asked)
}

// track notes the request of the task in hand.
func (m *machine) track(r ledger.Request) {
	if m.s.Request == r.Number {
		return
	}
	m.untrack()
	m.s.Request, m.s.RequestURL = r.Number, r.URL
	m.o.Request, m.o.URL = r.Number, r.URL
	if !slices.ContainsFunc(m.s.Tracked, func(t TrackedRequest) bool { return t.Request == r.Number }) {
		m.s.Tracked = append(m.s.Tracked, TrackedRequest{Request: r.Number, Task: m.s.Task, Issue: m.s.Issue})
	}
}

// untrack forgets the request of the task in hand, and no other one.
func (m *machine) untrack() {
	m.s.Tracked = slices.DeleteFunc(m.s.Tracked, func(t TrackedRequest) bool {
		return m.s.Request != 0 && t.Request == m.s.Request
	})
}

// clear forgets the task in hand.
func (m *machine) clear() {
	m.untrack()
	m.s.Task, m.s.Issue, m.s.Request, m.s.RequestURL, m.s.Prompt = "", 0, 0, "", ""
	m.s.ReviewRequested, m.s.Own = nil, Own{}
}

// setAside gives the task up until a person sets its status to pending.
func (m *machine) setAside(why Reason) Action {
	m.o.Reason = why
	m.setStatus(m.s.Task, StatusFailed)
	m.clear()
	return m.to(NeedsTrigger)
}

// person leaves the request to a person.
func (m *machine) person(why Reason) Action {
	m.o.Reason = why
	m.s.Own.Waiting = string(why)
	return m.to(AwaitingReview)
}

// done ends the task: its request is merged.
func (m *machine) done() Action {
	m.o.Reason = ReasonMerged
	m.setStatus(m.s.Task, StatusCompleted)
	m.s.Own.Waiting = ""
	return m.to(Completed)
}

// key returns a short name for the parts, the same for the same ones.
func key(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return hex.EncodeToString(sum[:10])
}
