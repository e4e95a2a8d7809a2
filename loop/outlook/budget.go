package outlook

import (
	"slices"
	"time"

	"github.com/nightporter/nightporter/loop/history"
	"github.com/nightporter/nightporter/loop/ledger"
)

// Budget is what sessions may spend together: those of the night, or those of one task.
// Amounts are in US dollars, or in tokens where Tokens is set.
type Budget struct {
	Limit  ledger.BudgetLimit
	Tokens bool
	Of     float64
	Left   float64 // when the night begins
	Frees  []Freed // later ones last
	Waits  bool    // sessions wait until it has room again
}

// Freed is an amount by which more of a budget is left from a time on.
type Freed struct {
	At     time.Time
	Amount float64
}

// Need is what a session is expected to spend. It begins only if that fits.
type Need struct{ USD, Tokens float64 }

// in returns the amount that counts for a budget.
func (n Need) in(b *Budget) float64 {
	if b.Tokens {
		return n.Tokens
	}
	return n.USD
}

// cent is the difference of costs that are the same: sums of them are not exact.
const cent = 0.005

// purse is what one night has left of its budgets. Times are counted from the night's
// beginning, in work time.
type purse struct {
	budgets []Budget
	spent   []float64
	frees   [][]freed
	begun   int // sessions
}

// freed is what more is left from a time on, in all.
type freed struct {
	at  time.Duration
	sum float64
}

// purse returns the budgets of a night that waits by the calendar.
func (q Question) purse(c calendar) purse {
	p := purse{budgets: q.Budgets, spent: make([]float64, len(q.Budgets)), frees: make([][]freed, len(q.Budgets))}
	for n, b := range q.Budgets {
		sum := 0.0
		p.frees[n] = make([]freed, 0, len(b.Frees))
		for _, f := range b.Frees {
			sum += f.Amount
			p.frees[n] = append(p.frees[n], freed{at: c.work(max(f.At.Sub(q.Begin), 0)), sum: sum})
		}
	}
	return p
}

// left returns what is left of a budget at a time.
func (p *purse) left(n int, at time.Duration) float64 {
	left := p.budgets[n].Left - p.spent[n]
	if k := p.later(n, at); k > 0 {
		left += p.frees[n][k-1].sum
	}
	return left
}

// later returns the position of the first amount that a budget has later than a time.
func (p *purse) later(n int, at time.Duration) int {
	k, _ := slices.BinarySearchFunc(p.frees[n], at, func(f freed, at time.Duration) int {
		if f.at <= at {
			return -1
		}
		return 1
	})
	return k
}

// fits returns the first time from which so much is left of a budget; false = nobody knows
// one, or nothing waits for it.
func (p *purse) fits(n int, need float64, from time.Duration) (time.Duration, bool) {
	if p.left(n, from) >= need-cent {
		return from, true
	}
	if !p.budgets[n].Waits {
		return 0, false
	}
	for _, f := range p.frees[n][p.later(n, from):] {
		if p.budgets[n].Left-p.spent[n]+f.sum >= need-cent {
			return f.at, true
		}
	}
	return 0, false
}

// share is how far budgets let a task go.
type share struct {
	part float64       // of its work; 1 = all of it
	paid float64       // of its cost
	wait time.Duration // until a budget has room for it
	met  meeting
}

// meeting is the end of work at a budget: the zero value is none.
type meeting struct {
	budget Budget
	task   int     // position of the task
	need   float64 // of the session that does not fit
	first  bool    // no session was begun before it
}

