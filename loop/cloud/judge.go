package cloud

import (
	"fmt"

	"github.com/nightporter/nightporter/loop/ledger"
)

// verify judges the request of the task in hand, and acts on it.
func (m *machine) verify() Action {
	verdict, first := m.verdict()
	if first != nil {
		return *first
	}
	switch verdict.then {
	case thenDone:
		return m.done()
	case thenSetAside:
		return m.setAside(verdict.why)
	case thenWork:
		m.s.Own.Since = m.v.Now
		return m.to(AgentWorking)
	case thenPerson:
		return m.person(verdict.why)
	case thenRound:
		return m.round(verdict)
	case thenFinish:
		return m.finish()
	}
	return Action{}
}

// review looks whether a request still waits for a person.
func (m *machine) review() Action {
	verdict, first := m.verdict()
	if first != nil {
		return *first
	}
	switch {
	case verdict.then == thenDone:
		return m.done()
	case verdict.then == thenSetAside:
		return m.setAside(verdict.why)
	case verdict.then == thenWork && m.s.Own.Waiting == string(ReasonSilentRequest):
		return m.person(ReasonSilentRequest)
	case verdict.then == thenWork:
		m.s.Own.Since, m.s.Own.Waiting = m.v.Now, ""
		return m.to(AgentWorking)
	case verdict.then == thenPerson:
		return m.person(verdict.why)
	case verdict.then == thenFinish && m.s.Own.Waiting == string(ReasonMergeRefused):
		return m.person(ReasonMergeRefused) // nothing has changed that it was refused for
	}
	m.o.Reason, m.s.Own.Since, m.s.Own.Waiting = ReasonResumed, m.v.Now, ""
	return m.to(NeedsVerification)
}

// consequence is what follows from a request as it is.
type consequence int

const (
	thenWait consequence = iota
	thenDone
	thenSetAside
	thenWork
	thenRound
	thenPerson
	thenFinish
)

type verdict struct {
	then   consequence
	why    Reason
	checks []string
}

// verdict judges the request of the task in hand, or returns what has to come first:
// without a request the task is with its agent, and what is not fetched is not known.
func (m *machine) verdict() (v verdict, first *Action) {
	if m.s.Request == 0 {
		m.o.Reason = ReasonLost
		lost := m.to(AgentWorking)
		return v, &lost
	}
	if m.v.Result == nil {
		return v, &Action{Kind: Fetch, Work: m.work()}
	}
	m.start()
	v = m.judge(*m.v.Result)
	m.o.Reason, m.o.Checks = v.why, v.checks
	return v, nil
}

// judge says what follows from a request. The order is that of its cases: what
// somebody else did comes first, and a merge last.
func (m *machine) judge(r Result) verdict {
	var red, pending []string
	for _, c := range r.Checks {
		switch c.State {
		case ledger.CheckFailed:
			red = append(red, c.Name)
		case ledger.CheckPending:
			pending = append(pending, c.Name)
		}
	}
	failed := r.Session.Failed && (m.s.Own.Head == "" || r.Session.Ended.After(m.s.Own.Asked) || r.Request.HeadCommit != m.s.Own.Head)
	switch {
	case r.Request.State == ledger.RequestMerged:
		return verdict{then: thenDone}
	case r.Request.State == ledger.RequestClosed:
		return verdict{thenSetAside, ReasonRequestRefused, nil}
	case r.Session.Working:
		return verdict{thenWork, ReasonOpened, nil}
	case failed:
		return m.again(ReasonBroken, nil)
	case r.Request.Mergeable == ledger.MergeableConflict:
		return m.again(ReasonConflict, nil)
	case len(red) > 0:
		return m.again(ReasonRed, red)
	case len(r.Approval) > 0:
		return verdict{thenPerson, ReasonApproval, r.Approval}
	case len(pending) > 0 && m.late():
		return verdict{thenPerson, ReasonSlow, pending}
	case len(pending) > 0:
		return verdict{thenWait, ReasonPending, pending}
	case len(r.Checks) == 0 && m.since() < noChecksTime && m.s.Phase == NeedsVerification:
		return verdict{thenWait, ReasonNoChecksYet, nil}
	case len(r.Checks) == 0:
		return verdict{thenPerson, ReasonUnproved, nil}
	case r.ChangesRequested:
		return verdict{thenPerson, ReasonChanges, nil}
	case !m.p.AllowMerge:
		return verdict{thenPerson, ReasonYours, nil}
	case r.Request.Draft, r.Request.Mergeable == ledger.MergeableBehind, r.Request.Mergeable == ledger.MergeableClean:
		return verdict{then: thenFinish}
	case r.Request.Mergeable == ledger.MergeableBlocked:
		return verdict{thenPerson, ReasonBlocked, nil}
	}
	return verdict{thenWait, ReasonUnknown, nil}
}

// again sends the request back, unless that was done as often as it may be.
func (m *machine) again(why Reason, checks []string) verdict {
	if m.s.Own.Fixes >= m.p.rounds() {
		return verdict{thenPerson, ReasonRounds, checks}
	}
	return verdict{thenRound, why, checks}
}

// round gives the request back to the agent.
func (m *machine) round(why verdict) Action {
	head := m.v.Result.Request.HeadCommit
	round := m.s.Own.Fixes + 1
	if m.v.Dispatched == nil {
		return Action{Kind: Dispatch, Job: Job{
			Key:  key(m.p.Name, "round", fmt.Sprint(m.s.Request), head, fmt.Sprint(round)),
			Task: ledger.Task{ID: m.s.Task}, Attempt: max(m.s.Own.Attempts, 1),
			Request: m.s.Request, Head: head, Cause: why.why, Checks: why.checks,
		}}
	}
	m.s.Own.Fixes, m.s.Own.Head, m.s.Own.Asked, m.s.Own.Since = round, head, m.v.Dispatched.At, m.v.Now
	m.o.Round, m.o.Of = round, m.p.rounds()
	return m.to(AgentWorking)
}

// finish takes the request towards its merge.
func (m *machine) finish() Action {
	if m.v.Finished == nil {
		return Action{Kind: Finish, Merge: Merge{Work: m.work(), Head: m.v.Result.Request.HeadCommit}}
	}
	was, is := m.v.Result.Request, m.v.Finished.Request
	switch {
	case is.State == ledger.RequestMerged:
		return m.done()
	case m.v.Finished.Refusal != "":
		m.o.Refusal = m.v.Finished.Refusal
		return m.person(ReasonMergeRefused)
	case m.v.Finished.Queued:
		m.o.Reason = ReasonQueued
	case was.Draft && !is.Draft:
		m.o.Reason, m.s.Own.Since = ReasonReady, m.v.Now
	case was.HeadCommit != is.HeadCommit || was.Mergeable == ledger.MergeableBehind:
		m.o.Reason, m.s.Own.Since = ReasonUpdated, m.v.Now
	default:
		return m.person(ReasonMergeRefused)
	}
	return Action{}
}
