package bot

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// showThresholds answers /threshold, and with "reset" takes a learned one back.
func showThresholds(ctx context.Context, d dispatch) (Message, error) {
	word, rest := cutWord(d.c.Target)
	switch {
	case strings.EqualFold(word, resetWord):
		return d.do(ctx, loop.ResetThreshold{Kind: rest})
	case word != "":
		m := refusal("threshold.usage", firstLine(SignFailed, d.s.Project.Name, "/threshold takes no "+Cut(Clean(word), 12), ""))
		m.add("Type /threshold, or /threshold " + resetWord + " and the name of a pattern.")
		return m, nil
	}
	return Thresholds(d.s), nil
}

const resetWord = "reset"

// thresholdRole returns the role that /threshold requires: what reviews are held
// against is an owner's decision.
func thresholdRole(c Command) ledger.Role {
	if c.Target != "" {
		return ledger.RoleAdmin
	}
	return ledger.RoleView
}

// Thresholds lists the thresholds of the patterns that the project's tasks have, and
// what was learned of others.
func Thresholds(s loop.State) Message {
	r := s.Project.Run
	if r == nil {
		m := newMessage("threshold.none", firstLine(SignLater, s.Project.Name, "no run yet", ""))
		m.add("Each pattern has a threshold in its file; the first run reads it.")
		return m
	}
	m := newMessage("threshold", firstLine("", s.Project.Name, "what sends a task back", ""))
	patterns := usedPatterns(s, r.Settings)
	for _, p := range patterns {
		m.add(p.Name + ": " + thresholdText(s.Project.ThresholdFor(p), p))
	}
	for _, kind := range learnedKinds(s) {
		n := slices.IndexFunc(patterns, func(p ledger.Pattern) bool { return p.Name == kind })
		if n < 0 {
			m.add(kind + ": learned, no task has it now")
		} else if s.Project.ThresholdFor(patterns[n]).Learned == nil {
			m.add(kind + ": what was learned is for " + severityList(s.Project.Learning.Set[kind].Pattern) + "; its file has changed since")
		}
		label := "Reset"
		if len(s.Project.Learning.Set) > 1 {
			label += " " + Cut(kind, LabelWidth-6)
		}
		if len(m.Buttons) < 3 {
			m.button(label, "/threshold "+resetWord+" "+kind)
		}
	}
	return m
}

// usedPatterns returns the run's pattern, then those that roles of its tasks name, in
// the order of the tasks, each once.
func usedPatterns(s loop.State, settings ledger.Settings) []ledger.Pattern {
	out := []ledger.Pattern{settings.Pattern}
	for _, t := range s.Project.Tasks.All() {
		p := settings.For(t.Task).Pattern
		if t.Status != ledger.Withdrawn && !slices.ContainsFunc(out, func(o ledger.Pattern) bool { return o.Name == p.Name }) {
			out = append(out, p)
		}
	}
	return slices.DeleteFunc(out, func(p ledger.Pattern) bool { return len(p.Threshold) == 0 })
}

// learnedKinds returns the kinds of task whose threshold was learned, sorted.
func learnedKinds(s loop.State) (kinds []string) {
	for kind := range s.Project.Learning.Set {
		kinds = append(kinds, kind)
	}
	slices.Sort(kinds)
	return kinds
}

// thresholdText says which severities send a task back and why: "critical · learned
// (q9, Mira); its file: critical, major".
func thresholdText(th loop.Threshold, p ledger.Pattern) string {
	text := severityList(th.Severities)
	switch {
	case th.Own:
		text += " · the task's own"
	case th.Learned != nil:
		text += " · learned" + parenthesized(th.Learned.Question, Cut(Clean(th.Learned.By), 16)) + "; its file: " + severityList(p.Threshold)
	}
	return text
}

// parenthesized joins the texts that are there: " (q9, Mira)", or "".
func parenthesized(texts ...string) string {
	texts = slices.DeleteFunc(texts, func(t string) bool { return t == "" })
	if len(texts) == 0 {
		return ""
	}
	return " (" + strings.Join(texts, ", ") + ")"
}

