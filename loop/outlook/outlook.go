package outlook

import (
	"cmp"
	"slices"
	"time"

	"github.com/nightporter/nightporter/loop/history"
	"github.com/nightporter/nightporter/loop/ledger"
)

// Bounds of four nights in five.
const (
	lowQuantile  = 0.1
	highQuantile = 0.9
)

// How often a question is played. A long plan is played less often, because the core asks
// at each end of a task.
const (
	mostNights  = 1000
	leastNights = 100
	mostTasks   = 60_000 // in all nights together
)

// streak is the number of tasks blocked in a row that ends a run (docs/spec 2.4).
const streak = 3

// unseen is by how much a task that no sample is like takes longer than the longest one.
// Such a task fails. One draw among all samples is of it: what never happened still can.
const unseen = 2

// Task is an open task of a Question.
type Task struct {
	ID    string
	Kind  history.Kind
	Spent history.Effort // on it so far
	After []int          // positions of open tasks before it that it depends on
	Alone bool           // nothing is worked on beside it
	Meets []int          // positions of tasks before it that are not worked on beside it
	Wide  int            // lanes that its sections can use at the same time; 0 and 1 = one
	Never bool           // it waits for what no session does: an answer, a task that is blocked

	Needs     []Need   // of sessions of its hats, from the next one on; without them no budget holds for it
	Granted   bool     // its next session is at work, or may be: it has what it needs
	Budgets   []Budget // of its own
	Free      bool     // only the day's budget holds for it
	FreeOfDay bool     // nor that one
}

// Question is what an Outlook is asked about. Tasks are in the order in which they are
// worked on.
type Question struct {
	Tasks []Task
	Agent string    // that runs most sessions: priors of cost are its
	Begin time.Time // when work goes on: now, or when the agent can be used again
	Lanes int       // tasks that are worked on at a time; 0 and 1 = one
	Until time.Time // when the run ends; zero = it has no such end
	Most  int       // tasks after which the run pauses; 0 = any number
	// OwnRooms says that each lane verifies in a room of its own, and Batched that what was
	// merged is verified once for many tasks.
	OwnRooms, Batched bool

	Stops  bool // the first task that is blocked ends the run
	Lookup history.Lookup

	Budgets []Budget // that hold for all tasks

	// Hats and Agents say who runs the sessions. Without them no agent comes to a limit.
	Hats   []Hats
	Agents []Agent
}

// Outlook is what a night will probably get done. Low and High are the bounds of four
// nights in five.
type Outlook struct {
	Total   int           `json:"total"`
	Done    int           `json:"done"`
	Low     int           `json:"low"`
	High    int           `json:"high"`
	By      time.Time     `json:"by,omitzero"` // when the run probably ends; zero without tasks
	USDLow  float64       `json:"usd_low"`     // history.Unknown = unknown
	USDHigh float64       `json:"usd_high"`    // as above
	Unsure  string        `json:"unsure,omitempty"`
	Chance  float64       `json:"chance"` // of Unsure, to be done
	Basis   history.Basis `json:"basis"`  // the worst one of its tasks

	// Limit is the first window that probably ends before its reset; zero = none does in
	// most nights, or nobody knows.
	Limit Limit `json:"limit,omitzero"`

	// Budget is the budget that ends most nights, or tasks in them; zero = none.
	Budget BudgetEnd `json:"budget,omitzero"`
}

// Known reports whether it says what the night costs.
func (o Outlook) Known() bool { return o.USDLow >= 0 && o.USDHigh >= 0 }

// Holds reports whether a night that got n tasks done is one that the outlook expected.
func (o Outlook) Holds(n int) bool { return o.Low <= n && n <= o.High }

// draw is a generator of numbers that look random (SplitMix64). The same start gives the
// same numbers in every release of Go.
type draw uint64

func (d *draw) below(n int) int {
	*d += 0x9e3779b97f4a7c15
	z := uint64(*d)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	z ^= z >> 31
	return int(z >> 33 % uint64(n))
}

