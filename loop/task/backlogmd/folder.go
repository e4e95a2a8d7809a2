package backlogmd

import (
	"cmp"
	"fmt"
	"math"
	"path"
	"slices"
	"strings"

	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/task/form"
)

// Tasks returns the tasks of a folder in the order of its board: by ordinal, then by
// priority, then by id; the completed ones come first. archived are the names of files
// in the archive, to say of a dependency where it is. Mistakes are a
// *ledger.InputError.
func Tasks(c Config, files []*File, archived []string) ([]ledger.Task, []ledger.Diagnostic, error) {
	b := board{Config: c, archived: archived, keys: map[string]int{}}
	b.files = slices.SortedFunc(slices.Values(files), b.compare)
	b.takeIDs()
	b.readStatuses()
	b.resolve()
	over := func(n int) bool { return b.classes[n] == done }
	for n, c := range form.Circles(b.graph, func(n int) string { return b.files[n].ID }, over) {
		report := b.error
		if c.Over {
			report = b.warn
		}
		report(n, 0, c.Text, form.CircleRemedy)
	}
	if len(b.errors) > 0 {
		found := form.Findings{Errors: b.errors}
		return nil, nil, found.Err()
	}
	var tasks []ledger.Task
	for n, f := range b.files {
		if b.classes[n] != aside {
			tasks = append(tasks, b.task(n, f))
		}
	}
	b.warnOfAside()
	return tasks, b.warnings, nil
}

// board is the state of Tasks.
type board struct {
	Config
	files    []*File
	keys     map[string]int // by key of an id
	classes  []class
	graph    [][]int
	parents  []int // of each file, or -1
	missing  [][]string
	archived []string
	errors   []ledger.Diagnostic
	warnings []ledger.Diagnostic
}

// compare orders files as the board does.
func (b *board) compare(x, y *File) int {
	rank := func(f *File) (int, float64, int) {
		switch {
		case f.Completed:
			return 0, 0, 0
		case !math.IsNaN(f.ordinal):
			return 1, f.ordinal, 0
		}
		return 2, 0, -priorities[strings.ToLower(f.priority)]
	}
	xr, xo, xp := rank(x)
	yr, yo, yp := rank(y)
	return cmp.Or(xr-yr, cmp.Compare(xo, yo), xp-yp, compareIDs(x.ID, y.ID), strings.Compare(x.Path, y.Path))
}

// priorities are the words of a priority, as ledger.Task has them.
var priorities = map[string]int{"critical": 4, "high": 3, "medium": 2, "low": 1, "": 0}

func (b *board) error(n, line int, text, remedy string) {
	b.errors = append(b.errors, ledger.Diagnostic{File: path.Base(b.files[n].Path), Line: line, Text: text, Remedy: remedy})
}

func (b *board) warn(n, line int, text, remedy string) {
	b.warnings = append(b.warnings, ledger.Diagnostic{File: path.Base(b.files[n].Path), Line: line, Text: text, Remedy: remedy})
}

// takeIDs finds files of one id. Of ids that differ in zeros before a number alone
// each names the same task for Backlog.md.
func (b *board) takeIDs() {
	for n, f := range b.files {
		if first, twice := b.keys[keyOf(f.ID)]; twice {
			b.error(n, 0, fmt.Sprintf("%s is there twice, also in %s", f.ID, path.Base(b.files[first].Path)), "Give one of them another id, or remove the file")
			continue
		}
		b.keys[keyOf(f.ID)] = n
	}
}

func (b *board) readStatuses() {
	b.classes = make([]class, len(b.files))
	for n, f := range b.files {
		switch {
		case f.Completed:
			b.classes[n] = done
		case b.configured(f.status) == "":
			b.error(n, f.line, fmt.Sprintf("%s has the status %q: expected one of %s", f.ID, clip(f.status, 40), strings.Join(b.Statuses, ", ")), "Write one of them, or add it to statuses in config.yml")
		default:
			b.classes[n] = b.class(f.status)
		}
	}
}

