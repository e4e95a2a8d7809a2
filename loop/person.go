package loop

import (
	"slices"
	"strings"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
)

// Limits of pairing and of the audit (docs/spec 6.6).
const (
	PairingTime   = 10 * time.Minute
	PairingTries  = 5
	StrangerEvery = time.Hour // between two audit entries about the same sender
	maxStrangers  = 50        // recorded within StrangerEvery, so that a crowd cannot fill the disk
)

// Person returns the paired person with this platform id, and whether there is
// one.
func (h Shared) Person(id string) (ledger.Person, bool) {
	n := slices.IndexFunc(h.People, func(p ledger.Person) bool { return p.ID == id })
	if n < 0 {
		return ledger.Person{}, false
	}
	return h.People[n], true
}

// without returns a copy of people that lacks the person with this id.
func without(people []ledger.Person, id string) []ledger.Person {
	return slices.DeleteFunc(slices.Clone(people), func(p ledger.Person) bool { return p.ID == id })
}

// offerPairing opens a pairing code: the first sender of the code is paired. It
// replaces an older code.
func (d *decision) offerPairing(b OfferPairing) {
	if b.Hash == "" || b.Role.Rank() == 0 {
		d.refuse(ledger.CodeNoRole, "a person's role is view, steer or admin, not %q", b.Role)
		return
	}
	if d.Shared.Pairing != nil {
		d.addShared(ledger.PairingEnded{Why: "another code was made"})
	}
	until := d.in.Time.Add(PairingTime)
	d.addShared(ledger.PairingOffered{Hash: b.Hash, Role: b.Role, Until: until})
	d.answer = ledger.Answer{OK: true, Code: ledger.CodeOffered, Text: "works once, for one person, until " + until.Format("15:04")}
}

// tryPairing handles a code that a sender tried. The reason for a refusal is
// for the audit and the host; a chat never shows it to the sender.
func (d *decision) tryPairing(b TryPairing) {
	d.endPairing()
	p := d.Shared.Pairing
	switch {
	case p == nil:
		if _, in := d.Shared.Person(d.in.Actor); !in {
			d.stranger(MeetStranger{Why: "a code that is not open"})
		}
		d.refuse(ledger.CodeNoPairing, "no code is open")
	case b.Hash != p.Hash:
		tries := p.Tries + 1
		d.addShared(ledger.PairingTried{Who: d.in.Actor, Name: d.in.Name, Tries: tries, Void: tries >= PairingTries})
		d.refuse(ledger.CodeWrongCode, "wrong code, %d of %d", tries, PairingTries)
	case p.Role != ledger.RoleAdmin && d.lastAdmin(d.in.Actor):
		// The admin followed a link that is meant for another person. The code
		// stays valid.
		d.refuse(ledger.CodeLastAdmin, "you are the only admin; that code is for somebody else")
	default:
		d.addShared(ledger.PersonPaired{Person: ledger.Person{ID: d.in.Actor, Name: personName(d.in.Name), Role: p.Role, Since: d.in.Time}})
		d.answer = ledger.Answer{OK: true, Code: ledger.CodePaired, ID: string(p.Role), Text: personName(d.in.Name) + ", you are paired as " + string(p.Role)}
	}
}

// personName shortens a platform's name to 40 characters in one line.
func personName(name string) string {
	name = strings.Join(strings.Fields(name), " ")
	if r := []rune(name); len(r) > 40 {
		return string(r[:40])
	}
	if name == "" {
		return "somebody"
	}
	return name
}

// endPairing closes a code that has expired.
func (d *decision) endPairing() {
	if p := d.Shared.Pairing; p != nil && !d.in.Time.Before(p.Until) {
		d.addShared(ledger.PairingEnded{Why: "nobody came"})
	}
}

// lastAdmin reports whether the person with this id is the only admin.
func (d *decision) lastAdmin(id string) bool {
	p, ok := d.Shared.Person(id)
	return ok && p.Role == ledger.RoleAdmin && !slices.ContainsFunc(d.Shared.People, func(o ledger.Person) bool { return o.ID != id && o.Role == ledger.RoleAdmin })
}

// removePerson removes a paired person. Only the host can remove the last
// admin, so that a slip in a chat cannot lock everybody out.
func (d *decision) removePerson(b RemovePerson) {
	p, ok := d.Shared.Person(b.ID)
	if !ok {
		d.refuse(ledger.CodeNobody, "nobody with the id %s is paired", b.ID)
		return
	}
	if d.in.Actor != "console" && d.lastAdmin(b.ID) {
		d.refuse(ledger.CodeLastAdmin, "%s is the only admin; on the host: nightporter pair --remove %s", p.Name, p.ID)
		return
	}
	d.addShared(ledger.PersonRemoved(b))
	d.answer = ledger.Answer{OK: true, Code: ledger.CodeRemoved, ID: b.ID, Text: p.Name + " is taken out"}
}

// stranger records a message from a sender who is not paired. It records each
// sender once in StrangerEvery, and at most maxStrangers of them, so that a
// crowd cannot fill the disk.
func (d *decision) stranger(b MeetStranger) {
	recent := 0
	for _, s := range d.Shared.Strangers {
		if d.in.Time.Before(s.At.Add(StrangerEvery)) {
			if recent++; s.Who == d.in.Actor {
				return
			}
		}
	}
	if recent < maxStrangers {
		d.addShared(ledger.StrangerWrote{Who: d.in.Actor, Name: personName(d.in.Name), Chat: b.Chat, Why: b.Why})
	}
}

// roleRevoked refuses an input whose sender was removed or lost the required
// role meanwhile. The caller that let the sender in had looked at an older
// state.
func (d *decision) roleRevoked() bool {
	if d.in.Role == "" {
		return false
	}
	p, in := d.Shared.Person(d.in.Actor)
	switch {
	case !in:
		d.stranger(MeetStranger{Why: "not paired any more"})
		d.refuse(ledger.CodeTakenOut, "not paired any more")
	case !p.Role.May(d.in.Role):
		d.refuse(ledger.CodeRole, "your role is %s now. Nothing was changed.", p.Role)
	default:
		return false
	}
	return true
}

// refuseCommand records a command that the sender's role does not allow.
func (d *decision) refuseCommand(b RefuseCommand) {
	p, _ := d.Shared.Person(d.in.Actor)
	d.addShared(ledger.CommandRefused{Who: d.in.Actor, Name: personName(d.in.Name), Role: p.Role, Command: b.Command, Project: b.For})
	d.refuse(ledger.CodeRole, "your role is %s", p.Role)
}
