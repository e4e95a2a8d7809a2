package termlog

import (
	"slices"
	"strings"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// entry prints one entry. What only the ledger needs has no case.
func (c *Console) entry(v view) {
	switch b := v.e.Body.(type) {
	// Sessions: their lines are put together from several entries.
	case ledger.SessionPlanned:
		c.planned(v, b)
	case ledger.EventAccepted:
		c.of(v).event = b
	case ledger.SessionEnded:
		if b.Kind == ledger.KindAgent {
			c.agentEnded(v, b)
		}
	case ledger.TakenOver:
		if s := c.held[ledger.FoldID(v.e.Task)]; s != nil {
			s.taken = &b.Taken
		}
	case ledger.Verified:
		c.verified(v, b)
	case ledger.Routed:
		c.routed(v, b)
	case ledger.Redo:
		c.redo(v, b)
	case ledger.GuidanceReported:
		s := c.of(v)
		s.reports = append(s.reports, b)
	case ledger.GuidanceBound:
		c.bound(v, b)
	case ledger.TaskCommitted:
		c.commits[ledger.FoldID(v.e.Task)] = b.Commit
	case ledger.AgentUsable:
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
	case ledger.PreflightFailed:
		c.preflightFailed(v, b)
	case ledger.PreflightDone:
		c.preflightDone(v, b)
	case ledger.RunStarted:
		c.started(v, b)
	case ledger.RunResumed:
		c.resumed(v)
	case ledger.RunStateSet:
		c.stateSet(v, b)
	case ledger.RunFinishing:
		c.settleAll(v)
		if !c.opt.Demo {
			c.say(v, bot.SignLater+" the branch tip is verified once more, in a clean folder")
		}
	case ledger.RunEnded:
		c.settleAll(v)
		c.ended(v, b)
	case ledger.AgentParked:
		c.parked(v, b)
	case ledger.AgentUnusable:
		c.unusable[b.Agent] = true
		c.tell(v, bot.SignLook+" agent "+bot.Clean(b.Agent)+" cannot be used: "+bot.Clean(b.Text))
	case ledger.SourceRead:
		c.sourceRead(v, b)
	case ledger.AnswerUndone:
		c.tell(v, bot.SignAgain+" "+b.Before.Question.ID+" taken back by "+bot.Clean(b.By)+": it is open again")
	case ledger.BaselineBroke:
		c.tell(v, bot.SignLook+" "+bot.Clean(b.Text)+"; from here on only shown")
	case ledger.HatsRead:
		c.hatsRead(v, b)
	case ledger.PathsAllowed:
		c.tell(v, bot.SignDone+" "+c.id(v.e.Task)+" may write "+few(b.Paths))
	case ledger.PlanSettled:
		c.settle(v, v.e.Task)
		c.planSettled(v, b)
	case ledger.PartsMade:
		c.settle(v, v.e.Task)
		if text := bot.PartsText(b); text != "" {
			c.tell(v, bot.SignLater+" "+c.id(v.e.Task)+" plan: "+text)
		}
	case ledger.SourceMarked:
		if b.Error != "" {
			c.tell(v, bot.SignLook+" "+c.id(v.e.Task)+" not marked in "+bot.Plan(&loop.Run{Settings: v.run().Settings})+": "+bot.Clean(b.Error))
		}
	case ledger.Commitment:
		c.commitment(v, b)
	case ledger.TaskSet:
		c.taskSet(v, b)
	case ledger.AttemptEnded:
		c.attemptEnded(v, b)
	case ledger.EventRefused:
		c.tell(v, bot.SignLook+" "+c.id(v.e.Task)+" "+bot.Clean(c.of(v).hat)+": "+bot.Clean(b.Type)+" refused: "+bot.Clean(b.Why)+owed(b))
	case ledger.GuidanceQueued, ledger.GuidanceChanged, ledger.GuidanceDropped, ledger.GuidanceExpired, ledger.GuidanceKept:
		c.guidance(v)
	case ledger.QuestionAsked:
		c.question(v, b.Question)
	case ledger.QuestionAnswered:
		c.answered(v, b)
	case ledger.QuestionExpired:
		c.expired(v, b)
	case ledger.InputPoisoned:
		c.say(v, bot.SignLook+" a fault in nightporter, with "+bot.Clean(b.Kind)+"; all else goes on")
		c.wrapped(b.Error)
	case ledger.EffectFailed:
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

func (c *Console) id(task string) string { return bot.Cut(bot.Clean(ledger.ShortID(task)), 20) }

func owed(b ledger.EventRefused) string {
	if len(b.Owed) == 0 {
		return ""
	}
	return " (" + strings.Join(b.Owed, " ") + ")"
}

// planned notes a session that begins, and says once that preflight runs
// commands: they can take minutes.
func (c *Console) planned(v view, b ledger.SessionPlanned) {
	if b.Kind == ledger.KindAgent {
		c.running[v.e.Session] = &session{id: v.e.Session, task: v.e.Task, hat: b.Hat, stall: b.Stall.D(), wall: b.Wall.D()}
		return
	}
	if v.e.Task == "" && b.Kind != ledger.KindFinal && v.run().Started.IsZero() && !c.pre && !c.opt.Demo {
		c.pre = true
		c.say(v, bot.SignLater+" "+v.run().ID+": looks whether "+bot.CommandName(b.Command)+" works on the start commit")
	}
}
