package markdown

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/task/form"
)

// Checklist is the form of documents whose tasks are boxes, with an id or without:
// the tasks.md of spec-kit, Kiro and OpenSpec, GSD's roadmap, fix_plan.md, TODO.md.
type Checklist struct{}

// leadingLabel returns what stands between id and title, [P] or [US1], and its length
// with the white space behind it; 0 without. A label begins with a capital letter and
// has at most twelve letters, digits and spaces.
func leadingLabel(text string) (name string, length int) {
	end := strings.IndexByte(text[:min(len(text), 14)], ']')
	if end < 2 || text[0] != '[' || text[1] < 'A' || text[1] > 'Z' {
		return "", 0
	}
	for _, c := range []byte(text[1:end]) {
		if c != ' ' && (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'z') {
			return "", 0
		}
	}
	rest := strings.TrimLeft(text[end+1:], " \t")
	if length = len(text) - len(rest); length == end+1 && rest != "" {
		return "", 0
	}
	return text[1:end], length
}

// entry is a box of a checklist on its way to a task.
type entry struct {
	id     string
	kind   idForm
	title  string
	labels []string
	rest   form.Span // the first line without status words, and without the id
	words  *statusWords
	step   bool // it belongs to the task around it
	group  int  // 1 + its index among the groups; 0 = it is a task or a step
}

// checklistTasks reads the tasks of a document whose tasks are boxes.
func (d *document) checklistTasks() ([]docTask, []group) {
	entries := d.entries()
	places := d.places()
	phases := phaseNumbers(places)
	holds := d.groups(entries)
	var groups []group
	most := 0 // tasks: steps are none
	for n := range d.boxes {
		if parent := d.boxes[n].parent; parent < 0 || holds.group[parent] {
			most++
		}
	}
	tasks := d.taskRoom(most)
	left := map[int]int{} // headings whose open boxes are no work, with their number
	label := labelWalk{document: d, label: -1}
	firstLabel, labelled := 0, 0 // the first line like **Acceptance Criteria:** whose open boxes are no work, and how many such boxes
	optional, firstOptional := 0, 0
	of := make([]int, len(entries)) // per box: 1 + its task
	outer := make([]int, len(entries))
	for n := range entries {
		e, b := &entries[n], &d.boxes[n]
		outer[n] = -1
		if b.parent >= 0 {
			outer[n] = outer[b.parent]
			if g := entries[b.parent].group; g > 0 {
				outer[n] = g - 1
			}
			if t := of[b.parent]; t > 0 {
				of[n] = t
				tasks[t-1].boxes = append(tasks[t-1].boxes, n)
				if d.brief {
					continue
				}
				if text := plainText(d.string(b.text)); !tasks[t-1].criteria && !isStep(text) {
					full := tasks[t-1].full
					full.Acceptance = append(full.Acceptance, text)
				}
				continue
			}
			if entries[b.parent].step {
				e.step = true
				continue
			}
		}
		if by, ok := holds.byNumber[n]; ok && outer[n] < 0 {
			if g := entries[by].group; g > 0 {
				outer[n] = g - 1
			}
		}
		var p place
		if b.heading >= 0 {
			p = places[b.heading]
		}
		switch {
		case d.optional(b):
			if e.step = true; !d.ticked(b) {
				if optional++; optional == 1 {
					firstOptional = b.line
				}
			}
			continue
		case holds.group[n]:
			groups = append(groups, group{box: n, outer: outer[n]})
			e.group = len(groups)
			continue
		case e.title == "": // nothing but a status
			e.step = true
			continue
		case e.kind == noID && (p.aside || p.log):
			e.step = true
			if !d.ticked(b) {
				left[b.heading]++
			}
			continue
		case e.kind == noID && label.above(b) >= 0:
			e.step = true
			if !d.ticked(b) {
				if labelled++; labelled == 1 {
					firstLabel = label.label
				}
			}
			continue
		}
		if p.finished && !d.ticked(b) {
			d.warning(b.line, fmt.Sprintf("an open box below %q: it counts as open", clip(d.string(d.headings[b.heading].text), 40)), "Tick it, or move it up")
		}
		if raw := d.string(b.text); len(raw) > 4 && strings.HasPrefix(raw, "~~") && strings.HasSuffix(raw, "~~") && !d.ticked(b) {
			d.warning(b.line, "an open box with a text that is struck out: it counts as open", "Tick it, or take it out")
		}
		t := docTask{ID: e.id, Title: e.title, Line: b.line + 1, own: n, group: outer[n], text: b.text, statusWords: e.words}
		if !d.brief {
			t.full = d.newTask()
			t.full.Labels, t.full.Phase, t.full.Priority = e.labels, phases[p.phase], p.priority
			d.readFields(&t, b.line+1, b.end)
			t.full.Body = d.section(b.line+1, b.end)
			if g := outer[n]; g >= 0 {
				t.full.Body = d.groupText(entries, groups, g) + t.full.Body
			}
		}
		tasks = append(tasks, t)
		of[n] = len(tasks)
	}
	d.nameTasks(tasks)
	d.warnSteps(tasks)
	for n := range tasks {
		for g := tasks[n].group; g >= 0; g = groups[g].outer {
			groups[g].tasks = append(groups[g].tasks, n)
		}
	}
	d.warnGroups(entries, tasks, groups)
	for _, h := range slices.Sorted(maps.Keys(left)) {
		n, line := left[h], d.headings[h].line
		d.warning(line, fmt.Sprintf("%d open boxes below %q are not read as work", n, clip(d.string(d.headings[h].text), 40)), "Number those that are, or give the heading another name")
	}
	if labelled > 0 {
		d.warning(firstLabel, fmt.Sprintf("%d open boxes below labels like this one are not read as work", labelled), "Number those that are, or give the label another name")
	}
	d.warnOptional(optional, firstOptional)
	if !d.brief {
		d.warnFinished(tasks)
		d.warnUnread(nil)
	}
	return tasks, groups
}

