package markdown

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/nightporter/nightporter/internal/nearest"
	"github.com/nightporter/nightporter/internal/regexp"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/task/form"
)

// field is the name of a line below a task, such as Scope.
type field string

// Fields of a task, with the names that findings use.
const (
	fieldUnknown    field = ""
	fieldScope      field = "Scope"
	fieldDepends    field = "Depends on"
	fieldAcceptance field = "Acceptance"
	fieldNotes      field = "Notes"
	fieldPriority   field = "Priority"
	fieldComplexity field = "Complexity"
	fieldThreshold  field = "Threshold"
	fieldConsensus  field = "Consensus"
	fieldSecond     field = "Second review"
	fieldAllow      field = "Allow"
)

// fieldNames maps the spellings found in real plans to fields.
var fieldNames = map[string]field{
	"scope": fieldScope, "depends on": fieldDepends, "depends-on": fieldDepends, "depend on": fieldDepends,
	"depends": fieldDepends, "dependencies": fieldDepends, "dependency": fieldDepends,
	"acceptance": fieldAcceptance, "acceptance criteria": fieldAcceptance, "notes": fieldNotes, "note": fieldNotes,
	"priority": fieldPriority, "complexity": fieldComplexity, "threshold": fieldThreshold, "consensus": fieldConsensus, "second review": fieldSecond,
	"allow": fieldAllow,
}

// listMark returns what a list item begins with, "" for other text: a bullet or a
// number, and a box. It is written out because every line of a plan goes through it,
// several times in each reading; a test compares it with the expression.
func listMark(s string) string {
	blanks := func(n int) int { return len(s[n:]) - len(strings.TrimLeft(s[n:], " \t")) }
	n := 0
	for n < min(len(s), 9) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	if n == len(s) || n == 0 && !isBullet(s[0]) || n > 0 && s[n] != '.' && s[n] != ')' {
		return ""
	}
	n++
	space := blanks(n)
	if space == 0 {
		return ""
	}
	n += space
	if box := s[n:]; len(box) > 3 && box[0] == '[' && strings.IndexByte(" xX", box[1]) >= 0 && box[2] == ']' {
		if space = blanks(n + 3); space > 0 {
			n += 3 + space
		}
	}
	return s[:n]
}

// fieldLine splits "- **Scope:** text" into name and value, with or without
// bullet and emphasis. For a name that is no field it returns fieldUnknown,
// with the name as value.
func fieldLine(s string) (f field, value string, ok bool) {
	name, value, ok := splitField(s[len(listMark(s)):])
	if !ok {
		return fieldUnknown, "", false
	}
	name = oneLine(name)
	if f, ok := fieldNamed(fieldNames, name); ok {
		return f, strings.TrimSpace(value), true
	}
	return fieldUnknown, name, true
}

// splitField splits the text of a line at the colon behind a name, and takes the
// emphasis off both.
func splitField(s string) (name, value string, ok bool) {
	emph := s[:len(s)-len(strings.TrimLeft(s, "*_"))]
	s = s[len(emph):]
	n := strings.IndexByte(s, ':')
	if n < 1 || n > maxFieldName || len(emph) > 3 {
		return "", "", false
	}
	name, value = s[:n], s[n+1:]
	if emph != "" {
		if before, ok := strings.CutSuffix(strings.TrimSpace(name), emph); ok {
			name = before
		} else if after, ok := strings.CutPrefix(value, emph); ok {
			value = after
		} else if before, ok := strings.CutSuffix(value, emph); ok {
			value = before
		} else {
			return "", "", false
		}
	}
	return name, value, true
}

// maxFieldName is how long the name of a field can be.
const maxFieldName = 30

// fieldNamed looks a field up by its name, whose case does not matter. Every line that
// may name one goes through it, so it makes no copy of the name.
func fieldNamed(names map[string]field, name string) (f field, ok bool) {
	lower := make([]byte, 0, maxFieldName)
	for i := range len(name) {
		c := name[i]
		if c >= utf8.RuneSelf || i == maxFieldName {
			f, ok = names[strings.ToLower(name)]
			return f, ok
		}
		if c >= 'A' && c <= 'Z' {
			c |= 0x20
		}
		lower = append(lower, c)
	}
	f, ok = names[string(lower)]
	return f, ok
}

