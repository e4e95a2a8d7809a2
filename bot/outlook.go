package bot

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/history"
	"github.com/nightporter/nightporter/loop/ledger"
)

// planNight is what follows /plan for the outlook on the night.
const planNight = "night"

// night handles /forecast and /plan night.
func (d dispatch) night(ctx context.Context) Message {
	return Night(d.s, OutlookOf(ctx, d.service, d.s, d.r.Time), d.r.Time)
}

// offering reads the configuration and the source as a run that begins now would.
type offering interface {
	Offer(ctx context.Context, project string, f RunFlags) (loop.OfferRun, error)
}

// OutlookOf returns what a project's run will probably get done, from what its own tasks
// and those of the service's other projects took; nil = no task is open. Where none is
// under way, it is about the one that /run would start. If nobody can say what that is,
// it is about another one like the last.
func OutlookOf(ctx context.Context, service Service, s loop.State, now time.Time) *ledger.Outlook {
	if host, ok := service.(offering); ok && (s.Project.Run.Over() || s.Project.Run.Aside()) {
		o, err := host.Offer(ctx, s.Project.Name, RunFlags{})
		if err == nil && o.Settings.Source.Kind != ledger.SourceBugs {
			return o.Outlook
		}
	}
	var others []history.History
	for _, name := range service.Projects() {
		if o, ok := service.State(name); ok && name != s.Project.Name {
			others = append(others, o.Project.History)
		}
	}
	return loop.SaidOf(loop.OutlookOf(s, now, others...))
}

// Night tells people what the night will probably get done; nil = no task is open.
func Night(s loop.State, o *ledger.Outlook, now time.Time) Message {
	if o == nil {
		m := newMessage("plan.night", firstLine(SignLater, s.Project.Name, "has no open task", ""))
		m.Project = s.Project.Name
		m.add("Nothing is left that a night could do.")
		m.button("Tasks", "/tasks")
		return m
	}
	m := newMessage("plan.night", firstLine("", s.Project.Name, OutlookTasks(*o), ""))
	m.Project = s.Project.Name
	m.add("By about " + Clock(o.By, now) + ", " + OutlookCost(*o))
	m.add(leastSure(*o))
	m.add(outlookLimit(*o, now))
	m.add(upper(outlookBudget(*o)))
	m.add(outlookBasis(*o))
	m.button("Tasks", "/tasks")
	return m
}

// Retold tells people that the run will probably get something else done than they were
// told.
func Retold(s loop.State, told, is ledger.Outlook, now time.Time) Message {
	tasks := outlookDone(is) + ", not " + fmt.Sprint(told.Done)
	cost := OutlookCost(is)
	if loop.OtherCost(told, is) {
		cost += ", not " + OutlookCost(told)
	}
	first, rest := tasks, cost
	if !loop.OtherTasks(told, is) {
		first, rest = cost, outlookDone(is)+" done"
	}
	m := newMessage("run.outlook", firstLine("", s.Project.Name, "forecast: "+first, ""))
	m.Project, m.Run = s.Project.Name, s.Project.Run.ID
	m.add("At " + now.Format("15:04") + ", by about " + Clock(is.By, now) + ": " + rest)
	m.add(leastSure(is))
	m.add(outlookLimit(is, now))
	m.add(upper(outlookBudget(is)))
	m.add("Work goes on.")
	m.button("Forecast", "/forecast")
	m.button("Tasks", "/tasks")
	return m
}

// RetoldLine is what people were told last in a run that it will probably get done, where
// that is not what they were told before it: "forecast 01:12: 6 (5–7) by 06:30".
func RetoldLine(r *loop.Run, now time.Time) string {
	if r.Retold == nil {
		return ""
	}
	o := r.Retold.Outlook
	return "forecast " + Clock(r.Retold.At, now) + ": " + outlookDone(o) + " by " + Clock(o.By, now)
}

// RetoldSum is Retold in one line: "6 (5–7) by 06:30 for $9–12; said was 9 (7–11)".
func RetoldSum(told, is ledger.Outlook, now time.Time) string {
	return outlookDone(is) + " by " + Clock(is.By, now) + ", " + OutlookCost(is) + "; said was " + outlookDone(told) + ", " + OutlookCost(told)
}