// warnSteps tells of done tasks with open steps: the steps are not done any more.
func (d *document) warnSteps(tasks []docTask) {
	for i := range tasks {
		if t := &tasks[i]; d.state(t) == ledger.MarkDone && slices.ContainsFunc(t.boxes, func(n int) bool { return !d.ticked(&d.boxes[n]) && !d.optional(&d.boxes[n]) }) {
			d.warning(t.Line-1, t.ID+" is ticked, and a step of it is open: it counts as done", "Open it, or tick the step")
		}
	}
}

// entries reads the boxes of a document one by one.
func (d *document) entries() []entry {
	entries := slices.Grow(d.entryRoom[:0], len(d.boxes))[:len(d.boxes)]
	clear(entries)
	d.entryRoom = entries
	prefixes := map[string]int{} // of ids that count only in company
	seen := map[string]bool{}
	type doubt struct{ box, length int }
	var doubts []doubt // boxes with such ids, and the lengths of the ids
	for n := range d.boxes {
		e, b := &entries[n], &d.boxes[n]
		e.words, e.rest = statusAround(d.data, b.text, false)
		for e.rest.Start < e.rest.End && isBlank(d.data[e.rest.Start]) {
			e.rest.Start++
		}
		text := d.string(e.rest)
		var length int
		e.id, e.kind, length = leadingID(strings.TrimRight(text, " \t"))
		if e.kind == prefixedID {
			key := idPrefix(e.id)
			if length < 0 && seen[e.id] {
				prefixes[key] = -1 << 30 // no ids: "UTF-8" twice
			}
			prefixes[key]++
			seen[e.id] = true
		}
		if length < 0 {
			doubts = append(doubts, doubt{n, -length})
			continue
		}
		d.readEntry(e, b, text, length)
	}
	for _, o := range doubts {
		e := &entries[o.box]
		if prefixes[idPrefix(e.id)] < 2 {
			e.id, e.kind, o.length = "", noID, 0
		}
		d.readEntry(e, &d.boxes[o.box], d.string(e.rest), o.length)
	}
	return entries
}

