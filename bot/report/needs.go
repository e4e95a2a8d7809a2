package report

import (
	"cmp"
	"slices"
	"strings"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// addNeeds adds the things that only a person can do, the most urgent first.
func (c *collector) addNeeds() {
	r := c.s.Project.Run
	if r != nil && !r.Over() {
		c.standstill(r)
	}
	if c.TipRed && c.Branch != "" {
		c.Needs = append(c.Needs, Need{Sign: bot.SignFailed, Text: "The branch fails its checks; nothing was pushed"})
	}
	questions := slices.Clone(c.s.Project.Questions)
	slices.SortStableFunc(questions, func(a, b ledger.Question) int { return cmp.Compare(a.Urgency(), b.Urgency()) })
	asked := map[string]bool{}
	for _, q := range questions {
		asked[ledger.FoldID(q.Task)] = true
		c.Needs = append(c.Needs, Need{Sign: bot.SignOf(q), Text: c.questionLine(q), Task: q.Task, Question: q})
	}
	for _, t := range c.s.Project.Tasks.All() { // tasks without a question: from a run that asks none, or marked in the source
		if asked[ledger.FoldID(t.Task.ID)] {
			continue
		}
		switch t.Status {
		case ledger.Blocked:
			c.Needs = append(c.Needs, Need{Sign: bot.SignBlocked, Text: c.taskName(t.Task.ID, t.Task.Title, "") + reasonSuffix(t.Why) + c.dependentsSuffix(t.Task.ID), Task: t.Task.ID})
		case ledger.ManualVerify:
			c.Needs = append(c.Needs, Need{Sign: bot.SignAsk, Text: c.taskName(t.Task.ID, t.Task.Title, "") + ", manual verify", Task: t.Task.ID})
		}
	}
	c.next = c.nextStep(r)
}

// standstill adds the reason why the whole run cannot continue.
func (c *collector) standstill(r *loop.Run) {
	switch {
	case r.State == ledger.RunWaiting && r.Wait == ledger.WaitAgent:
		agent := r.AwaitedAgent()
		text := bot.Cut(bot.Clean(agent), 16) + " cannot be used"
		if hold, ok := c.s.Shared.Agents[agent]; ok && !hold.Since.IsZero() {
			text += " since " + bot.Clock(hold.Since, c.To)
		}
		switch hold := c.s.Shared.Agents[agent]; {
		case hold.Why == ledger.FailureLimit:
			text += "; look at the limit of its account"
		case hold.LoggedOut:
			text += "; on the host: nightporter login " + bot.Cut(bot.Clean(agent), 16)
		default:
			text += "; on the host: nightporter doctor"
		}
		c.Needs = append(c.Needs, Need{Sign: bot.SignLook, Text: text, BlocksRun: true})
	case r.Wait == ledger.WaitDisk:
		c.Needs = append(c.Needs, Need{Sign: bot.SignLook, Text: "The disk is full, or the state folder cannot be written", BlocksRun: true})
	case r.Wait == ledger.WaitMachine:
		text := "The run " + bot.MachineWait(c.s)
		if f, ok := c.s.Project.Held(); ok {
			text += " since " + bot.Clock(f.Since, c.To)
		}
		c.Needs = append(c.Needs, Need{Sign: bot.SignLook, Text: text, BlocksRun: true})
	case r.State == ledger.RunPaused && r.Wait == ledger.WaitPerson:
		c.Needs = append(c.Needs, Need{Sign: bot.SignPaused, Text: r.ID + " is paused", BlocksRun: true})
	}
}

// questionLine renders a question in one line: "#8 Refund flow (q5): plan says two
// things; #10 waits for it".
func (c *collector) questionLine(q ledger.Question) string {
	switch need, text := bot.DigestNeed(q); {
	case need != "":
		line := c.taskName(q.Task, q.Title, "") + ", " + need + " (" + q.ID + ")"
		if q.Proof != nil {
			line += reasonSuffix(bot.CheckChanges(*q.Proof))
		}
		return line
	case text:
		return c.taskName(q.Task, q.Title, q.ID) + reasonSuffix(q.Text) + c.dependentsSuffix(q.Task)
	}
	return bot.Cut(bot.Headline(c.s, q), 60) + " (" + q.ID + ")"
}

// taskName returns a task's id and title, with a question's id: "#8 Refund flow
// (q5)".
func (c *collector) taskName(task, title, question string) string {
	if title == "" {
		if t, ok := bot.FindTask(c.s, task); ok {
			title = t.Task.Title
		}
	}
	out := strings.TrimSpace(shortID(task) + " " + bot.Cut(bot.Clean(title), 28))
	if question != "" {
		out += " (" + question + ")"
	}
	return out
}

func reasonSuffix(text string) string {
	if text = bot.Cut(bot.Clean(text), 48); text == "" {
		return ""
	}
	return ": " + text
}

func (c *collector) dependentsSuffix(task string) string {
	if waits := bot.Dependents(c.s, task); waits != "" {
		return "; " + bot.Cut(waits, 40)
	}
	return ""
}

// shortID returns a task's id for people: cleaned of markup and at most 14
// characters.
func shortID(id string) string { return bot.Cut(bot.Clean(ledger.ShortID(id)), 14) }

// nextStep returns a sentence that says what happens without an action by a
// person.
func (c *collector) nextStep(r *loop.Run) string {
	for _, t := range c.s.Project.Tasks.All() {
		if t.Status == ledger.Blocked {
			c.retry = append(c.retry, shortID(t.Task.ID))
		}
	}
	next := bot.NextReady(c.s, "")
	switch {
	case r == nil:
		return "Next: add tasks, then /run " + c.s.Project.Name + "."
	case !r.Over() && r.State == ledger.RunWaiting && r.Wait == ledger.WaitLimit && !r.Until.IsZero():
		return "Waits until " + bot.Clock(r.Until, c.To) + ", then goes on by itself."
	case !r.Over() && r.State == ledger.RunWaiting && r.Wait == ledger.WaitAgent:
		return "Goes on by itself once it can be used again."
	case !r.Over() && (r.State == ledger.RunPaused || r.State == ledger.RunPausing):
		return "Stays paused; /resume goes on."
	case !r.Over() && r.State == ledger.RunWaiting:
		return "Waits; nothing is lost."
	case !r.Over() && c.doing != "":
		return c.doing + " is at work; goes on by itself."
	case !r.Over():
		return "Goes on by itself."
	case len(c.retry) > 0 && r.Settings.Stays:
		return "Nothing runs. Retry starts the next run with " + strings.Join(c.retry[:min(len(c.retry), 3)], " and ") + "."
	case next != "":
		return "Nothing runs. /run goes on with " + shortID(next) + "."
	case c.Left > 0:
		return "Nothing runs; what is left waits for you."
	case c.Branch != "" && c.TipRed:
		return "Nothing was pushed. Look at /diff, then /run."
	case c.Branch != "" && r.Ended != nil:
		return bot.MergeStep(c.s, *r.Ended)
	}
	return "Next: add tasks, then /run " + c.s.Project.Name + "."
}
