package words

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/nightporter/nightporter/internal/nearest"
)

// Intent is what a sentence is for.
type Intent string

// Intents. The comments name the arguments of those that have one.
const (
	Guidance Intent = "guidance" // words for a session: whatever matches no phrase
	Look     Intent = "look"     // shows something; Arg is its command: "status"
	Stop     Intent = "stop"     // ends the run; Arg: "", "now" or "task", after the task in hand
	Pause    Intent = "pause"    // holds the run; Arg: "" or "now"
	Resume   Intent = "resume"   // goes on
	Start    Intent = "start"    // starts a run
	Retry    Intent = "retry"    // a task again
	Skip     Intent = "skip"     // puts a task away
	Merge    Intent = "merge"    // merges a request
	Choose   Intent = "choose"   // answers with an option; Arg is its letter
	Yes      Intent = "yes"      // agrees, in so many words
	OK       Intent = "ok"       // agrees, or has only read it; also a thumb
	No       Intent = "no"       // disagrees
	Forget   Intent = "forget"   // takes back what was said before
	Nothing  Intent = "nothing"  // says nothing that anything could follow from: "thanks"

	filler Intent = "filler" // of a phrase that only stands before or behind others
)

// intents lists the sections that a phrase file may have.
var intents = []Intent{Look, Stop, Pause, Resume, Start, Retry, Skip, Merge, Choose, Yes, OK, No, Forget, Nothing, filler}

// Meaning is the meaning of a sentence.
type Meaning struct {
	Intent Intent
	Arg    string // see the intents; "" for those without
	Task   string // number or id of a task that the sentence names, as typed and without "#"; "" = none
}

// maxWords is the number of words from which a sentence is guidance without a look
// at the phrases, which are short.
const maxWords = 12

// Read returns the meaning of a text. A text that is no phrase as a whole is
// Guidance; one without a letter or digit is Nothing, unless its symbol has a
// meaning.
func Read(text string) Meaning {
	b := phrases()
	ws := tokens(text)
	if slices.ContainsFunc(ws, hasLetter) {
		ws = slices.DeleteFunc(ws, func(w string) bool { return !hasLetter(w) })
	}
	if len(ws) > maxWords {
		return Meaning{Intent: Guidance}
	}
	for _, find := range []func([]string) (Meaning, bool){b.exact, b.misspelt} {
		for _, part := range b.withoutFillers(ws) {
			if m, ok := find(part); ok {
				return m
			}
		}
	}
	if !slices.ContainsFunc(ws, hasLetter) || slices.ContainsFunc(b.withoutFillers(ws), func(p []string) bool { return len(p) == 0 }) {
		return Meaning{Intent: Nothing}
	}
	return Meaning{Intent: Guidance}
}

// Hints returns the meanings that single words of a text hint at, in the order of
// the text: what may have been meant by a text that Read took for guidance. Nothing
// may be done for a hint alone.
func Hints(text string) []Meaning {
	b := phrases()
	var out []Meaning
	for _, w := range tokens(text) {
		for _, m := range b.keywords[w] {
			if !slices.Contains(out, m) {
				out = append(out, m)
			}
		}
	}
	return out
}

// exact finds a phrase of exactly these words. "8" and "#8" stand for {task}, a
// single letter for {option}.
func (b *phraseBook) exact(ws []string) (Meaning, bool) {
	if m, ok := b.phrases[strings.Join(ws, " ")]; ok {
		return m, true
	}
	for n, w := range ws {
		slot := slotOf(w)
		if slot == "" {
			continue
		}
		other := slices.Clone(ws)
		other[n] = slot
		if m, ok := b.phrases[strings.Join(other, " ")]; ok {
			if slot == taskSlot {
				m.Task = strings.TrimPrefix(w, "#")
			} else {
				m.Arg = w
			}
			return m, true
		}
	}
	return Meaning{}, false
}

// Slots of phrases.
const (
	taskSlot   = "{task}"
	optionSlot = "{option}"
)

