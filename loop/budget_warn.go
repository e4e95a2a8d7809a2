package loop

import (
	"slices"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
)

// warnFrom is the part of a budget from which people are told that most of it is spent
// (docs/spec 12.2).
const warnFrom = 0.8

// DayWarning is a warning about a day's budget that people were told.
type DayWarning struct {
	Tokens bool      `json:"tokens,omitempty"`
	Of     float64   `json:"of"`
	At     time.Time `json:"at"`
}

// Budgets returns what is spent of the run's budgets and of the day's, with what was
// reserved for sessions that did not tell. What running sessions have reserved is not in it.
func (s State) Budgets(now time.Time) (all []ledger.BudgetWarned) {
	add := func(limit ledger.BudgetLimit, tokens bool, of float64, spent outlay) {
		all = append(all, ledger.BudgetWarned{Limit: limit, Tokens: tokens, Of: of, Spent: spent.spent, About: spent.about || spent.assumed > 0})
	}
	if r := s.Project.Run; r != nil {
		b := r.Settings.Budget
		if b.USDRun > 0 {
			add(ledger.BudgetRun, false, b.USDRun+r.ExtraUSD, r.outlay(false))
		}
		if b.TokensRun > 0 {
			add(ledger.BudgetRun, true, float64(b.TokensRun+r.ExtraTokens), r.outlay(true))
		}
	}
	p := s.Shared.Purse
	spent, raised := sumSlots(p.Window, now), sumSlots(p.Raised, now)
	if p.Day.USD > 0 {
		add(ledger.BudgetDay, false, p.Day.USD+raised.USD, spent.outlay(false))
	}
	if p.Day.Tokens > 0 {
		add(ledger.BudgetDay, true, float64(p.Day.Tokens+raised.Tokens), spent.outlay(true))
	}
	return all
}

// warnBudgets tells people of each budget once that most of it is spent, and again after
// somebody raised it. It looks when a session has ended: that is when its cost is counted.
// Nothing is told of a budget that is met in the same decision, since its question or the
// run's end tells it.
func (d *decision) warnBudgets() {
	r, ended := d.run(), d.endedTasks()
	if len(ended) == 0 || r.Over() || r.Finishing != nil || r.State == ledger.RunStopping {
		return
	}
	near := d.Budgets(d.in.Time)
	for _, id := range ended {
		if b, ok := d.taskSpending(id); ok {
			near = append(near, b)
		}
	}
	near = slices.DeleteFunc(near, func(b ledger.BudgetWarned) bool {
		return b.Spent < warnFrom*b.Of-overshot || // sums of costs are not exact
			b.Spent > b.Of-overshot || d.warned(b) || d.asksAbout(b)
	})
	if len(near) == 0 {
		return
	}
	var o *ledger.Outlook
	if !r.Aside() && !r.InWaves() {
		o = SaidOf(OutlookOf(d.State, d.in.Time))
	}
	for _, b := range near {
		if b.Limit == ledger.BudgetDay {
			b.Outlook = o
			d.addShared(b)
			continue
		}
		if b.Limit == ledger.BudgetRun {
			b.Outlook = o
		}
		d.add(scope{task: b.Task}, b)
	}
}

// endedTasks returns the tasks whose agents' sessions end with the decision, each once, ""
// among them for sessions of no task.
func (d *decision) endedTasks() (ids []string) {
	for _, e := range d.entries {
		b, is := e.Body.(ledger.SessionEnded)
		if !is || b.Kind != ledger.KindAgent {
			continue
		}
		id := e.Task
		if t, ok := d.task(id); ok && t.Task.Parent != "" {
			id = t.Task.Parent
		}
		if !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// taskSpending returns what is spent of a task's own budget; false = it has none, or no
// session more.
func (d *decision) taskSpending(id string) (b ledger.BudgetWarned, ok bool) {
	r := d.run()
	own := r.TaskBudgets[ledger.FoldID(id)]
	t, ok := d.task(id)
	if !ok || r.Settings.Budget.USDTask <= 0 || own.Lifted || t.Status != ledger.Active && t.Status != ledger.Ready && t.Status != ledger.Pending {
		return b, false
	}
	spent := r.Spent.of(t.Task.ID)
	b = ledger.BudgetWarned{
		Limit: ledger.BudgetTask, Task: t.Task.ID, Of: r.Settings.Budget.USDTask + own.USD, Spent: spent.USD + spent.Assumed, About: spent.About > 0 || spent.Assumed > 0,
	}
	if t.Attempt != nil {
		if hat, known := r.upcoming().Hats[t.Attempt.Hat]; known {
			agent, _, _ := d.agentFor(t.Attempt, hat)
			b.Needs, _ = d.estimate(t, hat, agent)
		}
	}
	return b, true
}

// warned reports whether people were told of the budget as it is now. One of the day is told
// again a day later.
func (d *decision) warned(b ledger.BudgetWarned) bool {
	if b.Limit == ledger.BudgetDay {
		return slices.ContainsFunc(d.Shared.Purse.Warned, func(w DayWarning) bool {
			return w.Tokens == b.Tokens && w.Of > b.Of-overshot && w.At.Add(dayWindow).After(d.in.Time)
		})
	}
	return slices.ContainsFunc(d.run().Warned, func(w ledger.BudgetWarned) bool { return sameBudget(w, b) && max(w.Of-b.Of, b.Of-w.Of) < overshot })
}

// asksAbout reports whether a question is open about the budget.
func (d *decision) asksAbout(b ledger.BudgetWarned) bool {
	return slices.ContainsFunc(d.Project.Questions, func(q ledger.Question) bool {
		return q.Kind == ledger.AskBudget && sameBudget(warningOf(q), b)
	})
}

// sameBudget reports whether two warnings are about one budget.
func sameBudget(a, b ledger.BudgetWarned) bool {
	return a.Limit == b.Limit && a.Tokens == b.Tokens && ledger.SameID(a.Task, b.Task)
}

// warningOf returns what a question about a budget has told of it.
func warningOf(q ledger.Question) ledger.BudgetWarned {
	short := q.Shortage()
	b := ledger.BudgetWarned{Limit: short.Limit, Tokens: short.Tokens, Of: short.Of}
	if b.Limit == ledger.BudgetTask {
		b.Task = q.Task
	}
	return b
}

// applyWarned keeps what people were told of the run's budgets: the last of each. A question
// tells it, too.
func (r *Run) applyWarned(e ledger.Entry) {
	var told ledger.BudgetWarned
	switch b := e.Body.(type) {
	case ledger.BudgetWarned:
		told = b
	case ledger.QuestionAsked:
		if b.Question.Kind != ledger.AskBudget || b.Question.Run != r.ID {
			return
		}
		told = warningOf(b.Question)
	default:
		return
	}
	told.Outlook = nil // only the ledger needs it
	kept := slices.DeleteFunc(slices.Clone(r.Warned), func(w ledger.BudgetWarned) bool { return sameBudget(w, told) })
	r.Warned = append(kept, told)
}

// applyWarned keeps what people were told of the day's budgets: the last of each.
func (p Purse) applyWarned(b ledger.BudgetWarned, at time.Time) Purse {
	kept := slices.DeleteFunc(slices.Clone(p.Warned), func(w DayWarning) bool { return w.Tokens == b.Tokens })
	p.Warned = append(kept, DayWarning{Tokens: b.Tokens, Of: b.Of, At: at})
	return p
}
