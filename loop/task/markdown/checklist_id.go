package markdown

import (
	"crypto/sha256"
	"strings"

	"github.com/nightporter/nightporter/internal/regexp"
)

// explicitID matches an id at the beginning of a box's text. Group 1 is T001, 2 "Task 1"
// or "Phase 1", 3 a dotted number, 4 a number with a point, 5 letters and a number
// behind a hyphen, 6 a plan of a phase, as in 01-02-PLAN.md.
var explicitID = regexp.MustCompile(`^(?:\*\*|__)?` + "`?" + `\[?(?:` +
	`(T-?[0-9]{2,}[a-z]?)|` +
	`((?i:task|phase|stage|step|milestone)[ \t]+[0-9]+(?:\.[0-9]+)*[A-Za-z]?)|` +
	`([0-9]+(?:\.[0-9]+)+[a-z]?)|` +
	`([0-9]+[a-z]?)|` +
	`([A-Z][A-Z0-9]{0,9}(?:-[A-Z]{1,9})*-?[0-9]+(?:[.-][0-9]+)*[a-z]?)|` +
	`([0-9]{2}-[0-9]{2}[a-z]?)(?:-PLAN(?:\.md)?)?` +
	`)\]?` + "`?" + `(\*\*|__)?([:.)]?(?:\*\*|__)?)(?:[ \t]*(?:--+|–|—)[ \t]+|[ \t]+|$)`)

// idForm says which alternative of explicitID an id is.
type idForm int

const (
	noID       idForm = iota
	specID            // T001
	wordID            // Task 1, Phase 2
	dottedID          // 1.2
	numberID          // 1.
	prefixedID        // FTR-12, US-001, P0-1.1
	planID            // 01-02
)

// leadingID returns the id that a text begins with, and the length of all that belongs
// to it. A number alone needs a point or a colon behind it: "3 buttons" has no id.
func leadingID(text string) (id string, kind idForm, length int) {
	if text == "" || !strings.ContainsAny(text[:min(len(text), 24)], "0123456789") {
		return "", noID, 0
	}
	m := explicitID.FindStringSubmatchIndex(text)
	if m == nil {
		return "", noID, 0
	}
	for n := 1; n <= 6; n++ {
		if m[2*n] >= 0 {
			id, kind = text[m[2*n]:m[2*n+1]], idForm(n)
		}
	}
	marked := m[16] < m[17] && strings.ContainsAny(text[m[16]:m[17]], ":.)")
	bold := m[14] >= 0 || strings.HasPrefix(text, "**") || strings.HasPrefix(text, "__")
	length = m[1]
	// A bold that begins before the id and ends behind the title stays in the title.
	if kind == numberID && !marked || kind == prefixedID && strings.IndexByte(id, '-') < 0 && !marked && m[14] < 0 {
		return "", noID, 0
	}
	if kind == prefixedID && !marked && !bold && text[0] != '[' && text[0] != '`' {
		return id, prefixedID, -length // only where other boxes have such ids, too
	}
	return strings.Join(strings.Fields(id), " "), kind, length
}

// idLetters are the characters of ids that are made: no vowels, so that none is a word,
// and nothing that looks like another character. The first two are letters: g17, q5
// and their like name something else.
const (
	idLetters = "bcdfghjkmnpqrstvwxyz"
	idSigns   = "bcdfghjkmnpqrstvwxyz23456789"
)

// foldText returns what of a text counts for its id.
func foldText(s string) string {
	return strings.ToLower(strings.Join(strings.Fields(noEmphasis.Replace(s)), " "))
}

var noEmphasis = strings.NewReplacer("*", "", "`", "", "_", "", "~", "")

// textID makes the id of a task that has none from its folded text, of n characters: it
// stays while other lines change.
func textID(text string, n int) string {
	sum := sha256.Sum256([]byte(text))
	id := make([]byte, n)
	for i := range id {
		set := idSigns
		if i < 2 {
			set = idLetters
		}
		id[i] = set[int(sum[i])%len(set)]
	}
	return string(id)
}

// Lengths of made ids: for most, and for two texts that would share one.
const (
	shortID = 5
	longID  = 10
)
