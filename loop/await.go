package loop

import (
	"strings"

	"github.com/nightporter/nightporter/loop/ledger"
)

// AwaitedAgent returns the name of the agent that the run waits for, "" if there is
// none or r is nil. Older entries have no field for it; their text begins with the
// name.
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

// loginWords are phrases in an agent's error message that mean that a person
// has to log in again, rather than pay or choose another model.
var loginWords = []string{"login", "log in", "logged out", "api key", "api_key", "oauth", "unauthorized", "401", "authenticat"}

// loggedOut reports whether the message of an unusable agent asks for a login.
// Agents report that only as text; the entry keeps the result in a field, so
// that later readers need not parse it.
func loggedOut(text string) bool {
	text = strings.ToLower(text)
	for _, w := range loginWords {
		if strings.Contains(text, w) {
			return true
		}
	}
	return false
}
