package termlog

import (
	"slices"
	"strings"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/loop"
)

// entry prints one entry. What only the ledger needs has no case.
func (c *Console) entry(v view) {
	switch b := v.e.Body.(type) {
	// Sessions: their lines are put together from several entries.
	case loop.SessionPlanned:
		c.planned(v, b)
	case loop.EventAccepted:
		c.of(v).event = b
	case loop.SessionEnded:
		if b.Kind == loop.KindAgent {
			c.agentEnded(v, b)
		}
	case loop.TakenOver:
		if s := c.held[loop.FoldID(v.e.Task)]; s != nil {
			s.taken = &b.Taken
		}
	case loop.Verified:
		c.verified(v, b)
	case loop.Routed:
		c.routed(v, b)
	case loop.Redo:
		c.redo(v, b)
	case loop.GuidanceReported:
		s := c.of(v)
		s.reports = append(s.reports, b)
	case loop.GuidanceBound:
		c.bound(v, b)
	case loop.TaskCommitted:
		c.commits[loop.FoldID(v.e.Task)] = b.Commit
	case loop.AgentUsable:
		if c.unusable[b.Agent] {
			delete(c.unusable, b.Agent)
			c.say(v, bot.SignNow+" "+bot.Clean(b.Agent)+" is tried again")
		}
	default:
		c.news(v)
	}
}

// news prints entries that are a line of their own.
func (c *Console) news(v view) {
	switch b := v.e.Body.(type) {
	case loop.PreflightFailed:
		c.preflightFailed(v, b)
	case loop.PreflightDone:
		c.preflightDone(v, b)
	case loop.RunStarted:
		c.started(v, b)
	case loop.RunResumed:
		c.resumed(v)
	case loop.RunStateSet:
		c.stateSet(v, b)
	case loop.RunFinishing:
		c.settleAll(v)
		if !c.opt.Demo {
			c.say(v, bot.SignLater+" the branch tip is verified once more, in a clean folder")
		}
	case loop.RunEnded:
		c.settleAll(v)
		c.ended(v, b)
	case loop.AgentParked:
		c.parked(v, b)
	case loop.AgentUnusable:
		c.unusable[b.Agent] = true
		c.tell(v, bot.SignLook+" agent "+bot.Clean(b.Agent)+" cannot be used: "+bot.Clean(b.Text))
	case loop.SourceRead:
		c.sourceRead(v, b)
	case loop.AnswerUndone:
		c.tell(v, bot.SignAgain+" "+b.Before.Question.ID+" taken back by "+bot.Clean(b.By)+": it is open again")
	case loop.BaselineBroke:
		c.tell(v, bot.SignLook+" "+bot.Clean(b.Text)+"; from here on only shown")
	case loop.HatsRead:
		c.hatsRead(v, b)
	case loop.PathsAllowed:
		c.tell(v, bot.SignDone+" "+c.id(v.e.Task)+" may write "+few(b.Paths))
	case loop.PlanSettled:
		c.settle(v, v.e.Task)
		c.planSettled(v, b)
	case loop.PartsMade:
		c.settle(v, v.e.Task)
		if text := bot.PartsText(b); text != "" {
			c.tell(v, bot.SignLater+" "+c.id(v.e.Task)+" plan: "+text)
		}
	case loop.SourceMarked:
		if b.Error != "" {
			c.tell(v, bot.SignLook+" "+c.id(v.e.Task)+" not marked in "+bot.Plan(&loop.Run{Settings: v.run().Settings})+": "+bot.Clean(b.Error))
		}
	case loop.Commitment:
		c.commitment(v, b)
	case loop.TaskSet:
		c.taskSet(v, b)
	case loop.AttemptEnded:
		c.attemptEnded(v, b)
	case loop.EventRefused:
		c.tell(v, bot.SignLook+" "+c.id(v.e.Task)+" "+bot.Clean(c.of(v).hat)+": "+bot.Clean(b.Type)+" refused: "+bot.Clean(b.Why)+owed(b))
	case loop.GuidanceQueued, loop.GuidanceChanged, loop.GuidanceDropped, loop.GuidanceExpired, loop.GuidanceKept:
		c.guidance(v)
	case loop.QuestionAsked:
		c.question(v, b.Question)
	case loop.QuestionAnswered:
		c.answered(v, b)
	case loop.QuestionExpired:
		c.expired(v, b)
	case loop.InputPoisoned:
		c.say(v, bot.SignLook+" a fault in nightporter, with "+bot.Clean(b.Kind)+"; all else goes on")
		c.wrapped(b.Error)
	case loop.EffectFailed:
		if !b.Disk { // told by what the run waits for
			c.tell(v, bot.SignLook+" "+bot.Clean(b.Kind)+" failed: "+bot.Clean(b.Text))
		}
	}
}

// say prints a line that an entry causes, and remembers its cause.
func (c *Console) say(v view, text string) {
	c.flush(v.at)
	c.told(v.e.Cause)
	c.line(v.at, text)
}

// maxLong is how many lines a reason may take: it was written by an agent, a
// program or a person, and has to leave room for what else happens.
const maxLong = 4

// tell is say for what has to be read to its end: it is broken into lines,
// not cut, up to maxLong of them.
func (c *Console) tell(v view, text string) {
	c.flush(v.at)
	c.told(v.e.Cause)
	parts := bot.Wrap(text, c.room())
	if len(parts) > maxLong {
		rest := strings.Join(parts[maxLong-1:], " ")
		parts = append(parts[:maxLong-1], bot.Cut(rest, c.room()))
	}
	for n, part := range parts {
		if n == 0 {
			c.whole(v.at, part)
			continue
		}
		c.more(part)
	}
}

// settleAll prints every held line: the run is over.
func (c *Console) settleAll(v view) {
	for _, key := range sortedKeys(c.held) {
		c.print(v, c.held[key])
	}
}

func sortedKeys(m map[string]*session) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

func (c *Console) id(task string) string { return bot.Cut(bot.Clean(loop.ShortID(task)), 20) }

func owed(b loop.EventRefused) string {
	if len(b.Owed) == 0 {
		return ""
	}
	return " (" + strings.Join(b.Owed, " ") + ")"
}

// planned notes a session that begins, and says once that preflight runs
// commands: they can take minutes.
func (c *Console) planned(v view, b loop.SessionPlanned) {
	if b.Kind == loop.KindAgent {
		c.running[v.e.Session] = &session{id: v.e.Session, task: v.e.Task, hat: b.Hat, stall: b.Stall.D(), wall: b.Wall.D()}
		return
	}
	if v.e.Task == "" && b.Kind != loop.KindFinal && v.run().Started.IsZero() && !c.pre && !c.opt.Demo {
		c.pre = true
		c.say(v, bot.SignLater+" "+v.run().ID+": looks whether "+bot.CommandName(b.Command)+" works on the start commit")
	}
}
