package triage

import (
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// mostText limits the bytes of a body that rules read, and mostWords the words. What
// makes a report clear stands at its beginning.
const (
	mostText  = 16 << 10
	mostWords = 2000
)

// clip returns the first mostText bytes of s, as valid UTF-8.
func clip(s string) string {
	if len(s) > mostText {
		s = s[:mostText]
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}

// plain maps the accented letters of the languages that the lexicon knows.
var plain = strings.NewReplacer("ä", "a", "ö", "o", "ü", "u", "ß", "ss", "á", "a", "é", "e", "í", "i", "ó", "o", "ú", "u", "ñ", "n",
	"è", "e", "à", "a", "ç", "c", "ê", "e", "â", "a", "ô", "o", "î", "i", "ï", "i")

// foldText returns s in lower case and without accents.
func foldText(s string) string { return plain.Replace(strings.ToLower(s)) }

// wordsOf splits a folded text into words: runs of letters, digits and marks.
func wordsOf(folded string) []string {
	words := strings.FieldsFunc(folded, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r)
	})
	return words[:min(len(words), mostWords)]
}

// unquote removes what stands in quotation marks: names of buttons and texts of pages
// say nothing about what the reporter wants.
func unquote(s string) string {
	var b strings.Builder
	inside := rune(0)
	for _, r := range s {
		switch {
		case inside == 0 && strings.ContainsRune("\"“„«`", r):
			inside = map[rune]rune{'"': '"', '“': '”', '„': '“', '«': '»', '`': '`'}[r]
			b.WriteByte(' ')
		case inside != 0 && r == inside:
			inside = 0
		case inside == 0 || r == '\n':
			if r == '\n' {
				inside = 0
			}
			b.WriteRune(r)
		}
	}
	return b.String()
}

// visibleLength counts the characters of a text, a run of the same one as one, so that
// exclamation marks do not make a text long. A letter of a script that needs no spaces
// between words counts as two.
func visibleLength(s string) (n int) {
	last := rune(-1)
	for _, r := range strings.Join(strings.Fields(s), " ") {
		if r != last || unicode.IsDigit(r) {
			n++
			if unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai) {
				n++
			}
		}
		last = r
	}
	return n
}

// trigrams are three neighbours of a row of a keyboard, in either direction, that no
// common word has twice.
var trigrams = sync.OnceValue(func() map[string]bool {
	out := map[string]bool{}
	for _, row := range []string{"qwe", "asdfghjkl", "sdkfj", "zxcvbnm", "yxcvbnm", "jkln", "nlkj"} {
		for i := 0; i+3 <= len(row); i++ {
			t := row[i : i+3]
			out[t] = true
			out[string([]byte{t[2], t[1], t[0]})] = true
		}
	}
	return out
})

// isSmash reports whether a folded word was typed without looking.
func isSmash(w string) bool {
	if len(w) < 3 || strings.ContainsFunc(w, func(r rune) bool { return r >= utf8.RuneSelf || !unicode.IsLetter(r) }) {
		return false
	}
	near, vowels, run, longest := 0, 0, 0, 0
	for i := range len(w) {
		if i+3 <= len(w) && trigrams()[w[i:i+3]] {
			near++
		}
		if run++; strings.IndexByte("aeiouy", w[i]) >= 0 {
			vowels, run = vowels+1, 0
		}
		longest = max(longest, run)
	}
	return near >= 2 || near == 1 && len(w) == 3 || longest >= 5 && 5*vowels < len(w) || isRepetition(w)
}

// isRepetition reports whether a word is one syllable again and again: "xxxx", "jajaja".
func isRepetition(w string) bool {
	for period := 1; period <= 4 && period*2 <= len(w); period++ {
		if len(w) >= 6 && w[period:] == w[:len(w)-period] || period == 1 && len(w) >= 3 && w[1:] == w[:len(w)-1] {
			return true
		}
	}
	return false
}
