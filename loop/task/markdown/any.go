package markdown

import (
	"bytes"
	"fmt"
	"path/filepath"

	"github.com/nightporter/nightporter/internal/regexp"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/task/form"
)

// Any is the form of Markdown files with tasks: it finds out which of Plan, Headings
// and Checklist a file is.
type Any struct{}

// meantAsPlan matches a box that is written as a task of a plan, well or badly: a
// bold "Task 1:".
var meantAsPlan = regexp.MustCompile(`^[-*+][ \t]*\[[^\]\n]{0,4}\][ \t]*(?:\([^)\n]*\)[ \t]*)*(?:\*\*|__)[ \t]*(?:\([^)\n]*\)[ \t]*)?(?i:task)[ \t]+[0-9][0-9A-Za-z.]*[ \t]*:`)

// which returns the form of a document, and in words for people what shows it. The
// error is a *ledger.InputError for a text that has no form, or two.
func (d *document) which() (form.Form, string, error) {
	heads := d.taskHeadings()
	switch {
	case d.lines == nil && len(d.Errors) > 0:
		return nil, "", d.Err()
	case len(heads) > 0 && d.strict >= 0 && !d.listsTheSame(heads):
		d.Errors = []ledger.Diagnostic{{File: d.File, Line: d.strict + 1, Text: fmt.Sprintf("tasks as boxes here, and as headings in line %d: which of them are the tasks?", d.headings[heads[0]].line+1),
			Remedy: "Take the bold off the boxes, or the word Task off the headings"}}
		return nil, "", d.Err()
	case len(heads) > 0:
		return Headings{}, "headings `### Task N:`", nil
	case d.strict >= 0:
		return Plan{}, "boxes with a bold `Task N:`", nil
	case len(d.boxes) > 0:
		return Checklist{}, "boxes `- [ ]`", nil
	}
	if len(d.Errors) == 0 {
		d.Errors = []ledger.Diagnostic{d.noTasks()}
	}
	return nil, "", d.Err()
}

// listsTheSame reports whether all boxes that name a task of a plan name one of the
// headings, as a list of progress does.
func (d *document) listsTheSame(heads []int) bool {
	ids := map[string]bool{}
	for _, n := range heads {
		line := d.headingLine(&d.headings[n])
		ids[ledger.FoldID(string(line[taskHeading.FindSubmatchIndex(line)[4]:taskHeading.FindSubmatchIndex(line)[5]]))] = true
	}
	for n := range d.boxes {
		_, at := d.measure(d.boxes[n].line)
		if text := d.data[at.Start:at.End]; meantAsPlan.Match(text) {
			m := looksLikeTask.FindSubmatch(text)
			if m == nil || !ids["task "+string(bytes.ToLower(m[3]))] {
				return false
			}
		}
	}
	return true
}

// noTasks is the finding about a text without boxes and headings of tasks.
func (d *document) noTasks() ledger.Diagnostic {
	found := ledger.Diagnostic{File: d.File, Text: "has no tasks: expected boxes `- [ ] Title`, or headings `### Task 1: Title`", Remedy: "Write a box for each task: - [ ] Title"}
	switch {
	case d.wrongLevel() >= 0:
		found.Line = d.wrongLevel() + 1
		found.Remedy = "Give its headings two to four #: ### Task 1: Title"
	case d.numberedHeading() >= 0:
		found.Line = d.numberedHeading() + 1
		found.Remedy = `Write Task before the numbers of its headings: sed -E -i 's/^(#{2,4}) ((Step|Phase|Stage) )?([0-9]+[.:)])/\1 Task \4/' ` + d.File
	case d.bullet:
		found.Remedy = `Make boxes of its bullets: sed -E -i 's/^([-*+]) /\1 [ ] /' ` + d.File + ", and take those away that are no work"
	}
	return found
}

// wrongLevel returns the line of the first heading that names a task and has one #, or
// more than four; -1 without.
func (d *document) wrongLevel() int {
	for n := range d.headings {
		h := &d.headings[n]
		if m := numberedTask.FindSubmatch(d.headingLine(h)); m != nil && (h.level < 2 || h.level > 4) && namesTask(m[1]) {
			return h.line
		}
	}
	return -1
}

var numbered = regexp.MustCompile(`^(?:(?i:step|phase|stage)[ \t]+)?[0-9]+[.:)]`)

// numberedHeading returns the line of the first of at least two numbered headings, -1
// without.
func (d *document) numberedHeading() int {
	first, n := -1, 0
	for i := range d.headings {
		if h := &d.headings[i]; h.level >= 2 && h.level <= 4 && numbered.Match(d.data[h.text.Start:h.text.End]) {
			if n++; first < 0 {
				first = h.line
			}
		}
	}
	if n < 2 {
		return -1
	}
	return first
}

// Recognise implements form.Recogniser.
func (Any) Recognise(path string, data []byte) (why string) {
	switch filepath.Ext(path) {
	case ".md", ".markdown", ".mdown", ".mkd", ".txt", "":
	default:
		return ""
	}
	_, why, _ = scanDocument(path, data).which()
	return why
}

// Parse implements form.Form.
func (Any) Parse(file string, data []byte) (ledger.Snapshot, error) {
	d := scanDocument(file, data)
	d.text = string(data)
	f, _, err := d.which()
	if err != nil {
		return ledger.Snapshot{}, err
	}
	switch f.(type) {
	case Headings:
		tasks, _ := d.headingTasks()
		return d.snapshot(file, tasks)
	case Checklist:
		tasks, _ := d.checklistTasks()
		return d.snapshot(file, tasks)
	}
	return d.asPlan().snapshot(file)
}

// asPlan scans a document as a plan, whose lines are the same.
func (d *document) asPlan() *plan {
	p := newPlan(d.File, d.data)
	p.text, p.lines = d.text, d.lines
	p.scanTasks()
	return p
}

// Mark implements form.Form.
func (Any) Mark(file string, data []byte, marks []ledger.Marking) (marked []byte, gone []string, err error) {
	d := scanDocument(file, data)
	f, _, err := d.which()
	if err != nil {
		if d.strict < 0 && len(d.boxes) == 0 && len(d.headings) == 0 && (d.lines != nil || len(data) == 0) {
			return Plan{}.Mark(file, data, marks) // a text without tasks lacks them all
		}
		return nil, nil, err
	}
	switch f.(type) {
	case Headings:
		return markDocument(d, marks, (*document).headingTasks)
	case Checklist:
		return markDocument(d, marks, (*document).checklistTasks)
	}
	return d.asPlan().mark(marks)
}
