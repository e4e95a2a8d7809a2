package outlook

import (
	"slices"
	"time"
)

// lanes are the work folders of a run, by when each is free again, counted from its
// beginning, in work time.
type lanes struct {
	free []time.Duration
	ends []time.Duration // of tasks

	room room // in which checks run one after another
	tip  room // the branch's tip, onto which one change is verified after another
}

// room is what one task after another uses: spans of time in which it is in use, in order
// and apart.
type room struct{ used []span }

type span struct{ from, to time.Duration }

// use lets a task use the room for so long from a time on, in what is free of it, and
// returns when it is through.
func (r *room) use(from, long time.Duration) (to time.Duration) {
	at := from
	for _, s := range r.used {
		if s.to <= at {
			continue
		}
		if s.from >= at+long {
			break
		}
		long -= max(s.from-at, 0)
		at = s.to
	}
	if to = at + long; to == from {
		return to
	}
	whole := span{from, to}
	r.used = slices.DeleteFunc(r.used, func(s span) bool {
		if s.to < from || s.from > to {
			return false
		}
		whole.from, whole.to = min(whole.from, s.from), max(whole.to, s.to)
		return true
	})
	n, _ := slices.BinarySearchFunc(r.used, whole, func(a, b span) int { return int(a.from - b.from) })
	r.used = slices.Insert(r.used, n, whole)
	return to
}

// settle returns when a task is done that was begun at a time, with so much work of
// sessions and of checks. once is how long it is verified on the tip: others moved the tip
// meanwhile unless it was alone. A task uses the room at its end, where several meet.
func (q Question) settle(l *lanes, from, sessions, checks, once time.Duration) time.Duration {
	end := from + sessions + checks
	if len(l.free) == 1 {
		return end
	}
	if !q.OwnRooms {
		end = l.room.use(from+sessions, checks)
	}
	moved := func(other time.Duration) bool { return other > from && other <= end }
	if q.Batched || !slices.ContainsFunc(l.ends, moved) {
		return end
	}
	if q.OwnRooms {
		return l.tip.use(end, once)
	}
	return l.room.use(end, once)
}

// place returns the lane in which a task is begun, and when: in the one that is free
// first, or, if it has to wait longer for others, in the one that is free last before
// that. It is begun after what it depends on and what it meets, and alone after all.
func (l *lanes) place(t Task) (at int, from time.Duration) {
	for _, on := range t.After {
		from = max(from, l.ends[on])
	}
	for _, on := range t.Meets {
		from = max(from, l.ends[on])
	}
	if t.Alone {
		from = max(from, slices.Max(l.free))
	}
	for n, free := range l.free {
		best := l.free[at]
		if best > from && free < best || best <= from && free <= from && free > best {
			at = n
		}
	}
	return at, max(from, l.free[at])
}

// width returns the number of lanes that a task uses.
func (l *lanes) width(t Task) int { return min(max(t.Wide, 1), len(l.free)) }

// fill lets a task have its lane until it ends, or all lanes if it is alone. What has
// sections at work in several lanes has those that are free first.
func (l *lanes) fill(at int, t Task, until time.Duration) {
	l.free[at] = until
	for more := l.width(t) - 1; more > 0; more-- {
		first := slices.Index(l.free, slices.Min(l.free))
		l.free[first] = max(l.free[first], until)
	}
	for n := range l.free {
		if t.Alone {
			l.free[n] = max(l.free[n], until)
		}
	}
}

// full reports whether no lane is free before a time.
func (l *lanes) full(until time.Duration) bool { return slices.Min(l.free) >= until }
