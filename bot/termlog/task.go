package termlog

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// commitment prints the beginning of a task's attempt.
func (c *Console) commitment(v view, b ledger.Commitment) {
	key := ledger.FoldID(v.e.Task)
	t, _ := v.after.Project.Find(v.e.Task)
	title := bot.Cut(bot.Clean(b.Title), 60)
	if b.Resume {
		if was, ok := v.before.Project.Find(v.e.Task); ok && was.Attempt != nil && was.Attempt.Run == v.e.Run {
			return // the attempt continues after it waited for an answer
		}
		c.printEntry(v, bot.SignAgain+" "+c.id(v.e.Task)+" "+title+", goes on where it was")
		return
	}
	delete(c.commits, key)
	if t.Attempts <= 1 {
		c.spent[key] = &taskCost{}
		c.printEntry(v, bot.SignNow+" "+c.id(v.e.Task)+" "+title)
		return
	}
	c.printEntry(v, fmt.Sprintf("%s %s %s, attempt %d", bot.SignAgain, c.id(v.e.Task), title, t.Attempts))
}

// taskSet prints a change of a task that no other entry shows.
func (c *Console) taskSet(v view, b ledger.TaskSet) {
	if v.run().Started.IsZero() {
		return // the first reading of the source
	}
	if b.To != ledger.Active {
		c.printHeld(v, v.e.Task)
	}
	if b.Gate != "" {
		return // the wave's line counts them: there may be thousands
	}
	id := c.id(v.e.Task)
	switch b.To {
	case ledger.Done:
		c.done(v, b)
	case ledger.Skipped:
		text := bot.SignAway + " " + id + " skipped"
		if rest := bot.Dependents(v.after, v.e.Task); rest != "" {
			text += "; " + rest
		}
		c.printWrapped(v, text)
	case ledger.Withdrawn:
		if t, ok := v.after.Project.Find(v.e.Task); ok && t.Task.Prepares() {
			return // what it was for is told
		}
		c.printEntry(v, bot.SignAway+" "+id+" withdrawn: its line is gone")
	case ledger.Blocked:
		if b.Question == "" {
			c.printWrapped(v, bot.SignBlocked+" "+id+" blocked: "+bot.Clean(b.Why))
		}
	case ledger.Ready:
		if b.From == "" && isPart(v) {
			return // printed together with its plan
		}
		if b.Fresh || (b.From != ledger.Pending && b.From != ledger.Active && b.From != ledger.Waiting) {
			if b.By == "console" { // its reader is the one who typed it
				b.By = ""
			}
			c.printEntry(v, bot.SignLater+" "+id+" ready again"+reasonSuffix(b.Reason()))
		}
	}
}

// isPart reports whether a task is part of another task's plan.
func isPart(v view) bool {
	t, ok := v.after.Project.Find(v.e.Task)
	return ok && t.Task.Parent != ""
}

func reasonSuffix(why string) string {
	if why = bot.Clean(why); why == "" {
		return ""
	}
	return ": " + why
}

// done prints the line of a completed task.
func (c *Console) done(v view, b ledger.TaskSet) {
	key := ledger.FoldID(v.e.Task)
	gap := "   "
	if c.opt.Demo {
		gap = "  "
	}
	t, _ := v.after.Project.Find(v.e.Task)
	sign := bot.SignDone
	if p := bot.ProofOf(v.after, t); p != nil {
		sign = bot.ProofSign(*p)
	}
	if t.Task.Joins {
		c.printEntry(v, sign+" "+c.id(v.e.Task)+" "+bot.DoneWord(t)+", "+bot.Clean(b.Why))
		return
	}
	text := sign + " " + c.id(v.e.Task) + " done" + gap + bot.Count(v.after).String()
	if p, known := c.costOf(t); known && !p.unknown && c.costsKnown && !c.opt.Demo {
		text += "  " + bot.SessionCost(ledger.Exit{CostUSD: p.usd, Estimated: p.about})
	}
	switch hash := c.commits[key]; {
	case hash != "":
		text += "  " + bot.Clean(hash)[:min(len(hash), 7)]
	case b.Why != "":
		text += "  " + bot.Clean(b.Why)
	case b.From == ledger.Active:
		text += "  nothing to change"
	}
	if proof := bot.ProofText(v.after, t); proof != "" {
		text += " · " + proof
	}
	c.printWrapped(v, text)
	if p := bot.ProofOf(v.after, t); p != nil && p.Word == ledger.ChangedChecks {
		c.wrapped(bot.ProofNote(*p))
	}
}

// costOf returns what the task's sessions have cost, with those of its parts. known is
// false if none was seen.
func (c *Console) costOf(t loop.TaskState) (sum taskCost, known bool) {
	for _, id := range append([]string{t.Task.ID}, t.Parts...) {
		if p := c.spent[ledger.FoldID(id)]; p != nil {
			known = true
			sum.usd += p.usd
			sum.unknown, sum.about = sum.unknown || p.unknown, sum.about || p.about
		}
	}
	return sum, known
}

// proved prints a word that came after its task was done: a person allowed or
// passed it.
func (c *Console) proved(v view, b ledger.TaskProved) {
	if t, ok := v.before.Project.Find(v.e.Task); ok && t.Status == ledger.Done {
		c.printWrapped(v, bot.ProofSign(b.Proof)+" "+c.id(v.e.Task)+" "+bot.ProofNote(b.Proof))
	}
}

