package task

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/nightporter/nightporter/internal/regexp"
	"github.com/nightporter/nightporter/internal/text"
	"github.com/nightporter/nightporter/loop/ledger"
)

// maxIssueTitle limits a title, in characters.
const maxIssueTitle = 200

// task returns the task of an issue.
func (s *forgeSource) task(i ledger.ForgeIssue) ledger.Task {
	t := ledger.Task{ID: issueID(i.Number), Title: text.First(text.OneLine(text.Visible(i.Title)), maxIssueTitle), Body: strings.TrimSpace(text.Visible(i.Body)), Mark: s.markOf(i)}
	if !i.Writer {
		if t.Author = i.Author; t.Author == "" {
			t.Author = "an account that is gone"
		}
		// Who reads the issue before they take it sees no comments.
		t.Body = withoutComments(t.Body)
	}
	for _, l := range i.Labels {
		if hasLabel(statusLabels(), l) || strings.EqualFold(l, s.label) {
			continue
		}
		t.Labels = append(t.Labels, l)
		t.Priority = max(t.Priority, priorityOf(l))
	}
	return t
}

// report returns the task of an issue that is a bug report, and the id that the report
// was added with, "" = none. It is foreign text whoever wrote it, so nobody has to take
// it: triage decides, and its sessions have a closed network, as with any other inbox.
func (s *forgeSource) report(i ledger.ForgeIssue, t ledger.Task) (report ledger.Task, id string) {
	r := ledger.Report{Reporter: i.Author, Tags: t.Labels, Created: i.Created, Updated: i.Updated, Closed: i.Ended, Assignee: strings.Join(i.Assignees, ", ")}
	for _, l := range i.Labels {
		if word := severityOf(l); ledger.ReportPriority(word) > ledger.ReportPriority(r.Severity) {
			r.Severity = word
		}
	}
	t.Author, t.Labels, t.Outside = "", nil, true
	labelled := r.Severity
	t.Body, id = readFacts(strings.ReplaceAll(withoutComments(t.Body), "\r\n", "\n"), &r)
	if labelled != "" {
		r.Severity = labelled // people change labels
	}
	if m := pageAnswer.FindStringSubmatch(t.Body); m != nil {
		r.Page = m[1]
	}
	t.Priority = ledger.ReportPriority(r.Severity)
	r.Claim = claimOf(i)
	t.Report = &r
	return t, id
}

// claimOf returns who works on an issue: who has it, or whoever gave it the label of
// issues at work. That may be this nightporter, which the ledger knows. Each change of an
// issue, also a comment, is a sign of progress.
func claimOf(i ledger.ForgeIssue) *ledger.ReportClaim {
	c := &ledger.ReportClaim{By: strings.Join(i.Assignees, ", "), How: ledger.ClaimAssignee, Last: i.Updated}
	switch {
	case i.Closed:
		return nil
	case hasLabel(i.Labels, forgeKind.Statuses[ledger.MarkWorking]) && (i.Mine || len(i.Assignees) == 0):
		c.By, c.How = "another nightporter", ledger.ClaimLabel
	case len(i.Assignees) == 0 || i.Mine:
		return nil
	}
	return c
}

// pageAnswer matches the answer to the question for a page in a form of a forge.
var pageAnswer = regexp.MustCompile(`(?im)^#{2,4} (?:page|url|route)[ \t]*\n\s*(\S[^\n]*)$`)

