package markdown

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/nightporter/nightporter/internal/regexp"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/task/form"
)

// addition writes one task into a text. It returns the text, and the line of the task
// in it, counted from 0.
type addition func(data []byte, t ledger.Task) (grown []byte, line int, err error)

// addTo adds tasks one by one. After each the text is read again: all tasks that it had
// must be there as they were, and the new one as it was meant.
func addTo(f form.Form, file string, data []byte, tasks []ledger.Task, write addition) ([]byte, []string, error) {
	file = filepath.Base(file)
	var before []ledger.Task
	if s, err := f.Parse(file, data); err == nil {
		before = s.Tasks
	} else if !blankList(data) {
		return nil, nil, err
	}
	var ids []string
	for _, t := range tasks {
		t.Title = strings.Join(strings.Fields(t.Title), " ")
		if t.Title == "" {
			return nil, nil, form.InputError(file, "a new task has no title", "Say in a few words what is to be done")
		}
		if slices.ContainsFunc(before, func(o ledger.Task) bool { return t.ID != "" && ledger.SameID(o.ID, t.ID) }) {
			return nil, nil, form.InputError(file, t.ID+" is there already", "Give the new task another id, or none")
		}
		for _, id := range t.DependsOn {
			if !slices.ContainsFunc(before, func(o ledger.Task) bool { return ledger.SameID(o.ID, id) }) {
				return nil, nil, form.InputError(file, fmt.Sprintf("the new task depends on %s, which this file lacks", id), "Correct the id, or add that task first")
			}
		}
		grown, now, n, err := written(f, file, data, before, t, write)
		for _, other := range []ledger.Task{plainTask(t), quotedID(plainTask(t))} {
			if err == nil && n < 0 {
				grown, now, n, err = written(f, file, data, before, other, write)
			}
		}
		switch {
		case err != nil:
			return nil, nil, err
		case n < 0:
			return nil, nil, form.InputError(file, fmt.Sprintf("%q cannot be written into it so that it reads as that task", clip(t.Title, 60)), "Use plain words, without brackets, asterisks and #, or write it into the file yourself")
		}
		data, before = grown, now
		ids = append(ids, now[n].ID)
	}
	return data, ids, nil
}

// written writes one task into a text. It returns the text, its tasks, and the index
// of the new one: -1 if the text does not read back as intended.
func written(f form.Form, file string, data []byte, before []ledger.Task, t ledger.Task, write addition) ([]byte, []ledger.Task, int, error) {
	grown, line, err := write(data, t)
	if err != nil {
		return nil, nil, -1, err
	}
	s, err := f.Parse(file, grown)
	if input := (*ledger.InputError)(nil); err != nil && !errors.As(err, &input) {
		return nil, nil, -1, err
	}
	n := slices.IndexFunc(s.Tasks, func(o ledger.Task) bool { return o.Line == line+1 })
	if err != nil || n < 0 || !addedAs(s.Tasks[n], t) || !keptAll(before, slices.Delete(slices.Clone(s.Tasks), n, n+1)) {
		return nil, nil, -1, nil
	}
	return grown, s.Tasks, n, nil
}

// plainTask returns the task without what has a meaning in Markdown or in a list.
func plainTask(t ledger.Task) ledger.Task {
	plain := func(s string) string {
		return strings.Join(strings.Fields(strings.TrimRight(strings.TrimLeft(plainly.Replace(s), "#-+* "), `\ `)), " ")
	}
	t.Title, t.Body, t.Notes = plain(t.Title), plain(t.Body), plain(t.Notes)
	t.Acceptance = slices.Clone(t.Acceptance)
	for n, a := range t.Acceptance {
		t.Acceptance[n] = plain(a)
	}
	return t
}

// quotedID returns the task with quotes around the id that its title begins with. Its
// letters stay the same, so a repetition finds it by its title.
func quotedID(t ledger.Task) ledger.Task {
	if id, _, _ := leadingID(t.Title); id != "" {
		t.Title = strings.Replace(t.Title, id, `"`+id+`"`, 1)
	}
	return t
}

