package jsonform

import (
	"fmt"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/task/form"
)

// wreckIt is the list of tasks that wreck-it works on (core/src/types.rs there).
var wreckIt = dialect{
	words: &words{
		key: "status",
		read: map[string]ledger.Mark{
			"pending": ledger.MarkOpen, "inprogress": ledger.MarkWorking,
			"completed": ledger.MarkDone, "failed": ledger.MarkBlocked,
		},
		write: map[ledger.Mark]string{
			ledger.MarkOpen: `"pending"`, ledger.MarkWorking: `"inprogress"`,
			ledger.MarkDone: `"completed"`, ledger.MarkBlocked: `"failed"`,
		},
	},
	first: "1",
	write: func(t *ledger.Task, l *list) []property {
		return []property{
			{key: "id", id: t.ID, always: true},
			{key: "description", text: paragraphs(t.Title, unlike(t.Body, t.Title), scopeText(t.Scope)), always: true},
			{key: "status", raw: l.dialect.words.text(ledger.MarkOpen), always: true},
			{key: "role", text: t.Role, absent: true},
			{key: "priority", raw: decimal(t.Priority), def: "0"},
			{key: "complexity", raw: decimal(t.Complexity), def: "0", absent: true},
			{key: "phase", raw: decimal(max(t.Phase, 1)), def: "1"},
			{key: "depends_on", ids: t.DependsOn, list: true},
			{key: "acceptance_criteria", text: strings.Join(t.Acceptance, "\n"), absent: true},
		}
	},
}

func (l *list) readWreckIt() {
	var o, inner object
	phases := false
	l.grow()
	index := 0
	l.array.ForEach(func(_, v gjson.Result) bool {
		e, ok := l.element(&o, v, "task", index)
		if !ok {
			index++
			return true
		}
		l.readID(&o, &e, "task", index)
		l.readStatus(&o, &e, l.dialect.words)
		if l.full {
			t := l.wreckItTask(&o, &e, &inner)
			phases = phases || t.Phase > 0
			e.task, e.title, e.role = t, t.Title, t.Role
		}
		l.entries = append(l.entries, e)
		index++
		return true
	})
	if !phases {
		return
	}
	for n := range l.entries { // wreck-it's default, where the file uses phases
		if t := l.entries[n].task; t != nil && t.Phase == 0 {
			t.Phase = 1
		}
	}
}

// wreckItTask reads the fields of a task. Those that are of no use here
// (timeout_seconds, max_retries, runtime, parent_id, system_prompt_override) stay
// unread in the file.
func (l *list) wreckItTask(o *object, e *entry, inner *object) *ledger.Task {
	description := o.text("description")
	if strings.TrimSpace(description) == "" {
		l.Error(e.line, o.label()+" has no description", `Say what is to be done: "description": "…"`)
	}
	t := l.newTask()
	*t = ledger.Task{
		ID: e.id, Mark: l.asMark(e), Line: e.line,
		Title:      Heading(description),
		Acceptance: o.texts("acceptance_criteria"),
		Role:       o.text("role"),
		Priority:   o.number(0, 1_000_000, "priority"),
		Complexity: min(o.number(0, 1_000_000, "complexity"), 10),
		Phase:      o.number(0, 1_000_000, "phase"),
		Labels:     o.texts("labels"),
		Failures:   o.number(0, 1_000_000, "failed_attempts"),
		Tried:      o.seconds("last_attempt_at"),
		Inputs:     o.texts("inputs"),
	}
	t.Body = unlike(description, t.Title)
	l.readDepends(o, e, "depends_on")
	switch kind := strings.ToLower(o.text("kind")); kind {
	case "recurring":
		t.Repeat = &ledger.Repeat{Cooldown: time.Duration(o.number(0, 1<<32, "cooldown_seconds")) * time.Second, Precondition: o.text("precondition_prompt")}
	case "", "milestone":
		if condition := o.text("precondition_prompt"); condition != "" {
			t.Notes = "Only if: " + condition
		}
	default:
		v, _ := o.get("kind")
		o.wrong("kind", v, "milestone or recurring")
	}
	if v, ok := o.get("outputs"); ok && v.IsArray() {
		v.ForEach(func(_, output gjson.Result) bool {
			if !output.IsObject() {
				o.wrong("an entry of outputs", output, "an object with kind, name and path")
				return true
			}
			inner.read(l.document, "an output of "+o.label(), output)
			a := ledger.Artefact{Name: inner.text("name"), Kind: inner.text("kind"), Path: inner.text("path")}
			if a.Name == "" {
				l.Error(l.lineOf(output), inner.name+" has no name", "Give it one: inputs name it")
			}
			t.Outputs = append(t.Outputs, a)
			return true
		})
	} else if ok {
		o.wrong("outputs", v, "a list")
	}
	if v, ok := o.get("evaluation"); ok && v.IsObject() {
		inner.read(l.document, "the evaluation of "+o.label(), v)
		switch mode := inner.text("mode"); mode {
		case "command":
			t.Evaluation = inner.text("command")
		case "semantic", "agent_file":
			// wreck-it has an agent judge, by a verdict or by a marker file that it
			// leaves. Here it is one hat, and its event is the verdict.
			t.Verifier = true
		case "":
			l.Error(l.lineOf(v), inner.name+" has no mode", `Say who judges: "mode": "command", "semantic" or "agent_file"`)
		default:
			m, _ := inner.get("mode")
			inner.wrong("mode", m, "command, semantic or agent_file")
		}
	} else if ok {
		o.wrong("evaluation", v, "an object with a mode")
	}
	return t
}

// count writes failed_attempts and last_attempt_at of a task. A field that the task
// lacks is added behind its status.
func (l *list) count(data []byte, task string, failures int, tried time.Time) (counted []byte, gone bool, err error) {
	if l.dialect != &wreckIt {
		return data, false, nil
	}
	at := -1
	for n := range l.entries {
		if !ledger.SameID(l.entries[n].id, task) {
			continue
		}
		if at >= 0 {
			l.Errors = nil
			l.index()
			return nil, false, l.Err()
		}
		at = n
	}
	if at < 0 {
		return data, true, nil
	}
	e := &l.entries[at]
	if e.status.End == 0 {
		return nil, false, l.Err()
	}
	var o object
	value := l.at(e.value)
	o.read(l.document, e.id, value)
	var edits []form.Edit
	for _, f := range []struct {
		key   string
		value int64
	}{{"failed_attempts", int64(failures)}, {"last_attempt_at", tried.Unix()}} {
		switch v, ok := o.get(f.key); {
		case f.key == "last_attempt_at" && tried.IsZero():
		case ok && v.Raw != fmt.Sprint(f.value):
			edits = append(edits, form.Edit{Span: l.span(v), Text: fmt.Sprint(f.value)})
		case !ok && f.value != 0:
			if n := o.find(f.key); n >= 0 { // null
				edits = append(edits, form.Edit{Span: l.span(o.fields[n].value), Text: fmt.Sprint(f.value)})
				continue
			}
			end := l.skip + e.status.End
			edits = append(edits, form.Edit{Span: form.Span{Start: end, End: end}, Text: l.styleOf(value).inserted(f.key, fmt.Sprint(f.value))})
		}
	}
	return form.Apply(data, edits), false, nil
}