// readEntry reads labels and title of a box. text is its first line from the id on,
// which is so long with what belongs to it.
func (d *document) readEntry(e *entry, b *box, text string, length int) {
	start := e.rest.Start
	if e.rest.Start += length; length > 0 {
		if m, ok := markAtStart(d.data, e.rest); ok {
			m.beforeTitle = true
			e.words = &statusWords{marks: append(slices.Clip(e.words.marks), m)}
			e.rest.Start = m.End
		}
	}
	text, remark := strings.TrimSpace(text[e.rest.Start-start:]), ""
	// T004 (an id of another tool) [P] Title
	if end := strings.IndexByte(text[:min(len(text), 60)], ')'); end > 0 && text[0] == '(' {
		if rest := strings.TrimLeft(text[end+1:], " \t"); strings.HasPrefix(rest, "[") {
			if _, length := leadingLabel(rest); length > 0 {
				text, remark = rest, text[:end+1]+" "
			}
		}
	}
	for strings.HasPrefix(text, "[") {
		name, length := leadingLabel(text)
		if length == 0 {
			break
		}
		e.labels = append(e.labels, name)
		text = text[length:]
	}
	if e.title = d.boxTitle(b, remark+text); e.title == "" {
		e.title = e.id
	}
}

// boxTitle completes the first line of a box with the lines that continue it.
func (d *document) boxTitle(b *box, text string) string {
	var parts []string // the lines that continue it
	for i := b.line + 1; i < b.end && !d.code[i]; i++ {
		_, at := d.measure(i)
		if at.Start == at.End || itemLength(d.data[at.Start:at.End]) > 0 || strings.IndexByte("_>|", d.data[at.Start]) >= 0 {
			break
		}
		if _, _, named := docField(d.string(at)); named {
			break
		}
		parts = append(parts, d.string(at))
	}
	if len(parts) > 0 {
		text += " " + strings.Join(parts, " ")
	}
	title := plainText(text)
	if strings.Count(title, "**")%2 == 1 { // its beginning went with the id
		title = strings.Replace(title, "**", "", 1)
	}
	return oneLine(title)
}

// held says which boxes hold other tasks together.
type held struct {
	group    map[int]bool
	byNumber map[int]int // the box 1. of a box 1.1 that is not indented below it
}

// groups finds the boxes that only hold others together: 1. where there is a 1.1,
// Phase 1 where there is a 01-01, and a box without an id over boxes with one.
// Optional boxes hold nobody.
func (d *document) groups(entries []entry) held {
	h := held{group: map[int]bool{}, byNumber: map[int]int{}}
	outer := map[string]int{} // number of a possible group: its box
	for n := range entries {
		e, b := &entries[n], &d.boxes[n]
		if b.parent >= 0 && e.kind != noID && !d.optional(b) && !h.group[b.parent] {
			p := &entries[b.parent]
			switch {
			case p.kind == noID, (p.kind == numberID || p.kind == dottedID) && strings.HasPrefix(e.id, p.id+"."):
				h.group[b.parent] = true
			}
		}
		switch e.kind {
		case numberID, dottedID:
			if dot := strings.LastIndexByte(e.id, '.'); dot > 0 && !d.optional(b) {
				if p, ok := outer[e.id[:dot]]; ok && d.boxes[p].heading == b.heading {
					h.group[p], h.byNumber[n] = true, p
				}
			}
			if _, ok := outer[e.id]; !ok {
				outer[e.id] = n
			}
		case wordID:
			if number, ok := strings.CutPrefix(ledger.FoldID(e.id), "phase "); ok {
				outer["phase "+number] = n
			}
		case planID:
			if p, ok := outer["phase "+strings.TrimLeft(e.id[:2], "0")]; ok {
				h.group[p], h.byNumber[n] = true, p
			}
		}
	}
	return h
}

