package loop

import (
	"fmt"
	"strings"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
)

// maxUnverified is the longest time that a limit by plain output alone is
// believed (docs/spec 10.3). A real limit of a few hours ends in it.
const maxUnverified = 6 * time.Hour

// longWork is the length from which a session that ended by itself counts as
// work although its output shows no turns. Programs give up on a refused request
// within four minutes.
const longWork = 10 * time.Minute

// LimitStreak describes the limits of one agent in a row, with no session in
// between that emitted its event.
type LimitStreak struct {
	Times   int       `json:"times"`
	Since   time.Time `json:"since"`   // of the first
	Until   time.Time `json:"until"`   // end of the last hold
	Session string    `json:"session"` // session whose end showed the last one
	Doubted bool      `json:"doubted"` // the last one is unverified or named no end
}

// fold returns the streak after another limit at time at.
func (l LimitStreak) fold(b ledger.AgentParked, at time.Time) LimitStreak {
	if l.Times == 0 || l.over(at) {
		l.Since = at
	}
	l.Times, l.Until, l.Session, l.Doubted = b.Times, b.Until, b.Session, b.Unverified || !b.Known
	return l
}

// over reports whether a limit at time at has nothing to do with the streak: the
// agent was not tried for hours after its last hold.
func (l LimitStreak) over(at time.Time) bool { return at.After(l.Until.Add(maxUnverified)) }

// limitStreak returns the agent's limits that came before the session was
// planned; the zero value if there are none. Sessions that run at the same time
// meet the same limit.
func (d *decision) limitStreak(s Session) LimitStreak {
	l := d.Shared.Limits[s.Planned.Agent]
	if l.Times == 0 || l.over(d.in.Time) || !s.At.After(l.Since) {
		return LimitStreak{}
	}
	return l
}

// namesEnd reports whether the limit in x has an end that can be believed.
func (d *decision) namesEnd(x ledger.Exit) bool {
	return x.Until.After(d.in.Time) && !x.Until.After(d.in.Time.Add(longestLimit))
}

// repeats reports whether a session's failure is the session's own, although its
// output names one of the agent: it says again what the agent was held for, and
// the session worked in the meantime. A real limit refuses the first request
// (docs/spec 10.3).
func (d *decision) repeats(s Session, end ledger.SessionOutcome, x ledger.Exit) bool {
	agent := s.Planned.Agent
	again := false
	switch {
	case end == ledger.EndedLimit:
		again = d.limitStreak(s).Times > 0 && (x.Unverified || !d.namesEnd(x))
	case end == ledger.EndedNetwork && x.Unverified:
		// A provider may answer once or twice before it refuses again: that is
		// over within seconds.
		again = d.Shared.Backoff[agent] > 0 && (x.Called || x.Took() >= earlyEnd)
	case end == ledger.EndedUnusable && x.Unverified:
		hold := d.Shared.Agents[agent]
		again = hold.Trial && hold.Why == ledger.FailureAuth
	}
	return again && worked(x)
}

// worked reports whether the session is known to have worked. Changed files are
// known only after a capture.
func worked(x ledger.Exit) bool {
	if x.Turns >= 0 {
		return x.Turns > 0
	}
	return x.Called || x.Reason == ledger.ExitSelf && x.Took() >= longWork
}

// parkForLimit parks the session's agent for its limit. A limit by plain output alone
// is believed for maxUnverified; after that, and one trial, the agent needs a
// person.
func (d *decision) parkForLimit(s Session, x ledger.Exit) {
	now, agent := d.in.Time, s.Planned.Agent
	before := d.limitStreak(s)
	p := ledger.AgentParked{
		Agent: agent, Until: x.Until, Known: true, Why: ledger.FailureLimit, Text: x.Text,
		Times: before.Times + 1, Session: s.ID, Unverified: x.Unverified,
	}
	if !d.namesEnd(x) {
		p.Until, p.Known = now.Add(lateBy), false
	}
	if x.Unverified {
		last := now.Add(maxUnverified)
		if before.Times > 0 {
			last = before.Since.Add(maxUnverified)
		}
		if !last.After(now) {
			d.addShared(ledger.AgentUnusable{Agent: agent, Why: ledger.FailureLimit,
				Text: fmt.Sprintf("no session for %s: %s", ledger.Duration(now.Sub(before.Since).Round(time.Minute)), x.Text)})
			return
		}
		if p.Until.After(last) {
			p.Until, p.Known = last, false
		}
	}
	d.addShared(p)
}

// keepReserve parks the session's agent before its usage window is used up, where
// the settings reserve a part of it and the agent reported its use. A window that
// names no end that can be believed parks nothing: nobody could say until when.
func (d *decision) keepReserve(s Session, x ledger.Exit) {
	agent, w := s.Planned.Agent, x.Window
	reserve := d.run().Settings.Reserve[agent]
	if reserve <= 0 || w == nil || percent(w.Used)+percent(reserve) < 100 || !d.namesEnd(ledger.Exit{Until: w.Resets}) {
		return
	}
	if h, held := d.Shared.Agents[agent]; held && !h.Trial {
		return
	}
	window := "usage window"
	if w.Name != "" {
		window = strings.ReplaceAll(w.Name, "_", "-") + " window"
	}
	d.addShared(ledger.AgentParked{
		Agent: agent, Until: w.Resets, Known: true, Why: ledger.FailureLimit, Session: s.ID,
		Text: fmt.Sprintf("%d%% of its %s is used, and %d%% is kept in reserve", percent(w.Used), window, percent(reserve)),
	})
}

func percent(part float64) int { return int(part*100 + 0.5) }

// refuteLimit counts a session as failed whose limit was a repeat, once its
// files show that it worked. It reports whether it did.
func (d *decision) refuteLimit(t TaskState, b TreeCaptured) bool {
	if b.Taken.Tree == t.Attempt.Tree {
		return false
	}
	for _, agent := range sortedKeys(d.Shared.Limits) {
		if l := d.Shared.Limits[agent]; l.Session == b.Session && l.Times > 1 && l.Doubted {
			if _, held := d.Shared.Agents[agent]; held {
				d.addShared(ledger.AgentUsable{Agent: agent})
			}
			d.redo(t, ledger.Redo{Why: ledger.RedoLimit, Failed: true, Tree: t.Attempt.Tree,
				Note: "The session before ended without a report and said that the usage limit is reached, as one before it did; but it had changed files, and nothing of them was kept. Send your event with hat emit, see that it is accepted, and only then stop."})
			return true
		}
	}
	return false
}
