package markdown

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/nightporter/nightporter/internal/regexp"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/task/form"
)

// ParsePlan reads a Markdown plan (docs/spec 3.3). file becomes Snapshot.Path;
// findings name its last element. Malformed input is a *ledger.InputError with
// all findings in order of lines, and no task may then be used. Doubtful but
// readable text gives warnings; style is checked by Lint. ParsePlan neither
// keeps nor changes data.
func ParsePlan(file string, data []byte) (ledger.Snapshot, error) {
	p := newPlan(file, data)
	p.text = string(data)
	return p.scan().snapshot(file)
}

// snapshot reads the tasks of a plan that was scanned, or returns the errors in it.
func (p *plan) snapshot(file string) (ledger.Snapshot, error) {
	tasks := p.read()
	if err := p.Err(); err != nil {
		return ledger.Snapshot{}, err
	}
	return ledger.Snapshot{Name: form.Name(file), Path: file, Tasks: tasks, Warnings: p.Told()}, nil
}

// plan is a plan's text with the positions of its tasks. Writing changes single
// spans of the text, so all other bytes stay as they are.
type plan struct {
	form.Findings
	data  []byte
	text  string  // the same, of which ids, titles and bodies are parts; "" = they are copies, for a text whose bodies nobody reads
	lines []int32 // where each begins; there can be a million
	tasks []planTask
}

// planTask is a task's box line with the range of lines that belong to it.
type planTask struct {
	taskLine
	line   int // index of the box line
	indent int // columns before the bullet
	end    int // index after its last line
}

// finding adds an error about the line with an index.
func (p *plan) finding(line int, text, fix string) { p.Error(line+1, text, fix) }

// warning adds a warning about the line with an index.
func (p *plan) warning(line int, text, fix string) { p.Warn(line+1, text, fix) }

// checkText reports whether the file is text of a permitted size with the line ends of
// this time, and adds a finding if not.
func (p *plan) checkText() bool {
	found := form.CheckText(p.File, "plan", p.data, form.MaxBytes)
	if found != nil {
		p.Errors = append(p.Errors, *found)
		return false
	}
	// Text behind a carriage return alone would be a part of the line before.
	for rest := p.data; ; {
		n := bytes.IndexByte(rest, '\r')
		if n < 0 {
			return true
		}
		if rest = bytes.TrimLeft(rest[n:], "\r"); len(rest) > 0 && rest[0] != '\n' {
			line := bytes.Count(p.data[:len(p.data)-len(rest)], []byte("\n"))
			p.finding(line, "a line ends with a carriage return alone: expected a line feed", `Save it with the line ends of Unix or Windows: sed -i 's/\r\([^\r]\)/\n\1/g' `+p.File)
			return false
		}
	}
}

// block is an open fenced code block, comment or block of raw HTML. Lines in it are no
// tasks.
type block struct {
	fence   string // the ` or ~ characters that opened it; "" for a comment and HTML
	until   string // what closes a comment or HTML, in lower case
	line    int
	indent  int
	hasTask bool // one of its lines looks like a task
}

// scanner is the state of a scan between two lines.
type scanner struct {
	*plan
	openBlock  *block
	section    int  // level of the Tasks heading above this line; 0 = none
	inTask     bool // the current line may belong to the last task
	blank      bool // the previous line is blank
	listIndent int  // indent of the outermost list item that is open; -1 = none
}

// newPlan returns a plan that is still to be scanned.
func newPlan(file string, data []byte) *plan {
	return &plan{Findings: form.Findings{File: filepath.Base(file)}, data: data}
}

// scan finds lines, tasks and their ranges, and reports mistakes in single lines. read
// checks the fields.
func (p *plan) scan() *plan {
	if p.checkText() {
		p.splitLines()
		p.scanTasks()
	}
	return p
}

// scanTasks is scan for a text whose lines were found.
func (p *plan) scanTasks() {
	s := scanner{plan: p, listIndent: -1, blank: true}
	s.tasks = make([]planTask, 0, bytes.Count(p.data, []byte("] **Task "))) // as nearly all are written
	for i := range s.lines {
		s.scanLine(i)
	}
	if b := s.openBlock; b != nil && b.hasTask {
		s.finding(b.line, "this "+b.name()+" is never closed and hides the tasks below it", "Close it")
	}
	if len(s.tasks) == 0 && len(s.Errors) == 0 {
		s.Error(0, "has no tasks: "+expected, "Write tasks as: - [ ] **Task 1: Title**")
	}
}

