package loop

import (
	"fmt"
	"slices"
	"time"

	"github.com/nightporter/nightporter/loop/history"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/outlook"
)

// outlookBudgets returns the question with what budgets have room for. What running
// sessions of this project have reserved is left: a night pays for the rest of their work.
func (d *decision) outlookBudgets(q outlook.Question) outlook.Question {
	r, day := d.run(), d.Shared.Purse.Day
	b := r.Settings.Budget
	if b.USDRun <= 0 && b.USDTask <= 0 && b.TokensRun <= 0 && day == (ledger.DayBudget{}) {
		return q
	}
	add := func(of, left float64, budget outlook.Budget) {
		budget.Of, budget.Left = of, left
		q.Budgets = append(q.Budgets, budget)
	}
	if b.USDRun > 0 {
		of := b.USDRun + r.ExtraUSD
		add(of, of-r.CostUSD-r.AssumedUSD, outlook.Budget{Limit: ledger.BudgetRun})
	}
	if b.TokensRun > 0 {
		of := b.TokensRun + r.ExtraTokens
		add(float64(of), float64(of-r.Tokens), outlook.Budget{Limit: ledger.BudgetRun, Tokens: true})
	}
	spent, raised := d.spentToday(), sumSlots(d.Shared.Purse.Raised, d.in.Time)
	if day.USD > 0 {
		of := day.USD + raised.USD
		add(of, of-spent.USD, outlook.Budget{Limit: ledger.BudgetDay, Waits: r.Settings.Stays, Frees: d.frees(false)})
	}
	if day.Tokens > 0 {
		of := day.Tokens + raised.Tokens
		add(float64(of), float64(of-spent.Tokens), outlook.Budget{Limit: ledger.BudgetDay, Tokens: true, Waits: r.Settings.Stays, Frees: d.frees(true)})
	}
	needs := map[history.Kind][]outlook.Need{}
	for n := range q.Tasks {
		t, _ := d.task(q.Tasks[n].ID)
		kind := q.Tasks[n].Kind
		if _, ok := needs[kind]; !ok {
			needs[kind] = d.needs(t)
		}
		q.Tasks[n] = d.outlookBudget(q.Tasks[n], t, needs[kind])
	}
	return q
}

// outlookBudget returns a task of the question with what concerns it alone. needs has what
// a session of each hat of its pattern is expected to spend.
func (d *decision) outlookBudget(task outlook.Task, t TaskState, needs []outlook.Need) outlook.Task {
	r := d.run()
	own := r.taskBudget(&t)
	task.Needs, task.Free, task.FreeOfDay = needs, own.Lifted, own.Lifted && own.Day
	if t.Attempt != nil {
		if n := slices.Index(hatsOf(r.upcoming().For(t.Task).Pattern), t.Attempt.Hat); n > 0 && n < len(needs) {
			task.Needs = append(slices.Clone(needs[n:]), needs[:n]...)
		}
	}
	task.Granted = slices.ContainsFunc(d.Project.Sessions, func(s Session) bool {
		return ledger.SameID(s.Task, t.Task.ID) && s.Planned.Kind == ledger.KindAgent
	})
	if of := r.Settings.Budget.USDTask; of > 0 {
		left := of + own.USD
		if !t.Effort.IsZero() || len(t.Parts) > 0 || t.Task.Parent != "" {
			spent := r.Spent.of(t.whole())
			left -= spent.USD + spent.Assumed
		}
		task.Budgets = []outlook.Budget{{Limit: ledger.BudgetTask, Of: of + own.USD, Left: left}}
	}
	return task
}

// needs returns what a session of each hat is expected to spend on a task like t, in the
// order of its pattern.
func (d *decision) needs(t TaskState) (needs []outlook.Need) {
	set := d.run().upcoming()
	t.Attempt = nil // that of one task says nothing of others
	for _, name := range hatsOf(set.For(t.Task).Pattern) {
		hat := set.Hats[name]
		agent, _, _ := d.agentFor(nil, hat)
		usd, tokens := d.estimate(t, hat, agent)
		needs = append(needs, outlook.Need{USD: usd, Tokens: float64(tokens)})
	}
	return needs
}