// Of plays the question.
func Of(q Question) Outlook {
	o := Outlook{Total: len(q.Tasks), USDLow: history.Unknown, USDHigh: history.Unknown, Basis: history.FromProject}
	if len(q.Tasks) == 0 {
		return o
	}
	pools := q.pools(&o)
	hourly := q.hourly(pools)
	nights := min(max(mostTasks/len(q.Tasks), leastNights), mostNights)
	var d draw = 1
	done, usd, ends := make([]int, nights), make([]float64, nights), make([]time.Duration, nights)
	times := make([]int, len(q.Tasks)) // each task was done
	known := true
	var limits []Limit
	var budgets []meeting
	own := make([]int, len(q.Tasks)) // each task met its own budget
	for n := range nights {
		p := q.play(&d, pools, hourly, times, own)
		done[n], usd[n], ends[n] = p.done, p.usd, p.took
		known = known && p.known
		if p.limit.Agent != "" {
			limits = append(limits, p.limit)
		}
		if p.met.budget.Limit != "" {
			budgets = append(budgets, p.met)
		}
	}
	o.Limit, o.Budget = usual(limits, nights), q.budgetEnd(budgets, own, nights)
	o.Done, o.Low, o.High = history.Quantile(done, 0.5), history.Quantile(done, lowQuantile), history.Quantile(done, highQuantile)
	if known {
		o.USDLow, o.USDHigh = history.Quantile(usd, lowQuantile), history.Quantile(usd, highQuantile)
	}
	o.By = q.Begin.Add(history.Quantile(ends, 0.5))
	least := -1
	for n, task := range q.Tasks {
		if !task.Never && (least < 0 || times[n] < times[least]) {
			least = n
		}
	}
	if least >= 0 && times[least] < nights {
		o.Unsure, o.Chance = q.Tasks[least].ID, float64(times[least])/float64(nights)
	}
	return o
}

// pool is what a night draws from for a task of some kind.
type pool struct {
	finished []history.Task

	// begun is how long tasks took so far that are open. Those that are quick are finished
	// first: without the others a night promises too much.
	begun []time.Duration
}

// size returns the number of draws: what never happened, but can, is one more.
func (p pool) size() int { return len(p.finished) + len(p.begun) + 1 }

// pools returns what is known of tasks like each.
func (q Question) pools(o *Outlook) map[history.Kind]pool {
	rank := []history.Basis{history.FromProject, history.FromHouse, history.FromPrior}
	pools := map[history.Kind]pool{}
	for _, t := range q.Tasks {
		p, ok := pools[t.Kind]
		if !ok {
			var basis history.Basis
			p.finished, basis = q.Lookup.Tasks(t.Kind, q.Agent)
			if slices.Index(rank, basis) > slices.Index(rank, o.Basis) {
				o.Basis = basis
			}
		}
		if spent := t.spent(); spent > 0 {
			p.begun = append(p.begun, spent)
		}
		pools[t.Kind] = p
	}
	return pools
}

// spent returns the time that the task's sessions took so far.
func (t Task) spent() time.Duration { return time.Duration(t.Spent.Ms) * time.Millisecond }

// played is one night.
type played struct {
	done  int
	usd   float64
	known bool // usd
	took  time.Duration
	limit Limit   // that it came to
	met   meeting // with a budget, after which no task was done
}

