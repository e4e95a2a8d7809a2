package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/nightporter/nightporter/internal/regexp"
	"github.com/nightporter/nightporter/loop/ledger"
)

// maxProblems limits the problems that are shown at once (docs/spec 24.4).
const maxProblems = 10

// Format returns a diagnostic as docs/spec 24.4 shows it, without a line end:
//
//	✗ nightporter.toml:23:1  unknown key "protectd" in [[project]] shop
//	    23 | protectd = ["main"]
//	       | ^^^^^^^^ meant "protected"?
//
// Everything that looks like a token is masked, in the text and in the line.
func Format(d ledger.Diagnostic) string {
	var b strings.Builder
	b.WriteString("✗ ")
	switch {
	case d.Line > 0:
		fmt.Fprintf(&b, "%s:%d:%d  ", printable(mask(d.File)), d.Line, d.Excerpt.Col)
	case d.File != "":
		b.WriteString(printable(mask(d.File)) + "  ")
	}
	b.WriteString(printable(mask(d.Text)))
	guess := meant(d)
	if d.Line > 0 {
		line, pad, n := window(d)
		fmt.Fprintf(&b, "\n%6d | %s", d.Line, line)
		fmt.Fprintf(&b, "\n%6s | %s%s", "", pad, strings.Repeat("^", n))
		if guess != "" {
			b.WriteString(" " + guess)
		}
	} else if guess != "" {
		b.WriteString("; " + guess)
	}
	if d.Remedy != "" {
		b.WriteString("\n    " + printable(mask(d.Remedy)))
	}
	return b.String()
}

// meant returns the guess of a diagnostic as a question, "" if it has none. A guess
// made of a token would show it.
func meant(d ledger.Diagnostic) string {
	if d.Meant == "" || mask(d.Text) != d.Text {
		return ""
	}
	return fmt.Sprintf("meant %q?", printable(mask(d.Meant)))
}

// windowWidth is the maximum width of a source line that is shown.
const windowWidth = 100

// window returns the visible part of the source line, the padding before the
// carets, and the number of carets.
func window(d ledger.Diagnostic) (line, pad string, carets int) {
	runes := []rune(printableLine(maskLine(d.Excerpt.Source)))
	col := min(max(d.Excerpt.Col-1, 0), len(runes))
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
	return line, before.String(), max(1, min(d.Excerpt.Len, to-col))
}

// Error holds all mistakes of a config, its hats and patterns, or the flags.
// The caller must not use any part of them.
type Error struct {
	Diagnostics []ledger.Diagnostic // routeProblem most ten, sorted by file and line
	More        int                 // number of problems beyond these
}

// newError returns nil when there are no problems.
func newError(items []ledger.Diagnostic) error {
	if len(items) == 0 {
		return nil
	}
	slices.SortStableFunc(items, func(a, b ledger.Diagnostic) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Excerpt.Col, b.Excerpt.Col), cmp.Compare(a.Text, b.Text))
	})
	items = slices.Compact(items)
	e := &Error{Diagnostics: items}
	if len(items) > maxProblems {
		e.Diagnostics, e.More = items[:maxProblems], len(items)-maxProblems
	}
	return e
}

// Error returns every problem in the form of docs/spec 24.4. It leaves out the
// final line, because only the caller knows the command and its exit code.
func (e *Error) Error() string {
	parts := make([]string, 0, len(e.Diagnostics)+1)
	for _, d := range e.Diagnostics {
		parts = append(parts, Format(d))
	}
	if e.More > 0 {
		parts = append(parts, fmt.Sprintf("  and %d more", e.More))
	}
	return strings.Join(parts, "\n")
}

// Masked returns the diagnostics for readers other than a terminal: without
// excerpts, with a guess as remedy where there is no other, and with tokens masked
// in every field.
func (e *Error) Masked() []ledger.Diagnostic {
	var out []ledger.Diagnostic
	for _, d := range e.Diagnostics {
		out = append(out, ledger.Diagnostic{
			Severity: d.Severity, File: printable(mask(d.File)), Line: d.Line,
			Text: printable(mask(d.Text)), Remedy: cmp.Or(printable(mask(d.Remedy)), meant(d)),
		})
	}
	return out
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
func mask(s string) string {
	s = tokens.ReplaceAllStringFunc(s, stars)
	return passwords.ReplaceAllStringFunc(s, func(m string) string {
		at := strings.LastIndexByte(m, ':') + 1
		return m[:at] + stars(m[at:len(m)-1]) + "@"
	})
}

// passwords matches the users of addresses with their passwords.
var passwords = regexp.MustCompile(`://[^\s/:@"']*:[^\s/:@"']+@`)

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
