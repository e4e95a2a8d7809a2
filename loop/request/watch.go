package request

import (
	"reflect"
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

// StandingOf returns what is remembered of a view.
func StandingOf(v ledger.RequestView) ledger.RequestStanding {
	r := v.Request
	s := ledger.RequestStanding{
		Number: r.Number, State: r.State, HeadCommit: r.HeadCommit, Base: r.Base, Draft: r.Draft, Mergeable: r.Mergeable, MergeCommit: r.MergeCommit, BaseCommit: r.BaseCommit,
	}
	if s.Strangers = len(v.Strangers); !v.Writers && s.Strangers == 0 {
		s.Strangers = 1 // somebody who is not known
	}
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
	return !reflect.DeepEqual(was, now)
}

// seen folds what a look showed.
func (b *Branch) seen(e ledger.RequestSeen, at time.Time) {
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
