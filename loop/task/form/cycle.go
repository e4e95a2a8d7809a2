package form

import (
	"iter"
	"slices"
	"strings"
)

// Limits of what is told about cycles: more of them help nobody to mend the first.
const (
	maxCycles     = 20
	maxCycleNames = 12
)

// Cycles returns cycles of tasks that wait for each other, each with the task at which
// it closes and its ids ("A → B → A"). graph lists for each task those that it depends
// on. The walk is in order of tasks, and keeps its own stack: a chain can have 100,000
// tasks.
func Cycles(graph [][]int, id func(n int) string) iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		const unseen, onPath, done = 0, 1, 2
		state := make([]int8, len(graph))
		type step struct{ node, next int }
		var path []step
		left := maxCycles
		for start := range graph {
			if state[start] != unseen {
				continue
			}
			path = append(path[:0], step{node: start})
			state[start] = onPath
			for len(path) > 0 {
				top := &path[len(path)-1]
				if top.next == len(graph[top.node]) {
					state[top.node] = done
					path = path[:len(path)-1]
					continue
				}
				m := graph[top.node][top.next]
				top.next++
				switch state[m] {
				case unseen:
					state[m] = onPath
					path = append(path, step{node: m})
				case onPath:
					var names []string
					for _, s := range path[slices.IndexFunc(path, func(s step) bool { return s.node == m }):] {
						names = append(names, id(s.node))
					}
					if len(names) > maxCycleNames {
						names = append(names[:maxCycleNames-1], "…")
					}
					if left--; left < 0 || !yield(m, strings.Join(append(names, id(m)), " → ")) {
						return
					}
				}
			}
		}
	}
}
