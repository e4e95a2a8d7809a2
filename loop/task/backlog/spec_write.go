package backlog

import (
	"bytes"
	"fmt"
	"path"
	"strings"

	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/task/form"
)

// MarkSpec returns a spec's text with its status moved along with its row's. A spec
// that did not say what the row said before, or that has the new word already, stays
// as it is: a difference that was there is somebody's, and is reported instead.
func MarkSpec(file string, data []byte, c Change) []byte {
	sp := ReadSpec(file, data)
	if sp.Status != c.Row.Status || sp.Status == c.To || sp.word.End == 0 {
		return data
	}
	old := string(data[sp.word.Start:sp.word.End])
	return form.Apply(data, []form.Edit{{Span: sp.word, Text: c.To.like(old)}})
}

// logHeading is the section of a spec that results are written into.
const logHeading = "## Autopilot Log"

// AppendSpecLog returns a spec's text with an entry at the end of its log, which is
// added if it is missing. An entry ends with key, a line of its own; one whose key
// the spec has already is not written again.
func AppendSpecLog(file string, data []byte, entry, key string) []byte {
	for line := range bytes.Lines(data) {
		if key != "" && string(bytes.TrimSpace(line)) == key {
			return data
		}
	}
	sp := ReadSpec(file, data)
	if len(sp.Errors) > 0 && sp.word.End == 0 && sp.plan == "" {
		return data // no text
	}
	text, at := entry, len(data)
	if sp.log == (form.Span{}) {
		text = logHeading + "\n\n" + entry
	} else {
		at = sp.log.End
		for at > sp.log.Start && isBlank(data[at-1]) {
			at--
		}
		if rule := bytes.TrimRight(data[sp.log.Start:at], "-"); at < len(data) && at-sp.log.Start-len(rule) == 3 {
			at = sp.log.Start + len(bytes.TrimRight(rule, " \t\r\n")) // the rule before the next section
		}
	}
	before := "\n\n"
	if at == len(data) {
		switch trimmed := len(bytes.TrimRight(data, " \t\r\n")); {
		case trimmed == 0:
			before = ""
		case bytes.HasSuffix(data, []byte("\n")):
			before = "\n"
		}
		text += "\n"
	}
	text = before + text
	if sp.crlf {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	return form.Apply(data, []form.Edit{{Span: form.Span{Start: at, End: at}, Text: text}})
}

func isBlank(c byte) bool { return c == '\n' || isSpace(c) }

// SpecDrift returns the difference between a row and its spec's own status, "" for
// none or for a spec that says nothing.
func (r Row) SpecDrift(sp *Spec) string {
	if !sp.statusLine || sp.Status == r.Status {
		return ""
	}
	return fmt.Sprintf("its spec %s says %s, the backlog %s: the backlog counts", path.Base(sp.Path), clip(sp.StatusText, 40), r.Status)
}

// NewSpec returns the text of a spec for a task, with the headings that ReadSpec
// reads. date is as 2026-02-02.
func NewSpec(t ledger.Task, date string) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "# [%s] %s\n\n**Status:** %s | **Priority:** %s | **Date:** %s\n", t.ID, oneLine(t.Title), Queued, priorityWord(t.Priority), date)
	if len(t.DependsOn) > 0 {
		fmt.Fprintf(&b, "**Depends on:** %s\n", strings.Join(t.DependsOn, ", "))
	}
	if items := ledger.ParseScope(t.Scope); len(items) > 0 {
		b.WriteString("\n## Allowed Files\n\n")
		for n, i := range items {
			fmt.Fprintf(&b, "%d. `%s`\n", n+1, i.Text)
		}
		b.WriteString("\n**FORBIDDEN:** All other files.\n")
	}
	if body := strings.TrimSpace(t.Body); body != "" {
		b.WriteString("\n## Implementation Plan\n\n")
		for line := range strings.Lines(body + "\n") {
			if strings.HasPrefix(line, "#") {
				line = "##" + line // below this section
			}
			b.WriteString(line)
		}
	}
	if len(t.Acceptance) > 0 {
		b.WriteString("\n## Definition of Done\n\n")
		for _, a := range t.Acceptance {
			fmt.Fprintf(&b, "- [ ] %s\n", oneLine(a))
		}
	}
	b.WriteString("\n" + logHeading + "\n")
	return []byte(b.String())
}

func priorityWord(n int) string {
	if n < 1 || n > 4 {
		return "P2"
	}
	return fmt.Sprintf("P%d", 4-n)
}

// oneLine returns a text with single spaces in place of all white space.
func oneLine(s string) string {
	if !strings.ContainsAny(s, "\t\r\n\v\f") && !strings.Contains(s, "  ") && strings.TrimSpace(s) == s {
		return s
	}
	return strings.Join(strings.Fields(s), " ")
}
