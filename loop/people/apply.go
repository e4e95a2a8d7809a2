package people

import (
	"maps"
	"slices"

	"github.com/nightporter/nightporter/loop/ledger"
)

// Apply returns the state after one more entry of the shared stream. It is total:
// an entry that is not about people or chats leaves the state as it is. It never
// changes s.
func Apply(s State, e ledger.Entry) State {
	switch b := e.Body.(type) {
	case ledger.PairingOffered:
		s.Pairing = &Pairing{Hash: b.Hash, Role: b.Role, Until: b.Until}
	case ledger.PairingTried:
		if p := s.Pairing; p != nil {
			tried := *p
			tried.Tries = b.Tries
			if s.Pairing = &tried; b.Void {
				s.Pairing = nil
			}
		}
	case ledger.PairingEnded:
		s.Pairing = nil
	case ledger.PersonPaired:
		s.Pairing = nil
		s.People = append(without(s.People, b.Person.ID), b.Person)
	case ledger.PersonRemoved:
		s.People = without(s.People, b.ID)
		s.Quiet = withHours(s.Quiet, b.ID, "")
	case ledger.QuietSet:
		s.Quiet = withHours(s.Quiet, b.Chat, b.Hours)
	case ledger.StrangerWrote:
		s.Strangers = slices.DeleteFunc(slices.Clone(s.Strangers), func(o Stranger) bool { return !e.Time.Before(o.At.Add(auditEvery)) })
		s.Strangers = append(s.Strangers, Stranger{Who: b.Who, At: e.Time})
	case ledger.CommandRefused:
		s.Refusals = slices.DeleteFunc(slices.Clone(s.Refusals), func(r Refusal) bool { return !e.Time.Before(r.At.Add(auditEvery)) })
		s.Refusals = append(s.Refusals, Refusal{Who: b.Who, Command: b.Command, At: e.Time})
	case ledger.DigestSent:
		s.Digest = b
	case ledger.WeekDigestSent:
		s.Week = b
	}
	return s
}

// without returns a copy of people that lacks the person with this id.
func without(people []ledger.Person, id string) []ledger.Person {
	return slices.DeleteFunc(slices.Clone(people), func(p ledger.Person) bool { return p.ID == id })
}

// withHours returns a copy of quiet in which a chat has these hours of its own, or
// none if h is "".
func withHours(quiet map[string]ledger.Hours, chat string, h ledger.Hours) map[string]ledger.Hours {
	quiet = maps.Clone(quiet)
	switch {
	case h == "":
		delete(quiet, chat)
	case quiet == nil:
		quiet = map[string]ledger.Hours{chat: h}
	default:
		quiet[chat] = h
	}
	return quiet
}
