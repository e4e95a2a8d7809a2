package markdown

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/nightporter/nightporter/internal/regexp"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/task/form"
)

// Headings is the form of documents with a heading for each task, "### Task 1: Title",
// and boxes below it: the plans of superpowers and ralphex, and the specs of DLD.
type Headings struct{}

var (
	// taskHeading matches a heading's line. Group 1 is its box, 2 the id, 3 what
	// separates id and title.
	taskHeading = regexp.MustCompile(`^#{2,4}[ \t]+(?:\*\*|__)?(?:\[([ xX-])\][ \t]+|✅[ \t]*|☑️?[ \t]*)?(?:\*\*|__)?((?i:task|iteration)[ \t]+[0-9]+(?:\.[0-9]+)*[A-Za-z]?)(?:\*\*|__)?[ \t]*(:|\.[ \t]|\)|-+[ \t]|–|—|$)`)
	// stepName begins a box that is an instruction: what a session does, not what has
	// to hold in the end.
	stepName   = regexp.MustCompile(`(?i)^[*_]*(?:step[ \t]*[0-9]|commit\b)`)
	doneStatus = regexp.MustCompile(`(?i)^[*_]*status[*_: \t]+(?:✅[ \t]*)?(?:done|complete|completed|closed|shipped)\b`)
)

// isStep reports whether a box's text is an instruction. Most begin with another letter,
// which saves the expression.
func isStep(text string) bool {
	text = strings.TrimLeft(text, "*_")
	if len(text) > 4 && strings.EqualFold(text[:4], "step") { // "Step 1", as most are
		if number := strings.TrimLeft(text[4:], " \t"); number != "" && number[0] >= '0' && number[0] <= '9' {
			return true
		}
	}
	return text != "" && (text[0] >= utf8.RuneSelf || strings.IndexByte("sScC", text[0]) >= 0) && stepName.MatchString(text)
}

// saysDone reports whether a line says of the whole document that it is done. Most begin
// with another letter.
func saysDone(text []byte) bool {
	first := bytes.TrimLeft(text, "*_")
	return len(first) > 0 && (first[0] >= utf8.RuneSelf || first[0]|0x20 == 's') && doneStatus.Match(text)
}

// isTaskHeading reports whether a heading's line names a task.
func isTaskHeading(line []byte) bool {
	first := bytes.TrimLeft(line, "# \t*_")
	return len(first) > 0 && (first[0] >= utf8.RuneSelf || strings.IndexByte("[tTiI", first[0]) >= 0) &&
		(isPlainTaskHeading(line) || taskHeading.Match(line))
}

// plainTaskHeading returns what taskHeading finds in a line like nearly all such
// headings, "### Task 1:". ok is false for others.
func plainTaskHeading(line []byte) (at [8]int, ok bool) {
	level := len(line) - len(bytes.TrimLeft(line, "#"))
	start := level
	for start < len(line) && isBlank(line[start]) {
		start++
	}
	if level < 2 || level > 4 || start == level {
		return at, false
	}
	n := start
	for n < len(line) && line[n]|0x20 >= 'a' && line[n]|0x20 <= 'z' {
		n++
	}
	number := n
	for number < len(line) && isBlank(line[number]) {
		number++
	}
	length := numberLength(line[number:])
	if word := line[start:n]; number == n || length == 0 || !namesTask(word) {
		return at, false
	}
	end := number + length
	colon := end
	for colon < len(line) && isBlank(line[colon]) {
		colon++
	}
	if colon == len(line) || line[colon] != ':' {
		return at, false
	}
	return [8]int{0, colon + 1, -1, -1, start, end, colon, colon + 1}, true
}

func isPlainTaskHeading(line []byte) bool {
	_, ok := plainTaskHeading(line)
	return ok
}

// headingID matches a heading that names a task in another way.
var headingID = regexp.MustCompile(`^(?i:task)[ \t]+[0-9]+(?:\.[0-9]+)*[A-Za-z]?\b`)

// taskHeadings returns the indices of the headings that are tasks.
func (d *document) taskHeadings() []int {
	if d.heads != nil {
		return d.heads
	}
	found := []int{}
	for n := range d.headings {
		if h := &d.headings[n]; h.level >= 2 && h.level <= 4 && isTaskHeading(d.headingLine(h)) && !d.places()[n].log {
			found = append(found, n)
		}
	}
	d.heads = found
	return found
}

