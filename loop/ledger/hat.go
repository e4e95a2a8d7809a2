package ledger

import (
	"fmt"
	"slices"
)

// Expect is the check that a hat's tree must pass before its event is routed
// (docs/spec 2.3).
type Expect string

// Checks of a tree.
const (
	ExpectPass  Expect = "pass"  // the project's verification commands pass
	ExpectRepro Expect = "repro" // the command that the event names must fail
	ExpectNone  Expect = "none"  // nothing is run
)

// Hat is a role for exactly one agent session (docs/spec 4.1).
type Hat struct {
	Name         string      `json:"name"`
	Role         string      `json:"role"`           // one line, for people
	Prompt       string      `json:"prompt"`         // the Role part of the prompt
	Load         []string    `json:"load,omitempty"` // paths of files that the session gets as context
	WriteAllowed []string    `json:"write_allowed"`  // globs; empty = read-only
	WriteDenied  []string    `json:"write_denied,omitempty"`
	Emits        []string    `json:"emits"`             // types of events that end its session, besides EventQuestion and EventBlocked
	Payload      []string    `json:"payload,omitempty"` // fields that the events of Emits must have
	MaxTokens    int         `json:"max_tokens"`        // limit of the prompt that nightporter builds, estimated
	Denied       []string    `json:"denied,omitempty"`  // tools.denied
	MayAdd       bool        `json:"may_add,omitempty"` // its sessions may add tasks to the source (docs/spec 3.8)
	Expect       Expect      `json:"expect"`
	Agent        string      `json:"agent,omitempty"` // overrides the project's agent
	Model        string      `json:"model,omitempty"` // of that agent; "" = its own default
	Effort       string      `json:"effort,omitempty"`
	Timeout      Duration    `json:"timeout"`
	StallTimeout Duration    `json:"stall_timeout"`
	MaxCostUSD   float64     `json:"max_cost_usd,omitempty"` // 0 = no limit
	Network      NetworkMode `json:"network,omitempty"`      // of its sessions, at least
	Shipped      bool        `json:"shipped,omitempty"`      // ships with nightporter: a task's own scope overrides its default denials
	Tier         ModelTier   `json:"tier,omitempty"`         // that Model stands for; "" = Model is a name, or unset
	Pinned       bool        `json:"pinned,omitempty"`       // Model is a name that somebody wrote down: no other agent is given it
	Escalate     bool        `json:"escalate,omitempty"`     // after a failed attempt the next stronger tier is used
	Fallbacks    []string    `json:"fallbacks,omitempty"`    // in place of those of its agent
	OwnScope     bool        `json:"own_scope,omitempty"`    // may write write_allowed plus the task's scope, instead of the task's scope alone (docs/spec 4.1: writer, reproducer)
}

// Writes reports whether the hat may change files. Changes of a hat that may not
// are never captured.
func (h Hat) Writes() bool { return len(h.WriteAllowed) > 0 }

// MayEmit reports whether a session of this hat may end with an event of type t.
func (h Hat) MayEmit(t string) bool {
	return slices.Contains(h.Emits, t) || t == EventQuestion || t == EventBlocked
}

// Events that nightporter itself acts on, in addition to a pattern's routes
// (docs/spec 4.2).
const (
	EventPlan     = "plan.complete"
	EventReview   = "review.verdict"
	EventFix      = "fix.complete"
	EventRepro    = "repro.complete"
	EventPassed   = "verification.passed"
	EventFailed   = "verification.failed"
	EventCritique = "critique.verdict"
	EventAdvice   = "advice.complete"

	EventIdeas      = "ideas.complete"
	EventEvaluation = "evaluation.verdict"
	EventDraft      = "draft.complete"
	EventTriage     = "triage.verdict"

	EventUpheld    = "ruling.upheld"    // at least one criterion that failed has to be met
	EventDismissed = "ruling.dismissed" // none has to be
)

// IsRuling reports whether an event rules on the criteria that a tester found failed.
func IsRuling(event string) bool { return event == EventUpheld || event == EventDismissed }

// Events that every hat may end with.
const (
	EventQuestion = "question.asked"
	EventBlocked  = "task.blocked"
)

// Severity of a reviewer's issue (docs/spec 2.6).
type Severity string

// Severities, worst first.
const (
	Critical   Severity = "critical"
	Major      Severity = "major"
	Minor      Severity = "minor"
	Suggestion Severity = "suggestion"
)

// Rank returns a severity's position, 0 for the worst, -1 for an unknown severity.
func (s Severity) Rank() int {
	return slices.Index(Severities(), s)
}

// Issue is one finding of a reviewer. The fixer receives it uncut.
type Issue struct {
	Severity Severity `json:"severity"`
	File     string   `json:"file,omitempty"`
	Line     int      `json:"line,omitempty"`
	Rule     string   `json:"rule,omitempty"`
	Text     string   `json:"text"`
	Section  string   `json:"section,omitempty"` // of the plan, that it is about; "" = the whole task

	Criterion string `json:"criterion,omitempty"` // that failed, in the words of the task or its plan; "" = the issue is of a review

	Pass       Pass `json:"pass,omitempty"`       // in which it was found; "" = the review has none
	Confidence int  `json:"confidence,omitempty"` // that it is real, in percent; 0 = the reviewer does not say

	Contradicts Contradicted `json:"contradicts,omitempty"` // "" = the reviewer does not say
}