// plainly takes out of a person's words what has a meaning in a list.
var plainly = strings.NewReplacer("**", "", "__", "", "`", "'", "~~~", "", "~~", "", "✅", "", "<!--", "", "-->", "", "<", "‹", "(", "", ")", "", "[", "", "]", "")

// addedAs reports whether a task that was read is the one that was to be added.
func addedAs(got, want ledger.Task) bool {
	return got.Title == want.Title && got.Mark == ledger.MarkOpen && (want.ID == "" || ledger.SameID(got.ID, want.ID)) &&
		slices.EqualFunc(sortedIDs(got.DependsOn), sortedIDs(want.DependsOn), ledger.SameID)
}

func sortedIDs(ids []string) []string {
	folded := make([]string, len(ids))
	for i, id := range ids {
		folded[i] = ledger.FoldID(id)
	}
	slices.Sort(folded)
	return slices.Compact(folded)
}

// keptAll reports whether the tasks of a text are as they were, but for their lines.
func keptAll(before, after []ledger.Task) bool {
	return slices.EqualFunc(before, after, func(a, b ledger.Task) bool {
		return a.ID == b.ID && a.Title == b.Title && a.Mark == b.Mark && a.Body == b.Body && slices.Equal(a.DependsOn, b.DependsOn) && a.Phase == b.Phase
	})
}

// insert puts lines behind the line with the index after-1, with blank lines around
// them as gap says. It returns the text and the index of the first new line.
func (p *plan) insert(after int, gap bool, lines []string) ([]byte, int) {
	end := "\n"
	if bytes.Contains(p.data, []byte("\r\n")) {
		end = "\r\n"
	}
	empty := func(at form.Span) bool { return at.Start == at.End }
	for after > 0 && empty(p.line(after-1)) {
		after--
	}
	at, first := len(p.data)-len(bytes.TrimPrefix(p.data, form.BOM)), after
	var b strings.Builder
	if after > 0 {
		at = p.line(after - 1).End
		b.WriteString(end)
		if gap {
			b.WriteString(end)
			first++
		}
	}
	b.WriteString(strings.Join(lines, end))
	if after == 0 || at == len(p.data) { // the text ends without a line end, or is empty
		b.WriteString(end)
	}
	return form.Apply(p.data, []form.Edit{{Span: form.Span{Start: at, End: at}, Text: b.String()}}), first
}

// detail returns the fields of a new task as a list, indented below its box.
func detail(t ledger.Task, indent, bullet, notes string) []string {
	var lines []string
	item := func(text string) { lines = append(lines, indent+bullet+" "+text) }
	if body := strings.TrimSpace(t.Body); body != "" {
		for i, l := range strings.Split(body, "\n") {
			if l = strings.TrimRight(l, " \t\r"); i == 0 {
				item(notes + strings.TrimSpace(l))
			} else if l != "" {
				lines = append(lines, indent+"  "+l)
			}
		}
	}
	if t.Scope != "" {
		item("Scope: " + oneLine(t.Scope))
	}
	if len(t.DependsOn) > 0 {
		item("Depends on: " + strings.Join(t.DependsOn, ", "))
	}
	if len(t.Acceptance) > 0 {
		item("Acceptance:")
		for _, a := range t.Acceptance {
			lines = append(lines, indent+"  "+bullet+" "+oneLine(a))
		}
	}
	if t.Priority > 0 {
		item("Priority: " + strconv.Itoa(t.Priority))
	}
	if t.Complexity > 0 {
		item("Complexity: " + strconv.Itoa(t.Complexity))
	}
	return lines
}

// oneLine returns a text with one space for all white space. Nearly all texts have it
// so already.
func oneLine(s string) string {
	for i := 0; i < len(s); i++ {
		if s[i] >= utf8.RuneSelf || s[i] < ' ' || s[i] == ' ' && (i == 0 || i+1 == len(s) || s[i+1] == ' ') {
			return strings.Join(strings.Fields(s), " ")
		}
	}
	return s
}