// content is one line of a field's value.
type content struct {
	indent int
	text   string
	item   bool // the line begins a list item; text omits the bullet
	code   bool // the line is inside a code block
}

// fieldText is the value of a field.
type fieldText struct {
	name  field
	line  int // index of the field's own line
	lines []content
}

// fieldTexts are the fields of a task. It has a few, so a list is faster than a map.
type fieldTexts []fieldText

// of returns the value of a field, nil without one.
func (f fieldTexts) of(name field) *fieldText {
	for n := range f {
		if f[n].name == name {
			return &f[n]
		}
	}
	return nil
}

// add returns the fields with one that begins in a line. It uses the room of fields that
// were in the list before.
func (f fieldTexts) add(name field, line int) fieldTexts {
	n := len(f)
	f = slices.Grow(f, 1)[:n+1]
	f[n] = fieldText{name: name, line: line, lines: f[n].lines[:0]}
	return f
}

// inlineIndent is the indent of text on the same line as the field's name.
const inlineIndent = -1

var comment = regexp.MustCompile(`<!--.*?-->`)

// fields collects a task's fields in the room of the last one's. A field that is
// written twice has both values.
func (p *plan) fields(t *planTask, room fieldTexts) fieldTexts {
	found := room[:0]
	var cur *fieldText
	var open *block
	level, bullets := 0, false // indent of the fields, and whether they have bullets
	for i := t.line + 1; i < t.end; i++ {
		indent, at := p.measure(i)
		if at.Start == at.End {
			continue
		}
		line, text := p.data[at.Start:at.End], p.string(at)
		if open == nil {
			if open = openedBlock(line); open != nil {
				if open.fence == "" && open.closedBy(line[4:]) {
					open = nil
				}
				if cur != nil && open != nil && !open.isComment() {
					cur.lines = append(cur.lines, content{indent, text, false, true})
				}
				continue
			}
		} else {
			if cur != nil && !open.isComment() {
				cur.lines = append(cur.lines, content{indent, text, false, true})
			}
			if open.closedBy(line) {
				open = nil
			}
			continue
		}
		if strings.Contains(text, "<!--") {
			text = comment.ReplaceAllString(text, "")
		}
		text = strings.TrimSpace(text)
		bullet := listMark(text)
		if deeper := (cur != nil || bullets) && indent >= level+2; !deeper && (bullet != "" || !bullets) {
			f, value, ok := fieldLine(text)
			switch {
			case ok && f != fieldUnknown:
				level, bullets = indent, bullets || bullet != ""
				if cur = found.of(f); cur == nil {
					found = found.add(f, i)
					cur = &found[len(found)-1]
				}
				if value != "" {
					cur.lines = append(cur.lines, content{inlineIndent, value, true, false})
				}
				continue
			case ok:
				p.nearField(i, value)
			}
			if bullet != "" {
				level, bullets, cur = indent, true, nil
				continue
			}
		}
		if cur != nil {
			cur.lines = append(cur.lines, content{indent, strings.TrimSpace(text[len(bullet):]), bullet != "", false})
		}
	}
	return found
}

// nearField reports a name that was probably meant as a field's. An overlooked
// dependency or criterion would cost a night, so those are errors; a short name
// resembles many ordinary words and is only a warning.
func (p *plan) nearField(line int, name string) {
	for _, f := range []field{fieldDepends, fieldAcceptance, fieldComplexity, fieldPriority, fieldThreshold, fieldConsensus, fieldSecond, fieldScope, fieldNotes} {
		if nearest.Distance(strings.ToLower(name), strings.ToLower(string(f))) > 2 {
			continue
		}
		text := fmt.Sprintf("unknown field %q: meant %q?", clip(name, 40), f)
		if f == fieldDepends || f == fieldAcceptance {
			p.finding(line, text, "Write "+string(f)+":")
		} else if len(name) >= len(f)-1 {
			p.warning(line, text, "Write "+string(f)+":")
		}
		return
	}
}

// joined returns the value as one text. A wrapped line continues after a space;
// a list item starts a new line.
func (f *fieldText) joined() string {
	if f == nil {
		return ""
	}
	if len(f.lines) == 1 {
		return f.lines[0].text
	}
	var b strings.Builder
	for i, l := range f.lines {
		switch {
		case i == 0:
		case l.item || l.code:
			b.WriteByte('\n')
		case f.lines[i-1].code:
			b.WriteByte('\n')
		default:
			b.WriteByte(' ')
		}
		b.WriteString(l.text)
	}
	return b.String()
}

