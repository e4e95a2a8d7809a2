package people

import (
	"slices"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
)

// State is who is paired, what is quiet and which digests were sent. It is the
// fold of the shared stream's entries about people and chats. Apply never changes
// a State: it returns a new one. The zero value is the state before the first
// entry: nobody is paired.
//
// Snapshots hold its fields beside those of loop.Shared, which embeds it.
type State struct {
	People    []ledger.Person         `json:"people,omitempty"`  // paired people, in the order of their pairing
	Pairing   *Pairing                `json:"pairing,omitempty"` // open pairing code; nil = none
	Strangers []Stranger              `json:"strangers,omitempty"`
	Refusals  []Refusal               `json:"refusals,omitempty"`
	Quiet     map[string]ledger.Hours `json:"quiet,omitempty"` // quiet hours set for single chats
	Digest    ledger.DigestSent       `json:"digest,omitzero"` // last one sent
	Week      ledger.WeekDigestSent   `json:"week,omitzero"`   // last one sent
}

// Pairing is the open pairing code that the host shows.
type Pairing struct {
	Hash  string      `json:"hash"`
	Role  ledger.Role `json:"role"`
	Until time.Time   `json:"until"`
	Tries int         `json:"tries"` // wrong codes so far
}

// Stranger is an unpaired sender, with the time at which the ledger last
// recorded them.
type Stranger struct {
	Who string    `json:"who"`
	At  time.Time `json:"at"`
}

// Refusal is a command that a paired person's role does not include, with the time
// at which the ledger last recorded it.
type Refusal struct {
	Who     string    `json:"who"`
	Command string    `json:"command"`
	At      time.Time `json:"at"`
}

// auditEvery is the time between two entries about the same stranger, or about the
// same refused command of a person (docs/spec 6.6).
const auditEvery = time.Hour

// Person returns the paired person with this platform id, and whether there is
// one.
func (s State) Person(id string) (ledger.Person, bool) {
	n := slices.IndexFunc(s.People, func(p ledger.Person) bool { return p.ID == id })
	if n < 0 {
		return ledger.Person{}, false
	}
	return s.People[n], true
}

// lastAdmin reports whether the person with this id is the only admin.
func (s State) lastAdmin(id string) bool {
	p, ok := s.Person(id)
	return ok && p.Role == ledger.RoleAdmin && !slices.ContainsFunc(s.People, func(o ledger.Person) bool { return o.ID != id && o.Role == ledger.RoleAdmin })
}
