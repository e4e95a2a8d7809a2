package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/loop/ledger"
)

// failedKind is one failure of a session or a verification.
type failedKind struct{ task, what string }

func (c *collector) countFailure(what string, e ledger.Entry) {
	if c.inSpan(e.Time) {
		c.kinds = append(c.kinds, failedKind{e.Task, what})
	}
}

// unsettled counts the failures, without those of tasks that are done by now.
func (c *collector) unsettled() {
	for _, k := range c.kinds {
		if !c.isDone(k.task) {
			c.FailureKinds = counted(c.FailureKinds, k.what)
		}
	}
	c.Failures = slices.DeleteFunc(c.Failures, func(f Failure) bool { return c.isDone(f.Task) })
	slices.SortStableFunc(c.FailureKinds, func(a, b Count) int { return cmp.Compare(b.N, a.N) })
}

// isDone reports whether a task, or the task that it is a part of, is done at To.
func (c *collector) isDone(id string) bool {
	t, ok := c.s.Project.Find(id)
	if ok && t.Task.Parent != "" && t.Status != ledger.Done {
		t, ok = c.s.Project.Find(t.Task.Parent)
	}
	return ok && t.Status == ledger.Done
}

// flaw notes that a task is not done at the first pass. A part's flaw is its task's.
func (c *collector) flaw(task string) {
	c.flawed[ledger.FoldID(task)] = true
	if t, ok := c.s.Project.Find(task); ok && t.Task.Parent != "" {
		c.flawed[ledger.FoldID(t.Task.Parent)] = true
	}
}

// causeOf returns the cause that an attempt's outcome is for its task.
func causeOf(o ledger.AttemptOutcome) Cause {
	switch o {
	case ledger.OutcomeBlocked:
		return CauseDecision
	case ledger.OutcomeRed:
		return CauseRed
	case ledger.OutcomeStalled:
		return CauseStalled
	case ledger.OutcomeLimit:
		return CauseLimit
	case ledger.OutcomeFailed:
		return CauseSilent
	}
	return CauseUnknown
}

// failedLines returns the failures by kind.
func (f Facts) failedLines() []string {
	var out []string
	var kinds []string
	for _, t := range f.FailureKinds {
		kinds = append(kinds, fmt.Sprintf("%d %s", t.N, t.Name))
	}
	if len(kinds) > 0 {
		out = append(out, "Failed: "+strings.Join(kinds, ", "))
	}
	return out
}

// openFailures returns a line for each task with failed attempts that is neither done
// nor among the needs.
func (f Facts) openFailures() []string {
	var out []string
	for n, x := range f.Failures {
		same := func(o Failure) bool { return ledger.SameID(o.Task, x.Task) }
		if f.inNeeds(x.Task) || slices.ContainsFunc(f.Failures[n+1:], same) { // the last one speaks for all
			continue
		}
		what := "an attempt failed"
		if times := len(f.Failures[:n+1]) - len(slices.DeleteFunc(slices.Clone(f.Failures[:n+1]), same)); times > 1 {
			what = fmt.Sprintf("%d attempts failed", times)
		}
		out = append(out, bot.SignFailed+" "+shortID(x.Task)+" "+what+reasonSuffix(x.Why))
	}
	return out
}

// attemptLines returns one line for each failed attempt.
func (f Facts) attemptLines() []string {
	var out []string
	for _, x := range f.Failures {
		out = append(out, bot.SignFailed+" "+strings.TrimSpace(shortID(x.Task)+" "+attemptName(x.Attempt))+reasonSuffix(x.Why))
	}
	return out
}

// attemptName names an attempt for people: "a2" is "attempt 2".
func attemptName(id string) string {
	if n, ok := strings.CutPrefix(bot.Clean(id), "a"); ok {
		return "attempt " + n
	}
	return bot.Clean(id)
}