// headingLine returns a heading from its first # on.
func (d *document) headingLine(h *heading) []byte {
	start := d.line(h.line).Start
	return bytes.TrimLeft(d.data[start:max(h.text.End, start)], " \t")
}

// headingTasks reads the tasks of a document whose tasks are headings.
func (d *document) headingTasks() ([]docTask, []group) {
	heads := d.taskHeadings()
	tasks := d.taskRoom(len(heads))
	inside := make([]int32, len(d.lines)) // per line: 1 + the task that it belongs to
	for _, n := range heads {
		h := &d.headings[n]
		line := d.headingLine(h)
		offset := h.text.End - len(line)
		plain, ok := plainTaskHeading(line)
		m := plain[:]
		if !ok {
			m = taskHeading.FindSubmatchIndex(line)
		}
		t := docTask{own: -1, group: -1, text: form.Span{Start: offset + m[1], End: h.text.End}}
		t.ID, t.Line = oneLine(d.string(form.Span{Start: offset + m[4], End: offset + m[5]})), h.line+1
		if m[2] >= 0 {
			d.boxes = append(d.boxes, box{at: offset + m[2], line: h.line, parent: -1, heading: n})
			t.own = len(d.boxes) - 1
		}
		t.Title = d.title(&t, true)
		if t.own < 0 && bytes.ContainsAny(line[:m[4]], "✅☑") {
			sign := bytes.IndexAny(line[:m[4]], "✅☑")
			at := form.Span{Start: offset + sign, End: offset + sign + len(bytes.TrimRight(line[sign:m[4]], " \t*_"))}
			t.statusWords = &statusWords{t.marks, append(slices.Clip(t.done), planMark{at, ledger.MarkDone, true})}
		}
		if t.Title == "" {
			d.finding(h.line, t.ID+" has no title: expected `### Task N: Title`", "Write what the task is about")
		}
		end := d.headings[n].end
		for i := h.line; i < end; i++ {
			inside[i] = int32(len(tasks) + 1) //nolint:gosec // a file has at most form.MaxBytes lines
		}
		if !d.brief {
			t.full = d.newTask()
			t.full.Body = d.section(h.line+1, end)
			d.readFields(&t, h.line+1, end)
		}
		tasks = append(tasks, t)
	}
	d.headingBoxes(tasks, inside)
	if !d.brief {
		d.headingNotes(tasks, inside)
		d.statusLines(tasks, inside)
		d.warnFinished(tasks)
		d.warnUnread(inside)
	}
	return tasks, nil
}

// title takes the status words from a task's text and returns what is left.
func (d *document) title(t *docTask, heading bool) string {
	words, at := statusAround(d.data, t.text, heading)
	t.statusWords = words
	s := strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(d.string(at)), "**"))
	if strings.Count(s, "**")%2 == 1 {
		s = strings.TrimSpace(strings.TrimPrefix(s, "**"))
	}
	return plainText(s)
}

// headingBoxes gives the boxes to the tasks that they stand below. A box elsewhere
// that names a task is that task's too, as in a list of progress.
func (d *document) headingBoxes(tasks []docTask, inside []int32) {
	ids := sync.OnceValue(func() map[string]int {
		ids := make(map[string]int, len(tasks))
		for n := range tasks {
			ids[ledger.FoldID(tasks[n].ID)] = n
		}
		return ids
	})
	outside, first := 0, 0
	optional, firstOptional := 0, 0
	for n := range d.boxes {
		b := &d.boxes[n]
		if b.text.End == 0 { // the box of a heading
			continue
		}
		of := inside[b.line]
		if of > 0 && d.optional(b) { // it neither keeps its task open nor makes it done
			if !d.ticked(b) {
				if optional++; optional == 1 {
					firstOptional = b.line
				}
			}
			continue
		}
		if of > 0 && d.brief {
			tasks[of-1].boxes = append(tasks[of-1].boxes, n)
			continue
		}
		text := plainText(d.string(b.text))
		if of > 0 {
			t := &tasks[of-1]
			t.boxes = append(t.boxes, n)
			if !t.criteria && !isStep(text) {
				t.full.Acceptance = append(t.full.Acceptance, text)
			}
			continue
		}
		if id := headingID.FindString(strings.TrimLeft(text, "*_ ")); id != "" {
			if of, ok := ids()[ledger.FoldID(id)]; ok {
				tasks[of].boxes = append(tasks[of].boxes, n)
				continue
			}
		}
		if !d.ticked(b) && !d.aside(b.heading) {
			if outside++; outside == 1 {
				first = b.line
			}
		}
	}
	d.warnOptional(optional, firstOptional)
	if outside > 0 {
		d.warning(first, fmt.Sprintf("not part of a task: %d open boxes outside the headings `### Task N:`, the first here", outside), "Move work below such a heading")
	}
}

