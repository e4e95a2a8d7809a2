package markdown

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/nightporter/nightporter/internal/regexp"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/task/form"
)

// docTask is a task of a document: a heading with what is below it, or a box.
type docTask struct {
	ID, Title    string
	Line         int          // from 1
	full         *ledger.Task // with all else, in document.room; nil of a document that is brief
	text         form.Span    // the title with its status words
	own          int          // index of its own box; -1 = none
	boxes        []int        // indices of its other boxes
	*statusWords              // never nil
	group        int          // index of the group's box that it belongs to; -1 = none
	depends      []fieldItem  // its field of dependencies
	criteria     bool         // its acceptance criteria are a field
	saysDone     int          // line of a status in its text that says so, from 1; 0 = none
}

// statusWords are a task's status in words.
type statusWords struct {
	marks []planMark // (blocked), (manual-verify)
	done  []planMark // words that say that it is done, of a heading
}

// noWords are those of nearly all tasks.
var noWords = &statusWords{}

// state returns a task's status. A tick overrides a status in words, which was
// probably forgotten there.
func (d *document) state(t *docTask) ledger.Mark {
	switch {
	case len(t.done) > 0, t.own >= 0 && d.ticked(&d.boxes[t.own]), t.own < 0 && len(t.boxes) > 0 && d.allTicked(t.boxes):
		return ledger.MarkDone
	case len(t.marks) > 0:
		return t.marks[0].mark
	}
	return ledger.MarkOpen
}

func (d *document) allTicked(boxes []int) bool {
	return !slices.ContainsFunc(boxes, func(n int) bool { return !d.ticked(&d.boxes[n]) })
}

// doneText is written behind a heading that has no box. Statuses has no word for it:
// a plan's task always has a box.
const doneText = "(done)"

// edits returns the changes that give a task the status m; none if it has it.
func (d *document) edits(t *docTask, m ledger.Mark) []form.Edit {
	if d.state(t) == m && (m == ledger.MarkDone || len(t.marks) <= 1) && (m != ledger.MarkDone || len(t.marks) == 0) {
		return nil
	}
	var edits []form.Edit
	done := m == ledger.MarkDone
	if t.own >= 0 {
		edits = append(edits, d.tick(&d.boxes[t.own], done)...)
	}
	if done || d.state(t) == ledger.MarkDone {
		for _, n := range t.boxes {
			if d.optional(&d.boxes[n]) {
				continue
			}
			edits = append(edits, d.tick(&d.boxes[n], done)...)
		}
	}
	words, marked := planWord(m)
	for n, k := range t.marks {
		switch {
		case !marked || n > 0:
			edits = append(edits, form.Edit{Span: k.withSpace(d.data)})
		case k.mark != m:
			edits = append(edits, form.Edit{Span: k.Span, Text: words})
		}
	}
	if !done {
		for _, k := range t.done {
			edits = append(edits, form.Edit{Span: k.withSpace(d.data)})
		}
	}
	end := form.Span{Start: t.text.End, End: t.text.End}
	switch {
	case marked && len(t.marks) == 0:
		edits = append(edits, form.Edit{Span: end, Text: " " + words})
	case done && t.own < 0 && len(t.boxes) == 0 && len(t.done) == 0:
		edits = append(edits, form.Edit{Span: end, Text: " " + doneText})
	}
	return edits
}

// statusAround takes the status words from both ends of a task's text, and returns what
// is left.
func statusAround(data []byte, at form.Span, heading bool) (*statusWords, form.Span) {
	var found statusWords
	for m, ok := markAtStart(data, at); ok; m, ok = markAtStart(data, at) {
		m.beforeTitle = true
		found.marks = append(found.marks, m)
		at.Start = m.End
	}
	for {
		if m, ok := markAtEnd(data, at); ok {
			found.marks = append(found.marks, m)
			at.End = m.Start
			continue
		}
		if !heading || at.Start == at.End {
			break
		}
		m, ok := doneAtEnd(data, at)
		if !ok {
			break
		}
		found.done = append(found.done, m)
		at.End = m.Start
	}
	if len(found.marks) == 0 && len(found.done) == 0 {
		return noWords, at
	}
	words := found
	slices.SortFunc(words.marks, func(a, b planMark) int { return a.Start - b.Start })
	return &words, at
}

// doneWords match what people write behind a heading of finished work.
var doneWords = regexp.MustCompile(`(?i)(?:^|[ \t])(\((?:done|complete|completed)\)|✅(?:[ \t]*(?:done|complete|completed))?|✓|✔️?|☑️?|\[x\])[ \t]*$`)

