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
		c.Needs = append(c.Needs, Need{Sign: bot.SignOf(q), Text: c.questionLine(q), Task: q.Task, Question: q, Title: c.title(q.Task, q.Title), Cause: c.causeOf(q)})
	}
	for _, t := range c.s.Project.Tasks.All() { // tasks without a question: from a run that asks none, or marked in the source
		if asked[ledger.FoldID(t.Task.ID)] {
			continue
		}
		switch t.Status {
		case ledger.Blocked:
			c.Needs = append(c.Needs, Need{Sign: bot.SignBlocked, Text: c.taskName(t.Task.ID, t.Task.Title, "") + reasonSuffix(t.Why) + c.dependentsSuffix(t.Task.ID), Task: t.Task.ID, Title: t.Task.Title, Cause: c.cause[ledger.FoldID(t.Task.ID)]})
		case ledger.ManualVerify:
			c.Needs = append(c.Needs, Need{Sign: bot.SignAsk, Text: c.taskName(t.Task.ID, t.Task.Title, "") + ", manual verify", Task: t.Task.ID, Title: t.Task.Title})
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
		c.Needs = append(c.Needs, Need{Sign: bot.SignLook, Text: text, BlocksRun: true, Holds: "The work stands still until " + bot.Cut(bot.Clean(agent), 16) + " can be used again"})
	case r.Wait == ledger.WaitDisk:
		c.Needs = append(c.Needs, Need{Sign: bot.SignLook, Text: "The disk is full, or the state folder cannot be written", BlocksRun: true, Holds: "The work waits for room on the disk"})
	case r.Wait == ledger.WaitMachine:
		text := "The run " + bot.MachineWait(c.s)
		if f, ok := c.s.Project.Held(); ok {
			text += " since " + bot.Clock(f.Since, c.To)
		}
		c.Needs = append(c.Needs, Need{Sign: bot.SignLook, Text: text, BlocksRun: true, Holds: "The work waits for the machine"})
	case r.State == ledger.RunPaused && r.Wait == ledger.WaitPerson:
		c.Needs = append(c.Needs, Need{Sign: bot.SignPaused, Text: r.ID + " is paused", BlocksRun: true, Holds: "The work is paused"})
	}
}

// causeOf returns why the task of a question is blocked, CauseUnknown for any other
// question.
func (c *collector) causeOf(q ledger.Question) Cause {
	switch {
	case q.Kind != ledger.AskBlocked:
		return CauseUnknown
	case q.Needs != "":
		return CauseDecision
	}
	return c.cause[ledger.FoldID(q.Task)]
}

// limit says how long a limit holds the run up, "" if none does.
func (c *collector) limit(r *loop.Run) string {
	if r.Over() || r.State != ledger.RunWaiting || r.Wait != ledger.WaitLimit {
		return ""
	}
	if r.Until.IsZero() {
		return "for its end"
	}
	return "until " + bot.Clock(r.Until, c.To)
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
	return bot.Cut(bot.AsWritten(bot.Headline(c.s, q)), 60) + " (" + q.ID + ")"
}

// taskName returns a task's id and title, with a question's id: "#8 Refund flow
// (q5)".
func (c *collector) taskName(task, title, question string) string {
	out := strings.TrimSpace(shortID(task) + " " + bot.Cut(bot.Clean(c.title(task, title)), 28))
	if question != "" {
		out += " (" + question + ")"
	}
	return out
}

// title returns the title of a task, as a question about it has it or else the source.
func (c *collector) title(task, title string) string {
	if t, ok := bot.FindTask(c.s, task); ok && title == "" {
		return t.Task.Title
	}
	return title
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
	c.canStart, c.limited = bot.CanBegin(c.s), c.limit(r)
	switch {
	case r == nil && next != "":
		return "Nothing runs. /run begins with " + shortID(next) + "."
	case r == nil:
		return "Next: add tasks, then /run " + c.s.Project.Name + "."
	case !r.Over() && r.State == ledger.RunWaiting && r.Wait == ledger.WaitLimit && !r.Until.IsZero():
		return "Waits until " + bot.Clock(r.Until, c.To) + ", then goes on by itself."
	case !r.Over() && r.State == ledger.RunWaiting && r.Wait == ledger.WaitAgent:
		return "Goes on by itself once it can be used again."
	case !r.Over() && (r.State == ledger.RunPaused || r.State == ledger.RunPausing):
		return "Stays paused until you resume."
	case !r.Over() && r.State == ledger.RunWaiting:
		return "Waits; nothing is lost."
	case !r.Over() && c.doing != "":
		return c.doing + " is at work; goes on by itself."
	case !r.Over():
		return "Goes on by itself."
	case len(c.retry) > 0 && r.Settings.Stays:
		return "Nothing runs. Retry starts the next run with " + strings.Join(c.retry[:min(len(c.retry), 3)], " and ") + "."
	case r.Over() && r.Ended != nil && r.Ended.Reason == ledger.ReasonPreflight:
		if at := loop.RetryStart(c.s.Project); r.ByItself && !at.IsZero() {
			return "Nothing runs. Tried again by itself, at the latest " + bot.Clock(at, c.To) + "."
		}
		return "Nothing runs. Once that is mended, /run tries again."
	case next != "":
		return "Nothing runs. /run goes on with " + shortID(next) + "."
	case c.Left > 0:
		return "Nothing runs. What is left waits for you."
	case c.Branch != "" && c.TipRed:
		return "Nothing was pushed. Look at /diff, then /run."
	case c.Branch != "" && r.Ended != nil:
		return bot.MergeStep(c.s, *r.Ended)
	}
	return "Next: add tasks, then /run " + c.s.Project.Name + "."
}
