package people

import (
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
)

// Limits of a pairing code (docs/spec 6.6).
const (
	PairingTime  = 10 * time.Minute
	PairingTries = 5 // wrong codes after which it is void
)

// Due returns the time at which Expire next has something to do, which may be
// past, or the zero time for never.
func Due(s State) time.Time {
	if s.Pairing == nil {
		return time.Time{}
	}
	return s.Pairing.Until
}

// Expire returns the entries that are due at a time: the end of a pairing code
// that nobody used.
func Expire(s State, now time.Time) []ledger.Body {
	if p := s.Pairing; p != nil && !now.Before(p.Until) {
		return []ledger.Body{ledger.PairingEnded{Why: "nobody came"}}
	}
	return nil
}

// decide opens a pairing code: the first sender of the code is paired. It
// replaces an older code.
func (b OfferPairing) decide(d *decision) {
	if b.Hash == "" || b.Role.Rank() == 0 {
		d.refuse(ledger.CodeNoRole, "a person's role is view, steer or admin, not %q", b.Role)
		return
	}
	if d.Pairing != nil {
		d.add(ledger.PairingEnded{Why: "another code was made"})
	}
	until := d.now.Add(PairingTime)
	d.add(ledger.PairingOffered{Hash: b.Hash, Role: b.Role, Until: until})
	d.accept(ledger.CodeOffered, "works once, for one person, until "+until.Format("15:04"))
}

// decide handles a code that a sender tried. The reason for a refusal is for the
// audit and the host; a chat never shows it to the sender.
func (b TryPairing) decide(d *decision) {
	for _, b := range Expire(d.State, d.now) {
		d.add(b)
	}
	p := d.Pairing
	switch {
	case p == nil:
		if _, paired := d.Person(d.from.Actor); !paired {
			d.audit(MeetStranger{Why: "a code that is not open"})
		}
		d.refuse(ledger.CodeNoPairing, "no code is open")
	case b.Hash != p.Hash:
		tries := p.Tries + 1
		d.add(ledger.PairingTried{Who: d.from.Actor, Name: d.from.Name, Tries: tries, Void: tries >= PairingTries})
		d.refuse(ledger.CodeWrongCode, "wrong code, %d of %d", tries, PairingTries)
	case p.Role != ledger.RoleAdmin && d.lastAdmin(d.from.Actor):
		// The admin followed a link that is meant for another person. The code
		// stays valid.
		d.refuse(ledger.CodeLastAdmin, "you are the only admin; that code is for somebody else")
	default:
		name := d.from.displayName()
		d.add(ledger.PersonPaired{Person: ledger.Person{ID: d.from.Actor, Name: name, Role: p.Role, Since: d.now}})
		d.accept(ledger.CodePaired, name+", you are paired as "+string(p.Role))
		d.made.Answer.ID = string(p.Role)
	}
}

// decide removes a paired person. Only the host can remove the last admin, so
// that a slip in a chat cannot lock everybody out.
func (b Remove) decide(d *decision) {
	p, paired := d.Person(b.ID)
	if !paired {
		d.refuse(ledger.CodeNobody, "nobody with the id %s is paired", b.ID)
		return
	}
	if d.from.Actor != "console" && d.lastAdmin(b.ID) {
		d.refuse(ledger.CodeLastAdmin, "%s is the only admin; on the host: nightporter pair --remove %s", p.Name, p.ID)
		return
	}
	d.add(ledger.PersonRemoved(b))
	d.accept(ledger.CodeRemoved, p.Name+" is taken out")
	d.made.Answer.ID = b.ID
}