func doneAtEnd(data []byte, at form.Span) (planMark, bool) {
	text := data[at.Start:at.End]
	last := bytes.TrimRight(text, " \t") // the signs, with what belongs to their letters, and "done" or "complete"
	if c := last[max(0, len(last)-1):]; len(c) > 0 && c[0] < utf8.RuneSelf && strings.IndexByte(")]eEdD", c[0]) < 0 {
		return planMark{}, false
	}
	m := doneWords.FindSubmatchIndex(text)
	if m == nil {
		return planMark{}, false
	}
	return planMark{form.Span{Start: at.Start + m[2], End: at.Start + m[3]}, ledger.MarkDone, false}, true
}

// finishedRemarks are what people write at the end of a title for finished work, in
// parentheses or brackets. Only some of those who write them mean the whole task, so
// they are no ticks.
var finishedRemarks = map[string]bool{
	"done": true, "complete": true, "completed": true, "finished": true, "closed": true, "erledigt": true, "fertig": true, "abgeschlossen": true,
	"terminé": true, "fait": true, "hecho": true, "completado": true, "feito": true, "fatto": true, "klar": true, "gotowe": true,
	"готово": true, "сделано": true, "выполнено": true, "完成": true, "已完成": true, "完了": true, "완료": true,
}

// looksDone reports whether a title says of its task that it is finished: "(done)",
// "– done", ✅ at its end, or struck out as a whole.
func looksDone(title string) bool {
	title = strings.TrimSuffix(strings.Trim(title, " \t*_"), "\ufe0f")
	if title == "" {
		return false
	}
	switch c := title[len(title)-1]; {
	case c == '~':
		return len(title) > 4 && strings.HasPrefix(title, "~~") && strings.HasSuffix(title, "~~")
	case c == ')' || c == ']':
		at := strings.LastIndexAny(title, "([")
		return at > 0 && finishedRemarks[strings.ToLower(strings.Trim(title[at+1:len(title)-1], " \t!."))]
	case c >= utf8.RuneSelf:
		last, _ := utf8.DecodeLastRuneInString(title)
		return strings.ContainsRune("✅✓✔☑", last)
	case strings.IndexByte("deg", c|0x20) < 0: // done, complete, completed, fertig
		return false
	}
	at := strings.LastIndexAny(title, " \t")
	return at > 0 && finishedRemarks[strings.ToLower(title[at+1:])] && strings.HasSuffix(strings.TrimRight(title[:at], "-–—:"), " ") && title[at-1] != ' '
}

// warnFinished tells of open tasks that say in words that they are done: nothing is
// taken for done without a tick. A struck-out box has a warning of its own.
func (d *document) warnFinished(tasks []docTask) {
	n, first, id := 0, 0, ""
	for i := range tasks {
		t := &tasks[i]
		title := d.string(t.text)
		struck := t.own >= 0 && strings.HasPrefix(title, "~~")
		if d.state(t) != ledger.MarkOpen || struck || t.saysDone == 0 && !looksDone(title) {
			continue
		}
		if n++; n == 1 {
			first, id = max(t.saysDone, t.Line), t.ID
		}
	}
	if n > 0 {
		d.warning(first-1, fmt.Sprintf("%s is called finished here, and has no tick: it counts as open (%d such tasks)", id, n), "Tick its boxes, or write (done) behind its heading")
	}
}

// warnOptional tells once of open boxes that are left alone.
func (d *document) warnOptional(n, first int) {
	if n > 0 {
		d.warning(first, fmt.Sprintf("optional and left alone: %d open boxes [ ]*, the first here", n), "Remove the * of those that are to be done")
	}
}

// mark writes statuses into a document whose tasks were read.
func (d *document) mark(tasks []docTask, groups []group, marks []ledger.Marking) (marked []byte, gone []string, err error) {
	index := markedTasks(marks, len(tasks), func(n int) string { return tasks[n].ID })
	want := map[int]ledger.Mark{}
	for _, m := range marks {
		switch m.Mark {
		case ledger.MarkOpen, ledger.MarkDone, ledger.MarkBlocked, ledger.MarkManualVerify:
		default:
			return nil, nil, fmt.Errorf("mark %s: unknown mark %q", m.Task, m.Mark)
		}
		switch at := index[ledger.FoldID(m.Task)]; {
		case at == noTask:
			gone = append(gone, m.Task)
		case at >= 0:
			want[at] = m.Mark
		default:
			d.reportTwins(tasks)
			return nil, nil, d.Err()
		}
	}
	var edits []form.Edit
	for _, n := range slices.Sorted(maps.Keys(want)) {
		edits = append(edits, d.edits(&tasks[n], want[n])...)
	}
	edits = append(edits, d.groupEdits(tasks, groups, want)...)
	return form.Apply(d.data, edits), gone, nil
}

