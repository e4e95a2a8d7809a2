package bot

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/nightporter/nightporter/internal/regexp"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// budgetHead is the headline of a question about a budget: "#4: $9.80 of $10", and where
// something is unknown "#4: $0.04 known of $0.40" or "#4: unknown of $0.40".
func budgetHead(s loop.State, q ledger.Question) string {
	b := q.Shortage()
	amount := func(v float64) string { return budgetAmount(b, v) }
	if b.Tokens {
		amount = func(v float64) string { return Tokens(int64(v)) }
	}
	spent := b.KnownText(amount)
	if known, partly := strings.CutSuffix(spent, " + unknown"); partly {
		spent = strings.TrimPrefix(known, "≈") + " known"
	}
	return fmt.Sprintf("%s: %s of %s", shortID(budgetOf(s, q)), spent, amount(b.Of))
}

// budgetOf returns the task whose budget a question is about: sections of a task have that
// of their task.
func budgetOf(s loop.State, q ledger.Question) string {
	if t, ok := s.Project.Find(q.Task); ok && t.Task.Parent != "" && q.Shortage().Limit == ledger.BudgetTask {
		return t.Task.Parent
	}
	return q.Task
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

// budgetMore says what the answer "more" adds, and how to say another amount.
func budgetMore(q ledger.Question) string {
	b := q.Shortage()
	other := "more 20"
	if b.Tokens {
		other = "more 500k"
	}
	return "+" + budgetAmount(b, b.Step) + "; " + other + " says another amount"
}

// amountForm is an answer that is an amount: "+$5".
var amountForm = regexp.MustCompile(`^\+?\s*\$?\s*\d+([.]\d+)?\s*[kKmM]?$`)

// budget says which budget does not have room for a session.
func (m *Message) budget(s loop.State, q ledger.Question) {
	b := q.Shortage()
	m.add(map[ledger.BudgetLimit]string{
		ledger.BudgetSession: "Its session was ended at the limit of one session; what it wrote is kept.",
		ledger.BudgetTask:    "That is this task's budget.",
		ledger.BudgetRun:     "That is this run's budget.",
		ledger.BudgetDay:     "That is the budget of all projects in 24 hours.",
	}[b.Limit])
	if of := budgetOf(s, q); of != q.Task {
		m.add(fmt.Sprintf("All sections of %s spend from it.", shortID(of)))
	}
	if b.Assumed > 0 {
		of := " of unknown cost."
		if b.Tokens {
			of = " that told none."
		}
		m.add(budgetAmount(b, b.Assumed) + " assumed for " + Plural(b.Unknown, "session") + of)
	}
	if b.Reserved > 0 {
		m.add(budgetAmount(b, b.Reserved) + " reserved by sessions at work.")
	}
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

// tasksOver is how many tasks that went over their budget are named.
const tasksOver = 3

// Overshoots says by how much a run went over its budgets, a line each: "$5.11 of $5 · $0.11
// over", "#5: $1.31 of $1 · $0.31 over".
func Overshoots(s loop.State, now time.Time) (lines []string) {
	tasks := 0
	for _, o := range s.Overshoots(now) {
		if o.Limit == ledger.BudgetTask {
			if tasks++; tasks > tasksOver {
				continue
			}
		}
		lines = append(lines, overshoot(o))
	}
	if more := tasks - tasksOver; more > 0 {
		lines = append(lines, Plural(more, "task")+" more over the budget of a task")
	}
	return lines
}

// rounded rounds as an amount is shown, so that shown amounts add up.
func rounded(v float64) float64 {
	shown, err := strconv.ParseFloat(fmt.Sprintf("%.2f", v), 64)
	if err != nil {
		return v
	}
	return shown
}

// overshoot is one line of Overshoots.
func overshoot(o loop.Overshoot) string {
	sign, about := "", ""
	if o.About || o.Assumed > 0 {
		sign = "≈"
	}
	switch o.Limit {
	case ledger.BudgetDay:
		about = "24 h: "
	case ledger.BudgetTask:
		about = shortID(o.Task) + ": "
	case ledger.BudgetSession:
		about = strings.TrimSpace(shortID(o.Task)+" "+Clean(o.Hat)) + ": "
	}
	text := fmt.Sprintf("%s%s%s of %s · %s%s over", about, sign, budgetAmount(o.BudgetShort, o.Spent), budgetAmount(o.BudgetShort, o.Of), sign, budgetAmount(o.BudgetShort, rounded(o.Spent)-rounded(o.Of)))
	if o.Assumed > 0 {
		text += ", " + budgetAmount(o.BudgetShort, o.Assumed) + " assumed"
	}
	if o.More > 0 {
		text += ", " + Plural(o.More, "session") + " more by less"
	}
	return text
}
