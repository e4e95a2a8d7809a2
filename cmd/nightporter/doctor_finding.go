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

// What a check came to.
const (
	resultOK     = "ok"        // nothing to do
	resultLook   = "look"      // works, and is worth a look
	resultMend   = "mend"      // something will fail until it is mended
	resultUnseen = "unchecked" // nobody could look, or there is nothing to look at
)

// resultSigns are the signs of the results, as printed.
var resultSigns = map[string]string{
	resultOK: bot.SignDone, resultLook: bot.SignLook, resultMend: bot.SignFailed, resultUnseen: bot.SignAway,
}

// finding is one line of doctor, and one object of its JSON. Fields are added,
// never renamed. No text in it ever holds a token.
type finding struct {
	Check   string `json:"check"`
	Project string `json:"project,omitempty"`
	Result  string `json:"result"` // ok, look, mend, unchecked
	File    string `json:"file,omitempty"`
	Line    int    `json:"line,omitempty"`
	Text    string `json:"text"`
	Fix     string `json:"fix,omitempty"` // the command or edit that mends it
	shown   string // as it is printed, where that is more than the fields
}

// print writes one finding: the sign, what it is about, the text, and below it
// what to do.
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
		text = fmt.Sprintf("%s %-13s  %s", resultSigns[f.Result], what, f.place()+propose.Plain(f.Text))
		if f.Fix != "" {
			text += "\n" + strings.Repeat(" ", indent) + propose.Plain(f.Fix)
		}
	}
	_, err := fmt.Fprintln(out, text)
	return err
}

func (f finding) place() string {
	switch {
	case f.File != "" && f.Line > 0:
		return fmt.Sprintf("%s:%d  ", propose.Plain(f.File), f.Line)
	case f.File != "":
		return propose.Plain(f.File) + "  "
	}
	return ""
}

// Findings of each result, in short.
func fine(text string, args ...any) finding {
	return finding{Result: resultOK, Text: fmt.Sprintf(text, args...)}
}

func lookAt(fix, text string, args ...any) finding {
	return finding{Result: resultLook, Fix: fix, Text: fmt.Sprintf(text, args...)}
}

func mendWith(fix, text string, args ...any) finding {
	return finding{Result: resultMend, Fix: fix, Text: fmt.Sprintf(text, args...)}
}

func unseen(text string, args ...any) finding {
	return finding{Result: resultUnseen, Text: fmt.Sprintf(text, args...)}
}

// ofProject gives findings of a check to a project.
func ofProject(project string, list []finding) []finding {
	for i := range list {
		list[i].Project = project
	}
	return list
}

// fromError makes findings of an error that lists what a person has to mend,
// or one of any other.
func fromError(err error) []finding {
	var out []finding
	var in *ledger.InputError
	var c *config.Error
	switch {
	case errors.As(err, &in):
		out = fromFindings(resultMend, in.Findings)
	case errors.As(err, &c):
		for _, item := range c.Items {
			f := finding{Result: resultMend, File: item.File, Line: item.Line, shown: item.String()}
			// The text as it is shown has tokens masked; so have its parts.
			first, rest, _ := strings.Cut(item.String(), "\n")
			f.Text = strings.TrimPrefix(first, bot.SignFailed+" ")
			if _, text, ok := strings.Cut(f.Text, "  "); ok && item.File != "" {
				f.Text = text
			}
			lines := strings.Split(rest, "\n")
			if last := lines[len(lines)-1]; item.Fix != "" {
				f.Fix = strings.TrimSpace(last)
			} else if i := strings.Index(last, `meant "`); i >= 0 { // behind the carets
				f.Fix = last[i:]
			}
			out = append(out, f)
		}
		if c.More > 0 {
			out = append(out, mendWith("", "and %d more", c.More))
		}
	default:
		out = []finding{mendWith("", "%v", err)}
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
