package gitea

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
)

// tag is what a look leaves for the next one.
type tag struct {
	V      int    `json:"v"`
	Number int    `json:"n"`
	Open   bool   `json:"open,omitempty"`
	Head   string `json:"head"`
	Tip    string `json:"tip"` // of the base

	// Updated is when Gitea changed the pull request last, and Seen when it was
	// read, both by Gitea's clock.
	Updated time.Time `json:"updated"`
	Seen    time.Time `json:"seen"`
	// Since is when a look saw Head and Tip first, by this machine's clock.
	Since time.Time `json:"since"`
	// Checks is a hash of the checks, and View of all that the look showed.
	Checks string `json:"checks"`
	View   string `json:"view"`
	// Pending is set while some checks are.
	Pending bool `json:"pending,omitempty"`
	// Empty is set while the commit has no checks.
	Empty bool `json:"empty,omitempty"`
	// Unsure is set while it is not known whether it can be merged.
	Unsure bool `json:"unsure,omitempty"`
}

// tagVersion is the version of the form of tags. Another one counts as no tag.
const tagVersion = 1

// Times for which a look is not trusted to be the last word.
const (
	// Gitea's clock has seconds: what happens in the same one as a look may not be
	// in it, and shows the same time.
	sameSecond = 2 * time.Second
	// Checks of a commit that has none yet may begin.
	settling = 15 * time.Minute
	// Gitea does not say whether a request that cannot be merged has a conflict or
	// is still looked at, which takes it seconds.
	deciding = time.Minute
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
		return "" // only a year beyond 9999 has no form; the next look has no tag then
	}
	return string(text)
}

// again reports whether the next look has to come, whatever the list of pull
// requests shows.
func (t tag) again() bool { return t.Seen.Sub(t.Updated) < sameSecond || t.Open && t.Unsure }

// polls reports whether checks have to be asked for.
func (t tag) polls(now time.Time) bool {
	return t.Pending || t.Open && t.Empty && now.Sub(t.Since) < settling
}

// hashView returns a hash of what a view shows, hashChecks of checks.
func hashView(v ledger.RequestView) string {
	v.Tag, v.Next = "", time.Time{}
	return hash(v)
}

func hashChecks(c []ledger.ForgeCheck) string { return hash(c) }

func hash(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return "" // a year beyond 9999; equal to nothing that matters
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:12])
}