// items returns the value's list items. A nested line belongs to the item above
// it.
func (f *fieldText) items() []string {
	if f == nil {
		return nil
	}
	var items []string
	level := -1
	for _, l := range f.lines {
		switch {
		case l.item && (level < 0 || l.indent < level+2):
			items = append(items, l.text)
			level = max(level, l.indent)
		case len(items) == 0:
			items = append(items, l.text)
		case l.code:
			items[len(items)-1] += "\n" + l.text
		case l.item && !strings.HasSuffix(items[len(items)-1], ":"):
			items[len(items)-1] += "; " + l.text
		default:
			items[len(items)-1] += " " + l.text
		}
	}
	return items
}

// priorities ranks the words of docs/spec 3.7; a larger number comes first.
var priorities = map[string]int{
	"p0": 4, "p1": 3, "p2": 2, "p3": 1, "critical": 4, "high": 3, "medium": 2, "low": 1, "none": 0, "-": 0, "": 0,
}

// read turns the scanned text into tasks, and checks references between them.
func (p *plan) read() []ledger.Task {
	tasks := make([]ledger.Task, 0, len(p.tasks))
	deps := make([]dependsOn, len(p.tasks))
	var f fieldTexts
	for n := range p.tasks {
		t := &p.tasks[n]
		f = p.fields(t, f)
		mark := t.state(p.data)
		if mark == ledger.MarkDone && len(t.marks) > 0 {
			p.warning(t.line, t.id+" is ticked and marked "+Statuses[t.marks[0].mark]+": it counts as done", "")
		}
		if mark != ledger.MarkDone {
			for _, d := range t.doubts {
				p.warning(t.line, d.text, d.fix)
			}
		}
		tasks = append(tasks, ledger.Task{
			ID: t.id, Title: t.title, Body: p.body(t), Mark: mark, Line: t.line + 1,
			Scope: f.of(fieldScope).joined(), Acceptance: f.of(fieldAcceptance).items(), Notes: f.of(fieldNotes).joined(),
		})
		task := &tasks[n]
		if len(task.Acceptance) == 1 && noneWords[strings.ToLower(task.Acceptance[0])] {
			task.Acceptance = nil
		}
		p.scope(task, f.of(fieldScope))
		if v := f.of(fieldPriority); v != nil {
			word := strings.ToLower(v.joined())
			n, ok := priorities[word]
			if !ok {
				var err error
				n, err = strconv.Atoi(word)
				ok = err == nil && n >= 0 && n <= 1000
			}
			if !ok {
				p.finding(v.line, fmt.Sprintf("priority %q: expected P0 to P3, critical, high, medium, low, or a number", clip(word, 40)), "")
			}
			task.Priority = n
		}
		if v := f.of(fieldComplexity); v != nil {
			n, err := strconv.Atoi(v.joined())
			if err != nil || n < 1 || n > 10 {
				p.finding(v.line, fmt.Sprintf("complexity %q: expected a number from 1 to 10", clip(v.joined(), 40)), "")
			}
			task.Complexity = n
		}
		task.Threshold = p.threshold(f.of(fieldThreshold))
		task.Consensus = p.yes("consensus", f.of(fieldConsensus))
		task.SecondReview = p.yes("second review", f.of(fieldSecond))
		task.Allow = p.allow(f.of(fieldAllow))
		if v := f.of(fieldDepends); v != nil {
			deps[n] = dependsOn{text: strings.ReplaceAll(v.joined(), "\n", ", "), line: v.line}
		}
	}
	p.resolveDependencies(tasks, deps)
	return tasks
}

// quotedCommand matches a command in backticks.
var quotedCommand = regexp.MustCompile("`([^`]+)`")

