package task

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/nightporter/nightporter/internal/regexp"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/task/form"
	"github.com/nightporter/nightporter/loop/task/jsonform"
)

// reportText is the form of a bug report that is plain text or Markdown. What else is
// known of it stands in front, between two lines of three dashes.
type reportText struct{}

// frontMatter is what stands in front of a report's text.
type frontMatter struct {
	ID       string   `yaml:"id"`
	Title    string   `yaml:"title"`
	Severity string   `yaml:"severity"`
	Page     string   `yaml:"page"`
	URL      string   `yaml:"url"`
	Status   string   `yaml:"status"`
	Reporter string   `yaml:"reporter"`
	Assignee string   `yaml:"assignee"`
	Of       string   `yaml:"duplicate_of"`
	Tags     []string `yaml:"tags"`

	Claimed frontClaim `yaml:"claimed"`
}

// frontClaim is who works on a report: a name, or by and at.
type frontClaim struct {
	By string `yaml:"by"`
	At string `yaml:"at"`
}

// UnmarshalYAML implements yaml.Unmarshaler.
func (c *frontClaim) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind == yaml.ScalarNode {
		return n.Decode(&c.By)
	}
	type plain frontClaim
	return n.Decode((*plain)(c))
}

// claim returns who else works on the report, nil = nobody.
func (h frontMatter) claim(m ledger.Mark) *ledger.ReportClaim {
	since, _ := time.Parse(time.RFC3339, h.Claimed.At) // of unknown age
	switch {
	case m == ledger.MarkDone:
	case strings.TrimSpace(h.Claimed.By) != "":
		return &ledger.ReportClaim{By: strings.TrimSpace(h.Claimed.By), How: ledger.ClaimField, Since: since.UTC()}
	case strings.TrimSpace(h.Assignee) != "" && !strings.EqualFold(h.Assignee, self):
		return &ledger.ReportClaim{By: h.Assignee, How: ledger.ClaimAssignee}
	}
	return nil
}

var (
	dashLine   = regexp.MustCompile(`(?m)^---[ \t]*\r?$\n?`)
	claimLine  = regexp.MustCompile(`(?m)^claimed[ \t]*:[^\n]*\n`)
	statusLine = regexp.MustCompile(`(?m)^status[ \t]*:[ \t]*("[^"\r\n]*"|'[^'\r\n]*'|[^#\r\n]*?)[ \t]*(?:#[^\r\n]*)?\r?$`)
)

// split returns the spans of a report's front matter, without its lines of dashes, and of
// its text.
func (reportText) split(data []byte) (front, body form.Span, has bool) {
	body = form.Span{Start: len(data) - len(bytes.TrimPrefix(data, form.BOM)), End: len(data)}
	open := dashLine.FindSubmatchIndex(data[body.Start:])
	if open == nil || open[0] != 0 {
		return form.Span{}, body, false
	}
	front.Start = body.Start + open[1]
	end := dashLine.FindSubmatchIndex(data[front.Start:])
	if end == nil {
		return form.Span{}, body, false
	}
	front.End = front.Start + end[0]
	body.Start = front.Start + end[1]
	return front, body, true
}

// Parse implements form.Form.
func (f reportText) Parse(file string, data []byte) (ledger.Snapshot, error) {
	found := form.Findings{File: filepath.Base(file)}
	if bad := form.CheckText(found.File, "bug report", data, form.MaxBytes); bad != nil {
		return ledger.Snapshot{}, &ledger.InputError{Diagnostics: []ledger.Diagnostic{*bad}}
	}
	front, span, has := f.split(data)
	var head frontMatter
	if has {
		if err := yaml.Unmarshal(data[front.Start:front.End], &head); err != nil {
			found.Error(2, "what stands between the lines --- is no YAML: "+strings.TrimPrefix(strings.ReplaceAll(err.Error(), "\n", " "), "yaml: "), "Write a line for each, such as: severity: high")
		}
	}
	body := strings.TrimSpace(string(data[span.Start:span.End]))
	if body == "" {
		found.Error(0, "is empty: expected what is wrong", "Write it, or remove the file")
	}
	mark := ledger.MarkOpen
	if head.Status != "" {
		known := false
		if mark, known = jsonform.BugStatus(head.Status); !known {
			found.Error(2, "the status is "+head.Status+": expected one of "+jsonform.BugStatusWords(), "Write one of these")
		}
	}
	if err := found.Err(); err != nil {
		return ledger.Snapshot{}, err
	}
	t := ledger.Task{
		ID: head.ID, Title: strings.TrimSpace(head.Title), Body: body, Mark: mark, Line: 1, Priority: ledger.ReportPriority(head.Severity), Outside: true,
		Report: &ledger.Report{Untitled: head.Title == "", Severity: head.Severity, Page: head.Page, URL: head.URL, Tags: head.Tags, Reporter: head.Reporter, Assignee: head.Assignee, Of: head.Of, Claim: head.claim(mark)},
	}
	if t.ID == "" {
		t.ID = jsonform.ReportID(file)
	}
	if t.Title == "" {
		t.Title = jsonform.Heading(strings.TrimLeft(body, "# "))
	}
	s := ledger.Snapshot{Name: form.Name(file), Path: file}
	if mark == ledger.MarkWorking {
		t.Mark = ledger.MarkOpen
		s.Warnings = []ledger.Diagnostic{{File: found.File, Line: 2, Text: t.ID + " is in progress: it counts as open", Remedy: "Let nobody else work on it tonight", AtWork: t.ID}}
	}
	s.Tasks = []ledger.Task{t}
	return s, nil
}

