package main

import (
	"cmp"
	"fmt"
	"maps"
	"strings"
	"time"

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

// parallelCommands declares commands of every other night with lanes parallel, by the
// seed alone, too.
func (w *world) parallelCommands(commands []ledger.Command) {
	for n := range commands {
		commands[n].Parallel = w.lanes() > 0 && w.seed/25%2 == 0
	}
}

// maxLoad is the load above which no further lane begins in every third night with
// lanes, by the seed alone, too.
func (w *world) maxLoad() float64 {
	if w.lanes() == 0 || w.seed/50%3 != 0 {
		return 0
	}
	return 2.5
}

// load is the machine's, another one each minute.
func (w *world) load() (float64, error) {
	minute := uint64(w.elapsed() / time.Minute)
	return float64((w.seed^minute*0x9e3779b97f4a7c15)>>40%50) / 10, nil
}

// scope returns where a task of the plan writes. In nights with lanes most tasks name
// a file of their own; their sessions write elsewhere, too.
func (w *world) scope(task int) string {
	if w.lanes() == 0 || task%4 == 0 {
		return "src"
	}
	return fmt.Sprintf("src/task-%d.go", task)
}

// divides reports whether plans of the night may be divided into sections that are built
// at the same time, by the seed alone as well.
func (w *world) divides() bool { return w.seed%4 == 1 }

// sections are those of a plan. Most have a file of their own; a third one may need what
// the first one builds, and write the same file.
func (s *session) sections() (list []map[string]any) {
	w := s.w
	for n, id := range []string{"a", "b", "c"}[:2+w.rnd.IntN(2)] {
		on, file := []string{}, s.file(id)
		if n == 2 && w.one(2) {
			on = []string{"a"}
			if !w.settings.Pattern.DistinctFiles {
				file = s.file("a")
			}
		}
		list = append(list, map[string]any{"id": id, "title": "Section " + id, "tasks": []string{"It is there"}, "files": []string{file}, "steps": []string{"one"}, "depends_on": on})
	}
	return list
}

// file is the file that a session writes for a section of its task's plan, "" for the
// task as a whole.
func (s *session) file(section string) string {
	name, _, _ := strings.Cut(strings.ReplaceAll(ledger.FoldID(s.launch.Task), " ", "-"), ".") // a later part of the section has its file, too
	if section != "" {
		name += "-" + section
	}
	return "src/" + strings.ReplaceAll(name, "/", "-") + ".go"
}

// own is the change that an attempt's accepted sessions made: of base it made tree. Once
// it was merged, both stay those of before, until a session goes on from what was merged.
type own struct {
	base, tree string
	onto       string // the tip that it was merged onto; "" = it was not
	parts      string // the tree with the changes of its parts so far; "" = base
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
		if _, joins := a.joined[key]; joins {
			o.base = b.Tree
		}
	case ledger.PartsMade:
		for _, t := range b.Parts {
			if t.Joins {
				a.joined[ledger.FoldID(t.ID)] = key
			}
		}
		return
	case ledger.PartMerged:
		if b.Tree != "" {
			a.joinsAll(e, b, o.parts, a.owned[ledger.FoldID(b.Part)])
		}
		o.parts = b.Tree
	case ledger.PartsMerged:
		o.tree, o.parts = b.Tree, ""
	case ledger.Routed:
		if o.onto != "" { // its sessions go on from what was merged
			o = own{base: o.onto}
		}
		o.tree = b.Tree
	case ledger.TreeMerged:
		if b.Tree != "" {
			o.onto = b.Onto
		}
	case ledger.TaskCommitted:
		a.keepsAll(e, b, o)
		return
	default:
		return
	}
	a.owned[key] = o
}

func (a *audit) keepsAll(e ledger.Entry, b ledger.TaskCommitted, o own) {
	if got, want := a.w.objects.at(b.Tree), a.w.objects.with(b.Parent, o.base, o.tree); !maps.Equal(got, want) {
		a.w.fail("no line lost", "%s is committed as %s on %s: %v; with its own change it would be %v", e.Task, short(b.Commit), short(b.Parent), got, want)
	}
}

// joinsAll checks that the tree of a task gets the whole change of a part, and nothing
// else.
func (a *audit) joinsAll(e ledger.Entry, b ledger.PartMerged, before string, part own) {
	if o := a.owned[ledger.FoldID(e.Task)]; before == "" {
		before = cmp.Or(o.tree, o.base) // after a verdict, the parts begin with what was tested
	}
	if got, want := a.w.objects.at(b.Tree), a.w.objects.with(before, part.base, part.tree); !maps.Equal(got, want) {
		a.w.fail("no line lost", "%s is merged into %s: %v; with its own change it would be %v", b.Part, e.Task, got, want)
	}
}

// with returns the files of a tree or commit with the change from base to tree.
func (o *objects) with(rev, base, tree string) files {
	want := maps.Clone(o.at(rev))
	for _, c := range o.changes(base, tree) {
		if text, has := o.at(tree)[c.Path]; has {
			want[c.Path] = text
		} else {
			delete(want, c.Path)
		}
	}
	return want
}