// play plays one night. It counts the tasks that were done in it in times, and those that
// met their own budget in own. Samples are few: each night has a draw of them for its own,
// so that what they do not show widens the bounds.
func (q Question) play(d *draw, pools map[history.Kind]pool, hourly float64, times, own []int) played {
	p, row := played{known: true}, 0
	c := q.calendar(d, hourly)
	last := max(q.Until.Sub(q.Begin), 0)
	until := c.work(last)
	l := lanes{free: make([]time.Duration, max(q.Lanes, 1)), ends: make([]time.Duration, len(q.Tasks))}
	purse := q.purse(c)
	drawn := map[history.Kind][]int{}
	ok := make([]bool, len(q.Tasks))
	for n, t := range q.Tasks {
		if t.Never || slices.ContainsFunc(t.After, func(m int) bool { return m < 0 || m >= n || !ok[m] }) {
			continue
		}
		if q.Most > 0 && p.done >= q.Most {
			break
		}
		all := pools[t.Kind]
		picks, known := drawn[t.Kind]
		if !known {
			for range all.size() {
				picks = append(picks, d.below(all.size()))
			}
			drawn[t.Kind] = picks
		}
		spent := t.spent()
		s, least := all.draw(d, picks[d.below(len(picks))], spent)
		took := s.Took() - s.Merged()                    // what it would be without other lanes
		left := max(least*5/4-spent, took-spent, took/4) // what began late ends later
		work, checks := left, min(s.Checks.Took(), left)
		sessions := (left - checks) / time.Duration(l.width(t)) // its sections share them
		at, from := l.place(t)
		left = sessions + checks
		dawn := until
		if q.Until.IsZero() {
			dawn = 1<<63 - 1 // no work takes as long
		}
		room := purse.take(n, &q.Tasks[n], s, work, from, left, dawn)
		from += room.wait
		if room.met.budget.Limit == ledger.BudgetTask {
			own[n]++
		} else if p.met.budget.Limit == "" {
			p.met = room.met
		}
		if room.met.budget.Limit != "" { // it waits for a person
			p.pay(s, time.Duration(room.paid*float64(work)))
			if end := from + time.Duration(room.part*float64(left)); room.part > 0 {
				l.fill(at, t, end)
				p.took = max(p.took, end)
			}
			continue
		}
		end := q.settle(&l, from, sessions, checks, s.Once())
		if end > dawn {
			if from < until { // the session in hand completes
				p.pay(s, min(time.Duration(l.width(t))*(until-from)+s.Took()/time.Duration(2*max(s.Sessions, 1)), work))
			}
			p.took = max(p.took, until)
			if l.fill(at, t, max(until, from)); l.full(until) {
				break
			}
			continue
		}
		l.ends[n] = end
		l.fill(at, t, end)
		p.took = max(p.took, end)
		p.pay(s, work)
		if s.Outcome == history.OutcomeDone {
			ok[n], row, p.met = true, 0, meeting{}
			p.done++
			times[n]++
			continue
		}
		if row++; row >= streak || q.Stops {
			break
		}
	}
	if q.Until.IsZero() || p.took < until {
		p.took = c.wall(p.took)
	} else { // also where it waits by then
		p.took = last
	}
	if c.limit.Agent != "" && c.limit.At.Before(q.Begin.Add(p.took)) {
		p.limit = c.limit
	}
	return p
}

// draw returns what a task takes on which so much time was spent, by the pick-th draw of
// the pool, and the time that it takes at least. It is longer than what was spent on it,
// since a shorter task would be finished: open tasks that were begun are the hard ones.
// Where no finished task took that long, nobody knows, and it probably fails.
func (p pool) draw(d *draw, pick int, spent time.Duration) (s history.Task, least time.Duration) {
	least = spent
	switch n := pick - len(p.finished); {
	case n < 0:
		if own := p.finished[pick]; spent == 0 || own.Took() > spent {
			return own, least
		}
	case n < len(p.begun):
		least = max(least, p.begun[n])
	}
	var longer []history.Task
	if least > 0 {
		for _, t := range p.finished {
			if t.Took() > least {
				longer = append(longer, t)
			}
		}
	}
	if n := d.below(len(longer) + 1); n < len(longer) {
		return longer[n], least
	}
	s = slices.MaxFunc(p.finished, func(a, b history.Task) int { return cmp.Compare(a.Ms, b.Ms) })
	s.Outcome = history.OutcomeFailed
	s.Ms *= unseen
	like := p.finished[d.below(len(p.finished))] // one task's rate says little about another's
	s.USD, s.Tokens = like.USD, like.Tokens
	if rate := float64(s.Ms) / float64(max(like.Ms, 1)); like.Ms > 0 {
		if like.USD != history.Unknown {
			s.USD *= rate
		}
		if like.Tokens != history.Unknown {
			s.Tokens = int64(float64(like.Tokens) * rate)
		}
	}
	return s, least
}

// pay adds what work on a task costs, by what a sample took.
func (p *played) pay(s history.Task, took time.Duration) {
	switch {
	case s.USD == history.Unknown:
		p.known = false
	case s.Ms == 0:
		p.usd += s.USD
	default:
		p.usd += s.USD * float64(took) / float64(s.Took())
	}
}
