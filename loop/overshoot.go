package loop

import (
	"cmp"
	"slices"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
)

// overshot is the smallest amount in dollars over a budget that counts: less is not shown.
const overshot = 0.005

// Overshoot is a budget that was spent and more. Needs, Step and Reserved of it are zero.
type Overshoot struct {
	ledger.BudgetShort
	Task string // whose budget it is, or whose session went over its own
	Hat  string // of that session
	More int    // other sessions that went over theirs by less
}

// overshootOf returns by how much an outlay is over a budget, whose slack has no
// reservations.
func overshootOf(limit ledger.BudgetLimit, tokens bool, of float64, spent outlay, task string) Overshoot {
	b := slack{limit: limit, tokens: tokens, of: of, spent: spent.spent, unknown: spent}.short()
	b.Step = 0
	return Overshoot{BudgetShort: b, Task: task}
}

// SessionOver is the session of a run that went over its own budget by most.
type SessionOver struct {
	Task  string  `json:"task,omitempty"`
	Hat   string  `json:"hat"`
	Of    float64 `json:"of"`
	Spent float64 `json:"spent"`
	About bool    `json:"about,omitempty"`
	Times int     `json:"times"` // sessions that did
}

// overspend keeps a session that spent more than a session may.
func (r *Run) overspend(s Session, task string, x ledger.Exit) {
	own := r.TaskBudgets[ledger.FoldID(cmp.Or(s.Parent, task))]
	of := r.Settings.Hats[s.Planned.Hat].MaxCostUSD
	if of <= 0 || own.Lifted || x.CostUSD-of-own.Session < overshot {
		return
	}
	over := SessionOver{Task: task, Hat: s.Planned.Hat, Of: of + own.Session, Spent: x.CostUSD, About: x.Estimated, Times: 1}
	if was := r.SessionOver; was != nil {
		if was.Spent-was.Of >= over.Spent-over.Of {
			over = *was
		}
		over.Times = was.Times + 1
	}
	r.SessionOver = &over
}

// Overshoots returns the budgets that the project's run went over: its own, that of the last
// 24 hours, those of its tasks, the largest overshoot first, and of its sessions the worst.
// What people added belongs to a budget, and what was reserved for sessions of unknown cost
// is spent.
func (s State) Overshoots(now time.Time) (all []Overshoot) {
	r := s.Project.Run
	if r == nil {
		return nil
	}
	b, p := r.Settings.Budget, s.Shared.Purse
	add := func(limit ledger.BudgetLimit, of float64, spent outlay) {
		if of > 0 && spent.spent-of >= overshot {
			all = append(all, overshootOf(limit, false, of, spent, ""))
		}
	}
	tokens := func(limit ledger.BudgetLimit, of int64, spent outlay) {
		if of > 0 && spent.spent > float64(of) && !slices.ContainsFunc(all, func(o Overshoot) bool { return o.Limit == limit }) {
			all = append(all, overshootOf(limit, true, float64(of), spent, ""))
		}
	}
	if b.USDRun > 0 {
		add(ledger.BudgetRun, b.USDRun+r.ExtraUSD, r.outlay(false))
	}
	if b.TokensRun > 0 {
		tokens(ledger.BudgetRun, b.TokensRun+r.ExtraTokens, r.outlay(true))
	}
	day, more := sumSlots(p.Window, now), sumSlots(p.Raised, now)
	if p.Day.USD > 0 {
		add(ledger.BudgetDay, p.Day.USD+more.USD, day.outlay(false))
	}
	if p.Day.Tokens > 0 {
		tokens(ledger.BudgetDay, p.Day.Tokens+more.Tokens, day.outlay(true))
	}
	return append(all, r.tasksOver()...)
}

// tasksOver returns the overshoots of the run's tasks and sessions.
func (r *Run) tasksOver() (all []Overshoot) {
	if of := r.Settings.Budget.USDTask; of > 0 {
		for _, t := range r.Spent.Tasks.All() {
			own := r.TaskBudgets[ledger.FoldID(t.Name)]
			if spent := t.outlay(); t.Name != "" && !own.Lifted && spent.spent-of-own.USD >= overshot {
				all = append(all, overshootOf(ledger.BudgetTask, false, of+own.USD, spent, t.Name))
			}
		}
	}
	slices.SortStableFunc(all, func(a, b Overshoot) int { return cmp.Compare(b.Spent-b.Of, a.Spent-a.Of) })
	if o := r.SessionOver; o != nil {
		all = append(all, Overshoot{
			BudgetShort: ledger.BudgetShort{Limit: ledger.BudgetSession, Of: o.Of, Spent: o.Spent, About: o.About}, Task: o.Task, Hat: o.Hat, More: o.Times - 1,
		})
	}
	return all
}
