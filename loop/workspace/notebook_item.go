package workspace

import (
	"bytes"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/nightporter/nightporter/internal/text"
	"github.com/nightporter/nightporter/loop/ledger"
)

// itemKey returns the comment that ends an item and identifies it. It comes
// last, so that an incomplete item never has one.
func itemKey(key string) string { return "<!-- nightporter: " + oneLine(key) + " -->" }

const itemKeyStart = "<!-- nightporter: "

// hasItem reports whether a line of the notebook ends with the key.
func hasItem(text []byte, key string) bool {
	for line := range bytes.Lines(text) {
		if bytes.HasSuffix(bytes.TrimRight(line, " \t\r\n"), []byte(key)) {
			return true
		}
	}
	return false
}

// notebookItem formats a memory as an item of a Markdown list; "" for no text.
// It indents all lines after the first, so that none begins another item, and
// removes keys from the text.
func notebookItem(m ledger.Memory) string {
	text := strings.ToValidUTF8(m.Text, "\uFFFD")
	cut := len(text) > maxItem
	if cut {
		end := maxItem
		for !utf8.RuneStart(text[end]) {
			end--
		}
		text = text[:end]
	}
	var lines []string
	for line := range strings.FieldsFuncSeq(text, func(r rune) bool { return strings.ContainsRune("\n\r\v\f\u0085\u2028\u2029", r) }) {
		if line = strings.TrimRight(sanitize(line), " "); line != "" {
			lines = append(lines, line)
		}
	}
	if lines == nil {
		return ""
	}
	if cut {
		lines = append(lines, fmt.Sprintf("(cut at %d kB)", maxItem>>10))
	}
	when := oneLine(m.Time)
	if t, err := time.Parse(time.RFC3339, m.Time); err == nil {
		when = t.Format("2006-01-02 15:04")
	}
	var about []string
	for _, s := range []string{when, oneLine(m.Hat), oneLine(m.Task), oneLine(m.Session)} {
		if s != "" {
			about = append(about, s)
		}
	}
	item := "- " + strings.Join(about, " · ") + ": " + strings.TrimLeft(strings.Join(lines, "\n  "), " ")
	switch {
	case m.Key == "":
	case len(lines) == 1:
		item += " " + itemKey(m.Key)
	default: // put the key on its own line, so that it cannot spoil the end of a code block
		item += "\n  " + itemKey(m.Key)
	}
	return item + "\n"
}

// sanitize removes control and direction characters from a line of text, and
// comments that could hide the following text or pose as a key.
func sanitize(line string) string {
	line = strings.ReplaceAll(line, "\t", "    ")
	line = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsControl(r):
			return ' '
		case unicode.Is(unicode.Bidi_Control, r):
			return -1
		}
		return r
	}, line)
	return text.Markdown(line)
}

// oneLine makes text safe for one line of a Markdown file.
func oneLine(s string) string { return text.Markdown(text.OneLine(s)) }

// appendItem returns the notebook with an item added at the end.
func appendItem(old []byte, heading, item string) []byte {
	if len(old) == 0 {
		return []byte(heading + "\n\n" + item)
	}
	eol := "\n"
	if first, _, ok := bytes.Cut(old, []byte("\n")); ok && bytes.HasSuffix(first, []byte("\r")) {
		eol = "\r\n"
	}
	out := bytes.Clone(old)
	if !bytes.HasSuffix(out, []byte("\n")) {
		out = append(out, eol...)
	}
	last := bytes.TrimSuffix(bytes.TrimSuffix(out, []byte("\n")), []byte("\r"))
	last = last[bytes.LastIndexByte(last, '\n')+1:]
	if len(last) > 0 && !bytes.HasPrefix(last, []byte("- ")) && !bytes.HasPrefix(last, []byte("  ")) {
		out = append(out, eol...) // a list begins after an empty line
	}
	return append(out, strings.ReplaceAll(item, "\n", eol)...)
}

// dropOldest removes the oldest items that we wrote until the notebook fits,
// but never the newest. Our items are those that end with a key.
func dropOldest(text []byte) []byte {
	if len(text) <= maxNotebook {
		return text
	}
	type span struct{ from, to int }
	var ours []span
	from, at := -1, 0
	for line := range bytes.Lines(text) {
		switch {
		case bytes.HasPrefix(line, []byte("- ")):
			from = at
		case !bytes.HasPrefix(line, []byte("  ")):
			from = -1
		}
		at += len(line)
		end := bytes.TrimRight(line, " \t\r\n")
		if from >= 0 && bytes.HasSuffix(end, []byte(" -->")) && bytes.Contains(end, []byte(itemKeyStart)) {
			ours = append(ours, span{from, at})
			from = -1
		}
	}
	var out []byte
	over, kept := len(text)-maxNotebook, 0
	for i, s := range ours {
		if over <= 0 || i == len(ours)-1 {
			break
		}
		out = append(out, text[kept:s.from]...)
		kept = s.to
		over -= s.to - s.from
	}
	return append(out, text[kept:]...)
}