// spentToday returns what was spent in the day before now, with what running sessions of
// other projects have reserved.
func (d *decision) spentToday() SpentSlot {
	sum := sumSlots(d.Shared.Purse.Window, d.in.Time)
	for _, l := range d.Shared.Leases {
		if l.Project != d.in.Project {
			sum.USD += l.Reserved.USD
			sum.Tokens += l.Reserved.Tokens
		}
	}
	return sum
}

// frees returns by when more of a day's budget is left, in order, and by when less, because
// what people added to it is over. What the night itself spends is not in it.
func (d *decision) frees(tokens bool) (all []outlook.Freed) {
	add := func(slots []SpentSlot, sign float64) {
		for _, s := range slots {
			amount := s.USD
			if tokens {
				amount = float64(s.Tokens)
			}
			if at := s.At.Add(dayWindow + windowSlot); at.After(d.in.Time) && amount > 0 {
				all = append(all, outlook.Freed{At: at, Amount: sign * amount})
			}
		}
	}
	add(d.Shared.Purse.Window, 1)
	add(d.Shared.Purse.Raised, -1)
	slices.SortStableFunc(all, func(a, b outlook.Freed) int { return a.At.Compare(b.At) })
	return all
}

// withoutSpending returns the run as one that begins now spends: nothing so far.
func (r Run) withoutSpending() Run {
	r.CostUSD, r.AssumedUSD, r.Tokens, r.Spent = 0, 0, 0, Spent{}
	r.ExtraUSD, r.ExtraTokens, r.TaskBudgets = 0, 0, nil
	return r
}

// NoRoom warns of a budget into which not even the first session fits of a run that would
// begin with these settings, the source as it was just read, and this day's budget.
func NoRoom(s State, settings ledger.Settings, day ledger.DayBudget, snapshot ledger.Snapshot, now time.Time) (ledger.Diagnostic, bool) {
	if b := settings.Budget; b.USDRun <= 0 && b.USDTask <= 0 && b.TokensRun <= 0 && day == (ledger.DayBudget{}) {
		return ledger.Diagnostic{}, false
	}
	o := OfferedOutlook(s, settings, day, snapshot, now)
	if o == nil || o.Budget.Needs == 0 {
		return ledger.Diagnostic{}, false
	}
	b := o.Budget
	amount := func(v float64) string { return budgetSum(v, b.Tokens) }
	text := fmt.Sprintf("the budget of %s has no room for one session, which takes about %s", amount(b.Of), amount(b.Needs))
	key, otherwise := "usd_run", "; else the run ends at its first session."
	switch {
	case b.Limit == ledger.BudgetTask:
		text = fmt.Sprintf("the budget of %s for one task has no room for one session of %s, which takes about %s", amount(b.Of), ledger.ShortID(b.Task), amount(b.Needs))
		key, otherwise = "usd_task", "; else the task waits, and the run ends once no other one fits."
	case b.Limit == ledger.BudgetDay:
		text = fmt.Sprintf("the 24 h budget of %s has no room for one session now, which takes about %s", amount(b.Of), amount(b.Needs))
	case b.Tokens:
		key = "tokens_run"
	}
	if o.Basis == string(history.FromPrior) {
		text += " by a rough guess"
	}
	if settings.Stays {
		otherwise = ", or answer the question that the first session will ask."
	}
	remedy := "Raise " + key + " in the project's budget" + otherwise
	if b.Limit == ledger.BudgetDay {
		remedy = "Raise [budget] of all projects, or wait until the last day's sessions are a day old."
	}
	return ledger.Diagnostic{Text: text, Remedy: remedy}, true
}

// budgetSum writes an amount of a budget for people.
func budgetSum(v float64, tokens bool) string {
	if tokens {
		return fmt.Sprintf("%.0f tokens", v)
	}
	return fmt.Sprintf("$%.2f", v)
}