// taskThreshold returns a line about the threshold of a task that is not simply its
// pattern's, else "".
func taskThreshold(s loop.State, t loop.TaskState) string {
	if s.Project.Run == nil {
		return ""
	}
	settings := s.Project.Run.Settings
	th := s.Project.ThresholdOf(settings, t.Task)
	if !th.Own && th.Learned == nil {
		return ""
	}
	return "Threshold " + thresholdText(th, settings.For(t.Task).Pattern)
}

// learnedLines returns a line for each learned threshold in force, for the head of a
// list of tasks.
func learnedLines(s loop.State) (lines []string) {
	if s.Project.Run == nil {
		return nil
	}
	for _, p := range usedPatterns(s, s.Project.Run.Settings) {
		if th := s.Project.ThresholdFor(p); th.Learned != nil {
			lines = append(lines, "threshold of "+p.Name+": "+thresholdText(th, p))
		}
	}
	return lines
}

// severityList writes severities for people: "critical, major".
func severityList(list []ledger.Severity) string {
	var names []string
	for _, s := range list {
		names = append(names, Clean(string(s)))
	}
	return orElse(strings.Join(names, ", "), "none")
}

// issuesOf names issues of one severity: "major issues", "suggestions".
func issuesOf(s ledger.Severity) string {
	if s == ledger.Suggestion {
		return "suggestions"
	}
	return Clean(string(s)) + " issues"
}

// thresholdHead is the headline of the question about another threshold.
func thresholdHead(_ loop.State, q ledger.Question) string {
	switch c := q.Threshold; {
	case c == nil:
		return "another threshold?"
	case c.Add:
		return "fix " + issuesOf(c.Severity) + " too?"
	default:
		return "let " + issuesOf(c.Severity) + " pass?"
	}
}

// evidenceFor adds the figures that speak for another threshold, and what it would be.
func (m *Message) evidenceFor(q ledger.Question) {
	c := q.Threshold
	if c == nil {
		m.quote(q.Text)
		return
	}
	m.add(Cut(Clean(c.Kind), quoteWidth) + ": " + Plural(c.Tasks, "task") + ", " + Plural(c.Runs, "run"))
	issues := issuesOf(c.Severity)
	if c.Add {
		m.add(fmt.Sprintf("%d done with %s left open, %d of them reverted, redone or sent back.", c.Open, issues, c.Regretted))
		m.add("Now " + severityList(without(c.Threshold, c.Severity)) + "; then also " + Clean(string(c.Severity)) + ".")
		return
	}
	fixes := fmt.Sprintf("%d fixes", c.Rounds)
	if c.Rounds == 1 {
		fixes = "1 fix"
	}
	m.add(fixes + " for " + issues + " alone:")
	var parts []string
	if c.Unchanged > 0 {
		parts = append(parts, fmt.Sprintf("%d changed nothing", c.Unchanged))
	}
	if c.Small > 0 {
		parts = append(parts, fmt.Sprintf("%d at most %d lines", c.Small, ledger.SmallFix))
	}
	m.add(strings.Join(parts, ", ") + "; then the review passed.")
	if c.Open > 0 {
		m.add(fmt.Sprintf("%d done with %s left open, none reverted, redone or sent back.", c.Open, issues))
	}
	m.add("Now " + severityList(append(slices.Clone(c.Threshold), c.Severity)) + "; then " + severityList(c.Threshold) + ".")
}

func without(list []ledger.Severity, one ledger.Severity) []ledger.Severity {
	return slices.DeleteFunc(slices.Clone(list), func(s ledger.Severity) bool { return s == one })
}

// thresholdUsed says what follows from another threshold.
func thresholdUsed(q ledger.Question, _ string) string {
	if q.Threshold == nil {
		return "Holds from the next review on."
	}
	return "Holds from the next review on. Back: /threshold " + resetWord + " " + Clean(q.Threshold.Kind)
}