// splitLines finds the text's lines. A byte order mark belongs to none.
func (p *plan) splitLines() {
	data := p.data
	p.lines = slices.Grow(p.lines[:0], bytes.Count(data, []byte("\n"))+1)
	for start := len(data) - len(bytes.TrimPrefix(data, form.BOM)); start < len(data); {
		p.lines = append(p.lines, int32(start)) //nolint:gosec // a file has at most form.MaxBytes
		n := bytes.IndexByte(data[start:], '\n')
		if n < 0 {
			break
		}
		start += n + 1
	}
}

// line returns the line with an index, without its end.
func (p *plan) line(i int) form.Span {
	at := form.Span{Start: int(p.lines[i]), End: len(p.data)}
	if i+1 < len(p.lines) {
		at.End = int(p.lines[i+1])
	}
	if p.data[at.End-1] == '\n' {
		at.End--
	}
	if at.End > at.Start && p.data[at.End-1] == '\r' {
		at.End--
	}
	return at
}

// measure returns the columns before a line's text (tab stops every 4), and the
// text without surrounding white space.
func (p *plan) measure(i int) (indent int, text form.Span) {
	text = p.line(i)
	for text.Start < text.End {
		switch p.data[text.Start] {
		case ' ':
			indent++
		case '\t':
			indent += 4 - indent%4
		case '\r':
		default:
			for p.data[text.End-1] == ' ' || p.data[text.End-1] == '\t' || p.data[text.End-1] == '\r' {
				text.End--
			}
			return indent, text
		}
		text.Start++
	}
	return indent, text
}

// blankLine reports whether the line with an index has no text.
func (p *plan) blankLine(i int) bool {
	_, at := p.measure(i)
	return at.Start == at.End
}

// scanLine processes one line.
func (s *scanner) scanLine(i int) {
	indent, at := s.measure(i)
	text := s.data[at.Start:at.End]
	cur := (*planTask)(nil)
	if s.inTask {
		cur = &s.tasks[len(s.tasks)-1]
	}
	if len(text) == 0 {
		s.blank = true
		return
	}
	blank := s.blank
	s.blank = false
	inside := cur != nil && indent > cur.indent
	// A block ends with the list item that contains it.
	if s.openBlock != nil && cur != nil && s.openBlock.indent > cur.indent && !inside {
		s.openBlock = nil
	}
	if s.openBlock != nil {
		s.openBlock.hasTask = s.openBlock.hasTask || isBullet(text[0]) && looksLikeTask.Match(text)
		if s.openBlock.closedBy(text) {
			s.openBlock = nil
		}
		if inside {
			cur.end = i + 1
		}
		return
	}
	if !inside && s.listIndent < 0 && indent >= 4 && blank {
		return // an indented code block
	}
	if b := openedBlock(text); b != nil {
		b.line, b.indent = i, indent
		if !b.closedBy(text[min(len(text), 4):]) || b.fence != "" {
			s.openBlock = b
		}
		if inside {
			cur.end = i + 1
		} else if b.fence != "" {
			s.inTask = false
		}
		return
	}
	if isBullet(text[0]) && s.scanBullet(i, indent, at, inside) {
		return
	}
	if inside {
		cur.end = i + 1
		return
	}
	if level := headingLevel(text); level > 0 && indent < 4 {
		s.inTask, s.listIndent = false, -1
		switch {
		case isTasksHeading(text[level:]):
			s.section = level
		case level <= s.section:
			s.section = 0
		}
		return
	}
	if cur != nil && !blank && !isBullet(text[0]) && text[0] != '|' && text[0] != '>' {
		cur.end = i + 1 // continues a paragraph without its indent
		return
	}
	s.inTask = false
	if isBullet(text[0]) {
		if s.listIndent < 0 || indent < s.listIndent {
			s.listIndent = indent
		}
	} else if indent == 0 {
		s.listIndent = -1
	}
}

