package loop

import (
	"strings"

	"github.com/nightporter/nightporter/loop/ledger"
)

// AwaitedAgent names the agent that the run waits for, "" where it waits for
// none. Waits recorded before entries had a field for it begin their text
// with the name.
func (r *Run) AwaitedAgent() string {
	switch {
	case r == nil || r.Wait != ledger.WaitLimit && r.Wait != ledger.WaitAgent:
		return ""
	case r.WaitAgent == "":
		name, _, _ := strings.Cut(r.Text, ": ")
		return name
	}
	return r.WaitAgent
}

// loginWords occur in what agents say when a person has to log in again,
// rather than pay or choose another model.
var loginWords = []string{"login", "log in", "logged out", "api key", "api_key", "oauth", "unauthorized", "401", "authenticat"}

// loggedOut reports whether an agent that cannot be used asks for a login. It
// reads text, because agents say it in no other way; the entry has a field.
func loggedOut(text string) bool {
	text = strings.ToLower(text)
	for _, w := range loginWords {
		if strings.Contains(text, w) {
			return true
		}
	}
	return false
}
