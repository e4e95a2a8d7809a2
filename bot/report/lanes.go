package report

import (
	"slices"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
)

// LaneTime is a time of one task in a lane: from when the lane took it until it was
// done, gave way or waited for a person.
type LaneTime struct {
	Lane     int // from 0
	Task     string
	From, To time.Time
}

// Landing is a change that became part of the branch, or, of a section, of its task's
// tree.
type Landing struct {
	Lane int
	Task string
	At   time.Time
}

// laneTracker derives from a project's entries what was in which lane.
type laneTracker struct {
	held   []LaneTime     // those without To are open
	checks []LaneTime     // verifications, also those under way
	landed []Landing      // in order
	lane   map[string]int // by folded task: the lane that it had last
	check  map[string]int // by session: index in checks
	work   map[string]int // by session of an agent: its lane
}

func (l *laneTracker) apply(e ledger.Entry) {
	if l.lane == nil {
		l.lane, l.check, l.work = map[string]int{}, map[string]int{}, map[string]int{}
	}
	id := ledger.FoldID(e.Task)
	switch b := e.Body.(type) {
	case ledger.Claim:
		l.end(e.Task, e.Time)
		l.lane[id] = b.Lane
		l.held = append(l.held, LaneTime{Lane: b.Lane, Task: e.Task, From: e.Time})
	case ledger.TaskSet:
		if b.To != ledger.Active {
			l.end(e.Task, e.Time)
		}
	case ledger.AttemptEnded:
		l.end(e.Task, e.Time)
	case ledger.SessionPlanned:
		switch {
		case b.Kind == ledger.KindAgent:
			l.work[e.Session] = l.lane[id]
		case e.Task != "":
			l.check[e.Session] = len(l.checks)
			l.checks = append(l.checks, LaneTime{Lane: l.lane[id], Task: e.Task, From: e.Time})
		}
	case ledger.SessionEnded:
		if n, is := l.check[e.Session]; is {
			l.checks[n].To = e.Time
		}
	case ledger.TaskCommitted:
		l.landed = append(l.landed, Landing{Lane: l.lane[id], Task: e.Task, At: e.Time})
	case ledger.PartMerged:
		l.landed = append(l.landed, Landing{Lane: l.lane[ledger.FoldID(b.Part)], Task: b.Part, At: e.Time})
	}
}

func (l *laneTracker) end(task string, at time.Time) {
	for n := range l.held {
		if l.held[n].To.IsZero() && ledger.SameID(l.held[n].Task, task) {
			l.held[n].To = at
		}
	}
}

// between returns those times that lie between from and to, cut to them.
func between(all []LaneTime, from, to time.Time) (out []LaneTime) {
	for _, x := range all {
		if x.To.IsZero() || x.To.After(to) {
			x.To = to
		}
		if x.From = later(x.From, from); x.To.After(x.From) {
			x.From, x.To = x.From.In(to.Location()), x.To.In(to.Location())
			out = append(out, x)
		}
	}
	return out
}

// lanes adds what was done in lanes, if more than one was used.
func (c *collector) lanes() {
	held := between(c.inLanes.held, c.From, c.To)
	most := 0
	for _, x := range held {
		most = max(most, x.Lane+1)
	}
	if most < 2 {
		return
	}
	c.Lanes, c.Held, c.Checks = most, held, between(c.inLanes.checks, c.From, c.To)
	for _, x := range c.inLanes.landed {
		if c.inSpan(x.At) {
			x.At = c.local(x.At)
			c.Landed = append(c.Landed, x)
		}
	}
	for n, s := range c.Sessions {
		c.Sessions[n].Lane = c.inLanes.work[s.ID]
	}
}

// AtOnce returns the largest number of sessions that were at work at the same time.
func (f Facts) AtOnce() int {
	most := 0
	for _, s := range f.Sessions {
		n := 0
		for _, o := range f.Sessions {
			if !o.Start.After(s.Start) && o.End.After(s.Start) {
				n++
			}
		}
		most = max(most, n)
	}
	return most
}

// tasksIn returns the ids of the tasks that a lane had, in their order, each once.
func (f Facts) tasksIn(lane int) (ids []string) {
	for _, x := range f.Held {
		if x.Lane == lane && !slices.Contains(ids, x.Task) {
			ids = append(ids, x.Task)
		}
	}
	return ids
}
