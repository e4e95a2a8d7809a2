package jsonform

import (
	"fmt"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/task/form"
)

// Beads is the form of .beads/issues.jsonl, an issue a line. It is read only: the
// file is an export of bd's database, which overwrites it. What is done stands in
// nightporter's ledger alone.
type Beads struct{}

// BeadsStatuses holds bd's words. None is ever written.
var BeadsStatuses = map[ledger.Mark]string{
	ledger.MarkOpen: `"open"`, ledger.MarkDone: `"closed"`,
	ledger.MarkBlocked: `"blocked"`, ledger.MarkManualVerify: `"open"`,
}

// bd's statuses (internal/types there). An issue that is deferred or pinned is not
// ready for work.
var beadStatus = words{
	key: "status",
	read: map[string]ledger.Mark{
		"open": ledger.MarkOpen, "in_progress": ledger.MarkWorking, "hooked": ledger.MarkWorking, "closed": ledger.MarkDone,
		"blocked": ledger.MarkBlocked, "deferred": ledger.MarkBlocked, "pinned": ledger.MarkBlocked, tombstone: ledger.MarkDone,
	},
	write: map[ledger.Mark]string{ledger.MarkOpen: `"open"`},
}

const tombstone = "tombstone" // of a deleted issue

// beadTypes are the issue types that hold no work for an agent: bd's own records,
// and what only groups others.
var beadTypes = map[string]bool{
	"message": true, "molecule": true, "gate": true, "event": true, "agent": true, "role": true, "rig": true, "convoy": true,
	"slot": true, "merge-request": true, "milestone": true, "decision": true, "wisp": true,
}

// Parse implements form.Form.
func (f Beads) Parse(file string, data []byte) (ledger.Snapshot, error) {
	l, err := f.list(file, data, true)
	if err != nil {
		return ledger.Snapshot{}, err
	}
	if len(l.entries) == 0 && len(l.Errors) == 0 {
		l.Error(0, "has no issues", "Create one: bd create TITLE")
	}
	return l.snapshot()
}

// Mark implements form.Form. It changes nothing.
func (f Beads) Mark(file string, data []byte, marks []ledger.Marking) ([]byte, []string, error) {
	l, err := f.list(file, data, false)
	if err != nil {
		return nil, nil, err
	}
	known := map[string]bool{}
	for _, e := range l.entries {
		known[ledger.FoldID(e.id)] = true
	}
	var gone []string
	for _, m := range marks {
		if !known[ledger.FoldID(m.Task)] {
			gone = append(gone, m.Task)
		}
	}
	return data, gone, nil
}

// Recognise implements form.Recogniser.
func (f Beads) Recognise(_ string, data []byte) string {
	line, _, _ := strings.Cut(strings.TrimSpace(string(data)), "\n")
	if v := gjson.Parse(line); gjson.Valid(line) && v.Get("id").Exists() && v.Get("issue_type").Exists() && v.Get("status").Exists() {
		return "an issue in each line, as bd exports them"
	}
	return ""
}

func (Beads) list(file string, data []byte, full bool) (*list, error) {
	d, err := open(file, "beads export", data)
	if err != nil {
		return nil, err
	}
	l := &list{document: d, full: full, dialect: &dialect{words: &beadStatus}}
	if first := strings.TrimSpace(d.text); strings.HasPrefix(first, "[") || strings.HasPrefix(first, "{") && gjson.Valid(first) && strings.Contains(first, "\n") {
		l.Error(1, "is one JSON value: expected an issue in each line", "Write tasks:PATH or prd:PATH in the place of beads:PATH")
		return nil, l.Err()
	}
	r := beadsReader{list: l, all: map[string]bool{}, holds: map[string][]string{}}
	l.eachLine(data, r.read)
	if full {
		r.settle()
	}
	return l, nil
}

// beadsReader reads issues, and sorts out which of them are tasks.
type beadsReader struct {
	*list
	object object
	inner  object
	all    map[string]bool     // folded ids of all lines that are issues
	holds  map[string][]string // folded id of a parent → ids of its children
	epics  map[string]bool
}

