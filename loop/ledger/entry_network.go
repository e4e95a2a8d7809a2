package ledger

import "time"

// HostAllowed records that sessions may reach a host which the configuration does
// not name. The entry says for how long by its scope: of one session if that is set,
// else of its run, else of the project until HostRemoved.
type HostAllowed struct {
	Host    string `json:"host"`           // in its ASCII form; "*.example.org" for all names below it
	Port    int    `json:"port,omitempty"` // 0 = 443 and 80
	Session string `json:"session,omitempty"`
	Run     string `json:"run,omitempty"`
	By      string `json:"by"`
}

// HostRefused records that a host which a session asked for stays closed to the
// sessions of its run.
type HostRefused struct {
	Host string        `json:"host"`
	Port int           `json:"port"`
	Why  RefusalReason `json:"why"`
	By   string        `json:"by,omitempty"` // with RefusedByPerson
}

// RefusalReason says why a host is refused.
type RefusalReason string

// Reasons.
const (
	RefusedByPerson RefusalReason = "no"
	RefusedUnasked  RefusalReason = "unasked" // its run had asked people about MaxHostQuestions hosts
)

// MaxHostQuestions is how many hosts people are asked about in one run.
const MaxHostQuestions = 3

// HostsMissed records what setup and the verification of the start commit, or an agent,
// lacked in a closed network: people hear of it before the night.
type HostsMissed struct {
	Agent    string   `json:"agent,omitempty"`    // whose program wanted them when it was tried; "" = setup and verification
	Hosts    []string `json:"hosts,omitempty"`    // that nobody named, as the configuration writes them
	Services []string `json:"services,omitempty"` // ADDRESS:PORT of this machine's loopback, where nothing answered
}

// HostRemoved takes back a HostAllowed of the project. Sessions in flight keep what
// they have.
type HostRemoved struct {
	Host string `json:"host"`
	Port int    `json:"port,omitempty"`
	By   string `json:"by"`
}

// TaintsCleared records that a person looked at what sessions left behind that had read
// text by strangers, and takes it for the project's own from now on.
type TaintsCleared struct {
	By string `json:"by"`
}

// NetworkKeptOpen records that sessions which read text by strangers have the network
// of their project's settings until a time, in place of a closed one. A zero time
// closes it again.
type NetworkKeptOpen struct {
	Until time.Time `json:"until,omitzero"`
	By    string    `json:"by"`
}
