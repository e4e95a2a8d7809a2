package markdown

import (
	"fmt"

	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/task/form"
)

// MarkPlan returns a plan's text with statuses written into it. It changes only
// the characters of each task's status. gone lists the ids that the plan does
// not have; the other tasks are still marked. A plan with other errors is
// marked as long as each task's line is unambiguous. Otherwise (a duplicate id,
// a file that is no text) the error is a *ledger.InputError, and the caller
// must not write.
func MarkPlan(file string, data []byte, marks []ledger.Marking) (marked []byte, gone []string, err error) {
	return newPlan(file, data).scan().mark(marks)
}

// mark writes statuses into a plan that was scanned.
func (p *plan) mark(marks []ledger.Marking) (marked []byte, gone []string, err error) {
	if len(p.lines) == 0 && len(p.Errors) > 0 && len(p.data) > 0 {
		return nil, nil, p.Err()
	}
	index := markedTasks(marks, len(p.tasks), func(n int) string { return p.tasks[n].id })
	want := map[int]ledger.Mark{} // the last mark of each task
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
			p.read() // reports the lines that share the id
			return nil, nil, p.Err()
		}
	}
	var edits []form.Edit
	for n, m := range want {
		edits = append(edits, p.tasks[n].edits(p.data, m)...)
	}
	marked = form.Apply(p.data, edits)
	return marked, gone, p.check(marked, want)
}

// Results of markedTasks for an id that no task has, and for one of several tasks.
const (
	noTask       = -1
	severalTasks = -2
)

// markedTasks returns the indices of the tasks that marks name, by folded id, of n
// tasks. A text has many tasks and a call few marks.
func markedTasks(marks []ledger.Marking, n int, id func(n int) string) map[string]int {
	index := make(map[string]int, len(marks))
	for _, m := range marks {
		index[ledger.FoldID(m.Task)] = noTask
	}
	for i := range n {
		key := ledger.FoldID(id(i))
		switch at, named := index[key]; {
		case !named:
		case at == noTask:
			index[key] = i
		default:
			index[key] = severalTasks
		}
	}
	return index
}

// edits returns the changes that give the line the status m; none if it has it
// already.
func (t taskLine) edits(data []byte, m ledger.Mark) []form.Edit {
	var edits []form.Edit
	box := string(data[t.box.Start:t.box.End])
	switch done := m == ledger.MarkDone; {
	case done && box != "x" && box != "X":
		edits = append(edits, form.Edit{Span: t.box, Text: "x"})
	case !done && box != " ":
		edits = append(edits, form.Edit{Span: t.box, Text: " "})
	}
	words, marked := planWord(m)
	for n, k := range t.marks {
		switch {
		case !marked || n > 0:
			edits = append(edits, form.Edit{Span: k.withSpace(data), Text: ""})
		case k.mark != m:
			edits = append(edits, form.Edit{Span: k.Span, Text: words})
		}
	}
	if marked && len(t.marks) == 0 {
		at := t.box.End + 1
		edits = append(edits, form.Edit{Span: form.Span{Start: at, End: at}, Text: " " + words})
	}
	return edits
}

// withSpace returns the mark's span with the one space that separates it. A
// lone space before the title stays, because in "[ ] (blocked)**Task" it
// belongs to the box. A space behind a backslash stays, because without it the
// backslash would escape the next character.
func (m planMark) withSpace(data []byte) form.Span {
	space := func(i int) bool { return i < len(data) && (data[i] == ' ' || data[i] == '\t') }
	before, after := space(m.Start-1) && data[m.Start-2] != '\\', space(m.End)
	switch {
	case before && (after || !m.beforeTitle):
		return form.Span{Start: m.Start - 1, End: m.End}
	case after && m.beforeTitle:
		return form.Span{Start: m.Start, End: m.End + 1}
	}
	return m.Span
}

// check parses the marked text again before it is written. Every task must be
// at its old position, with its new status if it was marked and its old one if
// not.
func (p *plan) check(marked []byte, want map[int]ledger.Mark) error {
	reparsed := newPlan(p.File, marked).scan()
	same := len(reparsed.tasks) == len(p.tasks) && len(reparsed.lines) == len(p.lines)
	for n := 0; same && n < len(p.tasks); n++ {
		old, now := &p.tasks[n], &reparsed.tasks[n]
		m, ok := want[n]
		if !ok {
			m = old.state(p.data)
		}
		same = old.id == now.id && old.line == now.line && old.title == now.title && now.state(marked) == m
	}
	if !same {
		return fmt.Errorf("mark %s: the marked text does not read back as intended; nothing was written", p.File)
	}
	return nil
}

// Plan is the form of plans.
type Plan struct{}

// Parse implements form.Form.
func (Plan) Parse(file string, data []byte) (ledger.Snapshot, error) { return ParsePlan(file, data) }

// Mark implements form.Form.
func (Plan) Mark(file string, data []byte, marks []ledger.Marking) ([]byte, []string, error) {
	return MarkPlan(file, data, marks)
}