// bulletOf returns the white space before a line's bullet, and the bullet of the next
// item: a number is counted on.
func (p *plan) bulletOf(line int) (indent, bullet string) {
	_, at := p.measure(line)
	indent = string(p.data[p.line(line).Start:at.Start])
	bullet = strings.TrimRight(string(p.data[at.Start:at.Start+itemLength(p.data[at.Start:at.End])]), " \t")
	if n, err := strconv.Atoi(bullet[:len(bullet)-1]); err == nil {
		bullet = strconv.Itoa(n+1) + bullet[len(bullet)-1:]
	}
	return indent, bullet
}

var lastNumber = regexp.MustCompile(`^(.*?)([0-9]+)([A-Za-z]?)$`)

// nextID returns the id after the largest that begins like one of them: T013 after
// T012, 3.5 after 3.4, "Task 8" after "Task 7".
func nextID(like string, ids []string) string {
	m := lastNumber.FindStringSubmatch(like)
	if m == nil {
		return ""
	}
	most, width := 0, len(m[2])
	for _, id := range ids {
		if o := lastNumber.FindStringSubmatch(id); o != nil && strings.EqualFold(o[1], m[1]) {
			if n, err := strconv.Atoi(o[2]); err == nil && n > most {
				most = n
			}
		}
	}
	return fmt.Sprintf("%s%0*d", m[1], width, most+1)
}

// nextWhole returns the id after the largest whole number: "Task 8" after "Task 7.5".
func nextWhole(word string, ids []string) string {
	most := 0
	for _, id := range ids {
		digits := strings.TrimLeft(ledger.FoldID(id), "abcdefghijklmnopqrstuvwxyz ")
		if n, err := strconv.Atoi(digits[:len(digits)-len(strings.TrimLeft(digits, "0123456789"))]); err == nil && n > most {
			most = n
		}
	}
	return fmt.Sprintf("%s %d", word, most+1)
}

// blankList reports whether a text has nothing but headings: a list that is empty.
func blankList(data []byte) bool {
	for _, l := range bytes.Split(bytes.TrimPrefix(data, form.BOM), []byte("\n")) {
		if l = bytes.TrimSpace(l); len(l) > 0 && headingLevel(l) == 0 {
			return false
		}
	}
	return true
}

// Add implements form.Adder.
func (Any) Add(file string, data []byte, tasks []ledger.Task) ([]byte, []string, error) {
	d := scanDocument(file, data)
	f, _, err := d.which()
	if err != nil {
		if d.lines == nil && len(data) > 0 || !blankList(data) {
			return nil, nil, err
		}
		f = Checklist{}
	}
	return f.(form.Adder).Add(file, data, tasks)
}

