package tui

import (
	"cmp"
	"strings"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// PaneKind names a pane, a part of a large screen with a text of any length.
type PaneKind string

// The panes.
const (
	PaneOutput PaneKind = "output" // what sessions said and did, the newest last
	PanePlan   PaneKind = "plan"   // of a task: its planner's plan, and its text in the list
	PaneDiff   PaneKind = "diff"   // what a task, or the run, changed so far
)

// Pane is the content of a pane, and the result of the view "pane". Fields are
// added, never renamed. Its texts are clean, and its size is limited.
type Pane struct {
	Version string     `json:"seen"`           // identifies this content; passing it to Client.Pane waits for the next one
	Same    bool       `json:"same,omitempty"` // nothing is new; there is nothing else in the answer
	Title   string     `json:"title,omitempty"`
	Note    string     `json:"note,omitempty"` // about what is missing
	Lines   []PaneLine `json:"lines,omitempty"`

	bytes int // of all lines
}

// PaneLine is a line of a pane.
type PaneLine struct {
	Kind LineKind `json:"k,omitempty"`
	Text string   `json:"t"`
}

// LineKind says what a line of a pane shows.
type LineKind string

// Kinds of lines.
const (
	LineText    LineKind = ""
	LineHead    LineKind = "head"    // what the following lines are about
	LineAction  LineKind = "action"  // a tool call
	LineAdded   LineKind = "added"   // a line that a patch adds
	LineRemoved LineKind = "removed" // a line that a patch removes
	LinePlace   LineKind = "place"   // where in a file, or what about it
)

// Limits of a pane.
const (
	MaxOutputLines = 400       // of output, the newest
	maxPaneLines   = 2000      // of a plan or a diff, the first
	maxPaneBytes   = 512 << 10 // of all lines
	maxPaneLine    = 4000      // columns of a line of a plan or a diff
	maxOutputLine  = 500       // columns of a line of output
)

// Add adds output, which is foreign text, cleaned and in as many lines as it has.
func (p *Pane) Add(kind LineKind, text string) {
	for _, line := range bot.CleanLines(text) {
		p.add(kind, bot.Cut(line, maxOutputLine))
	}
}

func (p *Pane) add(kind LineKind, line string) {
	p.Lines, p.bytes = append(p.Lines, PaneLine{Kind: kind, Text: line}), p.bytes+len(line)
}

// full reports whether nothing more is shown of a plan or a diff.
func (p *Pane) full() bool { return len(p.Lines) >= maxPaneLines || p.bytes >= maxPaneBytes }

// AddAll adds foreign lines, each as one, until the pane is full, and says how many it leaves out.
func (p *Pane) AddAll(lines []PaneLine) {
	for n, l := range lines {
		if p.full() {
			p.Note = bot.Plural(len(lines)-n, "line") + " left out here"
			return
		}
		text := l.Text[:min(len(l.Text), 4*maxPaneLine)]
		p.add(l.Kind, bot.Cut(bot.CleanPre(text), maxPaneLine))
	}
}

// KeepLast removes all but the newest lines of output.
func (p *Pane) KeepLast() {
	from, bytes := len(p.Lines), 0
	for from > 0 && len(p.Lines)-from < MaxOutputLines && bytes < maxPaneBytes {
		from--
		bytes += len(p.Lines[from].Text)
	}
	p.Lines, p.bytes = p.Lines[from:], bytes
}

// SessionHead returns the line above a session's output: "23:30 #7 builder".
func SessionHead(at time.Time, task, doing string, now time.Time) string {
	return strings.TrimSpace(bot.Clock(at, now) + " " + strings.TrimSpace(ledger.ShortID(task)+" "+doing))
}

// PlanOf returns the pane of a task's plan. redact removes from each line what nobody
// may read.
func PlanOf(s loop.State, t loop.TaskState, redact func(string) string) Pane {
	p := Pane{Title: bot.Cut(bot.Clean(ledger.ShortID(t.Task.ID)+" "+t.Task.Title), maxText)}
	var lines []PaneLine
	add := func(kind LineKind, text string) { lines = append(lines, PaneLine{kind, redact(text)}) }
	plan := bot.PlanLines(s, t, maxPaneLine)
	for _, line := range plan {
		add(LineText, line)
	}
	if plan == nil && t.Task.Body != "" {
		add(LinePlace, "no plan yet; the task as it is written:")
	} else if t.Task.Body != "" {
		add(LineHead, "the task as it is written")
	}
	for _, line := range dedent(t.Task.Body) {
		add(LineText, line)
	}
	for _, f := range taskFacts(s, t) {
		add(LinePlace, f)
	}
	p.AddAll(lines)
	if len(lines) == 0 {
		p.Note = "no plan yet, and the list says no more of it"
	}
	return p
}

// dedent returns the lines of a text without the spaces that all of them begin with.
func dedent(text string) []string {
	text = strings.Trim(text, "\r\n")
	if text == "" {
		return nil
	}
	lines := strings.Split(text, "\n")
	common := -1
	for _, l := range lines {
		if strings.TrimSpace(l) != "" {
			if n := len(l) - len(strings.TrimLeft(l, " ")); common < 0 || n < common {
				common = n
			}
		}
	}
	for n, l := range lines {
		lines[n] = l[min(max(common, 0), len(l)):]
	}
	return lines
}

// taskFacts returns what the list says of a task beside its text.
func taskFacts(s loop.State, t loop.TaskState) []string {
	var out []string
	if t.Task.Scope != "" && !strings.Contains(t.Task.Body, t.Task.Scope) {
		out = append(out, "scope "+t.Task.Scope)
	}
	var needs []string
	for _, id := range t.Task.DependsOn {
		if strings.Contains(t.Task.Body, id) {
			continue
		}
		needs = append(needs, cmp.Or(ledger.ShortID(id), id))
	}
	if len(needs) > 0 {
		out = append(out, "needs "+strings.Join(needs, " "))
	}
	for _, a := range t.Task.Acceptance {
		if !strings.Contains(t.Task.Body, a) {
			out = append(out, "accepted when "+a)
		}
	}
	return out
}
