package form

import (
	"iter"
	"slices"
	"strings"

	"github.com/nightporter/nightporter/loop/ledger"
)

// Cycles returns cycles of a graph, at most so many, as the nodes along each. graph
// has, for each node, those that it leads to. Every edge is followed once and nothing
// is called recursively: a chain can have 100,000 tasks.
func Cycles(graph [][]int, most int) (found [][]int) {
	const unseen, done = 0, -1
	place := make([]int, len(graph)) // 1 + position on the path, unseen or done
	type step struct{ node, next int }
	var path []step
	for start := range graph {
		if place[start] != unseen {
			continue
		}
		path = append(path[:0], step{node: start})
		place[start] = 1
		for len(path) > 0 {
			top := &path[len(path)-1]
			if top.next == len(graph[top.node]) {
				place[top.node] = done
				path = path[:len(path)-1]
				continue
			}
			to := graph[top.node][top.next]
			top.next++
			switch at := place[to]; {
			case at == unseen:
				path = append(path, step{node: to})
				place[to] = len(path)
			case at > 0 && len(found) == most:
				return found
			case at > 0:
				var cycle []int
				for _, s := range path[at-1:] {
					cycle = append(cycle, s.node)
				}
				found = append(found, cycle)
			}
		}
	}
	return found
}

// maxCycles is how many cycles of a file are told.
const maxCycles = 20

// ReportCycles reports tasks that wait for each other. graph has, for each task, those
// that it depends on. Where all of a cycle are done, none waits, and it is a warning.
func (f *Findings) ReportCycles(graph [][]int, task func(n int) *ledger.Task) {
	over := func(n int) bool { return task(n).Mark == ledger.MarkDone }
	for first, c := range Circles(graph, func(n int) string { return task(n).ID }, over) {
		report := f.Error
		if c.Over {
			report = f.Warn
		}
		report(task(first).Line, c.Text, CircleRemedy)
	}
}

// Circle describes tasks that depend on each other.
type Circle struct {
	Text string // "tasks wait for each other: A → B → A"
	Over bool   // all of them are done, so none waits
}

// CircleRemedy is what to do about a Circle.
const CircleRemedy = "Remove one of these dependencies"

// Circles returns cycles of tasks, each with its first task. graph has, for each task,
// those that it depends on; over tells which are done.
func Circles(graph [][]int, id func(n int) string, over func(n int) bool) iter.Seq2[int, Circle] {
	all := Cycles(graph, maxCycles)
	if len(all) > 0 {
		// A file can have more cycles of done tasks than are looked for. They must hide
		// none that somebody waits in.
		waiting := make([][]int, len(graph))
		for n := range graph {
			if waiting[n] = graph[n]; over(n) {
				waiting[n] = slices.DeleteFunc(slices.Clone(graph[n]), over)
			}
		}
		if some := Cycles(waiting, maxCycles); len(some) > 0 {
			all = some
		}
	}
	return func(yield func(int, Circle) bool) {
		for _, cycle := range all {
			c := Circle{"tasks wait for each other: " + namesOf(cycle, id), !slices.ContainsFunc(cycle, func(n int) bool { return !over(n) })}
			if c.Over {
				c.Text += "; all of them are done"
			}
			if !yield(cycle[0], c) {
				return
			}
		}
	}
}

// namesOf returns the ids along a cycle, the first one at its end as well.
func namesOf(cycle []int, id func(n int) string) string {
	const most = 12
	var names []string
	for _, n := range cycle[:min(len(cycle), most)] {
		names = append(names, id(n))
	}
	if len(cycle) > most {
		names[most-1] = "…"
	}
	return strings.Join(append(names, id(cycle[0])), " → ")
}
