package jsonform

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"github.com/nightporter/nightporter/internal/nearest"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/task/form"
)

// words is a tool's vocabulary of statuses.
type words struct {
	key   string                 // the field
	read  map[string]ledger.Mark // by word, in lower case; ledger.MarkWorking reads as open
	write map[ledger.Mark]string // JSON text; a mark that is missing is written as open
	bare  bool                   // they are true and false: a text that says so is none of them
}

// text returns how m is written.
func (w *words) text(m ledger.Mark) string {
	if text, ok := w.write[m]; ok {
		return text
	}
	return w.write[ledger.MarkOpen]
}

// expected lists the words for a message.
func (w *words) expected() string {
	var list []string
	for word := range w.read {
		list = append(list, word)
	}
	slices.Sort(list)
	return strings.Join(list, ", ")
}

// entry is a task of a document, with the places that are written.
type entry struct {
	id       string
	numeric  bool // the id is a JSON number
	line     int
	value    form.Span // of the whole object, in the document's text
	status   form.Span // of its status; none where End is 0
	insert   insertion // where one is put in then, in formats that allow it; none where at is 0
	words    *words
	mark     ledger.Mark // MarkWorking where the file says so; "" where it says no known word
	parent   int         // index into list.parents; -1 = none
	children int         // for a parent: how many tasks it has
	title    string      // with role: what the file must not have twice
	role     string
	task     *ledger.Task // nil while marking
	claim    claim        // of a bug report
	depends  []reference
}

// reference is an id that a task depends on, as written.
type reference struct {
	id   string
	line int
}

// list is what a document holds.
type list struct {
	*document
	array   gjson.Result // that new tasks are added to
	entries []entry
	parents []entry       // tasks that only hold others; their status follows these
	tasks   []ledger.Task // room for the tasks of entries, of a fixed capacity
	full    bool          // the tasks themselves are read, not only their statuses
	dialect *dialect
}

// dialect is one tool's way to write tasks.
type dialect struct {
	words   *words
	write   func(t *ledger.Task, l *list) []property // the fields of a new task, in the tool's order; nil = none can be added
	first   string                                   // id of the first task of an empty file
	numbers bool                                     // and that is a JSON number
}

// readID reads the id of o, and names o by it. index is 0-based.
func (l *list) readID(o *object, e *entry, what string, index int) {
	v, ok := o.get("id")
	switch {
	case !ok:
		l.Error(e.line, fmt.Sprintf("%s %d has no id", what, index+1), `Give it one: "id": "…"`)
	case v.Type == gjson.Number:
		e.id, e.numeric = strings.Clone(v.Raw), true
	case v.Type == gjson.String:
		e.id = strings.Clone(v.Str)
	default:
		o.wrong("id", v, "a text or a number")
	}
	if ok {
		e.line = l.lineOf(v)
	}
	switch {
	case e.id == "" && v.Type == gjson.String:
		l.Error(e.line, fmt.Sprintf("%s %d has an empty id", what, index+1), "Give it one")
	case strings.ContainsFunc(e.id, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }):
		l.Error(e.line, fmt.Sprintf("the id %q has a space: expected one word", clip(e.id, 40)), "Write a dash in its place, also where other tasks name it")
	case utf8.RuneCountInString(e.id) > form.MaxID:
		l.Error(e.line, fmt.Sprintf("the id %q is longer than %d characters", clip(e.id, 40), form.MaxID), "Give it a shorter one")
	}
	o.name = e.id
}

// readStatus reads the status of o.
func (l *list) readStatus(o *object, e *entry, w *words) {
	e.words = w
	v, ok := o.get(w.key)
	if !ok {
		l.Error(e.line, fmt.Sprintf("%s has no %s: nightporter changes statuses, and adds none", o.label(), w.key), fmt.Sprintf("Write %q: %s", w.key, w.text(ledger.MarkOpen)))
		return
	}
	e.status = place(v)
	word := v.Raw
	if v.Type == gjson.String {
		word = strings.ToLower(strings.TrimSpace(v.Str))
	}
	if w.bare && v.Type == gjson.String {
		l.Error(l.lineOf(v), fmt.Sprintf("the %s of %s is the text %s: expected true or false", w.key, o.label(), describe(v)), "Remove the quotation marks")
		return
	}
	if e.mark, ok = w.read[word]; ok {
		return
	}
	known := w.expected()
	fix := "Write one of these"
	if v.Type == gjson.String {
		if near := nearest.Of(word, strings.Split(known, ", ")); near != "" {
			fix = fmt.Sprintf("Write %q", near)
		}
	}
	l.Error(l.lineOf(v), fmt.Sprintf("the %s of %s is %s: expected one of %s", w.key, o.label(), describe(v), known), fix)
}