// attemptEnded prints a failed attempt. If it blocks its task, that line shows
// it instead.
func (c *Console) attemptEnded(v view, b ledger.AttemptEnded) {
	s := c.held[ledger.FoldID(v.e.Task)]
	c.printHeld(v, v.e.Task)
	if s != nil && s.event.Type == ledger.EventBlocked {
		return // the question that follows gives the same reason
	}
	id := c.id(v.e.Task)
	t, _ := v.after.Project.Find(v.e.Task)
	c.outcomes[ledger.FoldID(v.e.Task)] = b.Outcome
	switch {
	case b.Outcome == ledger.OutcomeBlocked:
	case b.Outcome == ledger.OutcomeStalled && t.Failed < ledger.MaxAttempts:
		c.printWrapped(v, fmt.Sprintf("%s %s attempt %d made no progress%s", bot.SignFailed, id, max(t.Attempts, 1), reasonSuffix(b.Why)))
	case b.Failed && t.Failed < ledger.MaxAttempts:
		c.printWrapped(v, fmt.Sprintf("%s %s attempt %d failed: %s", bot.SignFailed, id, max(t.Attempts, 1), bot.OutcomeWhy(b.Outcome, b.Why)))
		if was, ok := v.before.Project.Find(v.e.Task); ok {
			c.excerpt(b.Why, loop.ExcerptOf(was.Attempt))
		}
	case b.Failed, b.Outcome == ledger.OutcomePlanned: // the following question, or the parts, show it
	case b.Outcome == ledger.OutcomeBudget:
		c.printWrapped(v, bot.SignLook+" "+id+" kept as it is, goes on from there next time: "+bot.OutcomeWhy(b.Outcome, b.Why))
	case b.Replan, b.Outcome == ledger.OutcomeAnew:
		c.printWrapped(v, bot.SignAgain+" "+id+" starts anew: "+bot.Clean(b.Why))
	case !b.Failed && t.Attempt != nil && t.Attempt.Merged != nil && t.Attempt.Merged.Whole: // the line of its parts says it
	case !b.Failed && t.Attempt != nil && t.Attempt.Consensus != nil && t.Attempt.Consensus.Yields:
		c.printEntry(v, bot.SignLater+" "+id+" goes on later: "+bot.Clean(b.Why))
	case !b.Failed:
		c.printEntry(v, bot.SignLater+" "+id+" is kept as it is and goes on from there next time")
	}
}

// replanned prints that a task gets another plan. It names the reason where the line of
// the failed attempt was left to the question that usually follows.
func (c *Console) replanned(v view, b ledger.TaskReplanned) {
	why := ""
	if t, ok := v.after.Project.Find(v.e.Task); ok && b.Failed >= ledger.MaxAttempts {
		why = reasonSuffix(t.LastFail)
	}
	c.printWrapped(v, fmt.Sprintf("%s %s is planned anew after %s%s", bot.SignAgain, c.id(v.e.Task), bot.Plural(b.Failed, "failed attempt"), why))
}

// planSettled prints the outcome of the debate about a plan.
func (c *Console) planSettled(v view, b ledger.PlanSettled) {
	sign := bot.SignDone
	if !b.Approved {
		sign = bot.SignAgain
	}
	c.printWrapped(v, sign+" "+c.id(v.e.Task)+" plan "+bot.SettledPlan(b))
}

// hatsRead prints that hats were changed on disk.
func (c *Console) hatsRead(v view, b ledger.HatsRead) {
	if trouble := bot.HatsTrouble(b.Trouble); trouble != "" {
		c.printWrapped(v, bot.SignLook+" hats "+trouble)
		return
	}
	text := bot.SignLater + " hats read anew, for the sessions that come"
	if b.Pattern.Name != "" {
		text += ": " + bot.Clean(b.Pattern.Name)
	}
	c.printEntry(v, text)
}

// sourceRead prints changes that people made to the source during the run.
func (c *Console) sourceRead(v view, b ledger.SourceRead) {
	if v.run().Started.IsZero() {
		return
	}
	name := bot.Clean(b.Name)
	if b.Trouble != "" {
		c.printEntry(v, bot.SignLook+" "+name+" cannot be used as it is; the last good reading stands")
		c.wrapped(b.Trouble)
		return
	}
	if len(b.Doubted) > 0 {
		c.printWrapped(v, fmt.Sprintf("%s %s lacks something of %s; read again in %d s, nothing begins before", bot.SignLook, name, c.few(b.Doubted), int(ledger.SettleTime.Seconds())))
	}
	if len(b.Back) > 0 {
		c.printEntry(v, bot.SignDone+" "+name+" has all of "+c.few(b.Back)+" again")
	}
	for _, t := range slices.Concat(b.Own, b.Tasks) {
		if len(t.Sorts) > 0 { // the wave's line says it
			continue
		}
		if _, known := v.before.Project.Find(t.ID); known {
			if len(b.Tasks) <= 5 {
				c.printEntry(v, bot.SignLater+" "+c.id(t.ID)+" changed in "+name)
			}
			continue
		}
		c.printEntry(v, bot.SignDone+" "+c.id(t.ID)+" added: "+bot.Clean(t.Title))
	}
	if n := len(b.Tasks); n > 5 {
		c.printEntry(v, fmt.Sprintf("%s %s: %s read again", bot.SignLater, name, bot.Plural(n, "task")))
	}
}

// few names at most five tasks, and how many more there are.
func (c *Console) few(ids []string) string {
	var short []string
	for _, id := range ids[:min(len(ids), 5)] {
		short = append(short, c.id(id))
	}
	if more := len(ids) - len(short); more > 0 {
		short = append(short, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(short, " ")
}