// OutlookTasks says how many tasks will probably be done: "12 tasks: 9 (7–11)".
func OutlookTasks(o ledger.Outlook) string {
	return Plural(o.Total, "task") + ": " + outlookDone(o)
}

// outlookDone says how many tasks will probably be done, with the bounds: "9 (7–11)".
func outlookDone(o ledger.Outlook) string {
	text := fmt.Sprint(o.Done)
	if o.Low < o.High {
		text += fmt.Sprintf(" (%d–%d)", o.Low, o.High)
	}
	return text
}

// leastSure names the task that is least sure to be done, "" if all are sure.
func leastSure(o ledger.Outlook) string {
	if o.Unsure == "" {
		return ""
	}
	return fmt.Sprintf("Least sure: %s (%d %%)", shortID(o.Unsure), int(100*o.Chance+0.5))
}

// outlookLimit names the agent whose usage window will probably be used up, and what happens
// then; "" for none.
func outlookLimit(o ledger.Outlook, now time.Time) string {
	if o.Limit.Agent == "" {
		return ""
	}
	then := "it waits until " + Clock(o.Limit.Until, now)
	if o.Limit.Then != "" {
		then = CleanLine(o.Limit.Then)
	}
	return CleanLine(o.Limit.Agent) + "'s window ends at about " + Clock(o.Limit.At, now) + ", then " + then
}

// outlookBasis says what an outlook is from, where that is not the project's own tasks.
func outlookBasis(o ledger.Outlook) string {
	switch history.Basis(o.Basis) {
	case history.FromHouse:
		return "From what your other projects took."
	case history.FromPrior:
		return "A rough guess: too few tasks are finished to know better."
	}
	return ""
}

// outlookLines are the lines about an outlook in the question that confirms a run.
func outlookLines(o *ledger.Outlook, now time.Time) []string {
	if o == nil {
		return nil
	}
	lines := []string{outlookSum(*o, now)}
	if sure := leastSure(*o); sure != "" && history.Basis(o.Basis) != history.FromPrior {
		lines = append(lines, sure+".")
	}
	if limit := outlookLimit(*o, now); limit != "" {
		lines = append(lines, limit+".")
	}
	if budget := outlookBudget(*o); budget != "" {
		lines = append(lines, upper(budget)+".")
	}
	return lines
}

// outlookSum is an outlook in one line: "Done by about 07:10: 9 (7–11), $11–16."
func outlookSum(o ledger.Outlook, now time.Time) string {
	if history.Basis(o.Basis) == history.FromPrior {
		return "A rough guess: " + outlookDone(o) + " by " + Clock(o.By, now) + ", " + OutlookCost(o) + "."
	}
	return "Done by about " + Clock(o.By, now) + ": " + outlookDone(o) + ", " + OutlookCost(o) + "."
}

// Foretold compares what people were told before a run with what came of it: "Said 9 (7–11)
// for $11–16, came 8". It returns "" if they were told nothing, a rough guess, or of a single task.
func Foretold(r *loop.Run) string {
	if r == nil || !loop.WorthTelling(r.Said) {
		return ""
	}
	said := "Said " + outlookDone(*r.Said)
	if r.Said.USDHigh >= 0 {
		said += " for " + OutlookCost(*r.Said)
	}
	return fmt.Sprintf("%s, came %d", said, r.DoneIn)
}

// OutlookCost says what it will probably cost: "$11–16", or "cost unknown".
func OutlookCost(o ledger.Outlook) string {
	if o.USDLow < 0 || o.USDHigh < 0 {
		return "cost unknown"
	}
	if o.USDHigh < 10 {
		low, high := Money(o.USDLow), Money(o.USDHigh)
		if low == high {
			return high
		}
		return low + "–" + strings.TrimPrefix(high, "$")
	}
	low, high := fmt.Sprintf("%.0f", o.USDLow), fmt.Sprintf("%.0f", o.USDHigh)
	if low == high {
		return "$" + high
	}
	return "$" + low + "–" + high
}
