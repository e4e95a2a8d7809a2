package adapter

import (
	"errors"
	"fmt"
	"os"
	"time"
)

// Login describes an agent's login: a few small files, which package agent
// stores in the state folder. The zero value belongs to an agent without a
// login.
type Login struct {
	Keys []string // environment variables that replace the stored login when one of them is set
	// Args reports whether the arguments of a configured command bring what
	// replaces the login, such as a provider of models of the user's own.
	Args func(args []string) bool
	Vars map[string]string // stored file → environment variable for its content
	Home map[string]string // stored file → path below a session's HOME
	// Renewed returns the new content of a stored file after a session, given
	// the content before the session and after it; nil keeps the stored one.
	Renewed func(began, left []byte) []byte

	// FromHome reads the login that the program keeps in a person's home. note
	// describes it for people. Without a login, the error is a
	// *ledger.InputError with a remedy.
	FromHome func(home string, now time.Time) (files map[string][]byte, note string, err error)
	// FromToken makes a login from a token or key; note and the error are as
	// for FromHome.
	FromToken func(text []byte) (files map[string][]byte, note string, err error)

	Help string // help text of `nightporter login`, whole lines
	Hint string // advice about a login from a home, whole lines
}

// NoLoginArgs is the Args of an agent whose arguments cannot replace its login.
func NoLoginArgs([]string) bool { return false }

// Needed reports whether the agent uses a login.
func (l *Login) Needed() bool { return l.FromHome != nil }

// LoginHelp returns the help on all agents with a login, in the table's order.
func LoginHelp() string {
	help := ""
	for _, a := range All() {
		help += a.Login.Help
	}
	return help
}

// LoginNames returns the agents with a login, in the table's order.
func LoginNames() []string {
	var names []string
	for _, a := range All() {
		if a.Login.Needed() {
			names = append(names, a.Name)
		}
	}
	return names
}

// readLogin reads the file in a person's home in which a program keeps its login. none
// makes the error of a file that is not there, which says how to get one.
func readLogin(path, program, home string, none func(text string) error) ([]byte, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, none("there is no login of " + program + " in " + home + ": " + path + " does not exist")
	}
	if err != nil {
		return nil, fmt.Errorf("login: %w", err)
	}
	return data, nil
}
