package bot

import (
	"fmt"

	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// budgetHead is the headline of a question about a budget: "#4: $9.80 of $10 spent".
func budgetHead(_ loop.State, q ledger.Question) string {
	b := q.Shortage()
	if b.Tokens {
		return fmt.Sprintf("%s: %s of %s", shortID(q.Task), Tokens(int64(b.Spent)), Tokens(int64(b.Of)))
	}
	return fmt.Sprintf("%s: %s of %s", shortID(q.Task), budgetAmount(b, b.Spent), budgetAmount(b, b.Of))
}

// budgetAmount writes an amount of a budget: "$9.80", "4.2 M tokens".
func budgetAmount(b ledger.BudgetShort, v float64) string {
	if b.Tokens {
		return Tokens(int64(v)) + " tokens"
	}
	if v == float64(int64(v)) {
		return fmt.Sprintf("$%.0f", v)
	}
	return Money(v)
}

// budget says which budget does not have room for a session.
func (m *Message) budget(q ledger.Question) {
	b := q.Shortage()
	m.add(map[ledger.BudgetLimit]string{
		ledger.BudgetSession: "Its session was ended at the limit of one session; what it wrote is kept.",
		ledger.BudgetTask:    "That is this task's budget.",
		ledger.BudgetRun:     "That is this run's budget.",
		ledger.BudgetDay:     "That is the budget of all projects in 24 hours.",
	}[b.Limit])
	if b.Tokens {
		m.add("It counts tokens: more 10 adds 10 M.")
	}
	if b.Needs > 0 {
		m.add(fmt.Sprintf("Its next session (%s, %s) takes about %s.", Clean(q.Hat), Clean(b.Agent), budgetAmount(b, b.Needs)))
	}
}

// liftedText says how far the answer "task" goes: a day's budget belongs to all projects.
func liftedText(q ledger.Question) string {
	if q.Shortage().Limit == ledger.BudgetDay {
		return ", whatever it takes"
	}
	return ", whatever the day has room for"
}

// Overshoot says by how much a run went over its budget, "" if it kept to it:
// "$5.11 of $5 · $0.11 over".
func Overshoot(r *loop.Run) string {
	if r == nil {
		return ""
	}
	b, ok := r.Overshoot()
	if !ok {
		return ""
	}
	sign := ""
	if !b.Tokens && (r.Estimated > 0 || r.AssumedUSD > 0) {
		sign = "≈"
	}
	return fmt.Sprintf("%s%s of %s · %s%s over", sign, budgetAmount(b, b.Spent), budgetAmount(b, b.Of), sign, budgetAmount(b, b.Spent-b.Of))
}
