package jsonform

import (
	"fmt"
	"slices"

	"github.com/nightporter/nightporter/loop/ledger"
)

// maxEdges limits the dependencies of a file: one on a task with a hundred subtasks
// stands for a hundred.
const maxEdges = 1_000_000

// index returns the entries by folded id, and reports ids that are there twice.
func (l *list) index() map[string]int {
	byID := make(map[string]int, len(l.entries))
	for n := range l.entries {
		e := &l.entries[n]
		if e.id == "" {
			continue
		}
		key := ledger.FoldID(e.id)
		if first, ok := byID[key]; ok {
			l.Error(e.line, fmt.Sprintf("%s is there twice: line %d and line %d", e.id, l.entries[first].line, e.line), "Give one of them another id")
			continue
		}
		byID[key] = n
	}
	return byID
}

// holders returns the parents by folded id, with the entries that each holds. It
// reports ids that a task or another parent has, too.
func (l *list) holders(byID map[string]int) map[string][]int {
	held := make(map[string][]int, len(l.parents))
	lines := map[string]int{}
	keys := make([]string, len(l.parents))
	for n := range l.parents {
		p := &l.parents[n]
		key := ledger.FoldID(p.id)
		keys[n] = key
		first := 0
		if at, ok := byID[key]; ok {
			first = l.entries[at].line
		} else if line, ok := lines[key]; ok {
			first = line
		}
		if first > 0 && p.id != "" {
			l.Error(p.line, fmt.Sprintf("%s is there twice: line %d and line %d", p.id, min(first, p.line), max(first, p.line)), "Give one of them another id")
		}
		lines[key], held[key] = p.line, []int{}
	}
	for n := range l.entries {
		if p := l.entries[n].parent; p >= 0 {
			held[keys[p]] = append(held[keys[p]], n)
		}
	}
	return held
}

// resolve replaces references by the tasks that they name, and reports unknown ids
// and cycles. A dependency on a parent is one on all that it holds; what it depends
// on, these do, too.
func (l *list) resolve() {
	byID := l.index()
	held := l.holders(byID)
	graph := make([][]int, len(l.entries))
	edges := 0
	seen := make([]int, len(l.entries)) // by entry: 1 + the last one that depends on it
	add := func(n int, refs []reference, name string) {
		for _, r := range refs {
			key := ledger.FoldID(r.id)
			on, ok := held[key]
			if at, is := byID[key]; is {
				on, ok = []int{at}, true
			}
			if !ok {
				l.Error(r.line, fmt.Sprintf("%s depends on %q, which this file lacks", name, clip(r.id, 40)), "Correct the id, or remove it")
				continue
			}
			for _, m := range on {
				switch {
				case m == n:
					l.Error(r.line, name+" depends on itself", "Remove it from its own list")
				case edges < maxEdges && seen[m] != n+1:
					graph[n] = append(graph[n], m)
					seen[m] = n + 1
					edges++
				}
			}
		}
	}
	for n := range l.entries {
		e := &l.entries[n]
		add(n, e.depends, e.id)
		if e.parent >= 0 && edges < maxEdges {
			add(n, l.parents[e.parent].depends, l.parents[e.parent].id)
		}
	}
	if edges >= maxEdges {
		l.Error(0, fmt.Sprintf("has more than %d dependencies", maxEdges), "Split the file")
	}
	l.ReportCycles(graph, func(n int) *ledger.Task {
		if e := &l.entries[n]; e.task == nil { // one that is being added
			return &ledger.Task{ID: e.id, Line: e.line}
		}
		return l.entries[n].task
	})
	for n := range l.entries {
		slices.Sort(graph[n])
		for _, m := range graph[n] {
			if t := l.entries[n].task; t != nil {
				t.DependsOn = append(t.DependsOn, l.entries[m].id)
			}
		}
	}
}
