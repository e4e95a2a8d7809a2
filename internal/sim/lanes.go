package main

import (
	"fmt"
	"maps"

	"github.com/nightporter/nightporter/loop/ledger"
)

// lanes returns the number of tasks that the night works on at a time, by the seed
// alone, so that all other seeds draw what they drew.
func (w *world) lanes() int {
	switch w.seed % 5 {
	case 1, 3:
		return 2 + int(w.seed/5)%4
	}
	return 0
}

// scope returns where a task of the plan writes. In nights with lanes most tasks name
// a file of their own; their sessions write elsewhere, too.
func (w *world) scope(task int) string {
	if w.lanes() == 0 || task%4 == 0 {
		return "src"
	}
	return fmt.Sprintf("src/task-%d.go", task)
}

// own is the change that an attempt's accepted sessions made: of Base it made Tree. Once
// it was merged, Base and Tree stay those of before.
type own struct {
	base, tree string
	merged     bool
}

// ownChange follows the change of each attempt, and checks that a commit has it whole
// and has nothing else: no line of another task is lost, whoever was faster.
func (a *audit) ownChange(e ledger.Entry) {
	key := ledger.FoldID(e.Task)
	o := a.owned[key]
	switch b := e.Body.(type) {
	case ledger.Commitment:
		if b.Resume {
			return
		}
		o = own{base: b.Base, tree: b.Tree}
	case ledger.Routed:
		if o.merged { // its sessions go on from what was merged
			o = own{base: o.base, tree: o.tree}
		}
		o.tree = b.Tree
	case ledger.TreeMerged:
		o.merged = o.merged || b.Tree != ""
	case ledger.TaskCommitted:
		a.keepsAll(e, b, o)
		return
	default:
		return
	}
	a.owned[key] = o
}

func (a *audit) keepsAll(e ledger.Entry, b ledger.TaskCommitted, o own) {
	objects := a.w.objects
	want := maps.Clone(objects.at(b.Parent))
	for _, c := range objects.changes(o.base, o.tree) {
		if text, has := objects.at(o.tree)[c.Path]; has {
			want[c.Path] = text
		} else {
			delete(want, c.Path)
		}
	}
	if got := objects.at(b.Tree); !maps.Equal(got, want) {
		a.w.fail("no line lost", "%s is committed as %s on %s: %v; with its own change it would be %v", e.Task, short(b.Commit), short(b.Parent), got, want)
	}
}
