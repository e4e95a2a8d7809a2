package jsonform

import (
	"fmt"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/nightporter/nightporter/internal/nearest"
	"github.com/nightporter/nightporter/loop/ledger"
)

// taskMaster is the file of Task Master (claude-task-master): tasks with subtasks.
// A task with subtasks is no task of its own: they are what is worked on, one by
// one, as its own command next does, and it is done when they are.
var taskMaster = dialect{
	words: &words{
		key: "status",
		read: map[string]ledger.Mark{
			"pending": ledger.MarkOpen, "todo": ledger.MarkOpen, "in-progress": ledger.MarkWorking, "done": ledger.MarkDone, "completed": ledger.MarkDone,
			"review": ledger.MarkManualVerify, "blocked": ledger.MarkBlocked, "deferred": ledger.MarkBlocked, "cancelled": ledger.MarkBlocked,
		},
		write: map[ledger.Mark]string{
			ledger.MarkOpen: `"pending"`, ledger.MarkWorking: `"in-progress"`, ledger.MarkDone: `"done"`,
			ledger.MarkBlocked: `"blocked"`, ledger.MarkManualVerify: `"review"`,
		},
	},
	first: "1", numbers: true,
	write: func(t *ledger.Task, l *list) []property {
		return []property{
			{key: "id", id: t.ID, always: true},
			{key: "title", text: t.Title, always: true},
			{key: "description", text: unlike(t.Body, t.Title), always: true},
			{key: "details", text: paragraphs(scopeText(t.Scope), t.Notes)},
			{key: "testStrategy", text: strings.Join(t.Acceptance, "\n")},
			{key: "status", raw: l.dialect.words.text(ledger.MarkOpen), always: true},
			{key: "priority", text: levelWord(t.Priority), always: true},
			{key: "dependencies", ids: t.DependsOn, list: true, always: true},
			{key: "subtasks", list: true},
		}
	},
}

// levels are the priorities that have names (docs/spec 3.7).
var levels = map[string]int{"critical": 4, "high": 3, "medium": 2, "low": 1}

// levelWord returns the name of a priority.
func levelWord(priority int) string {
	if priority == 0 {
		return "medium"
	}
	for word, n := range levels {
		if n == min(max(priority, 1), 4) {
			return word
		}
	}
	return ""
}

// level reads a priority's name; missing is missing.
func (o *object) level(missing int, key string) int {
	v, ok := o.get(key)
	if !ok {
		return missing
	}
	if v.Type == gjson.Number {
		return o.number(-1_000_000, 1_000_000, key)
	}
	word := strings.ToLower(strings.TrimSpace(v.Str))
	n, ok := levels[word]
	if v.Type != gjson.String || !ok {
		fix := "Write one of these"
		if near := nearest.Of(word, []string{"critical", "high", "medium", "low"}); near != "" {
			fix = fmt.Sprintf("Write %q", near)
		}
		o.doc.Error(o.doc.lineOf(v), fmt.Sprintf("%s of %s is %s: expected critical, high, medium or low", key, o.label(), describe(v)), fix)
	}
	return n
}

func (l *list) readTaskMaster() {
	var o, sub object
	l.grow()
	index := 0
	l.array.ForEach(func(_, v gjson.Result) bool {
		e, ok := l.element(&o, v, "task", index)
		index++
		if !ok {
			return true
		}
		l.readID(&o, &e, "task", index-1)
		l.readStatus(&o, &e, l.dialect.words)
		if l.full {
			l.readDepends(&o, &e, "dependencies")
			e.title = o.text("title")
			e.task = l.taskMasterTask(&o, &e, 2)
		}
		subtasks, ok := o.get("subtasks")
		switch {
		case ok && !subtasks.IsArray():
			o.wrong("subtasks", subtasks, "a list")
		case ok && subtasks.Get("#").Int() > 0:
			l.readSubtasks(&sub, &e, subtasks)
			return true
		}
		if e.task != nil {
			e.task.Mark = l.asMark(&e)
		}
		l.entries = append(l.entries, e)
		return true
	})
}

// readSubtasks reads what the task p holds.
func (l *list) readSubtasks(o *object, p *entry, subtasks gjson.Result) {
	parent := len(l.parents)
	first := len(l.entries)
	done := true
	index := 0
	what := "subtask of " + p.id
	subtasks.ForEach(func(_, v gjson.Result) bool {
		e, ok := l.element(o, v, what, index)
		index++
		if !ok {
			return true
		}
		e.parent = parent
		l.readID(o, &e, what, index-1)
		if e.id != "" && !strings.HasPrefix(e.id, p.id+".") {
			e.id, e.numeric = p.id+"."+e.id, false
		}
		o.name = e.id
		l.readStatus(o, &e, l.dialect.words)
		if l.full {
			l.readDepends(o, &e, "dependencies")
			e.title = o.text("title")
			t := l.taskMasterTask(o, &e, p.task.Priority)
			t.Body = paragraphs(t.Body, fmt.Sprintf("A part of %s, %s: %s", p.id, p.title, p.task.Body))
			t.Mark = l.asMark(&e)
			if p.mark == ledger.MarkBlocked && t.Mark == ledger.MarkOpen {
				t.Mark = ledger.MarkBlocked // deferred or cancelled as a whole
			}
			done = done && t.Mark == ledger.MarkDone
			e.task = t
		}
		l.entries = append(l.entries, e)
		return true
	})
	p.children = len(l.entries) - first
	if l.full {
		l.siblings(first, p)
		switch {
		case p.mark == ledger.MarkDone && !done:
			l.Warn(p.line, fmt.Sprintf("%s is done, and not all of its subtasks are: these count", p.id), "Set their status, too")
		case p.mark == ledger.MarkOpen && done:
			l.Warn(p.line, fmt.Sprintf("%s is pending, and all its subtasks are done: nothing of it is left to do", p.id), "Set it to done, or give it another subtask")
		}
	}
	p.task = nil
	l.parents = append(l.parents, *p)
}

// siblings completes the references between the subtasks of p, which begin at
// first: a lone "2" names the sibling, as Task Master reads it, and a task where
// there is no such sibling.
func (l *list) siblings(first int, p *entry) {
	own := map[string]bool{}
	for _, e := range l.entries[first:] {
		own[ledger.FoldID(e.id)] = true
	}
	for n := first; n < len(l.entries); n++ {
		for i, r := range l.entries[n].depends {
			if full := p.id + "." + r.id; own[ledger.FoldID(full)] {
				l.entries[n].depends[i].id = full
			}
		}
	}
}

// taskMasterTask reads the fields of a task or subtask. Its mark is not set.
func (l *list) taskMasterTask(o *object, e *entry, priority int) *ledger.Task {
	if strings.TrimSpace(e.title) == "" {
		l.Error(e.line, o.label()+" has no title", `Give it one: "title": "…"`)
	}
	t := l.newTask()
	*t = ledger.Task{
		ID: e.id, Title: e.title, Line: e.line,
		Body:       paragraphs(o.text("description"), o.text("details")),
		Acceptance: append(o.texts("acceptanceCriteria"), o.texts("testStrategy")...),
		Priority:   o.level(priority, "priority"),
		Complexity: o.number(0, 10, "complexity"),
	}
	return t
}