func (r *beadsReader) read(v gjson.Result) {
	n := r.line(v.Index)
	e, ok := r.element(&r.object, v, "issue", n-1)
	o := &r.object
	if !ok {
		return
	}
	if record := o.text("_type"); record != "" && record != "issue" {
		return // bd's memories
	}
	r.readID(o, &e, "issue", n-1)
	e.line = n
	r.readStatus(o, &e, &beadStatus)
	r.all[ledger.FoldID(e.id)] = true
	deleted := e.status.End > 0 && strings.EqualFold(r.at(e.status).Str, tombstone)
	if deleted || beadTypes[strings.ToLower(o.text("issue_type"))] {
		return
	}
	if r.full {
		r.readIssue(o, &e)
	}
	r.entries = append(r.entries, e)
}

func (r *beadsReader) readIssue(o *object, e *entry) {
	e.title = o.text("title")
	if strings.TrimSpace(e.title) == "" {
		r.Error(e.line, o.label()+" has no title", "Give it one: bd update "+e.id+" --title …")
	}
	priority := 4 - 2 // bd's default
	if _, ok := o.get("priority"); ok {
		priority = 4 - o.number(0, 4, "priority")
	}
	e.task = &ledger.Task{
		ID: e.id, Title: e.title, Line: e.line, Mark: r.asMark(e),
		Body:       paragraphs(o.text("description"), o.text("design")),
		Acceptance: o.texts("acceptance_criteria"),
		Notes:      o.text("notes"),
		Priority:   priority,
		Labels:     o.texts("labels"),
	}
	deps, ok := o.get("dependencies")
	if !ok {
		return
	}
	if !deps.IsArray() {
		o.wrong("dependencies", deps, "a list")
		return
	}
	deps.ForEach(func(_, v gjson.Result) bool {
		if !v.IsObject() {
			o.wrong("an entry of dependencies", v, "an object")
			return true
		}
		r.inner.read(r.document, "a dependency of "+o.label(), v)
		on := r.inner.text("depends_on_id")
		switch r.inner.text("type") {
		case "blocks", "conditional-blocks", "waits-for", "":
			e.depends = append(e.depends, reference{on, e.line})
		case "parent-child":
			key := ledger.FoldID(on)
			r.holds[key] = append(r.holds[key], e.id)
		}
		return true
	})
}

// settle makes epics with children parents of these, and drops dependencies that
// bd does not wait for either: on issues that are deleted, of another repository, or
// no work.
func (r *beadsReader) settle() {
	place := map[string]int{} // folded id of an issue with children → index into parents
	var kept []entry
	for n := range r.entries {
		e := &r.entries[n]
		key := ledger.FoldID(e.id)
		if _, twice := place[key]; len(r.holds[key]) > 0 && !twice && r.isEpic(e) {
			place[key] = len(r.parents)
			r.parents = append(r.parents, *e)
			continue
		}
		kept = append(kept, *e)
	}
	r.entries = kept
	for epic, children := range r.holds {
		p, ok := place[epic]
		if !ok {
			continue
		}
		own := map[string]bool{}
		for _, id := range children {
			own[ledger.FoldID(id)] = true
		}
		for n := range r.entries {
			if own[ledger.FoldID(r.entries[n].id)] {
				r.entries[n].parent = p
			}
		}
	}
	known := map[string]bool{}
	for _, e := range append(r.entries, r.parents...) {
		known[ledger.FoldID(e.id)] = true
	}
	drop := func(e *entry) {
		var kept []reference
		for _, d := range e.depends {
			switch key := ledger.FoldID(d.id); {
			case known[key]:
				kept = append(kept, d)
			case !r.all[key] && e.mark != ledger.MarkDone:
				r.Warn(d.line, fmt.Sprintf("%s depends on %q, which is not in this file: bd does not wait for it, and nightporter neither", e.id, clip(d.id, 40)), "")
			}
		}
		e.depends = kept
	}
	for n := range r.entries {
		drop(&r.entries[n])
	}
	for n := range r.parents {
		drop(&r.parents[n])
	}
}

// isEpic reports whether an issue only groups its children.
func (r *beadsReader) isEpic(e *entry) bool {
	return strings.EqualFold(r.at(e.value).Get("issue_type").Str, "epic")
}

var _ form.Recogniser = Beads{}
