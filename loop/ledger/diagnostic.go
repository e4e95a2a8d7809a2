package ledger

import (
	"fmt"
	"strings"
)

// DiagnosticSeverity is the consequence of a Diagnostic. Its values stand in the JSON
// of doctor.
type DiagnosticSeverity string

// Severities of diagnostics.
const (
	DiagnosticOK        DiagnosticSeverity = "ok"        // nothing to do
	DiagnosticWarning   DiagnosticSeverity = "look"      // works, but deserves a look
	DiagnosticError     DiagnosticSeverity = "mend"      // fails until a person repairs it
	DiagnosticUnchecked DiagnosticSeverity = "unchecked" // could not be checked, or there is nothing to check
)

// Diagnostic is the result of a check of a person's input or of the host, with its
// place and its remedy, so that it can be repaired without searching. Entries store
// it without its severity, which the name of their list tells (problems, warnings),
// and without its excerpt and guess, which only a terminal shows.
type Diagnostic struct {
	Severity DiagnosticSeverity `json:"-"` // "" in lists whose name tells it
	File     string             `json:"file,omitempty"`
	Line     int                `json:"line,omitempty"` // 1-based; 0 if it concerns no single line
	Excerpt  Excerpt            `json:"-"`              // the part of Line that is wrong, zero if unknown
	Text     string             `json:"text"`           // what is wrong and what was expected
	Meant    string             `json:"-"`              // the nearest valid word, "" for none
	Remedy   string             `json:"fix,omitempty"`  // the command or edit that repairs it

	// AtWork is the id of the task that a source calls at work, if that is what it says.
	AtWork string `json:"at_work,omitempty"`
}

// Excerpt is a range of characters in one line of a file.
type Excerpt struct {
	Source string // the line as it stands in the file, without its end
	Col    int    // 1-based, in characters
	Len    int    // in characters, at least 1
}

// Short returns the diagnostic in one line, without its remedy: "a.go:41 …".
func (d Diagnostic) Short() string {
	switch {
	case d.File != "" && d.Line > 0:
		return fmt.Sprintf("%s:%d %s", d.File, d.Line, d.Text)
	case d.File != "":
		return d.File + " " + d.Text
	}
	return d.Text
}

// String returns the diagnostic for people: "checkout.md:41  Task 7 …". Its remedy is
// on a line of its own.
func (d Diagnostic) String() string {
	text := d.Text
	if d.Remedy != "" {
		text += "\n    " + d.Remedy
	}
	switch {
	case d.File != "" && d.Line > 0:
		return fmt.Sprintf("%s:%d  %s", d.File, d.Line, text)
	case d.File != "":
		return d.File + "  " + text
	}
	return text
}

// InputError lists problems that a person has to repair before work can start. The
// input that it is about must not be used at all.
type InputError struct{ Diagnostics []Diagnostic }

// Error lists every problem, one a line, in the form "file:line  text".
func (e *InputError) Error() string {
	lines := make([]string, len(e.Diagnostics))
	for i, d := range e.Diagnostics {
		lines[i] = d.String()
	}
	return strings.Join(lines, "\n")
}