// Add implements form.Adder.
func (f Headings) Add(file string, data []byte, tasks []ledger.Task) ([]byte, []string, error) {
	return addTo(f, file, data, tasks, func(data []byte, t ledger.Task) ([]byte, int, error) {
		d := scanDocument(filepath.Base(file), data)
		heads := d.taskHeadings()
		have, _ := d.headingTasks()
		var ids []string
		boxes := false
		for i := range have {
			ids, boxes = append(ids, have[i].ID), boxes || len(have[i].boxes) > 0
		}
		if t.ID == "" {
			t.ID = nextWhole(strings.Fields(have[len(have)-1].ID)[0], ids)
		}
		last := &d.headings[heads[len(heads)-1]]
		lines := []string{strings.Repeat("#", last.level) + " " + t.ID + ": " + t.Title, ""}
		paragraph := func(more ...string) { lines = append(append(lines, more...), "") }
		if paths := ledger.ParseScope(t.Scope); len(paths) > 0 {
			files := []string{"**Files:**"}
			for _, p := range paths {
				files = append(files, "- `"+p.Text+"`")
			}
			paragraph(files...)
		}
		if len(t.DependsOn) > 0 {
			paragraph("**Depends on:** " + strings.Join(t.DependsOn, ", "))
		}
		if t.Priority > 0 {
			paragraph("**Priority:** " + strconv.Itoa(t.Priority))
		}
		if t.Complexity > 0 {
			paragraph("**Complexity:** " + strconv.Itoa(t.Complexity))
		}
		if body := strings.TrimSpace(t.Body); body != "" {
			var text []string
			for _, l := range strings.Split(body, "\n") {
				if l = strings.TrimRight(l, " \t\r"); headingLevel([]byte(strings.TrimSpace(l))) > 0 {
					l = `\` + strings.TrimSpace(l) // a heading would end the task
				}
				text = append(text, l)
			}
			paragraph(text...)
		}
		if criteria := t.Acceptance; len(criteria) > 0 || boxes {
			if len(criteria) == 0 {
				criteria = []string{t.Title}
			}
			for _, a := range criteria {
				lines = append(lines, "- [ ] "+oneLine(a))
			}
		}
		for lines[len(lines)-1] == "" {
			lines = lines[:len(lines)-1]
		}
		grown, line := d.insert(last.end, true, lines)
		return grown, line, nil
	})
}

// Add implements form.Adder.
func (f Checklist) Add(file string, data []byte, tasks []ledger.Task) ([]byte, []string, error) {
	return addTo(f, file, data, tasks, func(data []byte, t ledger.Task) ([]byte, int, error) {
		d := scanDocument(filepath.Base(file), data)
		have, groups := d.checklistTasks()
		if len(have) == 0 {
			lines := append([]string{"- [ ] " + lead(t.ID) + t.Title}, detail(t, "  ", "-", "")...)
			grown, line := d.insert(len(d.lines), len(d.lines) > 0, lines)
			return grown, line, nil
		}
		like := d.lastOpen(have, t.Priority)
		own := have[like].own // the box that the new one is written like
		for g := have[like].group; g >= 0; g = groups[g].outer {
			own = groups[g].box
		}
		b := &d.boxes[own]
		id, _, length := leadingID(d.string(b.text))
		length = max(length, -length)
		raw := d.string(b.text)[:length]
		entries := d.entries()
		if entries[own].kind == noID {
			id, raw = "", ""
		}
		var ids []string
		for n := range have {
			ids = append(ids, have[n].ID)
		}
		for n := range entries { // the numbers of groups and of steps count, too
			ids = append(ids, entries[n].id)
		}
		title := t.Title
		switch {
		case t.ID == "" && id != "":
			next := nextID(id, ids)
			raw = strings.Replace(raw, id, next, 1)
		case t.ID != "" && id != "":
			raw = strings.Replace(raw, id, t.ID, 1)
		case t.ID != "":
			raw = lead(t.ID)
		}
		if strings.Count(raw, "**")%2 == 1 {
			title += "**"
		}
		indent, bullet := d.bulletOf(b.line)
		lines := append([]string{indent + bullet + " [ ] " + raw + title}, detail(t, indent+strings.Repeat(" ", len(bullet)+1), "-", "")...)
		gap := own > 0 && b.line > 0 && d.blankLine(b.line-1) && d.boxes[own-1].heading == b.heading
		end := b.end
		for n := own + 1; n < len(d.boxes) && d.boxes[n].heading == b.heading; n++ {
			end = max(end, d.boxes[n].end) // boxes of the same section that are no tasks
		}
		grown, line := d.insert(end, gap, lines)
		return grown, line, nil
	})
}

// lead returns an id as a checklist's box begins with it.
func lead(id string) string {
	if id == "" {
		return ""
	}
	return id + ": "
}

// lastOpen returns the task behind which a new one is written: the last one below a
// heading of its priority, else the last one that is not below a heading of finished
// work.
func (d *document) lastOpen(tasks []docTask, priority int) int {
	places := d.places()
	best := len(tasks) - 1
	found := false
	for n := len(tasks) - 1; n >= 0; n-- {
		h := d.boxes[tasks[n].own].heading
		if h >= 0 && (places[h].finished || places[h].aside || places[h].log) {
			continue
		}
		if priority > 0 && tasks[n].full.Priority == priority {
			return n
		}
		if !found {
			best, found = n, true
		}
	}
	return best
}
