package people

import (
	"slices"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
)

// maxStrangers limits the strangers that are recorded within auditEvery, so that
// a crowd cannot fill the disk (docs/spec 6.6).
const maxStrangers = 50

// CheckRole reports whether a sender still has the role that let an input in:
// whoever let it in had looked at an older state. If ok is false, refusal is the
// decision on that input, whatever it was.
func CheckRole(s State, now time.Time, from Sender) (refusal Decision, ok bool) {
	if from.Role == "" {
		return Decision{}, true
	}
	d := newDecision(s, now, from)
	p, paired := d.Person(from.Actor)
	switch {
	case !paired:
		d.audit(MeetStranger{Why: "not paired any more"})
		d.refuse(ledger.CodeTakenOut, "not paired any more")
	case !p.Role.May(from.Role):
		d.refuse(ledger.CodeRole, "your role is %s now. Nothing was changed.", p.Role)
	default:
		return Decision{}, true
	}
	return d.made, false
}

// decide records a message from a stranger.
func (b MeetStranger) decide(d *decision) { d.audit(b) }

// IgnoresStranger reports whether a message from somebody who is not paired is not
// recorded: each sender is recorded once in auditEvery, and at most maxStrangers
// of them in that time.
func (s State) IgnoresStranger(who string, now time.Time) bool {
	recent := 0
	for _, o := range s.Strangers {
		if now.Before(o.At.Add(auditEvery)) {
			if recent++; o.Who == who {
				return true
			}
		}
	}
	return recent >= maxStrangers
}

// audit records a message from a sender who is not paired, unless it is ignored.
func (d *decision) audit(b MeetStranger) {
	if !d.IgnoresStranger(d.from.Actor, d.now) {
		d.add(ledger.StrangerWrote{Who: d.from.Actor, Name: d.from.displayName(), Chat: b.Chat, Why: b.Why})
	}
}

// decide records a command that the sender's role does not allow, each of them once
// in auditEvery.
func (b RefuseCommand) decide(d *decision) {
	p, _ := d.Person(d.from.Actor)
	known := slices.ContainsFunc(d.Refusals, func(r Refusal) bool {
		return r.Who == d.from.Actor && r.Command == b.Command && d.now.Before(r.At.Add(auditEvery))
	})
	if !known {
		d.add(ledger.CommandRefused{Who: d.from.Actor, Name: d.from.displayName(), Role: p.Role, Command: b.Command, Project: b.For})
	}
	d.refuse(ledger.CodeRole, "your role is %s", p.Role)
}
