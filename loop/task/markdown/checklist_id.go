package markdown

import (
	"crypto/sha256"
	"strings"
	"unicode/utf8"

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
	if n := plainSpecID(text); n > 0 {
		return text[:n], specID, n + len(text[n:]) - len(strings.TrimLeft(text[n:], " \t"))
	}
	if !mayHaveID(text) {
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
	return oneLine(id), kind, length
}

// plainSpecID returns the length of an id T001 with white space behind it and no dash,
// as most have it, 0 for what explicitID has to look at.
func plainSpecID(text string) int {
	if text[0] != 'T' {
		return 0
	}
	n := 1
	for n < len(text) && text[n] >= '0' && text[n] <= '9' {
		n++
	}
	rest := strings.TrimLeft(text[n:], " \t")
	if n < 3 || len(rest) == len(text)-n || rest != "" && (rest[0] == '-' || rest[0] >= utf8.RuneSelf) {
		return 0
	}
	return n
}

// mayHaveID reports whether explicitID can match a text: most begin with a word.
func mayHaveID(text string) bool {
	text = strings.TrimPrefix(strings.TrimLeft(text, "*_`"), "[")
	n := 0
	for n < len(text) && text[n]|0x20 >= 'a' && text[n]|0x20 <= 'z' {
		n++
	}
	word := text[:n]
	if n == len(text) || text[n] >= utf8.RuneSelf || n == 0 || strings.ToUpper(word) == word {
		return true
	}
	for _, w := range idWords {
		if strings.EqualFold(word, w) {
			return true
		}
	}
	return false
}

// idWords are the words of ids in explicitID.
var idWords = []string{"task", "phase", "stage", "step", "milestone"}

// idLetters are the characters of ids that are made: no vowels, so that none is a word,
// and nothing that looks like another character. The first two are letters: g17, q5
// and their like name something else.
const (
	idLetters = "bcdfghjkmnpqrstvwxyz"
	idSigns   = "bcdfghjkmnpqrstvwxyz23456789"
)

// foldText returns what of a text counts for its id.
func foldText(s string) string {
	if strings.ContainsAny(s, "*`_~") {
		s = noEmphasis.Replace(s)
	}
	return strings.ToLower(oneLine(s))
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
