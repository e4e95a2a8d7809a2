package adapter

import (
	"time"
)

// Login says what an agent's login consists of: a few small files, which
// package agent keeps in the state folder. The zero value is an agent that
// needs none.
type Login struct {
	Keys []string          // variables that are a login by themselves: with one of them set, the kept login is not used
	Vars map[string]string // kept file → variable that its content becomes
	Home map[string]string // kept file → path below a session's HOME
	// Renewed returns what to keep of a file of Home after a session, from what
	// the session began with and what it left; nil means to keep what there is.
	Renewed func(began, left []byte) []byte

	// FromHome takes over the login that the program keeps in a person's home.
	// note is for people: what it is. Where there is none, the error is a
	// *ledger.InputError that says what to do.
	FromHome func(home string, now time.Time) (files map[string][]byte, note string, err error)
	// FromToken makes a login of the text of a token or key; note and the error
	// are as for FromHome.
	FromToken func(text []byte) (files map[string][]byte, note string, err error)

	Help string // whole lines for the help of `nightporter login`
	Hint string // what to know of a login that was taken from a home, as whole lines
}

// Needed reports whether the agent logs in at all. A reserved one has no Login
// and does not.
func (l *Login) Needed() bool { return l != nil && l.FromHome != nil }

// LoginHelp returns the help on every agent that can be logged in, in the
// table's order.
func LoginHelp() string {
	help := ""
	for _, a := range All() {
		if a.Login != nil {
			help += a.Login.Help
		}
	}
	return help
}

// LoginNames returns the agents that can be logged in, in the table's order.
func LoginNames() []string {
	var names []string
	for _, a := range All() {
		if a.Login.Needed() {
			names = append(names, a.Name)
		}
	}
	return names
}
