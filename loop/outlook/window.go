package outlook

import (
	"cmp"
	"slices"
	"time"
)

// Hats are hats of a run that have the same agents. A session needs the first of them that
// can be used; where none can, the run waits, because each task needs all hats.
type Hats struct {
	Share  float64 // of the run's sessions: 0.5 = every other one
	Agents []int   // positions in Question.Agents, the preferred one first
}

// Agent is one that a run can use.
type Agent struct {
	Name    string
	From    time.Time // it is held until then
	Windows []Window  // whose use is known
}

// Window is a span of time in which an agent may do so much and no more.
type Window struct {
	Left   float64       // part of it that may still be used
	Whole  float64       // part of a new one that may be used
	Resets time.Time     // when a new one begins
	Length time.Duration // of a new one; 0 = unknown, and nothing is said of it
	Parts  []float64     // of it that sessions used, one each
}

// Limit is the end of a window that comes before its reset.
type Limit struct {
	Agent string    `json:"agent"`
	At    time.Time `json:"at"`
	Then  string    `json:"then,omitempty"` // agent that goes on; "" = the run waits until Until
	Until time.Time `json:"until,omitzero"` // when Agent can be used again
}

// meter is a window in one night. Times are counted from the night's beginning.
type meter struct {
	left, whole float64
	part        float64 // that a session uses
	resets      time.Duration
	length      time.Duration
}

// meters returns the windows of each agent as the night begins.
func (q Question) meters(d *draw) [][]meter {
	agents := make([][]meter, len(q.Agents))
	for n, a := range q.Agents {
		for _, w := range a.Windows {
			m := meter{left: w.Left, whole: w.Whole, resets: w.Resets.Sub(q.Begin), length: w.Length}
			for range w.Parts {
				m.part += w.Parts[d.below(len(w.Parts))] / float64(len(w.Parts))
			}
			agents[n] = append(agents[n], m)
		}
	}
	return agents
}

// used is what is left of a window that is used up: sums of parts are not exact.
const used = 1e-9

// renew begins the windows anew whose end came.
func renew(agents [][]meter, now time.Duration) {
	for _, windows := range agents {
		for n := range windows {
			m := &windows[n]
			if m.resets > now {
				continue
			}
			m.left, m.resets = m.whole, m.resets+m.length
			if m.length == 0 || m.resets <= now { // unknown, or nobody used it in between
				m.resets = now + m.length
			}
			if m.length == 0 {
				m.part, m.resets = 0, farthest
			}
		}
	}
}

// from returns when an agent can be used.
func (q Question) from(agent int, windows []meter) (from time.Duration) {
	if at := q.Agents[agent].From; !at.IsZero() {
		from = max(at.Sub(q.Begin), 0)
	}
	for _, m := range windows {
		if m.left <= used {
			from = max(from, m.resets)
		}
	}
	return from
}

// usable returns the agent that has the hats' sessions now, -1 for none.
func (q Question) usable(h Hats, agents [][]meter, now time.Duration) int {
	for _, a := range h.Agents {
		if q.from(a, agents[a]) <= now {
			return a
		}
	}
	return -1
}

// back returns when one of the hats' agents can be used again.
func (q Question) back(h Hats, agents [][]meter, now time.Duration) time.Duration {
	back := farthest
	for _, a := range h.Agents {
		back = min(back, q.from(a, agents[a]))
	}
	return max(back, now)
}

// next returns when something changes: a window ends or begins anew, or an agent can be
// used.
func (q Question) next(agents [][]meter, use []float64, now time.Duration) time.Duration {
	next := farthest
	for a, windows := range agents {
		if from := q.from(a, windows); from > now {
			next = min(next, from)
		}
		for _, m := range windows {
			next = min(next, max(m.resets, now+1))
			if rate := use[a] * m.part; rate > 0 && m.left/rate < farthest.Hours() {
				next = min(next, now+time.Duration(m.left/rate*float64(time.Hour))+1)
			}
		}
	}
	return next
}

// limit returns the end of a window that came now, of an agent that was at work; zero =
// none did.
func (q Question) limit(at []int, agents [][]meter, now time.Duration) (l Limit) {
	for n, h := range q.Hats {
		if at[n] < 0 || q.from(at[n], agents[at[n]]) <= now || l.Agent != "" && l.Agent != q.Agents[at[n]].Name {
			continue
		}
		again := Limit{Agent: q.Agents[at[n]].Name, At: q.Begin.Add(now), Until: q.Begin.Add(q.from(at[n], agents[at[n]]))}
		other := q.usable(h, agents, now)
		if other >= 0 {
			again.Then = q.Agents[other].Name
		} else {
			again.Until = q.Begin.Add(q.back(h, agents, now))
		}
		if l.Agent == "" || other < 0 && (l.Then != "" || again.Until.After(l.Until)) {
			l = again
		}
	}
	return l
}

// usual returns the middle one of the limits that so many nights came to, zero if most of
// them have none.
func usual(limits []Limit, nights int) Limit {
	if len(limits) <= nights/2 {
		return Limit{}
	}
	slices.SortFunc(limits, func(a, b Limit) int { return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Agent, b.Agent)) })
	return limits[len(limits)/2]
}
