package github

import (
	"encoding/json"
	"time"
)

// tag is what a look leaves for the next one.
type tag struct {
	V      int    `json:"v"`
	Number int    `json:"n"`
	Open   bool   `json:"open,omitempty"`
	Head   string `json:"head"`
	Base   string `json:"base"` // branch
	Tip    string `json:"tip"`  // of Base

	// Updated is when GitHub changed the pull request last, and Seen when it was
	// read, both by GitHub's clock.
	Updated time.Time `json:"updated"`
	Seen    time.Time `json:"seen"`
	// Since is when a look saw Head and Tip first, by this machine's clock.
	Since time.Time `json:"since"`
	// Poll is the kind of checks of which some are pending, "" = none, pollEither =
	// required ones that have not begun.
	Poll string `json:"poll,omitempty"`
	// Empty is set while the commit has no checks.
	Empty bool `json:"empty,omitempty"`
	// Unsure is set while GitHub has not worked out whether it can be merged.
	Unsure bool `json:"unsure,omitempty"`

	// ETags.
	Pull     string `json:"pull,omitempty"`
	Branch   string `json:"branch,omitempty"`
	Runs     string `json:"runs,omitempty"`
	Statuses string `json:"statuses,omitempty"`
}

// Values of tag.Poll, and the kinds of checks that GitHub has.
const (
	pollRuns     = "runs"
	pollStatuses = "statuses"
	pollEither   = "either"
)

// kinds are the kinds of checks, each of which has every other turn.
var kinds = []string{pollRuns, pollStatuses}

// tagVersion is the version of the form of tags. Another one counts as no tag.
const tagVersion = 1

// Times for which a look is not trusted to be the last word.
const (
	// A clock of GitHub has seconds: what happens in the same one as a look may not
	// be in it, and shows the same time.
	sameSecond = 2 * time.Second
	// Checks of a commit that has none yet may begin, and a base that moved makes
	// GitHub work out anew whether it can be merged.
	settling = 15 * time.Minute
)

// parseTag reads a tag of a pull request. ok is false for one of another, and for
// what is none.
func parseTag(text string, number int) (t tag, ok bool) {
	if text == "" || json.Unmarshal([]byte(text), &t) != nil {
		return tag{}, false
	}
	return t, t.V == tagVersion && t.Number == number
}

// String returns the tag as parseTag reads it.
func (t tag) String() string {
	text, err := json.Marshal(t)
	if err != nil {
		return "" // only a year beyond 9999 has no form; the next look is at everything
	}
	return string(text)
}

// again reports whether the next look has to be at everything, whatever the list
// of pull requests shows.
func (t tag) again(now time.Time) bool {
	return t.Seen.Sub(t.Updated) < sameSecond || t.Open && t.Unsure && t.fresh(now)
}

// polls returns which checks have to be asked for in a turn, because the list of
// pull requests does not show them, "" = none.
func (t tag) polls(now time.Time, turn int) string {
	switch {
	case t.Open && t.Empty && t.fresh(now):
		return pollRuns
	case t.Poll == pollEither:
		return kinds[turn%len(kinds)]
	}
	return t.Poll
}

// fresh reports whether the commits are so new that GitHub may still begin
// something.
func (t tag) fresh(now time.Time) bool { return now.Sub(t.Since) < settling }
