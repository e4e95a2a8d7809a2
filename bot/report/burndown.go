package report

import (
	"time"

	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// burndown counts the tasks that are left after each entry. A part counts with
// the task that it was planned from.
type burndown struct {
	present map[string]bool // tasks in the source, by folded id
	closed  map[string]bool // done, skipped or withdrawn
	part    map[string]bool
	points  []Point
}

// newBurndown returns a burndown as of the first record. The ledger holds no
// list of tasks from then, so newBurndown derives it: a task had the status
// that its first transition leaves, and a task that a later reading introduced
// was not there yet.
func newBurndown(tasks loop.TaskList, entries []ledger.Entry) *burndown {
	k := &burndown{present: map[string]bool{}, closed: map[string]bool{}, part: map[string]bool{}}
	first := map[string]ledger.Status{}
	introduced := map[string]bool{} // ids of tasks that came with a reading of the source after the first one
	var before map[string]bool      // folded ids in the last reading; nil before the first reading
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
	for _, t := range tasks.All() {
		id := ledger.FoldID(t.Task.ID)
		if t.Task.Parent != "" {
			k.part[id] = true
			continue
		}
		status, has := first[id]
		if !has {
			status = t.Status
		}
		k.closed[id] = isClosed(status)
		k.present[id] = !introduced[id]
	}
	k.points = []Point{{Left: k.left()}}
	return k
}

func isClosed(s ledger.Status) bool {
	return s == ledger.Done || s == ledger.Skipped || s == ledger.Withdrawn
}

func (k *burndown) left() int {
	n := 0
	for id, there := range k.present {
		if there && !k.closed[id] {
			n++
		}
	}
	return n
}

func (k *burndown) apply(e ledger.Entry) {
	switch b := e.Body.(type) {
	case ledger.TaskSet:
		id := ledger.FoldID(e.Task)
		if _, known := k.present[id]; !known || k.part[id] {
			return // the task belongs to another source
		}
		k.closed[id] = isClosed(b.To)
	case ledger.SourceRead:
		for _, id := range b.Order {
			if id = ledger.FoldID(id); !k.part[id] {
				if _, known := k.present[id]; known {
					k.present[id] = true
				}
			}
		}
	default:
		return
	}
	k.points = append(k.points, Point{At: e.Time, Left: k.left()})
}

// between returns the counts in a span, without repetitions. The first point is
// at from.
func (k *burndown) between(from, to time.Time) []Point {
	var out []Point
	now := k.points[0].Left // as of the first record
	for _, p := range k.points[1:] {
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
