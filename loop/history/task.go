package history

import (
	"strings"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
)

// Size is how much work a task looks like before it is begun.
type Size string

// Sizes of tasks.
const (
	Small  Size = "small"
	Medium Size = "medium"
	Large  Size = "large"
)

// Words of a task up to which it is Small or Medium.
const (
	smallWords  = 60
	mediumWords = 200
)

// SizeOf returns the size of a task: by the complexity that its plan gives it (1 to 3, 4 to
// 6, more), by the tier that triage gives a report, else by the number of words of its body,
// notes and acceptance criteria.
func SizeOf(t *ledger.Task, triage *ledger.Triage) Size {
	switch c := t.Complexity; {
	case c >= 7:
		return Large
	case c >= 4:
		return Medium
	case c >= 1:
		return Small
	}
	if triage != nil {
		tier := triage.Tier
		if triage.Estimate != 0 {
			tier = triage.Estimate
		}
		switch tier {
		case ledger.TierSimple:
			return Small
		case ledger.TierModerate:
			return Medium
		case ledger.TierComplex:
			return Large
		}
	}
	words := len(strings.Fields(t.Body)) + len(strings.Fields(t.Notes))
	for _, a := range t.Acceptance {
		words += len(strings.Fields(a))
	}
	switch {
	case words <= smallWords:
		return Small
	case words <= mediumWords:
		return Medium
	}
	return Large
}

// Outcome is how a task ended.
type Outcome string

// Outcomes. A task that a person skips, or whose line goes, has none.
const (
	OutcomeDone    Outcome = "done"    // converged, verified and committed
	OutcomeFailed  Outcome = "failed"  // blocked after failed attempts
	OutcomeBlocked Outcome = "blocked" // a person has to decide, or to look at it
)

// Effort adds up what a task took since its work began, over all attempts. The zero value
// is a task that was not begun. The sums of its parts belong to the whole task.
type Effort struct {
	Sessions int     `json:"sessions,omitempty"` // of agents, also those that count as nothing
	Attempts int     `json:"attempts,omitempty"`
	Fixes    int     `json:"fixes,omitempty"` // rounds in which findings of a review were fixed
	Ms       int64   `json:"ms,omitempty"`    // time of all its sessions, those of commands too
	USD      float64 `json:"usd,omitempty"`   // of the sessions whose cost is known
	Tokens   int64   `json:"tokens,omitempty"`
	Unpriced int     `json:"unpriced,omitempty"` // agent sessions whose cost is unknown
	Untold   int     `json:"untold,omitempty"`   // agent sessions whose tokens are unknown
	Checks           // that commands took
	Scripted bool    `json:"scripted,omitempty"` // the scripted agent worked on it: it says nothing of real ones
}

// Checks is the part of a task's time in which commands ran: its verification, setup and
// proof. In a run with several lanes these run one after another.
type Checks struct {
	Times    int   `json:"checks,omitempty"`    // it was verified, but on the tip that it was merged onto
	VerifyMs int64 `json:"verify_ms,omitempty"` // time of that
	OtherMs  int64 `json:"other_ms,omitempty"`  // of setup, proof and pictures
	MergedMs int64 `json:"merged_ms,omitempty"` // of its verification on the tip that it was merged onto
}

// Took returns how long commands ran, but on the tip that the task was merged onto.
func (c Checks) Took() time.Duration {
	return time.Duration(c.VerifyMs+c.OtherMs) * time.Millisecond
}

// Once returns how long the task is verified once.
func (c Checks) Once() time.Duration {
	return time.Duration(c.VerifyMs/int64(max(c.Times, 1))) * time.Millisecond
}

// Merged returns how long the task was verified on the tip that it was merged onto.
func (c Checks) Merged() time.Duration { return time.Duration(c.MergedMs) * time.Millisecond }

// plus returns the sum of both.
func (c Checks) plus(o Checks) Checks {
	return Checks{Times: c.Times + o.Times, VerifyMs: c.VerifyMs + o.VerifyMs, OtherMs: c.OtherMs + o.OtherMs, MergedMs: c.MergedMs + o.MergedMs}
}

// IsZero reports whether the task was not begun.
func (e Effort) IsZero() bool { return e == Effort{} }

// With returns e with the end of one of the task's sessions. It says nothing of fix rounds.
// merged says that its change lies on the tip of the branch.
func (e Effort) With(b ledger.SessionEnded, merged bool) Effort {
	took := b.Exit.Took().Milliseconds()
	e.Ms += took
	switch {
	case b.Kind == ledger.KindAgent:
	case b.Kind == ledger.KindVerify && merged:
		e.MergedMs += took
		return e
	case b.Kind == ledger.KindVerify:
		e.VerifyMs += took
		return e
	default:
		e.OtherMs += took
		return e
	}
	e.Sessions++
	if s := Measured(b.Exit); s.USD == Unknown {
		e.Unpriced++
	} else {
		e.USD += s.USD
	}
	if b.Exit.Tokens < 0 {
		e.Untold++
	} else {
		e.Tokens += b.Exit.Tokens
	}
	return e
}

// Plus returns the sum of both.
func (e Effort) Plus(p Effort) Effort {
	e.Sessions += p.Sessions
	e.Attempts += p.Attempts
	e.Fixes += p.Fixes
	e.Ms += p.Ms
	e.USD += p.USD
	e.Tokens += p.Tokens
	e.Unpriced += p.Unpriced
	e.Untold += p.Untold
	e.Checks = e.Checks.plus(p.Checks)
	e.Scripted = e.Scripted || p.Scripted
	return e
}

// Measured returns what a session took, by its end.
func Measured(x ledger.Exit) Session {
	s := Session{Ms: x.Took().Milliseconds(), USD: x.CostUSD, Tokens: x.Tokens}
	if !(s.USD >= 0) { // also not a number
		s.USD = Unknown
	}
	if s.Tokens < 0 {
		s.Tokens = Unknown
	}
	return s
}

// Task is what one finished task took.
type Task struct {
	Outcome  Outcome `json:"outcome"`
	Sessions int     `json:"sessions"`
	Attempts int     `json:"attempts"`
	Fixes    int     `json:"fixes"`
	Ms       int64   `json:"ms"`
	USD      float64 `json:"usd"`    // Unknown if that of one of its sessions is
	Tokens   int64   `json:"tokens"` // as above
	Checks
}

// Took returns the time of the task's sessions.
func (t Task) Took() time.Duration { return time.Duration(t.Ms) * time.Millisecond }

// Finished returns the task whose effort e is, once it has the outcome.
func (e Effort) Finished(o Outcome) Task {
	t := Task{Outcome: o, Sessions: e.Sessions, Attempts: e.Attempts, Fixes: e.Fixes, Ms: e.Ms, USD: e.USD, Tokens: e.Tokens, Checks: e.Checks}
	if e.Unpriced > 0 {
		t.USD = Unknown
	}
	if e.Untold > 0 {
		t.Tokens = Unknown
	}
	return t
}
