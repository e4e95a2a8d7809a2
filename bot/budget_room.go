package bot

import (
	"fmt"
	"strings"
	"time"

	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/history"
	"github.com/nightporter/nightporter/loop/ledger"
)

// sumOf writes an amount of a budget: "$9.80", "4.2 M tokens".
func sumOf(tokens bool, v float64) string { return budgetAmount(ledger.BudgetShort{Tokens: tokens}, v) }

// outlookBudget names the budget that probably ends a run, and where: "the budget of $15 ends
// it at about #9"; "" for none.
func outlookBudget(o ledger.Outlook) string {
	b := o.Budget
	if b.Limit == "" {
		return ""
	}
	of := "budget of " + sumOf(b.Tokens, b.Of)
	if b.Limit == ledger.BudgetDay {
		of = "24 h " + of
	}
	switch {
	case b.Limit == ledger.BudgetTask && b.Tasks > 1:
		return fmt.Sprintf("about %s meet their %s each, %s first", Plural(b.Tasks, "task"), of, shortID(b.Task))
	case b.Limit == ledger.BudgetTask && b.Needs > 0:
		return fmt.Sprintf("the %s of %s has no room for one session, about %s", of, shortID(b.Task), sumOf(b.Tokens, b.Needs))
	case b.Limit == ledger.BudgetTask:
		return shortID(b.Task) + " meets its " + of
	case b.Needs > 0:
		return "the " + of + " has no room for one session, about " + sumOf(b.Tokens, b.Needs)
	}
	return "the " + of + " ends it at about " + shortID(b.Task)
}

// BudgetWarned tells people that most of a budget is spent, what is left, and what that is
// probably enough for.
func BudgetWarned(s loop.State, b ledger.BudgetWarned, now time.Time) Message {
	m := newMessage("budget.80", firstLine(SignLook, s.Project.Name, budgetName(b)+" "+budgetPart(b)+": "+budgetSpent(b), ""))
	m.Project = s.Project.Name
	if r := s.Project.Run; r != nil {
		m.Run = r.ID
	}
	scope := map[ledger.BudgetLimit]string{ledger.BudgetDay: ", all projects"}[b.Limit]
	m.add("of " + sumOf(b.Tokens, b.Of) + scope + " · " + now.Format("15:04") + " · " + Count(s).String())
	m.add(budgetLeft(b, now) + ".")
	if r := s.Project.Run; r != nil && r.Settings.Stays || b.Limit == ledger.BudgetTask {
		m.add("Work goes on. You are asked once a session does not fit.")
	} else {
		m.add("Work goes on. The run ends where no session fits.")
	}
	m.button("Cost", "/cost")
	m.button("Forecast", "/forecast")
	m.button("Stop", "/stop")
	return m
}

// BudgetWarnedLine is BudgetWarned in one line.
func BudgetWarnedLine(b ledger.BudgetWarned, now time.Time) string {
	return budgetName(b) + " " + budgetPart(b) + ": " + budgetSpent(b) + " of " + sumOf(b.Tokens, b.Of) + ", " + budgetLeft(b, now)
}

// budgetName says whose budget it is.
func budgetName(b ledger.BudgetWarned) string {
	switch b.Limit {
	case ledger.BudgetDay:
		return "24 h budget"
	case ledger.BudgetTask:
		return shortID(b.Task) + " budget"
	}
	return "budget"
}

// budgetPart says how much of a budget is spent, in percent: "80 %".
func budgetPart(b ledger.BudgetWarned) string {
	return fmt.Sprintf("%d %%", int(100*b.Spent/b.Of+1e-6))
}

// budgetSpent writes what is spent, with "≈" if some of it is estimated or assumed.
func budgetSpent(b ledger.BudgetWarned) string {
	if b.About {
		return "≈" + sumOf(b.Tokens, b.Spent)
	}
	return sumOf(b.Tokens, b.Spent)
}

// budgetRoom writes what is left of a budget, with "≈" if some of what is spent is
// estimated: "$3.60", "≈700 k tokens".
func budgetRoom(b ledger.BudgetWarned) string {
	left := sumOf(b.Tokens, b.Left())
	if b.About {
		return "≈" + left
	}
	return left
}

// budgetLeft says what is left of a budget, and what that is probably enough for.
func budgetLeft(b ledger.BudgetWarned, now time.Time) string {
	left := budgetRoom(b) + " left"
	if b.Needs > 0 {
		return left + "; the next session takes about " + sumOf(b.Tokens, b.Needs)
	}
	o := b.Outlook
	if o == nil || history.Basis(o.Basis) == history.FromPrior { // a rough guess helps nobody here
		return left
	}
	switch end := o.Budget; {
	case end.Limit == ledger.BudgetTask || end.Limit == "":
		return left + ", enough: about " + outlookDone(*o) + " of " + Plural(o.Total, "task") + " by " + Clock(o.By, now)
	case o.High == 0:
		return left + ", not enough for " + shortID(end.Task)
	}
	return left + ", enough for about " + outlookDone(*o) + " of " + Plural(o.Total, "task") + ", to " + shortID(o.Budget.Task)
}

// costOf is what stands behind a run's cost if it has a budget in money: " of $15".
func costOf(s loop.State) string {
	r := s.Project.Run
	if r == nil || r.Settings.Budget.USDRun <= 0 {
		return ""
	}
	of := sumOf(false, r.Settings.Budget.USDRun+r.ExtraUSD)
	if CostOpen(s) || r.Unpriced > 0 && r.CostUSD == 0 {
		return ", budget " + of
	}
	return " of " + of
}

// CostOfBudget is CostSoFar with the run's budget in money: "$6.42 of $15".
func CostOfBudget(s loop.State) string { return CostSoFar(s) + costOf(s) }

// offeredBudget says what an offered run may spend, and what is left of the day's budget:
// "Budget $15, $3 a task · 24 h: ≈$27.60 of $40 left". It is "" without a budget.
func offeredBudget(s loop.State, q ledger.Question) string {
	var parts []string
	b := q.Offer.Budget
	if b.USDRun > 0 {
		parts = append(parts, sumOf(false, b.USDRun))
	}
	if b.TokensRun > 0 {
		parts = append(parts, sumOf(true, float64(b.TokensRun)))
	}
	if b.USDTask > 0 {
		parts = append(parts, sumOf(false, b.USDTask)+" a task")
	}
	var all []string
	day := "24 h budget: "
	if len(parts) > 0 {
		all, day = append(all, "Budget "+strings.Join(parts, ", ")), "24 h: "
	}
	for _, b := range s.Budgets(q.Asked) {
		if b.Limit == ledger.BudgetDay {
			all = append(all, day+strings.TrimSuffix(budgetRoom(b), " tokens")+" of "+sumOf(b.Tokens, b.Of)+" left")
		}
	}
	return strings.Join(all, " · ")
}

// BudgetLines says what is spent of a run's budget in tokens and of the last 24 hours', a
// line each.
func BudgetLines(s loop.State, now time.Time) (lines []string) {
	for _, b := range s.Budgets(now) {
		text := strings.TrimSuffix(budgetSpent(b), " tokens") + " of " + sumOf(b.Tokens, b.Of)
		switch {
		case b.Limit == ledger.BudgetDay:
			lines = append(lines, "24 h, all projects: "+text)
		case b.Tokens:
			lines = append(lines, text)
		}
	}
	return lines
}
