package task

import (
	"bytes"
	"path/filepath"
	"strings"

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
}

var (
	dashLine   = regexp.MustCompile(`(?m)^---[ \t]*\r?$\n?`)
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
		Report: &ledger.Report{Untitled: head.Title == "", Severity: head.Severity, Page: head.Page, URL: head.URL, Tags: head.Tags, Reporter: head.Reporter, Assignee: head.Assignee, Of: head.Of},
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
		if data, is = f.mark(data, is, m.Mark), m.Mark; m.Mark == ledger.MarkManualVerify {
			is = ledger.MarkOpen
		}
	}
	return data, gone, nil
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
