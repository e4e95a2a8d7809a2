package loop

import (
	"slices"
	"strings"

	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/payload"
)

// Bounds of what a task keeps of its failed attempts. The prompt of the next attempt
// shows all of it, and the state keeps it as long as the task is open.
const (
	keptFailures = 3    // attempts; the newest ones
	keptSteps    = 8    // sessions of an attempt; the last ones
	keptIssues   = 10   // issues of its last review; the worst ones
	keptSummary  = 500  // characters of a text
	keptTail     = 3000 // bytes of the output of a failed command; its end
)

// Failure is what a failed attempt leaves for the next one, so that nothing is
// repeated: why it failed, what was tried, and what was still wrong.
type Failure struct {
	N      int            `json:"n"`                // number of the attempt
	Text   string         `json:"text"`             // hash of the task's text that it was made for
	Why    string         `json:"why"`              // as people read it
	Plan   string         `json:"plan,omitempty"`   // summary of the plan that it followed
	Steps  []Step         `json:"steps,omitempty"`  // its last sessions
	Red    string         `json:"red,omitempty"`    // command that failed in its last verification; "" = none
	Output string         `json:"output,omitempty"` // end of the command's output
	Issues []ledger.Issue `json:"issues,omitempty"` // open ones of its last review
}

// failure returns what the attempt leaves for the next one after it failed for the
// reason why.
func (w *Attempt) failure(why string) Failure {
	f := Failure{N: w.N, Text: hashText(&w.Of), Why: why, Plan: cutText(payload.Summary(w.Plan), keptSummary)}
	steps := w.History
	if ev := w.Event; ev != nil && !w.tells(w.Session) { // its last session was not routed on: it is the one that failed
		steps = append(slices.Clip(steps), Step{Session: w.Session, Hat: w.Hat, Event: ev.Type, Summary: payload.Summary(ev.Data)})
	}
	for _, s := range steps[max(len(steps)-keptSteps, 0):] {
		s.Summary = cutText(s.Summary, keptSummary)
		f.Steps = append(f.Steps, s)
	}
	if v := w.Verified; v != nil && !v.OK {
		for _, res := range v.Results {
			if !res.OK && !res.Advisory {
				f.Red, f.Output = res.Run, strings.ToValidUTF8(res.Tail[max(len(res.Tail)-keptTail, 0):], "")
				break
			}
		}
	}
	issues := w.Issues
	if len(w.Found) > 0 {
		issues = w.Found
	}
	issues = slices.Clone(issues)
	slices.SortStableFunc(issues, func(a, b ledger.Issue) int { return a.Severity.Rank() - b.Severity.Rank() })
	for _, i := range issues[:min(len(issues), keptIssues)] {
		i.Text = cutText(i.Text, keptSummary)
		f.Issues = append(f.Issues, i)
	}
	return f
}

// failuresOf returns the failures of attempts at the task's present text.
func failuresOf(list []Failure, t *ledger.Task) []Failure {
	text := hashText(t)
	if !slices.ContainsFunc(list, func(f Failure) bool { return f.Text != text }) {
		return list
	}
	return slices.DeleteFunc(slices.Clone(list), func(f Failure) bool { return f.Text != text })
}

// tells reports whether the attempt's history has the session.
func (w *Attempt) tells(session string) bool {
	return slices.ContainsFunc(w.History, func(s Step) bool { return s.Session == session })
}
