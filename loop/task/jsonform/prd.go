package jsonform

import (
	"strings"

	"github.com/tidwall/gjson"

	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/task/form"
)

// PRD is the form of prd.json: user stories with passes, as snarktank's ralph and
// ralph-tui have them, or with a status, as iannuttall's ralph has them.
type PRD struct{}

// PRDStatuses holds how each status is written where stories have passes. Without a
// word of its own a status is written as open.
var PRDStatuses = map[ledger.Mark]string{
	ledger.MarkOpen: "false", ledger.MarkDone: "true",
	ledger.MarkBlocked: "false", ledger.MarkManualVerify: "false", ledger.MarkWorking: "false",
}

var passes = words{
	key:   "passes",
	read:  map[string]ledger.Mark{"true": ledger.MarkDone, "false": ledger.MarkOpen},
	write: map[ledger.Mark]string{ledger.MarkDone: "true", ledger.MarkOpen: "false"},
	bare:  true,
}

var storyStatus = words{
	key: "status",
	read: map[string]ledger.Mark{
		"open": ledger.MarkOpen, "in_progress": ledger.MarkWorking, "done": ledger.MarkDone,
	},
	write: map[ledger.Mark]string{
		ledger.MarkOpen: `"open"`, ledger.MarkWorking: `"in_progress"`, ledger.MarkDone: `"done"`,
	},
}

// prd is the dialect of stories with passes, prdStatus that of stories with a
// status.
var (
	prd       = dialect{words: &passes, first: "US-001", write: writeStory}
	prdStatus = dialect{words: &storyStatus, first: "US-001", write: writeStory}
)

func writeStory(t *ledger.Task, l *list) []property {
	w := l.dialect.words
	priority := property{key: "priority", raw: decimal(storyPriority(t.Priority, l)), always: w == &passes}
	if w != &passes && t.Priority == 0 {
		priority.raw, priority.absent = "", true
	}
	return []property{
		{key: "id", id: t.ID, always: true},
		{key: "title", text: t.Title, always: true},
		{key: "description", text: unlike(t.Body, t.Title), always: true},
		{key: "acceptanceCriteria", texts: t.Acceptance, list: true, always: true},
		priority,
		{key: w.key, raw: w.text(ledger.MarkOpen), always: true},
		{key: "notes", text: paragraphs(scopeText(t.Scope), t.Notes)},
		{key: "dependsOn", ids: t.DependsOn, list: true},
	}
}

// urgency turns the priority of a story, where 1 comes first, into that of a task,
// where the larger number does (docs/spec 3.7). It does not depend on other stories:
// a new one must not change them.
const urgency = 100

// storyPriority returns the number of a new story: the one that stands for a
// task's priority, or behind all others where the task has none.
func storyPriority(priority int, l *list) int {
	if priority != 0 {
		return urgency - priority
	}
	last := 0
	for _, e := range l.entries {
		if e.task != nil && e.task.Priority != 0 {
			last = max(last, urgency-e.task.Priority)
		}
	}
	return last + 1
}

// Parse implements form.Form.
func (f PRD) Parse(file string, data []byte) (ledger.Snapshot, error) {
	l, err := f.list(file, data, true)
	if err != nil {
		return ledger.Snapshot{}, err
	}
	if len(l.entries) == 0 {
		l.Error(l.lineOf(l.array), "has no stories", "Write the first one, or check the path")
	}
	return l.snapshot()
}

// Mark implements form.Form.
func (f PRD) Mark(file string, data []byte, marks []ledger.Marking) ([]byte, []string, error) {
	l, err := f.list(file, data, false)
	if err != nil {
		return nil, nil, err
	}
	return l.mark(data, marks)
}

// Add implements form.Adder.
func (f PRD) Add(file string, data []byte, tasks []ledger.Task) ([]byte, []string, error) {
	l, err := f.list(file, data, true)
	if err != nil {
		return nil, nil, err
	}
	return l.add(data, tasks)
}

// Recognise implements form.Recogniser.
func (PRD) Recognise(_ string, data []byte) string {
	d, err := openJSON("prd.json", "prd", data)
	if err != nil {
		return ""
	}
	found := stories(d.root)
	switch first := found.Get("0"); {
	case !found.Exists():
		return ""
	case first.Get("passes").Exists():
		return "user stories with passes"
	case first.Get("status").Exists():
		return "stories with a status"
	}
	return ""
}

// stories returns the list of stories of a prd, which some write into an object "prd".
func stories(root gjson.Result) gjson.Result {
	found, inner := storiesIn(root)
	if !found.Exists() {
		found, _ = storiesIn(inner)
	}
	return found
}

func storiesIn(object gjson.Result) (found, inner gjson.Result) {
	if !object.IsObject() {
		return found, inner
	}
	object.ForEach(func(key, value gjson.Result) bool {
		switch {
		case (key.Str == "userStories" || key.Str == "stories") && value.IsArray():
			found = value
			return key.Str == "stories" // userStories counts where there are both
		case key.Str == "prd":
			inner = value
		}
		return true
	})
	return found, inner
}

func (PRD) list(file string, data []byte, full bool) (*list, error) {
	d, err := openJSON(file, "prd", data)
	if err != nil {
		return nil, err
	}
	l := &list{document: d, full: full, dialect: &prd, array: stories(d.root)}
	switch {
	case l.array.Exists():
	case Tasks{}.Recognise(file, data) != "":
		l.Error(1, "has no userStories: this looks like a tasks file", "Write tasks:PATH in the place of prd:PATH")
		return nil, l.Err()
	default:
		l.Error(1, "is "+describe(d.root)+` without userStories: expected {"userStories": [ … ]}`, "Put the stories into that list at the top level, or check the path")
		return nil, l.Err()
	}
	if first := l.array.Get("0"); first.Get("status").Exists() && !first.Get("passes").Exists() {
		l.dialect = &prdStatus
	}
	var o object
	l.grow()
	index := 0
	l.array.ForEach(func(_, v gjson.Result) bool {
		e, ok := l.element(&o, v, "story", index)
		index++
		if !ok {
			return true
		}
		l.readID(&o, &e, "story", index-1)
		w := l.dialect.words
		if _, has := o.get("passes"); has {
			w = &passes
		}
		l.readStatus(&o, &e, w)
		if full {
			l.readStory(&o, &e)
		}
		l.entries = append(l.entries, e)
		return true
	})
	return l, nil
}

// readStory reads the fields of a story.
func (l *list) readStory(o *object, e *entry) {
	e.title = o.text("title", "name")
	description := o.text("description")
	if strings.TrimSpace(e.title) == "" {
		if e.title = Heading(description); e.title == "" {
			l.Error(e.line, o.label()+" has no title", `Give it one: "title": "…"`)
		}
	}
	priority := 0
	if v, ok := o.get("priority"); ok && v.Type == gjson.Number {
		priority = urgency - o.number(-1_000_000, 1_000_000, "priority")
	} else if ok {
		priority = o.level(0, "priority")
	}
	e.task = l.newTask()
	*e.task = ledger.Task{
		ID: e.id, Title: e.title, Line: e.line, Mark: l.asMark(e),
		Body:       unlike(description, e.title),
		Acceptance: o.texts("acceptanceCriteria", "acceptance_criteria"),
		Notes:      o.text("notes"),
		Priority:   priority,
		Labels:     o.texts("labels"),
	}
	l.readDepends(o, e, "dependsOn", "dependencies", "depends_on")
}

var (
	_ form.Adder      = PRD{}
	_ form.Recogniser = PRD{}
)