// Mark implements form.Form. A report without a status gets one in its front matter.
func (f reportText) Mark(file string, data []byte, marks []ledger.Marking) ([]byte, []string, error) {
	now, err := f.Parse(file, data)
	if err != nil {
		return nil, nil, err
	}
	is, gone := now.Tasks[0].Mark, []string(nil)
	if len(now.Warnings) > 0 {
		is = ledger.MarkWorking
	}
	for _, m := range marks {
		if !ledger.SameID(m.Task, now.Tasks[0].ID) {
			gone = append(gone, m.Task)
			continue
		}
		if m.Claim != nil {
			if data, err = f.claim(now.Tasks[0], data, m); err != nil {
				return nil, nil, err
			}
		}
		if data, is = f.mark(data, is, m.Mark), m.Mark; m.Mark == ledger.MarkManualVerify {
			is = ledger.MarkOpen
		}
	}
	return data, gone, nil
}

// claim returns the text with the line that says who works on the report, or without it.
func (f reportText) claim(t ledger.Task, data []byte, m ledger.Marking) ([]byte, error) {
	now := t.Report.Claim
	ours := now != nil && now.How == ledger.ClaimField && strings.EqualFold(now.By, m.Claim.By)
	takes := m.Mark == ledger.MarkWorking && !m.Claim.At.IsZero()
	switch {
	case takes == ours, !takes && !ours:
		return data, nil
	case takes && now != nil && m.Claim.Yields(*now):
		return nil, &ledger.ClaimedError{Task: t.ID, Claim: *now}
	}
	end := "\n"
	if bytes.Contains(data, []byte("\r\n")) {
		end = "\r\n"
	}
	line := ""
	if takes {
		line = fmt.Sprintf("claimed: {by: %q, at: %q}", m.Claim.By, m.Claim.At.UTC().Format(time.RFC3339)) + end
	}
	front, body, has := f.split(data)
	if !has { // Mark writes a front matter with the status
		return form.Apply(data, []form.Edit{{Span: form.Span{Start: body.Start, End: body.Start}, Text: "---" + end + line + "---" + end}}), nil
	}
	at := form.Span{Start: front.Start, End: front.Start}
	if found := claimLine.FindSubmatchIndex(data[front.Start:front.End]); found != nil {
		at = form.Span{Start: front.Start + found[0], End: front.Start + found[1]}
	}
	return form.Apply(data, []form.Edit{{Span: at, Text: line}}), nil
}

// mark returns the text with a status, where it says another one.
func (f reportText) mark(data []byte, is, m ledger.Mark) []byte {
	if m == ledger.MarkManualVerify {
		m = ledger.MarkOpen
	}
	if m == is {
		return data
	}
	word := strings.Trim(jsonform.BugStatuses[m], `"`)
	end := "\n"
	if bytes.Contains(data, []byte("\r\n")) {
		end = "\r\n"
	}
	front, body, has := f.split(data)
	if !has {
		return form.Apply(data, []form.Edit{{Span: form.Span{Start: body.Start, End: body.Start}, Text: "---" + end + "status: " + word + end + "---" + end}})
	}
	if at := statusLine.FindSubmatchIndex(data[front.Start:front.End]); at != nil {
		start, end := front.Start+at[2], front.Start+at[3]
		if data[start-1] == ':' {
			word = " " + word
		}
		return form.Apply(data, []form.Edit{{Span: form.Span{Start: start, End: end}, Text: word}})
	}
	return form.Apply(data, []form.Edit{{Span: form.Span{Start: front.Start, End: front.Start}, Text: "status: " + word + end}})
}

var _ form.Form = reportText{}