// asMark returns the mark of e for a reading, and warns where a session seems to be
// at work.
func (l *list) asMark(e *entry) ledger.Mark {
	if e.mark == ledger.MarkWorking {
		l.Warn(l.line(e.status.Start), fmt.Sprintf("%s is %s: it counts as open", e.id, describe(l.at(e.status))), "Let nobody else work on it tonight")
		l.Warnings[len(l.Warnings)-1].AtWork = e.id
		return ledger.MarkOpen
	}
	return e.mark
}

// readDepends reads the ids that o depends on.
func (l *list) readDepends(o *object, e *entry, keys ...string) {
	v, ok := o.get(keys...)
	if !ok {
		return
	}
	if !v.IsArray() {
		o.wrong(keys[0], v, "a list of ids")
		return
	}
	v.ForEach(func(_, item gjson.Result) bool {
		switch item.Type {
		case gjson.String:
			e.depends = append(e.depends, reference{strings.Clone(item.Str), l.lineOf(item)})
		case gjson.Number:
			e.depends = append(e.depends, reference{strings.Clone(item.Raw), l.lineOf(item)})
		default:
			o.wrong("an entry of "+keys[0], item, "an id")
		}
		return true
	})
}

// Heading returns the title for a task that has a description alone: its first
// sentence, or as much of it as fits into a line.
func Heading(description string) string {
	s, _, _ := strings.Cut(strings.TrimSpace(description), "\n")
	s = strings.TrimSpace(s)
	if utf8.RuneCountInString(s) <= maxHeading {
		return s
	}
	if n := strings.Index(s, ". "); n > 0 && utf8.RuneCountInString(s[:n]) <= maxHeading {
		return s[:n]
	}
	cut := string([]rune(s)[:maxHeading-1])
	if n := strings.LastIndexByte(cut, ' '); n > len(cut)/2 {
		cut = cut[:n]
	}
	return strings.TrimRight(cut, " ,;:") + "…"
}

const maxHeading = 80

// paragraphs joins the texts that are not empty.
func paragraphs(texts ...string) string {
	var kept []string
	for _, s := range texts {
		if s = strings.TrimSpace(s); s != "" {
			kept = append(kept, s)
		}
	}
	return strings.Join(kept, "\n\n")
}

// element makes o the next element of a list of tasks, and reports one that is no
// object.
func (l *list) element(o *object, v gjson.Result, what string, index int) (entry, bool) {
	e := entry{line: l.lineOf(v), value: place(v), parent: -1}
	if !v.IsObject() {
		l.Error(e.line, fmt.Sprintf("%s %d is %s: expected an object", what, index+1, describe(v)), "Write { … }")
		return e, false
	}
	o.what, o.index = what, index
	o.read(l.document, "", v)
	return e, true
}

// grow makes room for as many entries as the text can have.
func (l *list) grow() {
	n := strings.Count(l.text, "\""+l.dialect.words.key+"\"")
	n = min(n, form.MaxTasks*10)
	l.entries = make([]entry, 0, n)
	if l.full {
		l.tasks = make([]ledger.Task, 0, n)
	}
}

// snapshot resolves dependencies and returns the reading.
func (l *list) snapshot() (ledger.Snapshot, error) {
	l.resolve()
	if err := l.Err(); err != nil {
		return ledger.Snapshot{}, err
	}
	s := ledger.Snapshot{Name: form.Name(l.path), Path: l.path, Warnings: l.Told()}
	if l.inOrder() {
		s.Tasks = slices.Clip(l.tasks)
		return s, nil
	}
	s.Tasks = make([]ledger.Task, 0, len(l.entries))
	for n := range l.entries {
		s.Tasks = append(s.Tasks, *l.entries[n].task)
	}
	return s, nil
}

// newTask returns a task in the room for them, or elsewhere when that is full.
func (l *list) newTask() *ledger.Task {
	if len(l.tasks) == cap(l.tasks) {
		return new(ledger.Task)
	}
	l.tasks = l.tasks[:len(l.tasks)+1]
	return &l.tasks[len(l.tasks)-1]
}

// inOrder reports whether the room holds just the tasks of the entries. A second
// copy of 100,000 tasks takes 50 MB.
func (l *list) inOrder() bool {
	for n := range l.entries {
		if n >= len(l.tasks) || l.entries[n].task != &l.tasks[n] {
			return false
		}
	}
	return len(l.tasks) == len(l.entries)
}