// allow reads the commands that deploy or publish, which the task's sessions may
// call. Only commands in backticks count: prose could allow what nobody meant.
func (p *plan) allow(f *fieldText) []string {
	if f == nil || noneWords[strings.ToLower(f.joined())] {
		return nil
	}
	var out []string
	for _, m := range quotedCommand.FindAllStringSubmatch(f.joined(), -1) {
		if c := strings.Join(strings.Fields(m[1]), " "); c != "" {
			out = append(out, c)
		}
	}
	if len(out) == 0 {
		p.finding(f.line, fmt.Sprintf("allow %q: expected commands in backticks", clip(f.joined(), 40)), "Write Allow: `npm publish`")
	}
	return out
}

// severities are sorted from worst to mildest.
var severities = []ledger.Severity{ledger.Critical, ledger.Major, ledger.Minor, ledger.Suggestion}

// threshold reads the severities that keep a task from being done. A single
// severity includes the worse ones.
func (p *plan) threshold(f *fieldText) []ledger.Severity {
	if f == nil || noneWords[strings.ToLower(f.joined())] {
		return nil
	}
	var out []ledger.Severity
	for _, word := range strings.FieldsFunc(strings.ToLower(f.joined()), func(r rune) bool { return r == ',' || r == ' ' || r == '`' }) {
		n := slices.Index(severities, ledger.Severity(word))
		if n < 0 {
			p.finding(f.line, fmt.Sprintf("threshold %q: expected critical, major, minor or suggestion", clip(f.joined(), 40)), "Write the mildest issue that keeps the task open, as minor")
			return nil
		}
		out = append(out, severities[n])
	}
	if len(out) == 1 {
		return slices.Clone(severities[:slices.Index(severities, out[0])+1])
	}
	return out
}

// yes reads a field that asks for something or does not.
func (p *plan) yes(name string, f *fieldText) bool {
	if f == nil {
		return false
	}
	switch strings.ToLower(strings.TrimSuffix(f.joined(), ".")) {
	case "yes", "true", "on":
		return true
	case "", "no", "false", "off", "none", "-":
		return false
	}
	p.finding(f.line, fmt.Sprintf("%s %q: expected yes or no", name, clip(f.joined(), 40)), "")
	return false
}

// scope clears a scope without any path, and reports items that cannot be
// paths.
func (p *plan) scope(t *ledger.Task, f *fieldText) {
	items := ledger.ParseScope(t.Scope)
	if len(items) == 0 {
		t.Scope = ""
	}
	for _, i := range items {
		if t.Mark == ledger.MarkDone {
			continue
		}
		switch i.Kind {
		case ledger.ScopeBad:
			p.finding(f.line, fmt.Sprintf("scope of %s: %q is not a path below the repository", t.ID, clip(i.Text, 80)),
				"Write paths relative to the repository's top folder")
		case ledger.ScopeProse:
			p.warning(f.line, fmt.Sprintf("scope of %s: %q is prose: the reviewer sees it, it permits no file", t.ID, clip(i.Text, 80)),
				"Name folders, files or globs, in backticks")
		}
	}
}

// state returns the status in a task's line. A ticked box overrides a status in
// words, which was probably forgotten there.
func (t taskLine) state(data []byte) ledger.Mark {
	switch box := string(data[t.box.Start:t.box.End]); {
	case box == "x" || box == "X":
		return ledger.MarkDone
	case len(t.marks) > 0:
		return t.marks[0].mark
	}
	return ledger.MarkOpen
}

// body returns the task's lines without the box line, with plain line ends and
// no surrounding blank lines. Text behind the title becomes its first line.
func (p *plan) body(t *planTask) string {
	first := t.line + 1
	if t.tail != "" && !strings.HasPrefix(t.tail, "<!--") {
		if first == t.end {
			return t.tail
		}
		return t.tail + "\n" + p.plainLines(first, t.end)
	}
	for first < t.end && strings.TrimSpace(p.string(p.line(first))) == "" {
		first++
	}
	if first == t.end {
		return ""
	}
	return p.plainLines(first, t.end)
}

// plainLines returns the lines from start to before end with plain line ends: a part of
// the text where it has such.
func (p *plan) plainLines(start, end int) string {
	if whole := p.string(form.Span{Start: p.line(start).Start, End: p.line(end - 1).End}); strings.IndexByte(whole, '\r') < 0 {
		return whole
	}
	var b strings.Builder
	for i := start; i < end; i++ {
		if i > start {
			b.WriteByte('\n')
		}
		b.WriteString(p.string(p.line(i)))
	}
	return b.String()
}
