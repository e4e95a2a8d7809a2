package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/config"
	"github.com/nightporter/nightporter/config/propose"
	"github.com/nightporter/nightporter/internal/width"
	"github.com/nightporter/nightporter/loop/ledger"
)

var severitySigns = map[ledger.DiagnosticSeverity]string{
	ledger.DiagnosticOK: bot.SignDone, ledger.DiagnosticWarning: bot.SignLook,
	ledger.DiagnosticError: bot.SignFailed, ledger.DiagnosticUnchecked: bot.SignAway,
}

// finding is one line of doctor's output, and one object of its JSON. Fields
// are added, never renamed. No text in it contains a token.
type finding struct {
	Check   string
	Project string
	ledger.Diagnostic
	shown string // as it is printed, where that is more than the fields
}

// findingJSON is one object of doctor's JSON. Fields are added, never renamed.
type findingJSON struct {
	Check   string                    `json:"check"`
	Project string                    `json:"project,omitempty"`
	Result  ledger.DiagnosticSeverity `json:"result"`
	ledger.Diagnostic
}

// print writes one finding: the sign, the check, the text, and the remedy
// below.
func (f finding) print(out io.Writer, asJSON bool) error {
	if asJSON {
		line, err := json.Marshal(findingJSON{f.Check, f.Project, f.Severity, f.Diagnostic})
		if err != nil {
			return err
		}
		_, err = fmt.Fprintln(out, string(line))
		return err
	}
	text := f.shown
	if text == "" {
		what := f.Check
		if f.Project != "" {
			what = f.Project
		}
		text = layFinding(severitySigns[f.Severity], what, f.location()+propose.Plain(f.Text), propose.Plain(f.Remedy), columns(out))
	}
	_, err := fmt.Fprintln(out, text)
	return err
}

// layFinding lays out a finding in columns, 0 for any number: sign and subject beside
// the text and, below it, the remedy. Where little would be left for the text, both
// begin below the subject. A command that fits stays on one line, to be copied.
func layFinding(sign, what, text, remedy string, columns int) string {
	head, indent := fmt.Sprintf("%s %-13s  ", sign, what), 17
	if columns > 0 && columns < 60 {
		head, indent = sign+" "+what+"\n  ", 2
	}
	margin := "\n" + strings.Repeat(" ", indent)
	if columns == 0 {
		columns = math.MaxInt32
	}
	// A subject may be longer than its column: the first line is then shorter.
	long := max(width.Of(head[strings.LastIndex(head, "\n")+1:])-indent, 0)
	lines := width.Wrap(strings.Repeat("x", long)+text, columns-indent)
	lines[0] = lines[0][long:]
	laid := head + strings.Join(lines, margin)
	switch below := width.Wrap(remedy, columns-indent); {
	case remedy == "":
	case len(below) > 1 && width.Of(remedy)+2 <= columns:
		laid += "\n  " + remedy
	default:
		laid += margin + strings.Join(below, margin)
	}
	return laid
}

func (f finding) location() string {
	switch {
	case f.File != "" && f.Line > 0:
		return fmt.Sprintf("%s:%d  ", propose.Plain(f.File), f.Line)
	case f.File != "":
		return propose.Plain(f.File) + "  "
	}
	return ""
}

// Findings of each severity, in short.
func findOK(text string, args ...any) finding {
	return found(ledger.DiagnosticOK, "", text, args...)
}

func findLook(remedy, text string, args ...any) finding {
	return found(ledger.DiagnosticWarning, remedy, text, args...)
}

func findFix(remedy, text string, args ...any) finding {
	return found(ledger.DiagnosticError, remedy, text, args...)
}

func findUnchecked(text string, args ...any) finding {
	return found(ledger.DiagnosticUnchecked, "", text, args...)
}

func found(s ledger.DiagnosticSeverity, remedy, text string, args ...any) finding {
	return finding{Diagnostic: ledger.Diagnostic{Severity: s, Remedy: remedy, Text: fmt.Sprintf(text, args...)}}
}

// ofProject marks findings as those of one project.
func ofProject(project string, list []finding) []finding {
	for i := range list {
		list[i].Project = project
	}
	return list
}

// fromError converts an error with a list of mistakes into findings, and any
// other error into one finding.
func fromError(err error) []finding {
	var out []finding
	var in *ledger.InputError
	var c *config.Error
	switch {
	case errors.As(err, &in):
		out = ofSeverity(ledger.DiagnosticError, in.Diagnostics)
	case errors.As(err, &c):
		out = ofSeverity(ledger.DiagnosticError, c.Masked())
		for n, d := range c.Diagnostics {
			out[n].shown = config.Format(d)
		}
		if c.More > 0 {
			out = append(out, findFix("", "and %d more", c.More))
		}
	default:
		out = []finding{findFix("", "%v", err)}
	}
	return out
}

// ofSeverity makes findings of a list whose diagnostics all have one severity.
func ofSeverity(s ledger.DiagnosticSeverity, list []ledger.Diagnostic) []finding {
	var out []finding
	for _, d := range list {
		d.Severity = s
		out = append(out, finding{Diagnostic: d})
	}
	return out
}
