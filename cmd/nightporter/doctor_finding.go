package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/config"
	"github.com/nightporter/nightporter/config/propose"
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
	const indent = 17
	text := f.shown
	if text == "" {
		what := f.Check
		if f.Project != "" {
			what = f.Project
		}
		text = fmt.Sprintf("%s %-13s  %s", severitySigns[f.Severity], what, f.location()+propose.Plain(f.Text))
		if f.Remedy != "" {
			text += "\n" + strings.Repeat(" ", indent) + propose.Plain(f.Remedy)
		}
	}
	_, err := fmt.Fprintln(out, text)
	return err
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