// statusLines notes which tasks have a line like **Status:** Done.
func (d *document) statusLines(tasks []docTask, inside []int32) {
	for i := range d.lines {
		of := inside[i]
		if of == 0 || d.code[i] || tasks[of-1].saysDone > 0 {
			continue
		}
		_, at := d.measure(i)
		text := d.data[at.Start:at.End]
		if text = text[itemLength(text):]; len(text) > 0 && saysDone(text) {
			tasks[of-1].saysDone = i + 1
		}
	}
}

// numberedTask matches a heading that is numbered as a task is. Group 1 is its word.
var numberedTask = regexp.MustCompile(`^#{1,6}[ \t]+(?:\*\*|__)?(?:\[[ xX-]\][ \t]+|✅[ \t]*|☑️?[ \t]*)?(?:\*\*|__)?(\pL+)[ \t]+#?[0-9]+(?:\.[0-9]+)*[A-Za-z]?(?:\*\*|__)?[ \t]*(?::|\.[ \t]|\)|-+[ \t]|–|—|$)`)

// warnUnread tells of headings that a person takes for tasks and that are none here:
// "# Task 1:" and "##### Task 1:", and "### Aufgabe 2:" beside a "### Task 1:". inside
// says of each line whether it belongs to a task; it is nil where boxes are the tasks.
func (d *document) warnUnread(inside []int32) {
	beside := map[[2]int]bool{} // level and outer heading of the headings that are tasks
	outer := make([]int, len(d.headings))
	var open []int
	isTask := make([]bool, len(d.headings))
	if inside != nil {
		for _, n := range d.taskHeadings() {
			isTask[n] = true
		}
	}
	for n := range d.headings {
		h := &d.headings[n]
		for len(open) > 0 && d.headings[open[len(open)-1]].level >= h.level {
			open = open[:len(open)-1]
		}
		if outer[n] = -1; len(open) > 0 {
			outer[n] = open[len(open)-1]
		}
		open = append(open, n)
		if isTask[n] {
			beside[[2]int{h.level, outer[n]}] = true
		}
	}
	found, first := 0, -1
	for n := range d.headings {
		h := &d.headings[n]
		line := d.headingLine(h)
		if isTask[n] || inside != nil && inside[h.line] > 0 || bytes.IndexAny(line, "0123456789") < 0 || d.places()[n].log {
			continue
		}
		m := numberedTask.FindSubmatch(line)
		if m == nil || inside == nil && d.holdsBoxes(h) {
			continue
		}
		if namesTask(m[1]) || beside[[2]int{h.level, outer[n]}] && !d.holdsTasks(n, isTask) {
			if found++; first < 0 {
				first = n
			}
		}
	}
	if found > 0 {
		h := &d.headings[first]
		d.warning(h.line, fmt.Sprintf("not read as a task: %q (%d such headings)", clip(d.string(h.text), 40), found), "Write ### Task N: Title, with two to four #, if it is one")
	}
}

// namesTask reports whether a heading's word is one that a task's begins with.
func namesTask(word []byte) bool {
	return bytes.EqualFold(word, []byte("task")) || bytes.EqualFold(word, []byte("iteration"))
}

// holdsTasks reports whether headings that are tasks stand below a heading.
func (d *document) holdsTasks(n int, isTask []bool) bool {
	for i := n + 1; i < len(d.headings) && d.headings[i].line < d.headings[n].end; i++ {
		if isTask[i] {
			return true
		}
	}
	return false
}

