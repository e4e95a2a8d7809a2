package jsonform

import (
	"fmt"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/task/form"
)

// Tasks is the form of tasks.json: wreck-it's, and Task Master's file of the same
// name. Their shapes tell them apart.
type Tasks struct {
	// Tag is Task Master's current tag, which another file of it names. Where the
	// file lacks it, or Tag is empty, the tag "master" counts, or the only one.
	Tag string
}

// Statuses holds how each status is written in wreck-it's file. Without a word of
// its own a status is written as open.
var Statuses = map[ledger.Mark]string{
	ledger.MarkOpen: `"pending"`, ledger.MarkDone: `"completed"`,
	ledger.MarkBlocked: `"failed"`, ledger.MarkManualVerify: `"pending"`, ledger.MarkWorking: `"inprogress"`,
}

// Parse implements form.Form.
func (f Tasks) Parse(file string, data []byte) (ledger.Snapshot, error) {
	l, err := f.list(file, data, true)
	if err != nil {
		return ledger.Snapshot{}, err
	}
	if len(l.entries) == 0 {
		l.Error(0, "has no tasks", "Write the first one, or check the path")
	}
	return l.snapshot()
}

// Mark implements form.Form.
func (f Tasks) Mark(file string, data []byte, marks []ledger.Marking) ([]byte, []string, error) {
	l, err := f.list(file, data, false)
	if err != nil {
		return nil, nil, err
	}
	return l.mark(data, marks)
}

// Add implements form.Adder. Task Master's tasks are added at the top level.
func (f Tasks) Add(file string, data []byte, tasks []ledger.Task) ([]byte, []string, error) {
	l, err := f.list(file, data, true)
	if err != nil {
		return nil, nil, err
	}
	return l.add(data, tasks)
}

// Count implements form.Counter. Task Master's file has no such fields, and stays as
// it is.
func (f Tasks) Count(file string, data []byte, task string, failures int, tried time.Time) ([]byte, bool, error) {
	l, err := f.list(file, data, false)
	if err != nil {
		return nil, false, err
	}
	return l.count(data, task, failures, tried)
}

// Recognise implements form.Recogniser.
func (f Tasks) Recognise(_ string, data []byte) string {
	d, err := openJSON("tasks.json", "tasks file", data)
	if err != nil {
		return ""
	}
	if d.root.IsArray() {
		if first := d.root.Get("0"); first.Get("id").Exists() && first.Get("status").Exists() {
			return "a list of tasks with id and status, as wreck-it writes it"
		}
		return ""
	}
	tags, top := tagsOf(d.root)
	for _, t := range append(tags, tag{tasks: top}) {
		if t.tasks.Get("0.id").Exists() && t.tasks.Get("0.status").Exists() {
			return "tasks with id, title and status, as Task Master writes them"
		}
	}
	return ""
}

// list reads the text. Without full it reads what marking needs.
func (f Tasks) list(file string, data []byte, full bool) (*list, error) {
	d, err := openJSON(file, "tasks file", data)
	if err != nil {
		return nil, err
	}
	l := &list{document: d, full: full}
	tags, top := tagsOf(d.root)
	switch {
	case d.root.IsArray():
		l.dialect, l.array = &wreckIt, d.root
	case top.Exists():
		l.dialect, l.array = &taskMaster, top
	case len(tags) > 0:
		l.dialect, l.array = &taskMaster, f.choose(l, tags)
	case stories(d.root).Exists():
		l.Error(1, "has user stories: this is a prd", "Write prd:PATH in the place of tasks:PATH")
	default:
		l.Error(1, "is "+describe(d.root)+` without tasks: expected a list of tasks, or {"tasks": [ … ]}`, "Check the path")
	}
	if !l.array.Exists() || l.foreign() {
		return nil, l.Err()
	}
	if l.dialect == &wreckIt {
		l.readWreckIt()
	} else {
		l.readTaskMaster()
	}
	return l, nil
}

// foreign reports a list of other things than tasks, such as an editor's commands
// to run.
func (l *list) foreign() bool {
	first := l.array.Get("0")
	if !first.IsObject() || first.Get("id").Exists() || first.Get("status").Exists() {
		return false
	}
	l.Error(l.line(l.array.Index), "holds entries without id and status: expected tasks of wreck-it or Task Master", "Check the path")
	return true
}

// tag is one of Task Master's lists.
type tag struct {
	name  string
	tasks gjson.Result
}

// tagsOf returns the lists of Task Master's file: the tags, or the only one of a
// file from before tags.
func tagsOf(root gjson.Result) (tags []tag, top gjson.Result) {
	if !root.IsObject() {
		return nil, top
	}
	root.ForEach(func(key, value gjson.Result) bool {
		switch {
		case key.Str == "tasks" && value.IsArray():
			top = value
		case value.IsObject():
			value.ForEach(func(inner, tasks gjson.Result) bool {
				if inner.Str == "tasks" && tasks.IsArray() {
					tags = append(tags, tag{key.Str, tasks})
				}
				return true
			})
		}
		return true
	})
	return tags, top
}

// choose returns the list of the tag that counts.
func (f Tasks) choose(l *list, tags []tag) gjson.Result {
	for _, name := range []string{f.Tag, "master"} {
		for n, t := range tags {
			if t.name != name || name == "" {
				continue
			}
			for _, other := range tags[n+1:] {
				if other.name == name {
					l.Error(l.lineOf(other.tasks), fmt.Sprintf("the tag %q is there twice", name), "Remove one of them")
				}
			}
			return t.tasks
		}
	}
	if len(tags) == 1 {
		return tags[0].tasks
	}
	var names []string
	for _, t := range tags {
		names = append(names, t.name)
	}
	l.Error(1, fmt.Sprintf("has %d tags and no choice of one: %s", len(tags), clip(strings.Join(names, ", "), 200)), "Choose one: task-master use-tag NAME")
	return gjson.Result{}
}

var (
	_ form.Adder      = Tasks{}
	_ form.Counter    = Tasks{}
	_ form.Recogniser = Tasks{}
)
