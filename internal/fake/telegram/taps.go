package telegram

import (
	"slices"
	"strings"
	"unicode/utf16"

	"github.com/nightporter/nightporter/internal/regexp"
)

// Texts that Telegram's clients make tappable. A word joiner after "/", "@",
// "." or "://" prevents it. The expressions match more than the clients do, for
// example file names whose extension is a country's top-level domain.
var (
	commandTap = regexp.MustCompile(`(?:^|[^\p{L}\p{N}_/<>])(/[a-zA-Z0-9_]{1,64}(?:@[a-zA-Z0-9_]{3,32})?)(?:$|[^\p{L}\p{N}_/<>])`)
	mentionTap = regexp.MustCompile(`(?:^|[^\p{L}\p{N}_/])(@[a-zA-Z0-9_]{3,32})`)
	linkTap    = regexp.MustCompile(`(?i)(?:[a-z][a-z0-9+.-]*://[^\s\x{2060}]+|(?:[\p{L}\p{N}_-]+\.)+[\p{L}]{2,}(?:[/:?#]\S*)?)`)
)

// Taps returns the tappable texts of a message: commands, mentions, links and
// domain-like words. Code and preformatted text have none.
func Taps(text string, entities []Entity) []string {
	plain := outsideCode(text, entities)
	out := links(text, entities)
	// Matching each word alone also finds the second command of "/a /b".
	for _, word := range strings.FieldsFunc(plain, func(r rune) bool { return r == ' ' || r == '\n' }) {
		for _, m := range append(commandTap.FindAllStringSubmatch(word, -1), mentionTap.FindAllStringSubmatch(word, -1)...) {
			out = append(out, m[1])
		}
	}
	return out
}

func links(text string, entities []Entity) []string {
	var out []string
	for _, e := range entities {
		if e.URL != "" {
			out = append(out, e.URL)
		}
	}
	return append(out, linkTap.FindAllString(outsideCode(text, entities), -1)...)
}

// outsideCode replaces code by spaces.
func outsideCode(text string, entities []Entity) string {
	u := utf16.Encode([]rune(text))
	for _, e := range entities {
		if e.Type == "code" || e.Type == "pre" {
			for i := e.Offset; i < e.Offset+e.Length && i < len(u); i++ {
				u[i] = ' '
			}
		}
	}
	return string(utf16.Decode(u))
}

// Marked returns the parts of a message that have an entity of a type.
func (m *Message) Marked(kind string) []string {
	u := utf16.Encode([]rune(m.Text))
	var out []string
	for _, e := range m.Entities {
		if e.Type == kind && e.Offset+e.Length <= len(u) {
			out = append(out, string(utf16.Decode(u[e.Offset:e.Offset+e.Length])))
		}
	}
	return slices.Clip(out)
}