// holdsBoxes reports whether boxes stand below a heading.
func (d *document) holdsBoxes(h *heading) bool {
	at, _ := slices.BinarySearchFunc(d.boxes, h.line, func(b box, line int) int { return b.line - line })
	return at < len(d.boxes) && d.boxes[at].line < h.end
}

// headingNotes adds what a document says for all of its tasks.
func (d *document) headingNotes(tasks []docTask, inside []int32) {
	for n := range d.headings {
		h := &d.headings[n]
		if inside[h.line] > 0 {
			continue
		}
		if text := strings.ToLower(d.string(h.text)); text != "validation commands" && text != "validation" {
			continue
		}
		commands := d.section(h.line+1, h.end)
		if commands == "" || len(commands) > 2000 {
			continue
		}
		for i := range tasks {
			tasks[i].full.Notes = d.string(h.text) + ":\n" + commands
		}
		break
	}
	for i := range d.lines {
		if _, at := d.measure(i); !d.code[i] && inside[i] == 0 && at.Start < at.End && saysDone(d.data[at.Start:at.End]) {
			open := 0
			for n := range tasks {
				if d.state(&tasks[n]) == ledger.MarkOpen {
					open++
				}
			}
			if open > 0 {
				d.warning(i, fmt.Sprintf("the file says that it is done, and %d of its tasks have no tick: they count as open", open), "Tick their boxes, or write (done) behind their headings")
			}
			break
		}
	}
}

// Parse implements form.Form.
func (Headings) Parse(file string, data []byte) (ledger.Snapshot, error) {
	d := scanDocument(file, data)
	d.text = string(data)
	tasks, _ := d.headingTasks()
	return d.snapshot(file, tasks)
}

// snapshot returns what was read, or the errors in it.
func (d *document) snapshot(file string, tasks []docTask) (ledger.Snapshot, error) {
	found := d.finish(tasks)
	d.warnWorking()
	if len(found) == 0 && len(d.Errors) == 0 {
		d.Error(0, "has no tasks: none of its boxes is work", "Number the boxes that are, or move them below a heading such as Tasks")
	}
	if err := d.Err(); err != nil {
		return ledger.Snapshot{}, err
	}
	return ledger.Snapshot{Name: form.Name(file), Path: file, Tasks: found, Warnings: d.Told()}, nil
}

// Mark implements form.Form.
func (Headings) Mark(file string, data []byte, marks []ledger.Marking) ([]byte, []string, error) {
	return markDocument(scanDocument(file, data), marks, (*document).headingTasks)
}

// markDocument writes statuses into a document, and reads the result again before it
// returns it: every task must be where it was, with the status that it should have.
func markDocument(d *document, marks []ledger.Marking, read func(*document) ([]docTask, []group)) ([]byte, []string, error) {
	d.brief = true
	tasks, groups := read(d)
	if len(d.lines) == 0 && len(d.Errors) > 0 {
		return nil, nil, d.Err()
	}
	marked, gone, err := d.mark(tasks, groups, marks)
	if err != nil || bytes.Equal(marked, d.data) {
		return marked, gone, err
	}
	want := map[string]ledger.Mark{}
	for _, m := range marks {
		want[ledger.FoldID(m.Task)] = m.Mark
	}
	// The second reading is made in the room of the first: of 100,000 tasks each takes
	// some 60 MB.
	type taskState struct {
		id, title string
		line      int
		mark      ledger.Mark
	}
	states := make([]taskState, len(tasks))
	for n := range tasks {
		t := &tasks[n]
		m, ok := want[ledger.FoldID(t.ID)]
		if !ok {
			m = d.state(t)
		}
		states[n] = taskState{t.ID, t.Title, t.Line, m}
	}
	lines := len(d.lines)
	d.scan(marked)
	tasks, _ = read(d)
	same := len(tasks) == len(states) && len(d.lines) == lines
	for n := 0; same && n < len(states); n++ {
		t := &tasks[n]
		same = states[n] == taskState{t.ID, t.Title, t.Line, d.state(t)}
	}
	if !same {
		return nil, nil, fmt.Errorf("mark %s: the marked text does not read back as intended; nothing was written", d.File)
	}
	return marked, gone, nil
}
