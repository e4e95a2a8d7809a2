package request

import (
	"reflect"
	"slices"
	"time"

	"github.com/nightporter/nightporter/internal/text"
	"github.com/nightporter/nightporter/loop/ledger"
)

// Seen is what the last look that was news showed.
type Seen struct {
	ledger.RequestStanding
	At  time.Time `json:"at"`
	Tag string    `json:"tag,omitempty"`
}

// Bounds of what is remembered of checks, whose names a forge says.
const (
	maxFailed = 5
	maxName   = 80 // characters
	maxReason = 300
)

// StandingOf returns what is remembered of a view of the branch's request.
func (b Branch) StandingOf(v ledger.RequestView) ledger.RequestStanding {
	r := v.Request
	s := ledger.RequestStanding{
		Number: r.Number, State: r.State, HeadCommit: r.HeadCommit, Base: r.Base, Draft: r.Draft, Mergeable: r.Mergeable, MergeCommit: r.MergeCommit, BaseCommit: r.BaseCommit,
	}
	if s.Strangers = len(v.Strangers); !v.Writers && s.Strangers == 0 {
		s.Strangers = 1 // somebody who is not known
	}
	s.OwnUnknown = b.Pushed != "" && slices.Contains(v.Strangers, b.Pushed)
	if r.BaseCommit == "" && r.State == ledger.RequestOpen {
		s.Base = ""
	}
	for _, c := range v.Checks {
		switch c.State {
		case ledger.CheckPassed:
			s.Passed++
		case ledger.CheckPending:
			s.Pending++
		case ledger.CheckFailed:
			if s.Failing++; len(s.Failed) < maxFailed {
				s.Failed = append(s.Failed, text.First(c.Name, maxName))
			}
		}
	}
	return s
}

// FailedLook returns the standing after a look that failed: what the last one
// showed, and why this one showed nothing.
func (b Branch) FailedLook(err ledger.ForgeError) ledger.RequestStanding {
	var s ledger.RequestStanding
	if b.Seen != nil {
		s = b.Seen.RequestStanding
	} else if b.Request != nil {
		s = ledger.RequestStanding{Number: b.Request.Number, State: b.Request.State, Base: b.Request.Base}
	}
	s.Failure, s.Text, s.Remedy = err.Failure, text.First(err.Text, maxReason), text.First(err.Remedy, maxReason)
	return s
}

// IsNews reports whether a look shows something else of the branch's open request
// than the looks before it. The words of a failure may change with each try.
func (b Branch) IsNews(now ledger.RequestStanding) bool {
	if !b.IsOpen() || b.Request.Number != now.Number {
		return false
	}
	if b.Seen == nil {
		return true
	}
	was := b.Seen.RequestStanding
	was.Text, was.Remedy, now.Text, now.Remedy = "", "", "", ""
	if !was.ChecksDue.IsZero() && !now.ChecksDue.IsZero() {
		was.ChecksDue = now.ChecksDue // it is waited for them still
	}
	return !reflect.DeepEqual(was, now)
}

// seen folds what a look showed.
func (b *Branch) seen(e ledger.RequestSeen, at time.Time) {
	if e.Now.Failure == "" && e.Now.HeadCommit != b.head() {
		b.HeadAt = at
	}
	b.Checked = b.Checked || e.Now.Checks() > 0
	was := b.Seen
	b.Upkeep.seen(was, e.Now, at)
	b.Seen = &Seen{e.Now, at, e.Tag}
	if e.Now.Failure == "" && (was != nil && was.HeadCommit != e.Now.HeadCommit || e.Now.Failing > 0 || !at.Before(b.InQueue.Add(queueTime))) {
		b.Queued = false // no forge tells that its queue gave a request up
	}
	if b.Request == nil || b.Request.Number != e.Now.Number {
		return
	}
	r := *b.Request
	r.State, r.HeadCommit, r.Draft, r.Mergeable, r.MergeCommit = e.Now.State, e.Now.HeadCommit, e.Now.Draft, e.Now.Mergeable, e.Now.MergeCommit
	if e.Now.Base != "" {
		r.Base = e.Now.Base
	}
	b.Request = &r
}

// How long a head without checks is waited for. A forge begins them some seconds after
// a push, later while its machines are busy; until then it shows such a head as it
// shows one that is never checked.
const (
	firstChecks = 2 * time.Minute  // nobody has seen a check of the request
	nextChecks  = 10 * time.Minute // earlier heads had some
)

// AwaitChecks returns a standing with the time until which checks of its head are
// waited for; zero where it has some, or is old enough to have none.
func (b Branch) AwaitChecks(now ledger.RequestStanding, at time.Time) ledger.RequestStanding {
	if now.Failure != "" {
		return now
	}
	now.ChecksDue = time.Time{}
	since, wait := b.HeadAt, firstChecks
	if now.HeadCommit != b.head() {
		since = at // somebody else pushed it
	}
	if b.Checked {
		wait = nextChecks
	}
	if now.State != ledger.RequestOpen || now.Checks() > 0 || since.IsZero() {
		return now
	}
	if since.After(at) { // the clock was set back
		since = at
	}
	if due := since.Add(wait); at.Before(due) {
		now.ChecksDue = due
	}
	return now
}

// head returns the commit that the branch's request has, as far as that is known.
func (b Branch) head() string {
	if b.Seen != nil && b.Seen.HeadCommit != "" {
		return b.Seen.HeadCommit
	}
	return b.Pushed
}

// Times between looks at a request. What changes soon is looked at soon; while
// nothing changes, the pauses grow.
const (
	lookSoon  = 15 * time.Second
	lookLate  = 5 * time.Minute
	lookSince = 4 // a pause is that part of the time since something changed
)

// LookPause returns how long to wait before the next look at a request in which
// nothing changed for some time.
func LookPause(quiet time.Duration) time.Duration {
	return min(max(quiet/lookSince, lookSoon), lookLate)
}
