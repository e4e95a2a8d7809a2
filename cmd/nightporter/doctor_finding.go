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

// Results of a check.
const (
	resultOK        = "ok"        // nothing to do
	resultLook      = "look"      // works, but a person should know about it
	resultFix       = "mend"      // will fail until a person corrects it
	resultUnchecked = "unchecked" // not checked: impossible, or nothing to check
)

var resultSigns = map[string]string{
	resultOK: bot.SignDone, resultLook: bot.SignLook, resultFix: bot.SignFailed, resultUnchecked: bot.SignAway,
}

// finding is one line of doctor's output, and one object of its JSON. Fields
// are added, never renamed. No text in it contains a token.
type finding struct {
	Check   string `json:"check"`
	Project string `json:"project,omitempty"`
	Result  string `json:"result"` // ok, look, mend, unchecked
	File    string `json:"file,omitempty"`
	Line    int    `json:"line,omitempty"`
	Text    string `json:"text"`
	Fix     string `json:"fix,omitempty"` // the command or edit that solves it
	shown   string // replaces Text on the terminal, where that shows more than the fields
}

// print writes one finding: the sign, the check, the text, and the remedy
// below.
func (f finding) print(out io.Writer, asJSON bool) error {
	if asJSON {
		line, err := json.Marshal(f)
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
		text = fmt.Sprintf("%s %-13s  %s", resultSigns[f.Result], what, f.location()+propose.Plain(f.Text))
		if f.Fix != "" {
			text += "\n" + strings.Repeat(" ", indent) + propose.Plain(f.Fix)
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

// These functions make findings of one result each.
func findOK(text string, args ...any) finding {
	return finding{Result: resultOK, Text: fmt.Sprintf(text, args...)}
}

func findLook(fix, text string, args ...any) finding {
	return finding{Result: resultLook, Fix: fix, Text: fmt.Sprintf(text, args...)}
}

func findFix(fix, text string, args ...any) finding {
	return finding{Result: resultFix, Fix: fix, Text: fmt.Sprintf(text, args...)}
}

func findUnchecked(text string, args ...any) finding {
	return finding{Result: resultUnchecked, Text: fmt.Sprintf(text, args...)}
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
		out = fromFindings(resultFix, in.Findings)
	case errors.As(err, &c):
		for _, item := range c.Items {
			f := finding{Result: resultFix, File: item.File, Line: item.Line, shown: item.String()}
			// String masks tokens, so the parts are taken from its result.
			first, rest, _ := strings.Cut(item.String(), "\n")
			f.Text = strings.TrimPrefix(first, bot.SignFailed+" ")
			if _, text, ok := strings.Cut(f.Text, "  "); ok && item.File != "" {
				f.Text = text
			}
			lines := strings.Split(rest, "\n")
			if last := lines[len(lines)-1]; item.Fix != "" {
				f.Fix = strings.TrimSpace(last)
			} else if i := strings.Index(last, `meant "`); i >= 0 { // the suggestion follows the carets
				f.Fix = last[i:]
			}
			out = append(out, f)
		}
		if c.More > 0 {
			out = append(out, findFix("", "and %d more", c.More))
		}
	default:
		out = []finding{findFix("", "%v", err)}
	}
	return out
}

func fromFindings(result string, list []ledger.Finding) []finding {
	var out []finding
	for _, f := range list {
		out = append(out, finding{Result: result, File: f.File, Line: f.Line, Text: f.Text, Fix: f.Fix})
	}
	return out
}
