package ledger

import (
	"time"
)

// PairingOffered records that the host shows a pairing code. The ledger keeps only
// its hash.
type PairingOffered struct {
	Hash  string    `json:"hash"`
	Role  Role      `json:"role"`
	Until time.Time `json:"until"`
}

// PairingTried records a wrong pairing code. Void says that it was the last try
// allowed and the offered code is void.
type PairingTried struct {
	Who   string `json:"who"` // "telegram:99120045"
	Name  string `json:"name,omitempty"`
	Tries int    `json:"tries"`
	Void  bool   `json:"void,omitempty"`
}

// PairingEnded records that a pairing code is void: it expired, or another code
// was offered.
type PairingEnded struct {
	Why string `json:"why"`
}

// PersonPaired records a paired person. A person who is paired already gets the
// new role.
type PersonPaired struct {
	Person Person `json:"person"`
}

// PersonRemoved records that a person is not paired any more.
type PersonRemoved struct {
	ID string `json:"id"`
}

// QuietSet records a chat's own quiet hours. Hours "" removes them, so that the
// configured hours apply again.
type QuietSet struct {
	Chat  string `json:"chat"`
	Hours Hours  `json:"hours"`
}

// StrangerWrote records a message of a sender who is not paired, at most once an
// hour for each sender.
type StrangerWrote struct {
	Who  string `json:"who"`
	Name string `json:"name,omitempty"`
	Chat string `json:"chat,omitempty"`
	Why  string `json:"why,omitempty"` // not paired, anonymous, a bot
}

// CommandRefused records a command that the sender's role does not include.
type CommandRefused struct {
	Who     string `json:"who"`
	Name    string `json:"name,omitempty"`
	Role    Role   `json:"role"`
	Command string `json:"command"` // its first word
	Project string `json:"project,omitempty"`
}
