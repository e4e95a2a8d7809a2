package form

import (
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
	describe := func(cycle []int) (line int, text string) {
		var names []string
		for _, n := range cycle[:min(len(cycle), 12)] {
			names = append(names, task(n).ID)
		}
		if len(cycle) > 12 {
			names[11] = "…"
		}
		first := task(cycle[0])
		return first.Line, "tasks wait for each other: " + strings.Join(append(names, first.ID), " → ")
	}
	const remedy = "Remove one of these dependencies"
	all := Cycles(graph, maxCycles)
	if len(all) == 0 {
		return
	}
	over := func(n int) bool { return task(n).Mark == ledger.MarkDone }
	// A file can have more cycles of done tasks than are looked for. They must hide none
	// that somebody waits in.
	waiting := make([][]int, len(graph))
	for n := range graph {
		if waiting[n] = graph[n]; over(n) {
			waiting[n] = slices.DeleteFunc(slices.Clone(graph[n]), over)
		}
	}
	if some := Cycles(waiting, maxCycles); len(some) > 0 {
		all = some
	}
	for _, cycle := range all {
		line, text := describe(cycle)
		if slices.ContainsFunc(cycle, func(n int) bool { return !over(n) }) {
			f.Error(line, text, remedy)
		} else {
			f.Warn(line, text+"; all of them are done", remedy)
		}
	}
}