// severityOf returns the word of a label that says how bad a report is, "" for none:
// "critical", "P1", "severity: high".
func severityOf(label string) string {
	words := strings.FieldsFunc(strings.ToLower(label), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	if len(words) == 0 || len(words) > 1 && !slices.Contains([]string{"priority", "prio", "severity", "sev"}, words[0]) {
		return ""
	}
	return words[len(words)-1]
}

// markOf returns what an issue says of its task. An open issue that has the label of
// finished ones was opened again, unless finished ones stay open.
func (s *forgeSource) markOf(i ledger.ForgeIssue) ledger.Mark {
	says := func(m ledger.Mark) bool { return hasLabel(i.Labels, forgeKind.Statuses[m]) }
	switch {
	case i.Closed, s.opts.KeepOpen && says(ledger.MarkDone):
		return ledger.MarkDone
	case says(ledger.MarkBlocked):
		return ledger.MarkBlocked
	case says(ledger.MarkManualVerify):
		return ledger.MarkManualVerify
	}
	return ledger.MarkOpen
}

// priorities are the words of labels, by their last word in lower case: "P1",
// "priority: high".
var priorities = map[string]int{"p0": 4, "p1": 3, "p2": 2, "p3": 1, "critical": 4, "high": 3, "medium": 2, "low": 1}

// priorityOf returns the priority that a label names, 0 = none.
func priorityOf(label string) int {
	words := strings.FieldsFunc(strings.ToLower(label), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	if len(words) == 0 || len(words) > 1 && words[0] != "priority" && words[0] != "prio" {
		return 0
	}
	return priorities[words[len(words)-1]]
}

// withoutComments returns a text without comments of HTML, which forges do not show. One
// without an end hides all that follows.
func withoutComments(s string) string {
	var b strings.Builder
	for {
		shown, hidden, found := strings.Cut(s, "<!--")
		b.WriteString(shown)
		if !found {
			return strings.TrimSpace(b.String())
		}
		_, s, _ = strings.Cut(hidden, "-->")
	}
}

// issueText returns the text of a new issue.
func issueText(t ledger.Task) string {
	parts := []string{t.Body, t.Notes}
	if t.Report != nil { // strangers call nobody by the account of nightporter
		parts[0] = strings.ReplaceAll(t.Body, "@", "@<!-- -->")
	}
	if len(t.Acceptance) > 0 {
		parts = append(parts, "Acceptance:\n\n- "+strings.Join(t.Acceptance, "\n- "))
	}
	if t.Scope != "" {
		parts = append(parts, "Scope: "+t.Scope)
	}
	parts = append(parts, reportFacts(t))
	var out []string
	for _, p := range parts {
		if p = strings.TrimSpace(p); p != "" {
			out = append(out, p)
		}
	}
	return strings.Join(out, "\n\n")
}

// factsBegin is what stands between the text of a report and what else is known of it.
const factsBegin = "\n---\nReport"

// reportFacts returns what is known of a new report beside its text, for its issue.
func reportFacts(t ledger.Task) string {
	if t.Report == nil && t.ID == "" {
		return ""
	}
	r := cmp.Or(t.Report, &ledger.Report{})
	text := strings.TrimPrefix(factsBegin, "\n")
	if t.ID != "" {
		text += " " + issueLine(t.ID)
	}
	empty := t.ID == ""
	for _, f := range []struct{ name, text string }{{"Severity", r.Severity}, {"Page", r.Page}, {"Address", r.URL}, {"Browser", r.UserAgent}, {"Reporter", r.Reporter}, {"Console", strings.Join(r.Console, " | ")}} {
		if line := issueLine(f.text); line != "" {
			text += "\n- " + f.name + ": " + line
			empty = false
		}
	}
	if empty {
		return ""
	}
	return text
}

// readFacts takes what reportFacts wrote from the end of an issue's text into a report.
// id is the report's own, "" = none.
func readFacts(body string, r *ledger.Report) (text, id string) {
	at := strings.LastIndex("\n"+body, factsBegin)
	if at < 0 {
		return body, ""
	}
	lines := strings.Split(("\n" + body)[at+len(factsBegin):], "\n")
	for _, line := range lines[1:] {
		name, value, ok := strings.Cut(strings.TrimPrefix(line, "- "), ": ")
		switch {
		case !ok:
			return body, "" // somebody's own words
		case name == "Severity":
			r.Severity = value
		case name == "Page":
			r.Page = value
		case name == "Address":
			r.URL = value
		case name == "Browser":
			r.UserAgent = value
		case name == "Reporter":
			r.Reporter = value
		case name == "Console":
			r.Console = strings.Split(value, " | ")
		}
	}
	return strings.TrimSpace(body[:max(at-1, 0)]), strings.TrimSpace(lines[0])
}

// issueComment returns what became of a task, for its issue. Nothing in it names an
// account or another issue: agents wrote parts of it.
func issueComment(p ledger.Progress, zone *time.Location) string {
	var b strings.Builder
	head := strings.ToUpper(p.Status[:min(len(p.Status), 1)]) + p.Status[min(len(p.Status), 1):]
	fmt.Fprintf(&b, "**%s** by nightporter", oneLine(head))
	if p.Commit != "" {
		fmt.Fprintf(&b, ": commit %s", oneLine(p.Commit))
	}
	if p.Proof != "" {
		fmt.Fprintf(&b, ", %s", oneLine(p.Proof))
	}
	fmt.Fprintf(&b, ". Attempt %d, %s.\n", max(p.Attempt, 1), localTime(p.Time, zone))
	if p.Blockers != "" {
		fmt.Fprintf(&b, "\n> %s\n", issueLine(p.Blockers))
	}
	if len(p.Changes)+len(p.Commands) > 0 {
		b.WriteString("\n")
	}
	for _, c := range p.Changes {
		fmt.Fprintf(&b, "- %s\n", issueLine(c))
	}
	for _, c := range p.Commands {
		sign := "✗"
		if c.OK {
			sign = "✓"
		}
		fmt.Fprintf(&b, "- %s %s\n", sign, codeSpan(c.Run))
	}
	if p.Learnings != "" {
		fmt.Fprintf(&b, "\n%s\n", issueLine(p.Learnings))
	}
	return b.String()
}

// issueLine returns foreign text for one line of a comment. A comment of HTML behind @
// and # keeps forges from linking what follows.
func issueLine(s string) string {
	return strings.NewReplacer("@", "@<!-- -->", "#", "#<!-- -->").Replace(oneLine(text.First(s, 1000)))
}