// scanBullet processes a list item. It reports whether the item is a task, or
// was probably meant to be one.
func (s *scanner) scanBullet(i, indent int, at form.Span, inside bool) bool {
	text := s.data[at.Start:at.End]
	looks := plainTaskBox(text)
	boxed, bold := looks, looks
	if !looks && mayBeTask(text) {
		if m := looksLikeTask.FindSubmatch(text); m != nil {
			looks, boxed, bold = true, m[1] != nil, len(m[2]) > 0
		}
	}
	var t taskLine
	var bad []trouble
	ok := false
	if boxed {
		t, bad, ok = s.taskLine(at)
	}
	switch {
	case inside && ok && len(bad) == 0:
		s.finding(i, t.id+" is indented below "+s.tasks[len(s.tasks)-1].id+": tasks stand side by side",
			"Remove the indent before its bullet")
		return true
	case inside:
		return false
	case ok:
		for _, b := range bad {
			s.finding(i, b.text, b.fix)
		}
		s.tasks = append(s.tasks, planTask{taskLine: t, line: i, indent: indent, end: i + 1})
		s.inTask = true
		if s.listIndent < 0 || indent < s.listIndent {
			s.listIndent = indent
		}
		return true
	case looks && (boxed || s.section > 0 && bold):
		s.inTask = false
		if len(bad) == 0 {
			bad = []trouble{{"looks like a task: " + expected, ""}}
		}
		for _, b := range bad {
			s.finding(i, b.text, b.fix)
		}
		return true
	case s.section > 0 && anyBox.Match(text):
		s.inTask = false
		s.finding(i, "a box that is no task: "+expected, "Number it, or indent it below the task that it belongs to")
		return true
	case s.inTask && indent == s.tasks[len(s.tasks)-1].indent:
		if f, _, ok := fieldLine(string(text)); ok && f != fieldUnknown {
			s.finding(i, fmt.Sprintf("%s belongs to %s but is not indented", f, s.tasks[len(s.tasks)-1].id),
				"Put two spaces before its bullet")
			return true
		}
	}
	return false
}

func isBullet(c byte) bool { return c == '-' || c == '*' || c == '+' }

// openedBlock returns the block that a line opens, or nil.
func openedBlock(text []byte) *block {
	if bytes.HasPrefix(text, []byte("<!--")) {
		return &block{until: commentEnd}
	}
	if text[0] == '<' {
		if m := rawHTML.FindSubmatch(text); m != nil {
			return &block{until: "</" + string(bytes.ToLower(m[1])) + ">"}
		}
	}
	if c := text[0]; c == '`' || c == '~' {
		n := len(text) - len(bytes.TrimLeft(text, string(c)))
		if n >= 3 && (c == '~' || bytes.IndexByte(text[n:], '`') < 0) {
			return &block{fence: string(text[:n])}
		}
	}
	return nil
}

// commentEnd closes a comment.
const commentEnd = "-->"

// rawHTML matches the elements whose content is no Markdown, blank lines or not
// (CommonMark 0.31, section 4.6, condition 1).
var rawHTML = regexp.MustCompile(`^<(?i:(pre|script|style|textarea))(?:[ \t>]|$)`)

// isComment reports whether a block is a comment, which nobody but its writer sees.
func (b *block) isComment() bool { return b.until == commentEnd }

// name returns the word for a block in findings.
func (b *block) name() string {
	switch {
	case b.fence != "":
		return "code block"
	case b.isComment():
		return "comment"
	}
	return "HTML block"
}

func (b *block) closedBy(text []byte) bool {
	if b.fence == "" {
		return bytes.Contains(bytes.ToLower(text), []byte(b.until))
	}
	rest := bytes.TrimLeft(text, b.fence[:1])
	return len(rest) == 0 && len(text) >= len(b.fence)
}

// headingLevel returns the number of # in a heading, 0 for any other line.
func headingLevel(text []byte) int {
	n := len(text) - len(bytes.TrimLeft(text, "#"))
	if n > 6 || n < len(text) && text[n] != ' ' && text[n] != '\t' {
		return 0
	}
	return n
}

// isTasksHeading recognises the heading "Tasks", also with a count behind it.
// Only below it must every box be a task.
func isTasksHeading(text []byte) bool {
	t := strings.TrimSpace(strings.TrimRight(string(text), "# \t"))
	if n := strings.IndexByte(t, '('); n > 0 {
		t = strings.TrimSpace(t[:n])
	}
	return strings.EqualFold(strings.TrimSuffix(t, ":"), "tasks")
}