// Contradicted is what an issue says that the work goes against. It sends nothing back
// by itself: severities do. It is counted (docs/spec 10.9).
type Contradicted string

// Values of Contradicted.
const (
	ContradictsNone     Contradicted = "none"
	ContradictsPlan     Contradicted = "plan"     // the plan of the task
	ContradictsDecision Contradicted = "decision" // what an earlier session decided
)

// Known reports whether c is one of these values, or "".
func (c Contradicted) Known() bool {
	switch c {
	case "", ContradictsNone, ContradictsPlan, ContradictsDecision:
		return true
	}
	return false
}

// Describe returns the issue in one line, for people and prompts.
func (i Issue) Describe() string {
	line := fmt.Sprintf("[%s] ", i.Severity)
	if i.File != "" {
		line += i.File
		if i.Line > 0 {
			line += fmt.Sprintf(":%d", i.Line)
		}
		line += " "
	}
	if i.Rule != "" {
		line += "(" + i.Rule + ") "
	}
	line += i.Text
	if !i.Sure() {
		line += fmt.Sprintf(" (%d %% sure)", i.Confidence)
	}
	return line
}

// Targets of routes that end the attempt.
const (
	Converged = "converged" // with success
	GivenUp   = "failed"    // as failed: another one begins anew
)

// EndsAttempt reports whether the target of a route is no hat.
func EndsAttempt(to string) bool { return to == Converged || to == GivenUp }

// ThresholdSide restricts a route to one side of the pattern's threshold.
type ThresholdSide string

// Sides of the threshold. A route with an empty When always matches.
const (
	Above ThresholdSide = "above" // there are issues at or above the threshold
	Below ThresholdSide = "below"
)

// Each is what a route divides its event into. Each piece has a session of its own, and
// those that do not need each other work at the same time (docs/spec 4.5).
type Each string

// EachSection divides a plan into its sections, and a verdict into those that it finds
// at fault.
const EachSection Each = "section"

// Route sends a hat's event to the next hat, or to Converged or GivenUp.
type Route struct {
	From string        `json:"from"`
	On   string        `json:"on"`
	When ThresholdSide `json:"when,omitempty"`
	To   string        `json:"to"`
	Once bool          `json:"once,omitempty"` // Times is 1
	// Times bounds the route: it is skipped if To already had so many sessions in the
	// attempt; 0 = it is always taken.
	Times int  `json:"times,omitempty"`
	Each  Each `json:"each,omitempty"` // To has a session for each of these; "" = one session
}

// Most returns the number of sessions that To can have by the route, 0 for any number.
func (r Route) Most() int {
	if r.Once {
		return 1
	}
	return r.Times
}

// Pattern defines which hats work on a task, and the routes between them
// (docs/spec 2.7, 4.3). It is data, checked when loaded.
type Pattern struct {
	Name      string     `json:"name"`
	Start     string     `json:"start"`
	Routes    []Route    `json:"routes"`
	Threshold []Severity `json:"threshold"`           // severities that keep an attempt from converging
	MinRounds int        `json:"min_rounds"`          // minimum number of reviews
	Consensus bool       `json:"consensus,omitempty"` // the critic judges its plans first
	// DistinctFiles says that no two sections of its plans name the same file.
	DistinctFiles bool `json:"distinct_files,omitempty"`
}

// BuilderOf returns the hat that has a session for each piece that a plan is divided
// into, or "" if no route divides one.
func (p Pattern) BuilderOf(e Each) string {
	for _, r := range p.Routes {
		if r.Each == e && r.On == EventPlan {
			return r.To
		}
	}
	return ""
}

// RoutesFrom reports whether a route leaves the hat.
func (p Pattern) RoutesFrom(hat string) bool {
	return slices.ContainsFunc(p.Routes, func(r Route) bool { return r.From == hat })
}

// Divides reports whether a hat's event is divided on its way to another hat.
func (p Pattern) Divides(from, on, to string) bool {
	return slices.ContainsFunc(p.Routes, func(r Route) bool { return r.From == from && r.On == on && r.To == to && r.Each != "" })
}

// Next returns the target of the first route for event on of hat from, or "" if
// no route matches. above selects the side of the threshold. sessions returns
// the number of sessions that a hat has had in the attempt; it excludes routes that
// are used up.
func (p Pattern) Next(from, on string, above bool, sessions func(hat string) int) string {
	for _, r := range p.Routes {
		if r.From != from || r.On != on || r.Most() > 0 && sessions(r.To) >= r.Most() {
			continue
		}
		if r.When == "" || (r.When == Above) == above {
			return r.To
		}
	}
	return ""
}
