package outlook

import (
	"time"

	"github.com/nightporter/nightporter/loop/history"
)

// calendar says when the work of one night stands still. Work time leaves these waits out.
type calendar struct {
	waits []wait
	limit Limit // the first end of a window; zero = none
}

// wait is a time in which no agent of some hats can be used.
type wait struct {
	after time.Duration // work time before it
	long  time.Duration
}

// bounds of a calendar: what comes later is foretold by nobody.
const (
	farthest  = 14 * 24 * time.Hour
	mostTurns = 200
)

// calendar plays the windows of one night with so many sessions in an hour of work. How
// much a session uses has a draw of its samples for the night.
func (q Question) calendar(d *draw, hourly float64) (c calendar) {
	if len(q.Hats) == 0 || hourly <= 0 {
		return c
	}
	agents := q.meters(d)
	end := farthest
	if !q.Until.IsZero() {
		end = min(end, q.Until.Sub(q.Begin))
	}
	var now time.Duration
	for n := 0; n < mostTurns && now < end; n++ {
		at := make([]int, len(q.Hats)) // agent of each group
		use := make([]float64, len(agents))
		back := now
		for n, h := range q.Hats {
			if at[n] = q.usable(h, agents, now); at[n] < 0 {
				back = max(back, q.back(h, agents, now))
				continue
			}
			use[at[n]] += h.Share * hourly
		}
		if back > now {
			c.waits = append(c.waits, wait{after: c.work(now), long: back - now})
			now = back
			renew(agents, now)
			continue
		}
		next := q.next(agents, use, now)
		if next >= farthest {
			return c
		}
		for a := range agents {
			for m := range agents[a] {
				agents[a][m].left -= use[a] * agents[a][m].part * (next - now).Hours()
			}
		}
		now = next
		renew(agents, now)
		if c.limit.Agent == "" {
			c.limit = q.limit(at, agents, now)
		}
	}
	return c
}

// work returns how much work there is until a time of the night.
func (c calendar) work(at time.Duration) time.Duration {
	var waited time.Duration
	for _, w := range c.waits {
		if at-waited <= w.after+w.long {
			return min(at-waited, w.after)
		}
		waited += w.long
	}
	return at - waited
}

// wall returns the time of the night at which so much work is done.
func (c calendar) wall(work time.Duration) time.Duration {
	at := work
	for _, w := range c.waits {
		if w.after < work {
			at += w.long
		}
	}
	return at
}

// hourly returns how many sessions an hour of work has: in the project's tasks so far, also
// those that are not finished, since the quick ones are finished first. Where these have
// few sessions, it is by what nights draw from.
func (q Question) hourly(pools map[history.Kind]pool) float64 {
	var sum tally
	open := 0
	for _, t := range q.Tasks {
		sum.add(t.Spent.Sessions, t.spent(), 1)
		if !t.Never {
			open++
		}
	}
	for _, r := range q.Lookup.Own.Tasks {
		for _, s := range r.Last {
			sum.add(s.Sessions, s.Took(), 1)
		}
	}
	if sum.sessions < history.Enough {
		for _, t := range q.Tasks {
			list := pools[t.Kind].finished
			for _, s := range list {
				sum.add(s.Sessions, s.Took(), 1/float64(len(list)))
			}
		}
	}
	if sum.hours == 0 {
		return 0
	}
	return sum.sessions / sum.hours * float64(min(max(q.Lanes, 1), open))
}

// tally adds up the sessions of tasks, and their time.
type tally struct{ sessions, hours float64 }

func (t *tally) add(sessions int, took time.Duration, weight float64) {
	t.sessions += float64(sessions) * weight
	t.hours += took.Hours() * weight
}