// resolve finds the tasks that each one needs: its dependencies, and its subtasks,
// unless one of these needs it.
func (b *board) resolve() {
	b.graph, b.missing, b.parents = make([][]int, len(b.files)), make([][]string, len(b.files)), make([]int, len(b.files))
	for n, f := range b.files {
		b.parents[n] = -1
		for _, id := range f.depends {
			m, ok := b.find(id)
			switch {
			case m == n && ok:
				b.error(n, 0, f.ID+" depends on itself", "Remove it from its dependencies")
			case !ok:
				b.missing[n] = append(b.missing[n], id)
				if b.classes[n] != done {
					b.warnOfMissing(n, id)
				}
			case ok && !slices.Contains(b.graph[n], m):
				b.graph[n] = append(b.graph[n], m)
			}
		}
	}
	for n, f := range b.files {
		if m, ok := b.find(f.parent); ok && m != n {
			b.parents[n] = m
		}
	}
	for n, m := range b.parents {
		if m >= 0 && !b.needs(n, m) && !slices.Contains(b.graph[m], n) {
			b.graph[m] = append(b.graph[m], n)
		}
	}
}

func (b *board) warnOfMissing(n int, id string) {
	f := b.files[n]
	for _, name := range b.archived {
		if at, _, ok := strings.Cut(name, " - "); ok && keyOf(at) == keyOf(id) {
			b.warn(n, 0, fmt.Sprintf("%s depends on %s, which is archived: it waits for it", f.ID, id), "Remove the dependency, or bring the task back")
			return
		}
	}
	b.warn(n, 0, fmt.Sprintf("%s depends on %s, which is not there: it waits for it", f.ID, id), "Correct the id, or remove the dependency")
}

// needs reports whether the task at n waits for that at m, over others as well.
func (b *board) needs(n, m int) bool {
	seen := map[int]bool{n: true}
	for next := []int{n}; len(next) > 0; {
		at := next[len(next)-1]
		next = next[:len(next)-1]
		if at == m {
			return true
		}
		for _, on := range b.graph[at] {
			if !seen[on] {
				seen[on] = true
				next = append(next, on)
			}
		}
	}
	return false
}

// find returns the task that an id names. Where the prefix of a folder was changed,
// dependencies keep the old one: then the number counts.
func (b *board) find(id string) (int, bool) {
	if id == "" {
		return 0, false
	}
	n, ok := b.keys[keyOf(id)]
	if !ok {
		_, number := splitID(id)
		n, ok = b.keys[keyOf(b.Prefix+"-"+number)]
	}
	return n, ok
}

// task returns the task of a file. Of a completed one its text is left out.
func (b *board) task(n int, f *File) ledger.Task {
	t := ledger.Task{ID: f.ID, Title: f.title, Mark: b.classes[n].mark(), Priority: priorities[strings.ToLower(f.priority)], Labels: f.labels}
	for _, m := range slices.Sorted(slices.Values(b.graph[n])) {
		t.DependsOn = append(t.DependsOn, b.files[m].ID)
	}
	t.DependsOn = append(t.DependsOn, b.missing[n]...)
	if f.Completed {
		return t
	}
	t.Body, t.Acceptance = f.body, f.acceptance
	t.Material = append([]string{f.Path}, f.material...)
	if m := b.parents[n]; m >= 0 {
		t.Body = strings.TrimSpace(fmt.Sprintf("Part of %s: %s\n\n%s", b.files[m].ID, b.files[m].title, t.Body))
	}
	if _, known := priorities[strings.ToLower(f.priority)]; !known {
		b.warn(n, 0, fmt.Sprintf("%s has the priority %q, which says nothing here", f.ID, clip(f.priority, 40)), "Write critical, high, medium or low")
	}
	if b.classes[n] == working {
		b.warn(n, f.line, fmt.Sprintf("%s is %s: it counts as open, and somebody may be at it", f.ID, f.status), "Set its status to "+b.word(done)+" if it is done")
	}
	return t
}

// warnOfAside adds one warning for each status that is none of a task to work on.
func (b *board) warnOfAside() {
	for _, status := range b.Statuses {
		var ids []string
		for n, f := range b.files {
			if b.classes[n] == aside && strings.EqualFold(f.status, status) {
				ids = append(ids, f.ID)
			}
		}
		if len(ids) > 0 {
			b.warnings = append(b.warnings, ledger.Diagnostic{File: "config.yml", Text: fmt.Sprintf("%s, and so no task yet: %s", status, strings.Join(ids, ", ")), Remedy: "Set the status to " + b.open + " when one may be worked on"})
		}
	}
}
