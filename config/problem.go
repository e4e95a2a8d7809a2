package config

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// maxProblems limits the problems that are shown at once (docs/spec 24.4).
const maxProblems = 10

// Problem is one mistake that a person has to correct before nightporter
// starts.
type Problem struct {
	File       string // as the person wrote it; "" for a flag
	Line       int    // 1-based; 0 where the problem has no line
	Col        int    // 1-based, in characters
	Len        int    // characters to underline, at least 1 where Line is set
	SourceLine string // the whole line without its line end
	Text       string // the mistake
	Meant      string // the nearest valid name, "" for none
	Fix        string // the remedy, "" where Text or Meant says it
}

// String returns the problem in the form of docs/spec 24.4, without a line end:
//
//	✗ nightporter.toml:23:1  unknown key "protectd" in [[project]] shop
//	    23 | protectd = ["main"]
//	       | ^^^^^^^^ meant "protected"?
//
// Everything that looks like a token is masked, in the text and in the line.
func (p Problem) String() string {
	var b strings.Builder
	b.WriteString("✗ ")
	switch {
	case p.Line > 0:
		fmt.Fprintf(&b, "%s:%d:%d  ", printable(mask(p.File)), p.Line, p.Col)
	case p.File != "":
		b.WriteString(printable(mask(p.File)) + "  ")
	}
	b.WriteString(printable(mask(p.Text)))
	meant := ""
	if p.Meant != "" && mask(p.Text) == p.Text { // a suggestion made from a token would reveal it
		meant = fmt.Sprintf("meant %q?", printable(mask(p.Meant)))
	}
	if p.Line > 0 {
		line, pad, n := p.window()
		fmt.Fprintf(&b, "\n%6d | %s", p.Line, line)
		fmt.Fprintf(&b, "\n%6s | %s%s", "", pad, strings.Repeat("^", n))
		if meant != "" {
			b.WriteString(" " + meant)
		}
	} else if meant != "" {
		b.WriteString("; " + meant)
	}
	if p.Fix != "" {
		b.WriteString("\n    " + printable(mask(p.Fix)))
	}
	return b.String()
}

// windowWidth is the maximum width of a source line that is shown.
const windowWidth = 100

// window returns the visible part of the source line, the padding before the
// carets, and the number of carets.
func (p Problem) window() (line, pad string, carets int) {
	runes := []rune(printableLine(maskLine(p.SourceLine)))
	col := min(max(p.Col-1, 0), len(runes))
	from := 0
	if col > windowWidth-20 {
		from = col - 20
	}
	to := min(len(runes), from+windowWidth)
	var before strings.Builder
	if from > 0 {
		line, from = "…", from+1
		before.WriteByte(' ')
	}
	for _, r := range runes[min(from, col):col] {
		if r != '\t' {
			r = ' '
		}
		before.WriteRune(r) // tabs are kept, so that the carets line up with the source
	}
	line += string(runes[from:to])
	if to < len(runes) {
		line += "…"
	}
	return line, before.String(), max(1, min(p.Len, to-col))
}

// Error holds all mistakes of a config, its hats and patterns, or the flags.
// The caller must not use any part of them.
type Error struct {
	Items []Problem // routeProblem most ten, sorted by file and line
	More  int       // number of problems beyond these
}

// newError returns nil when there are no problems.
func newError(items []Problem) error {
	if len(items) == 0 {
		return nil
	}
	slices.SortStableFunc(items, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Col, b.Col), cmp.Compare(a.Text, b.Text))
	})
	items = slices.Compact(items)
	e := &Error{Items: items}
	if len(items) > maxProblems {
		e.Items, e.More = items[:maxProblems], len(items)-maxProblems
	}
	return e
}

// Error returns every problem in the form of docs/spec 24.4. It leaves out the
// final line, because only the caller knows the command and its exit code.
func (e *Error) Error() string {
	parts := make([]string, 0, len(e.Items)+1)
	for _, p := range e.Items {
		parts = append(parts, p.String())
	}
	if e.More > 0 {
		parts = append(parts, fmt.Sprintf("  and %d more", e.More))
	}
	return strings.Join(parts, "\n")
}

// tokens matches tokens of the services and agents that a config is about. A
// person may paste one where the name of its file belongs, and no part of it
// may then be shown.
var tokens = regexp.MustCompile(`\d{5,}:[A-Za-z0-9_-]{6,}` + // Telegram
	`|\b(?:xox[a-z]|xapp)-[A-Za-z0-9-]+` + // Slack
	`|\bsk-[A-Za-z0-9_-]{6,}|\bAIza[A-Za-z0-9_-]{6,}` + // model providers
	`|\bgh[a-z]_[A-Za-z0-9]{4,}|\bgithub_pat_\w+|\bglpat-[\w-]+`) // forges

// secretKey matches an assignment to a key that sounds secret and does not name
// a file.
var secretKey = regexp.MustCompile(`(?i)(?:^|[\s{,."'])[a-z0-9_-]*(?:token|secret|passw(?:or)?d|api_?key|credential)s?["']?\s*=\s*(.*)$`)

// number matches a numeric value, which is no secret, as in "max_tokens = 5".
var number = regexp.MustCompile(`^[-+]?[0-9][0-9._]*\s*(?:#.*)?$`)

// mask replaces each character of a token by one star, so that columns stay
// right.
func mask(s string) string { return tokens.ReplaceAllStringFunc(s, stars) }

func maskLine(line string) string {
	line = mask(line)
	if m := secretKey.FindStringSubmatchIndex(line); m != nil && !number.MatchString(line[m[2]:]) {
		line = line[:m[2]] + stars(line[m[2]:])
	}
	return line
}

func stars(s string) string { return strings.Repeat("*", len([]rune(s))) }

// printable replaces every character that is not visible, one for one, so that
// hostile text cannot control the terminal.
func printable(s string) string { return strings.Map(visible, s) }

func printableLine(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\t' {
			return r
		}
		return visible(r)
	}, s)
}

func visible(r rune) rune {
	if r == '\n' || r == '\t' {
		return ' '
	}
	if !unicode.IsPrint(r) {
		return unicode.ReplacementChar
	}
	return r
}
