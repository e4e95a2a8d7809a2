package adapter

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
)

// Failure is a phrase with which an agent or a provider reports that it cannot
// go on. Phrases come from real output and are whole sentences or clauses:
// single words such as "429" or "limit" occur in the output of many tests.
type Failure struct {
	Class  ledger.FailureClass
	Phrase *regexp.Regexp
}

// providerFailures are phrases of providers, which several agents pass on.
var providerFailures = []Failure{
	{ledger.FailureAuth, phrase(`invalid (x-)?api[ -]key|incorrect api key provided`)},
	{ledger.FailureAuth, phrase(`\bauthentication_error\b`)},
	{ledger.FailureAuth, phrase(`model_not_found|the model .* does not exist or you do not have access`)},
	{ledger.FailureLimit, phrase(`(you['’]ve|you have) (hit|reached) your ([\w'’-]+ ){0,3}limit\b`)},
	{ledger.FailureLimit, phrase(`\brate_limit_error\b`)},
	{ledger.FailureLimit, phrase(`quota exceeded\b|exceeded your current quota|\binsufficient_quota\b`)},
	{ledger.FailureNetwork, phrase(`\boverloaded_error\b`)},
}

// classOrder is the order in which the classes are tried on a line. A line
// about both a refused login and a limit is a login failure, because waiting
// would not help.
var classOrder = []ledger.FailureClass{ledger.FailureAuth, ledger.FailureLimit, ledger.FailureNetwork}

// failures returns the agent's own phrases and those of providers. A user's
// command may be a script around any agent, so it gets the phrases of all
// agents.
func (a *Agent) failures() []Failure {
	known := slices.Concat(providerFailures, a.Failures)
	if a.Origin != FromPath {
		known = slices.Clone(providerFailures)
		for _, other := range agents {
			known = append(known, other.Failures...)
		}
	}
	slices.SortStableFunc(known, func(a, b Failure) int {
		return slices.Index(classOrder, a.Class) - slices.Index(classOrder, b.Class)
	})
	return known
}

func phrase(re string) *regexp.Regexp { return regexp.MustCompile(`(?i)` + re) }

// searchedLines is the number of last lines to search: an agent that gives up
// reports the cause at the end.
const searchedLines = 12

// recognise returns the class and the text of the newest line with a known
// phrase in a failed session's output. ended is the time of the session's end:
// a time of day in the text is the first such time after it, in the text's zone
// or else the machine's.
func recognise(known []Failure, tail string, ended time.Time) (ledger.FailureClass, time.Time, string) {
	lines := strings.FieldsFunc(tail, func(r rune) bool { return r == '\n' || r == '\r' })
	for i := len(lines) - 1; i >= 0 && i >= len(lines)-searchedLines; i-- {
		for _, f := range known {
			if !f.Phrase.MatchString(lines[i]) {
				continue
			}
			text := strings.TrimSpace(lines[i])
			if len(text) > 300 {
				text = Clean(text[:300], 300)
			}
			if f.Class != ledger.FailureLimit {
				return f.Class, time.Time{}, text
			}
			// The time may be on one of the following lines.
			until := resetTime(strings.Join(lines[i:], " "), ended)
			return ledger.FailureLimit, until, text
		}
	}
	return "", time.Time{}, ""
}
