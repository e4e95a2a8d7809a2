package adapter

import (
	"slices"
	"strings"
	"time"

	"github.com/nightporter/nightporter/internal/regexp"
	"github.com/nightporter/nightporter/loop/ledger"
)

// Failure is a phrase with which an agent or a provider reports that it cannot
// go on. Phrases come from real output and are whole sentences or clauses:
// single words such as "429" or "limit" occur in the output of many tests.
type Failure struct {
	Class  ledger.FailureClass
	Phrase Phrase
}

// Phrase is a wording that is searched in two kinds of text. A field of an
// agent's own error event contains nothing but the agent's words, so a phrase
// may stand anywhere in it. A line of plain output may come from a test, a file
// or the model, all of which write about limits: there the phrase has to begin
// the line, in the form in which programs print their errors.
type Phrase struct {
	field *regexp.Regexp
	line  *regexp.Regexp // nil: the wording counts in fields only
}

// errorLead matches what programs print before an error message: a time, the
// word "error", the HTTP status that the provider answered. Indentation, quotes
// and list marks are missing on purpose: they belong to tests and prose.
const errorLead = `(?:\[?\d{4}-\d\d-\d\d[T ][\d:.]+Z?\]? )?(?:\[?error\]?:? |■ )?(?:\[?api error: )?(?:[45]\d\d )?`

// endOfClause matches the end of a clause. "You've hit your limit for free
// shipping" does not report a limit.
const endOfClause = ` ?(?:$|[|·∙•.,;:!{(\]]| error:)`

func phrase(re string) Phrase {
	return Phrase{regexp.MustCompile(`(?i)` + re), regexp.MustCompile(`(?i)^` + errorLead + `(?:` + re + `)`)}
}

// word is a phrase that counts in fields only, because tests print it.
func word(re string) Phrase { return Phrase{field: regexp.MustCompile(`(?i)` + re)} }

// providerFailures are phrases of providers, which several agents pass on.
var providerFailures = []Failure{
	{ledger.FailureAuth, phrase(`invalid (x-)?api[ -]key|incorrect api key provided`)},
	{ledger.FailureAuth, word(`\bauthentication_error\b|\bmodel_not_found\b`)},
	{ledger.FailureAuth, phrase(`the model .* does not exist or you do not have access`)},
	{ledger.FailureAuth, phrase(`unexpected status 40[13]\b`)},
	{ledger.FailureLimit, phrase(`(you['’]ve|you have) (hit|reached) your ([\w'’-]+ ){0,3}limit` + endOfClause)},
	{ledger.FailureLimit, phrase(`the usage limit has been reached` + endOfClause)},
	{ledger.FailureLimit, phrase(`quota exceeded` + endOfClause + `|you exceeded your current quota\b`)},
	{ledger.FailureLimit, phrase(`you have exhausted your ([\w'’-]+ ){0,3}(quota|capacity) on this model\b`)},
	{ledger.FailureLimit, word(`\binsufficient_quota\b|exceeded your current quota`)},
	{ledger.FailureNetwork, phrase(`((exceeded retry limit, )?last|unexpected) status:? (429|5\d\d)\b`)},
	{ledger.FailureNetwork, phrase(`429:? (too many requests|rate[ -]?limit(ed)?( reached| exceeded)?)` + endOfClause)},
	{ledger.FailureNetwork, word(`\boverloaded_error\b|\brate_limit_error\b|\bresource_exhausted\b`)},
}

// eventFailures are wordings in error events of agents without a row of their
// own. The field holds an error of the provider and nothing else, so single
// words are enough there.
var eventFailures = []Failure{
	{ledger.FailureAuth, word(`\b40[13]\b|\bunauthorized\b`)},
	{ledger.FailureLimit, word(`\busage limit|\bquota\b`)},
	{ledger.FailureNetwork, word(`\b429\b|too many requests|\brate[ -]limit|\b5[0-2]\d\b|\boverloaded\b|service unavailable|internal server error|connection (error|reset|refused)|stream disconnected`)},
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

// searchedLines is the number of last lines to search: an agent that gives up
// reports the cause at the end.
const searchedLines = 12

// colour matches the escape sequences that colour a line.
var colour = regexp.MustCompile(`\x1b\[[0-9;]*m`)

// recognise returns the class and the text of the newest of the last lines of
// plain output that reports a failure, as programs print it. ended is the time
// of the session's end: a time of day in the text is the first such time after
// it, in the text's zone or else the machine's.
func recognise(known []Failure, lines []string, ended time.Time) (ledger.FailureClass, time.Time, string) {
	lines = lines[max(0, len(lines)-searchedLines):]
	for i, line := range slices.Backward(lines) {
		line = colour.ReplaceAllString(line, "")
		for _, f := range known {
			if f.Phrase.line == nil || !f.Phrase.line.MatchString(line) {
				continue
			}
			// The time may be on one of the following lines.
			class, until := waits(f.Class, resetTime(strings.Join(lines[i:], "\n"), ended), ended)
			return class, until, shorten(line)
		}
	}
	return "", time.Time{}, ""
}

// longestPause is the longest wait that a provider asks for without it being a
// usage limit, of whose end people are told.
const longestPause = 15 * time.Minute

// waits returns the class of a failure that names the time until which to wait,
// and that time; until is zero if it names none. A provider that answers 429
// refuses the pace, which is over in a moment, unless the wait that it asks for
// says otherwise.
func waits(class ledger.FailureClass, until, ended time.Time) (ledger.FailureClass, time.Time) {
	switch {
	case class != ledger.FailureLimit && class != ledger.FailureNetwork:
		return class, time.Time{}
	case class == ledger.FailureNetwork && until.Sub(ended) > longestPause && !until.IsZero():
		return ledger.FailureLimit, until
	}
	return class, until
}

// classify returns the class of an error message that stands in a field of an
// agent's own error event, "" if no phrase is known.
func classify(known []Failure, message string) ledger.FailureClass {
	for _, f := range known {
		if f.Phrase.field.MatchString(message) {
			return f.Class
		}
	}
	return ""
}

// shorten returns the first 300 bytes of a line.
func shorten(line string) string {
	text := strings.TrimSpace(line)
	if len(text) > 300 {
		text = Clean(text[:300], 300)
	}
	return text
}
