package jsonform

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"github.com/tidwall/gjson"

	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/task/form"
)

// maxAdded is how many tasks a file may have after tasks were added (docs/spec 3.5).
const maxAdded = 500

// add returns data with new tasks at the end of the list.
func (l *list) add(data []byte, tasks []ledger.Task) (grown []byte, ids []string, err error) {
	before := len(l.entries)
	kept := l.entries
	l.resolve() // a file with mistakes takes no tasks
	if err := l.Err(); err != nil {
		return nil, nil, err
	}
	refuse := func(text, fix string) ([]byte, []string, error) { return nil, nil, form.InputError(l.path, text, fix) }
	if n := before + len(l.parents) + len(tasks); n > maxAdded {
		return refuse(fmt.Sprintf("would have %d tasks: at most %d are added to", n, maxAdded), "Move finished tasks out of it")
	}
	taken := map[string]*entry{} // by folded id
	texts := map[string]string{} // by text and role → id
	for _, all := range [][]entry{l.entries, l.parents} {
		for n := range all {
			taken[ledger.FoldID(all[n].id)] = &all[n]
			texts[sameTask(all[n].title, all[n].role)] = all[n].id
		}
	}
	ids = make([]string, 0, len(tasks))
	next := l.ids()
	for _, t := range tasks {
		title := strings.TrimSpace(t.Title)
		switch {
		case title == "":
			return refuse("a new task has no title", "Say what is to be done")
		case strings.ContainsFunc(t.ID, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }):
			return refuse(fmt.Sprintf("the id %q has a space: expected one word", t.ID), "Write a dash in its place")
		case t.ID != "" && taken[ledger.FoldID(t.ID)] != nil:
			return refuse(fmt.Sprintf("%s is there already", t.ID), "Give the new task another id, or none")
		}
		key := sameTask(Heading(title), t.Role)
		if id, ok := texts[key]; ok {
			return refuse(fmt.Sprintf("%q is there already: %s", clip(title, 60), id), "Change that one, or say what differs")
		}
		e := entry{id: t.ID, numeric: next.numeric && isNumber(t.ID), parent: -1}
		for e.id == "" || taken[ledger.FoldID(e.id)] != nil {
			e.id, e.numeric = next.take(), next.numeric
		}
		for _, on := range t.DependsOn {
			e.depends = append(e.depends, reference{id: on})
		}
		texts[key] = e.id
		ids = append(ids, e.id)
		l.entries = append(l.entries, e)
		taken[ledger.FoldID(e.id)] = &e
	}
	for n := range kept {
		if kept[n].task != nil {
			kept[n].task.DependsOn = nil
		}
	}
	l.resolve()
	if err := l.Err(); err != nil {
		return nil, nil, err
	}
	l.entries = kept
	return form.Apply(data, []form.Edit{l.insertion(tasks, ids, taken)}), ids, nil
}

// sameTask is the key of tasks that are the same: their text and role.
func sameTask(title, role string) string {
	return ledger.FoldID(title) + "\x00" + cmp.Or(strings.ToLower(role), "implementer")
}

// insertion returns the change that adds tasks.
func (l *list) insertion(tasks []ledger.Task, ids []string, taken map[string]*entry) form.Edit {
	var previous, last gjson.Result
	l.array.ForEach(func(_, v gjson.Result) bool {
		previous, last = last, v
		return true
	})
	var s style
	var separator, after string
	at := form.Span{Start: last.Index + len(last.Raw), End: last.Index + len(last.Raw)}
	switch {
	case !last.Exists():
		at = form.Span{Start: l.array.Index + 1, End: l.array.Index + len(l.array.Raw) - 1}
		s, separator, after = l.emptyStyle()
	case previous.Exists():
		s, separator = l.styleOf(last), l.text[previous.Index+len(previous.Raw):last.Index]
	default:
		s, separator = l.styleOf(last), ","+l.text[l.array.Index+1:last.Index]
	}
	reference := func(id string) string {
		if e := taken[ledger.FoldID(id)]; e != nil {
			if e.numeric {
				return e.id
			}
			id = e.id
		}
		return quote(id, s.ascii)
	}
	var b strings.Builder
	for n, t := range tasks {
		t.ID = ids[n]
		if n > 0 && !last.Exists() {
			b.WriteByte(',')
		}
		b.WriteString(separator)
		b.WriteString(s.object(l.dialect.write(&t, l), reference))
	}
	b.WriteString(after)
	return form.Edit{Span: form.Span{Start: l.skip + at.Start, End: l.skip + at.End}, Text: b.String()}
}

// pattern is how a file numbers its tasks.
type pattern struct {
	prefix  string
	width   int
	last    int
	numeric bool
	first   string // id of the first task of an empty file, until it is taken
}

// ids returns the pattern of the ids: that of the last task with a number at its
// end, and the largest such number.
func (l *list) ids() *pattern {
	p := &pattern{first: l.dialect.first, numeric: l.dialect.numbers}
	last := -1
	all := [][]entry{l.parents, l.entries}
	for _, some := range all {
		for n := range some {
			e := &some[n]
			prefix, digits := splitID(e.id)
			if e.parent >= 0 || digits == "" || e.value.Start < last {
				continue
			}
			last, p.prefix, p.numeric, p.first = e.value.Start, prefix, e.numeric, ""
			p.width = 0
			if digits[0] == '0' {
				p.width = len(digits)
			}
		}
	}
	for _, some := range all {
		for n := range some {
			e := &some[n]
			prefix, digits := splitID(e.id)
			if e.parent >= 0 || digits == "" || !strings.EqualFold(prefix, p.prefix) {
				continue
			}
			if number, err := strconv.Atoi(digits); err == nil {
				p.last = max(p.last, number)
			}
			if digits[0] == '0' {
				p.width = max(p.width, len(digits))
			}
		}
	}
	return p
}

// take returns the next id.
func (p *pattern) take() string {
	if p.first != "" {
		prefix, digits := splitID(p.first)
		p.prefix, p.first = prefix, ""
		if digits[0] == '0' {
			p.width = len(digits)
		}
	}
	p.last++
	return fmt.Sprintf("%s%0*d", p.prefix, p.width, p.last)
}

// splitID parts an id into what it begins with and the number at its end, of at most
// nine digits.
func splitID(id string) (prefix, digits string) {
	n := len(id)
	for n > 0 && len(id)-n < 9 && id[n-1] >= '0' && id[n-1] <= '9' {
		n--
	}
	return id[:n], id[n:]
}

// isNumber reports whether an id can be written as a JSON number.
func isNumber(id string) bool {
	n, err := strconv.Atoi(id)
	return err == nil && strconv.Itoa(n) == id
}
