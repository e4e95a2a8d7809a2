package report

import (
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
)

// burndown follows how many tasks are left. Parts count with their task.
type burndown struct {
	there map[string]bool // tasks by folded id, that are there
	over  map[string]bool // done, put away, withdrawn
	part  map[string]bool
	all   []Point
}

// begin reconstructs the tasks as they were before the first entry: a task
// stood then where its first transition leaves from.
func (c *collector) begin(entries []ledger.Entry) {
	k := &burndown{there: map[string]bool{}, over: map[string]bool{}, part: map[string]bool{}}
	c.left = k
	first := map[string]ledger.Status{}
	introduced := map[string]bool{} // by a reading after the first one
	var before map[string]bool      // folded ids of the last reading; nil: there was none
	for _, e := range entries {
		if e.Stream == ledger.SharedStream {
			continue
		}
		switch b := e.Body.(type) {
		case ledger.TaskSet:
			id := ledger.FoldID(e.Task)
			if _, has := first[id]; !has {
				first[id] = b.From
			}
		case ledger.SourceRead:
			for _, t := range b.Tasks {
				if id := ledger.FoldID(t.ID); before != nil && !before[id] {
					introduced[id] = true
				}
			}
			before = map[string]bool{}
			for _, id := range b.Order {
				before[ledger.FoldID(id)] = true
			}
		}
	}
	for _, t := range c.s.Project.Tasks.All() {
		id := ledger.FoldID(t.Task.ID)
		if t.Task.Parent != "" {
			k.part[id] = true
			continue
		}
		status, has := first[id]
		if !has {
			status = t.Status
		}
		k.over[id] = closed(status)
		k.there[id] = !introduced[id]
	}
	k.all = []Point{{Left: k.left()}}
}

func closed(s ledger.Status) bool {
	return s == ledger.Done || s == ledger.Skipped || s == ledger.Withdrawn
}

func (k *burndown) left() int {
	n := 0
	for id, there := range k.there {
		if there && !k.over[id] {
			n++
		}
	}
	return n
}

func (k *burndown) entry(e ledger.Entry) {
	switch b := e.Body.(type) {
	case ledger.TaskSet:
		id := ledger.FoldID(e.Task)
		if _, known := k.there[id]; !known || k.part[id] {
			return // of another source
		}
		k.over[id] = closed(b.To)
	case ledger.SourceRead:
		for _, id := range b.Order {
			if id = ledger.FoldID(id); !k.part[id] {
				if _, known := k.there[id]; known {
					k.there[id] = true
				}
			}
		}
	default:
		return
	}
	k.all = append(k.all, Point{At: e.Time, Left: k.left()})
}

// points are the course from a time to another, without repetitions.
func (k *burndown) points(from, to time.Time) []Point {
	var out []Point
	now := k.all[0].Left // before the first record
	for _, p := range k.all[1:] {
		switch {
		case !p.At.After(from):
			now = p.Left
		case !p.At.After(to):
			if len(out) == 0 {
				out = append(out, Point{At: from, Left: now})
			}
			if p.Left != out[len(out)-1].Left {
				out = append(out, Point{At: p.At.In(from.Location()), Left: p.Left})
			}
		}
	}
	if len(out) == 0 {
		out = append(out, Point{At: from, Left: now})
	}
	return out
}