// groupEdits keeps the box of a group in step with the tasks of it that were marked:
// it is ticked with the last of them.
func (d *document) groupEdits(tasks []docTask, groups []group, want map[int]ledger.Mark) []form.Edit {
	var edits []form.Edit
	touched := map[int]bool{}
	for n, m := range want {
		if g := tasks[n].group; g >= 0 && m != d.state(&tasks[n]) {
			touched[g] = true
		}
	}
	for g := len(groups) - 1; g >= 0; g-- { // inner groups come after outer ones
		if !touched[g] {
			continue
		}
		done := true
		for _, n := range groups[g].tasks {
			m, ok := want[n]
			if !ok {
				m = d.state(&tasks[n])
			}
			done = done && m == ledger.MarkDone
		}
		edits = append(edits, d.tick(&d.boxes[groups[g].box], done)...)
		if groups[g].outer >= 0 {
			touched[groups[g].outer] = true
		}
	}
	return edits
}

// group is a box that only holds other tasks together.
type group struct {
	box   int   // index of its box
	outer int   // index of the group around it; -1 = none
	tasks []int // indices of the tasks in it, those of inner groups too
}

// reportTwins reports ids that are there twice, and returns the tasks by folded id.
func (d *document) reportTwins(tasks []docTask) map[string]int {
	first := make(map[string]int, len(tasks))
	for i := range tasks {
		key := ledger.FoldID(tasks[i].ID)
		if n, ok := first[key]; ok {
			d.finding(tasks[i].Line-1, fmt.Sprintf("%s is there twice: line %d and line %d", tasks[i].ID, tasks[n].Line, tasks[i].Line), "Give one of them another number, or other words")
			continue
		}
		first[key] = i
	}
	return first
}

// taskRoom makes room for n tasks: 100,000 of them are 45 MB, which must not be moved. A
// second reading uses the room of the first.
func (d *document) taskRoom(n int) []docTask {
	if !d.brief {
		d.room = make([]ledger.Task, 0, n)
	}
	d.tasks = slices.Grow(d.tasks[:0], n)
	return d.tasks
}

// newTask returns a task in the room for them.
func (d *document) newTask() *ledger.Task {
	d.room = d.room[:len(d.room)+1]
	return &d.room[len(d.room)-1]
}

// finish checks the tasks against each other, and returns them.
func (d *document) finish(tasks []docTask) []ledger.Task {
	graph := d.resolve(tasks, d.reportTwins(tasks))
	for i := range tasks {
		t := &tasks[i]
		t.full.ID, t.full.Title, t.full.Line, t.full.Mark = t.ID, t.Title, t.Line, d.state(t)
		if t.full.Mark == ledger.MarkDone && len(t.marks) > 0 {
			d.warning(t.Line-1, t.ID+" is ticked and marked "+Statuses[t.marks[0].mark]+": it counts as done", "")
		}
		for _, m := range t.marks {
			if m.mark != t.marks[0].mark {
				d.finding(t.Line-1, t.ID+" is marked both (blocked) and (manual-verify)", "Leave one of the two")
				break
			}
		}
		if len(t.done) > 0 && !d.allTicked(t.boxes) {
			d.warning(t.Line-1, t.ID+" is marked as done and has open boxes: it counts as done", "")
		}
	}
	if graph != nil {
		d.ReportCycles(graph, func(n int) *ledger.Task { return tasks[n].full })
	}
	return slices.Clip(d.room)
}

// section returns the lines of a task as its body: without code fences' meaning
// changed, with plain line ends and no surrounding blank lines. Its boxes are open: a
// tick is no change of the text, for which a session would be cut off.
func (d *document) section(start, end int) string {
	for start < end && d.blankLine(start) {
		start++
	}
	for end > start && d.blankLine(end-1) {
		end--
	}
	if start == end {
		return ""
	}
	boxes := d.boxesIn(start, end)
	open := true
	for n := range boxes {
		open = open && d.data[boxes[n].at] == ' '
	}
	if open {
		return d.plainLines(start, end)
	}
	var b strings.Builder
	for i := start; i < end; i++ {
		if i > start {
			b.WriteByte('\n')
		}
		line := d.line(i)
		if len(boxes) > 0 && boxes[0].line == i {
			b.Write(d.data[line.Start:boxes[0].at])
			b.WriteByte(' ')
			line.Start, boxes = boxes[0].at+1, boxes[1:]
		}
		b.Write(d.data[line.Start:line.End])
	}
	return b.String()
}