// maxGroupText is how many bytes of a group's own text each of its tasks repeats.
const maxGroupText = 2000

// linesWithin returns the end of the first lines from start to before end that have no
// more than size bytes together.
func (p *plan) linesWithin(start, end, size int) int {
	for i := start; i < end; i++ {
		if p.line(i).End-p.line(start).Start > size {
			return i
		}
	}
	return end
}

// groupText says in a task's body what the groups around it are.
func (d *document) groupText(entries []entry, groups []group, g int) string {
	text := ""
	for ; g >= 0; g = groups[g].outer {
		n := groups[g].box
		b := &d.boxes[n]
		name := entries[n].title
		if entries[n].id != "" && entries[n].id != name {
			name = entries[n].id + ": " + name
		}
		own := b.end // the group's lines up to its first box
		if n+1 < len(d.boxes) {
			own = min(own, d.boxes[n+1].line)
		}
		of := "Part of " + clip(name, maxGroupText/10) + "\n"
		if fits := d.linesWithin(b.line+1, own, maxGroupText); fits > b.line+1 {
			of += d.section(b.line+1, fits) + "\n"
			if fits < own {
				of += "…\n"
			}
		}
		text = of + text
	}
	return text
}

// warnGroups tells of groups that are ticked over open tasks.
func (d *document) warnGroups(entries []entry, tasks []docTask, groups []group) {
	for _, g := range groups {
		if b := &d.boxes[g.box]; d.ticked(b) {
			for _, n := range g.tasks {
				if d.state(&tasks[n]) == ledger.MarkOpen {
					d.warning(b.line, fmt.Sprintf("%s is ticked, and %s in it is open: it counts as open", clip(entries[g.box].id+" "+entries[g.box].title, 40), tasks[n].ID), "Tick it too, or open the group")
					break
				}
			}
		}
	}
}

// nameTasks makes the ids of tasks that have none from their texts. Where a text is
// there twice, the later one is told apart by the heading above it, or else by counting.
func (d *document) nameTasks(tasks []docTask) {
	var names textNames
	copies := map[string]int{} // folded text: how many have it, told apart by counting
	for i := range tasks {
		t := &tasks[i]
		if t.ID != "" {
			continue
		}
		name := newTextName(foldText(t.Title))
		if n, ok := names.find(name); ok {
			if h := d.boxes[t.own].heading; h >= 0 && h != d.boxes[tasks[n].own].heading {
				name = newTextName(name.text + "\n" + foldText(d.string(d.headings[h].text)))
			}
			base := name
			for c := max(2, copies[base.text]+1); ; c++ {
				if _, ok := names.find(name); !ok {
					break
				}
				name, copies[base.text] = newTextName(fmt.Sprintf("%s\n%d", base.text, c)), c
			}
			if n, twin := names.find(base); twin && (d.state(t) != ledger.MarkDone || d.state(&tasks[n]) != ledger.MarkDone) {
				d.warning(t.Line-1, fmt.Sprintf("the same text as in line %d: the first of them is told apart by its place alone", tasks[n].Line), "Tell them apart by a word or a number")
			}
		}
		names.add(name, i, len(tasks))
	}
	names.name(tasks)
}

// Parse implements form.Form.
func (Checklist) Parse(file string, data []byte) (ledger.Snapshot, error) {
	d := scanDocument(file, data)
	d.text = string(data)
	tasks, _ := d.checklistTasks()
	return d.snapshot(file, tasks)
}

// Mark implements form.Form.
func (Checklist) Mark(file string, data []byte, marks []ledger.Marking) ([]byte, []string, error) {
	return markDocument(scanDocument(file, data), marks, (*document).checklistTasks)
}