// take lets the sessions of a task begin one after the other, from a time on and until
// one, and takes what each costs out of the budgets. They have the task's hats in turn, and
// share its cost as these are expected to. Where a cost is unknown, what is expected counts.
func (p *purse) take(n int, t *Task, s history.Task, work, from, long, until time.Duration) share {
	all := share{part: 1, paid: 1}
	if len(t.Needs) == 0 {
		return all
	}
	count, scale := max(s.Sessions, 1), 1.0
	if s.Ms > 0 {
		scale = float64(work) / float64(s.Took())
		count = max(int(float64(s.Sessions)*scale+0.5), 1)
	}
	var sum Need
	for k := range count {
		sum.USD += t.need(k).USD
		sum.Tokens += t.need(k).Tokens
	}
	own := slices.Clone(t.Budgets)
	out := share{}
	for k := range count {
		at, need := from+out.wait+long*time.Duration(k)/time.Duration(count), t.need(k)
		if at >= until {
			break
		}
		begins := at
		for m := range p.budgets {
			b := &p.budgets[m]
			if t.free(b) || k == 0 && t.Granted {
				continue
			}
			fits, ok := p.fits(m, need.in(b), at)
			if !ok || fits >= until {
				out.met = meeting{budget: *b, task: n, need: need.in(b), first: p.begun == 0}
				return out
			}
			begins = max(begins, fits)
		}
		for m := range own {
			b := &own[m]
			if !t.free(b) && (k > 0 || !t.Granted) && b.Left < need.in(b)-cent {
				out.met = meeting{budget: *b, task: n, need: need.in(b), first: p.begun == 0}
				return out
			}
		}
		out.wait += begins - at
		p.begun++
		cost := Need{USD: part(s.USD*scale, need.USD, sum.USD, count), Tokens: part(float64(s.Tokens)*scale, need.Tokens, sum.Tokens, count)}
		if s.USD == history.Unknown {
			cost.USD = need.USD
		}
		if s.Tokens == history.Unknown {
			cost.Tokens = need.Tokens
		}
		done := p.cut(t, own, cost, begins, &out.met, n)
		for m := range p.budgets {
			p.spent[m] += cost.in(&p.budgets[m]) * done
		}
		for m := range own {
			own[m].Left -= cost.in(&own[m]) * done
		}
		out.part += done / float64(count)
		out.paid += part(1, need.USD, sum.USD, count) * done
		if done < 1 {
			return out
		}
	}
	return out
}

// cut returns the part of a session after which it is ended because it has spent what is
// left of a budget; 1 = it is not ended, or goes on once the budget has room again.
func (p *purse) cut(t *Task, own []Budget, cost Need, at time.Duration, met *meeting, n int) float64 {
	part := 1.0
	end := func(b *Budget, left float64) {
		if c := cost.in(b); !t.free(b) && c > left+cent && max(left, 0)/c < part {
			part, *met = max(left, 0)/c, meeting{budget: *b, task: n}
		}
	}
	for m := range p.budgets {
		if b := &p.budgets[m]; !b.Waits {
			end(b, p.left(m, at))
		}
	}
	for m := range own {
		end(&own[m], own[m].Left)
	}
	return part
}

// part returns a session's part of a cost, by what it and all sessions are expected to
// spend.
func part(cost, need, sum float64, count int) float64 {
	if sum <= 0 {
		return cost / float64(count)
	}
	return cost * need / sum
}

// need returns what the task's k-th session is expected to spend.
func (t *Task) need(k int) Need { return t.Needs[k%len(t.Needs)] }

// free reports whether a budget does not hold for the task.
func (t *Task) free(b *Budget) bool {
	if b.Limit == ledger.BudgetDay {
		return t.FreeOfDay
	}
	return t.Free
}

// BudgetEnd is a budget that most nights meet.
type BudgetEnd struct {
	Limit  ledger.BudgetLimit `json:"limit"`
	Tokens bool               `json:"tokens,omitempty"`
	Of     float64            `json:"of"`
	Task   string             `json:"task,omitempty"`  // the one that is worked on then; of tasks' own budgets: the first one
	Tasks  int                `json:"tasks,omitempty"` // tasks that meet their own
	Needs  float64            `json:"needs,omitempty"` // of the first session, if not even that one fits; 0 = it fits
}

// budgetEnd returns the budget that ends most of so many nights, or else the tasks' own
// that most of them meet. own has in how many each task met its own.
func (q Question) budgetEnd(ends []meeting, own []int, nights int) (end BudgetEnd) {
	if len(ends) > nights/2 {
		at := make([]int, len(ends))
		for n, m := range ends {
			at[n] = m.task
		}
		middle := history.Quantile(at, 0.5)
		m := ends[slices.Index(at, middle)]
		end = BudgetEnd{Limit: m.budget.Limit, Tokens: m.budget.Tokens, Of: m.budget.Of, Task: q.Tasks[middle].ID}
		if m.first {
			end.Needs = m.need
		}
		return end
	}
	for n, times := range own {
		if times <= nights/2 {
			continue
		}
		if end.Tasks == 0 {
			b := q.Tasks[n].Budgets[0]
			end = BudgetEnd{Limit: b.Limit, Tokens: b.Tokens, Of: b.Of, Task: q.Tasks[n].ID}
			if t := &q.Tasks[n]; len(t.Needs) > 0 && !t.Granted && b.Left < t.need(0).in(&b)-cent {
				end.Needs = t.need(0).in(&b)
			}
		}
		end.Tasks++
	}
	return end
}