// slotOf returns the slot that a word can fill, "" for none.
func slotOf(w string) string {
	id := strings.TrimPrefix(w, "#")
	switch {
	case len(w) == 1 && w[0] >= 'a' && w[0] <= 'z':
		return optionSlot
	case id != "" && id[0] >= '0' && id[0] <= '9', strings.Contains(id, "-") && strings.ContainsAny(id, "0123456789"):
		return taskSlot
	}
	return ""
}

// misspelt finds a phrase that differs by one slip in one word. Two phrases of
// different meanings that are equally near are none.
func (b *phraseBook) misspelt(ws []string) (found Meaning, ok bool) {
	for _, p := range b.byCount[len(ws)] {
		if !slipped(ws, p) {
			continue
		}
		m := b.phrases[strings.Join(p, " ")]
		if ok && m != found {
			return Meaning{}, false
		}
		found, ok = m, true
	}
	return found, ok
}

// slipped reports whether typed is phrase with one slip.
func slipped(typed, phrase []string) bool {
	slips := 0
	for n, w := range typed {
		if w == phrase[n] {
			continue
		}
		if slips++; slips > 1 || !slip(w, phrase[n]) {
			return false
		}
	}
	return slips == 1
}

// slip reports whether a word may be the other one, misspelt: a letter too many, too
// few, wrong, or two swapped. Short words are too often another word: they may only
// have letters swapped or missing.
func slip(typed, word string) bool {
	const short, least = 4, 4
	if min(len(typed), len(word)) < least || typed[0] != word[0] || nearest.Distance(typed, word) != 1 {
		return false
	}
	return len(word) > short || len(typed) != len(word) || sameLetters(typed, word)
}

func sameLetters(a, b string) bool {
	x, y := []byte(a), []byte(b)
	slices.Sort(x)
	slices.Sort(y)
	return slices.Equal(x, y)
}

// withoutFillers returns the words, and what is left of them without fillers at
// their beginning and end, the longest first.
func (b *phraseBook) withoutFillers(ws []string) [][]string {
	out := [][]string{ws}
	for n := 0; n < len(out); n++ {
		for _, f := range b.fillers {
			part := out[n]
			if len(part) < len(f) {
				continue
			}
			if slices.Equal(part[:len(f)], f) {
				out = appendNew(out, part[len(f):])
			}
			if slices.Equal(part[len(part)-len(f):], f) {
				out = appendNew(out, part[:len(part)-len(f)])
			}
		}
	}
	return out
}

func appendNew(all [][]string, part []string) [][]string {
	if slices.ContainsFunc(all, func(o []string) bool { return slices.Equal(o, part) }) {
		return all
	}
	return append(all, part)
}

// umlauts are written in two ways, and typed without either.
var umlauts = strings.NewReplacer("ä", "ae", "ö", "oe", "ü", "ue", "ß", "ss", "'", "", "’", "", "`", "", "´", "")

// tokens returns the words of a text in lower case, without punctuation at their
// ends. A symbol such as 👍 is a word of its own; of equal words in a row one is left.
func tokens(text string) []string {
	var b strings.Builder
	for _, r := range umlauts.Replace(strings.ToLower(text)) {
		switch {
		case unicode.Is(unicode.So, r):
			b.WriteString(" " + string(r) + " ")
		case unicode.Is(unicode.Sk, r), unicode.Is(unicode.Mn, r), unicode.Is(unicode.Cf, r): // skin tones, variants, joiners
		default:
			b.WriteRune(r)
		}
	}
	var out []string
	for w := range strings.FieldsSeq(b.String()) {
		if w = strings.Trim(w, ".,;:!?…\"„“”«»*_~-–—"); w != "" && (len(out) == 0 || out[len(out)-1] != w) {
			out = append(out, w)
		}
	}
	return out
}

// hasLetter reports whether a word has a letter or a digit.
func hasLetter(w string) bool {
	return strings.ContainsFunc(w, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || r == utf8.RuneError })
}
