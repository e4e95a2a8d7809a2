package loop

import (
	"cmp"
	"slices"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
)

// overshot is the smallest amount in dollars over a budget that counts: less is not shown.
const overshot = 0.005

// Overshoot is a budget that was spent and more. Needs and Step of it are zero.
type Overshoot struct {
	ledger.BudgetShort
	Task  string // whose budget it is, or whose session went over its own
	Hat   string // of that session
	More  int    // other sessions that went over theirs by less
	About bool   // Spent is not all known
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
	add := func(limit ledger.BudgetLimit, of, spent float64, about bool) {
		if of > 0 && spent-of >= overshot {
			all = append(all, Overshoot{BudgetShort: ledger.BudgetShort{Limit: limit, Of: of, Spent: spent}, About: about})
		}
	}
	tokens := func(limit ledger.BudgetLimit, of, spent int64) {
		if of > 0 && spent > of && !slices.ContainsFunc(all, func(o Overshoot) bool { return o.Limit == limit }) {
			all = append(all, Overshoot{BudgetShort: ledger.BudgetShort{Limit: limit, Tokens: true, Of: float64(of), Spent: float64(spent)}})
		}
	}
	if b.USDRun > 0 {
		add(ledger.BudgetRun, b.USDRun+r.ExtraUSD, r.CostUSD+r.AssumedUSD, r.Estimated > 0 || r.AssumedUSD > 0)
	}
	if b.TokensRun > 0 {
		tokens(ledger.BudgetRun, b.TokensRun+r.ExtraTokens, r.Tokens)
	}
	day, more := sumSlots(p.Window, now), sumSlots(p.Raised, now)
	if p.Day.USD > 0 {
		add(ledger.BudgetDay, p.Day.USD+more.USD, day.USD, false)
	}
	if p.Day.Tokens > 0 {
		tokens(ledger.BudgetDay, p.Day.Tokens+more.Tokens, day.Tokens)
	}
	return append(all, r.tasksOver()...)
}

// tasksOver returns the overshoots of the run's tasks and sessions.
func (r *Run) tasksOver() (all []Overshoot) {
	if of := r.Settings.Budget.USDTask; of > 0 {
		for _, t := range r.Spent.Tasks.All() {
			own := r.TaskBudgets[ledger.FoldID(t.Name)]
			if spent := t.USD + t.Assumed; t.Name != "" && !own.Lifted && spent-of-own.USD >= overshot {
				all = append(all, Overshoot{
					BudgetShort: ledger.BudgetShort{Limit: ledger.BudgetTask, Of: of + own.USD, Spent: spent}, Task: t.Name, About: t.About > 0 || t.Assumed > 0,
				})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b Overshoot) int { return cmp.Compare(b.Spent-b.Of, a.Spent-a.Of) })
	if o := r.SessionOver; o != nil {
		all = append(all, Overshoot{
			BudgetShort: ledger.BudgetShort{Limit: ledger.BudgetSession, Of: o.Of, Spent: o.Spent}, Task: o.Task, Hat: o.Hat, More: o.Times - 1, About: o.About,
		})
	}
	return all
}
