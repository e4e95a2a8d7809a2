package bot

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
)

// Limits of a message that several receipts share.
const (
	MaxJoined     = 5    // receipts
	joinedUnits   = 3000 // UTF-16 units of text, well within what a platform shows without a file
	joinedButtons = 9    // three rows
)

// Joined is one receipt of several that share a message.
type Joined struct {
	ID string // "g14"
	Message
}

// receiptWords are the words of a receipt's first line by its key, and its sign; those
// that are still open come first.
var receiptWords = []struct{ key, sign, word string }{
	{"guidance.queued", SignLater, "queued"}, {"guidance.changed", SignLater, "queued"}, {"guidance.sticky", SignLater, "sticky"},
	{"guidance.replaced", SignAgain, "handed on"}, {"guidance.injected", SignNow, "in use"}, {"guidance.notfollowed", SignFailed, "not followed"},
	{"guidance.notreported", SignLook, "not reported"}, {"guidance.addressed", SignDone, "addressed"},
	{"guidance.setaside", SignAway, "set aside"}, {"guidance.expired", SignAway, "expired"}, {"guidance.dropped", SignAway, "dropped"},
}

// JoinReceipts renders receipts that share one message: the first line counts what
// became of them, each stands below with its own first line, and each that can be
// dropped has its button (docs/spec 23.4). fits is false if that is too long for a
// message without a file. A single receipt stays as it is.
func JoinReceipts(parts []Joined) (m Message, fits bool) {
	if len(parts) == 1 {
		return parts[0].Message, true
	}
	m = newMessage("guidance.joined", joinedFirst(parts))
	m.Project, m.About = parts[0].Project, parts[0].About
	for n, p := range parts {
		if p.Project != m.Project {
			m.Project = ""
		}
		if p.About != m.About {
			m.About = ""
		}
		lines := p.Lines
		if n+1 < len(parts) && len(lines) > 1 && sameEnd(p.Message, parts[n+1].Message) {
			lines = lines[:len(lines)-1] // the next one says it of both
		}
		m.Lines = append(m.Lines, lines...)
	}
	m.Buttons = joinedButtonsOf(parts)
	units := 0
	for _, l := range m.Lines {
		units += len(utf16.Encode([]rune(l.Text))) + 1
	}
	return m, units <= joinedUnits
}

// joinedFirst returns the first line: "○ g14–g16: 2 queued, 1 addressed".
func joinedFirst(parts []Joined) string {
	sign, ids := "", itemRanges(parts)
	count := map[string]int{} // by word
	var words []string
	for _, r := range receiptWords {
		for _, p := range parts {
			if p.Key != r.key {
				continue
			}
			if sign == "" {
				sign = r.sign
			}
			if count[r.word]++; count[r.word] == 1 {
				words = append(words, r.word)
			}
		}
	}
	var counts []string
	for _, w := range words {
		counts = append(counts, fmt.Sprintf("%d %s", count[w], w))
	}
	first := orElse(sign, SignLater) + " " + ids + ": " + strings.Join(counts, ", ")
	if Width(first) > FirstWidth { // the ids stand below
		first = orElse(sign, SignLater) + " " + strings.Join(counts, ", ")
	}
	return Cut(first, FirstWidth)
}

// itemRanges returns the ids of receipts: "g14–g16 g20".
func itemRanges(parts []Joined) string {
	var out []string
	for at := 0; at < len(parts); {
		end := at
		for end+1 < len(parts) && itemNumber(parts[end+1]) == itemNumber(parts[end])+1 {
			end++
		}
		if end-at >= 2 {
			out = append(out, parts[at].ID+"–"+parts[end].ID)
			at = end + 1
			continue
		}
		out = append(out, parts[at].ID)
		at++
	}
	return strings.Join(out, " ")
}

func itemNumber(p Joined) int {
	n, _ := strconv.Atoi(strings.TrimPrefix(p.ID, "g"))
	return n
}

// sameEnd reports whether two receipts end with the same plain line.
func sameEnd(a, b Message) bool {
	x, y := a.Lines[len(a.Lines)-1], b.Lines[len(b.Lines)-1]
	return x == y && x.Kind == Plain
}

// joinedButtonsOf returns the buttons of all parts. What is about one item says which;
// a button for the session at work, and one that takes back the last words, stand once.
func joinedButtonsOf(parts []Joined) []Button {
	var all []Button
	for n, p := range parts {
		for _, b := range p.Buttons {
			c, _ := Parse(b.Command)
			switch c.Verb {
			case VerbDrop, VerbKeep:
				b.Label = Cut(b.Label+" "+p.ID, LabelWidth)
			case VerbDiff:
				b.Label = Cut(b.Label+" "+shortID(p.About), LabelWidth)
			case VerbNow, VerbTakeBack:
				if n < len(parts)-1 {
					continue
				}
			}
			if !slices.ContainsFunc(all, func(x Button) bool { return x.Command == b.Command }) {
				all = append(all, b)
			}
		}
	}
	return all[:min(len(all), joinedButtons)]
}
