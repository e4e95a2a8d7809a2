package markdown

import (
	"crypto/sha256"
	"strings"
	"unicode/utf8"

	"github.com/nightporter/nightporter/internal/regexp"
	"github.com/nightporter/nightporter/loop/ledger"
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
	n, capitals := 0, true
	for n < len(text) && text[n]|0x20 >= 'a' && text[n]|0x20 <= 'z' {
		capitals = capitals && text[n] < 'a'
		n++
	}
	word := text[:n]
	if n == len(text) || text[n] >= utf8.RuneSelf || capitals {
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

// Lengths of made ids: for most, and for two texts that would share one.
const (
	shortLength = 5
	longLength  = 10
)

type shortID [shortLength]byte

// textName is a folded text with the id that it makes.
type textName struct {
	text string
	id   shortID
}

func newTextName(text string) (n textName) {
	n.text = text
	textID(text, n.id[:])
	return n
}

// textNames are the texts of tasks that have no ids. The zero value is empty.
type textNames struct {
	tasks  []textName      // per task; an empty one has an id
	byID   map[shortID]int // the first task whose text makes the id
	others map[string]int  // the tasks of other texts that make the id of one before them
}

// find returns the index of the task that has a text.
func (t *textNames) find(name textName) (n int, ok bool) {
	if n, ok = t.byID[name.id]; !ok || t.tasks[n].text == name.text {
		return n, ok
	}
	n, ok = t.others[name.text]
	return n, ok
}

// add adds a text that no task has to the task with an index, of so many.
func (t *textNames) add(name textName, task, tasks int) {
	if t.tasks == nil {
		t.tasks, t.byID, t.others = make([]textName, tasks), make(map[shortID]int, tasks), map[string]int{}
	}
	t.tasks[task] = name
	if _, taken := t.byID[name.id]; taken {
		t.others[name.text] = task
	} else {
		t.byID[name.id] = task
	}
}

// name gives the tasks that have no id theirs: a long one to those whose short one is
// the id of another task, too.
func (t *textNames) name(tasks []docTask) {
	if t.tasks == nil {
		return
	}
	clash := map[shortID]bool{}
	for _, n := range t.others {
		clash[t.tasks[n].id] = true
	}
	for i := range tasks {
		if id := ledger.FoldID(tasks[i].ID); len(id) == shortLength {
			clash[shortID([]byte(id))] = true
		}
	}
	for i := range tasks {
		switch name := &t.tasks[i]; {
		case tasks[i].ID != "":
		case clash[name.id]:
			var id [longLength]byte
			textID(name.text, id[:])
			tasks[i].ID = string(id[:])
		default:
			tasks[i].ID = string(name.id[:])
		}
	}
}

// textID makes an id from a folded text: it stays while other lines change.
func textID(text string, id []byte) {
	sum := sha256.Sum256([]byte(text))
	for i := range id {
		set := idSigns
		if i < 2 {
			set = idLetters
		}
		id[i] = set[int(sum[i])%len(set)]
	}
}
