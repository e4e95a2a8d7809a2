package notify

import (
	"slices"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// Compose returns the messages about a decision, in order. before is the state
// that the decision was made on.
func (n *Notifier) Compose(before loop.State, d loop.Decision, in loop.Input) []ledger.Outgoing {
	c := &composer{Notifier: n, d: d, in: in, now: n.local(in.Time), last: d.State}
	c.start, c.after = before, before
	for at, e := range d.Entries {
		c.at, c.before, c.after = at, c.after, d.After[at]
		c.kind = c.kindOf(e)
		c.entry(e)
	}
	return c.out
}

// RepeatQuestions returns the open questions once more after nightporter was off from
// one time to another, because button presses in that time are lost (docs/spec
// 23.11). It omits questions that confirm a command, because their sender has
// just typed it.
func (n *Notifier) RepeatQuestions(s loop.State, from, to time.Time) []ledger.Outgoing {
	c := &composer{Notifier: n, now: n.local(to), last: s, after: s}
	for _, q := range s.Project.Questions {
		if q.Personal() {
			continue
		}
		c.push(q.ID, ledger.ClassAsk, false, bot.StillOpen(s, q, n.local(from), c.now, c.now))
	}
	return c.out
}

// QuestionsFor returns the open questions of a project that a person's own chat does
// not show, for somebody who does not read the project's thread any more.
func (n *Notifier) QuestionsFor(s loop.State, p ledger.Person, at time.Time) []ledger.Outgoing {
	c := &composer{Notifier: n, now: n.local(at), last: s, after: s}
	for _, q := range s.Project.Questions {
		if q.Personal() || slices.Contains(c.chatsShowing(q.ID), p.ID) {
			continue
		}
		c.kind = c.kindOf(ledger.Entry{Body: ledger.QuestionAsked{Question: q}})
		c.send(ledger.Outgoing{Chat: p.ID, Key: q.ID, Class: ledger.ClassAsk, Silent: c.quiet(p.ID)}, bot.Ask(s, q, c.now))
	}
	return c.out
}

// entry is the table of entries: each case composes the messages about one
// type.
func (c *composer) entry(e ledger.Entry) {
	switch b := e.Body.(type) {
	case ledger.PreflightFailed:
		if was := c.before.Project.NotStarted; was != nil && was.Text == b.Problems[0].Text && c.before.Project.Run.ByItself {
			break // told of the try before
		}
		if c.before.Project.Run.Idea != "" {
			break // the end of the idea says it
		}
		if up := c.before.Project.Run.Upkeep; up != nil && c.before.Project.Requests.Branch(up.Run).Upkeep.Failed > 0 {
			break
		}
		c.push(c.runKey(), ledger.ClassNotice, false, bot.Problems(c.after, b.Problems))
	case ledger.PreflightDone:
		if len(b.Warnings) > 0 && !c.after.Project.Run.Aside() {
			c.push(c.runKey(), ledger.ClassNotice, true, bot.Warnings(c.after, b.Warnings))
		}
	case ledger.HostsMissed:
		if !c.after.Project.Run.Aside() {
			key := "hosts/" + c.runKey()
			if b.Agent != "" {
				key += "/" + b.Agent
			}
			c.push(key, ledger.ClassNotice, true, bot.HostsMissed(c.after, b))
		}
	case ledger.RunStarted:
		if c.after.Project.Run.Aside() {
			break // its end says what it did
		}
		c.started(b)
		// The live message is posted anew for each run, so that it stays at the
		// end of the chat (docs/spec 21.3).
		c.push(bot.LiveKey(c.after.Project.Name), ledger.ClassChatter, true, bot.Status(c.last, c.now))
	case ledger.OutlookChanged:
		c.retold(b)
	case ledger.BudgetWarned:
		c.push("", ledger.ClassNotice, true, bot.BudgetWarned(c.last, b, c.now))
	case ledger.RunStateSet:
		c.stateSet(b)
	case ledger.RunEnded:
		c.ended(b)
	case ledger.WaveEnded:
		if b.Cut == "" || b.Attempted() > 0 {
			c.wave(b)
		}
	case ledger.QuestionAsked:
		c.asked(b.Question)
	case ledger.ReminderDue:
		c.reminder(b)
	case ledger.QuestionAnswered:
		c.answered(b)
	case ledger.AnswerUndone:
		c.undone(b.Before.Question)
	case ledger.QuestionExpired:
		c.expired(b)
	case ledger.AgentUnusable:
		c.unusable(b)
	case ledger.AgentUsable:
		c.agentRecovered(b)
	case ledger.AgentUncounted:
		if !b.Over {
			c.push("uncounted/"+b.Agent, ledger.ClassNotice, true, bot.Uncounted(c.last, b, c.now))
		}
	case ledger.SessionEnded:
		c.sessionEnded(e, b)
	case ledger.SessionThrottled:
		s, _ := c.after.Project.Session(e.Session)
		c.push("throttled/"+e.Session+"/"+c.runKey(), ledger.ClassNotice, false, bot.Throttled(c.after, e.Task, s.Planned.Hat, e.Session, b, c.now))
	case ledger.EffectFailed:
		c.additionWaits(b)
		// What a fault of the machine keeps back is tried again, and told once
		// it has failed for long. A failed session, attempt or run has an entry
		// of its own. A mark that cannot be written fails none of them, so
		// people are told here.
		switch {
		case b.Fault == ledger.FaultDisk && ledger.RetryOf(b.Kind) == ledger.RetryHolds: // the run's wait says it
		case b.Told:
			c.keep(failingKey(b.Kind, c.runKey()), false, bot.Failing(c.after, b, c.now))
		case b.Fault == "" && b.Kind == (ledger.EffectMark{}).EffectKind() && !b.Disk:
			c.keep("mark/"+c.runKey(), false, bot.NotMarked(c.after, b, c.now))
		}
	case ledger.EffectRecovered:
		if f, ok := c.before.Project.FailingEffect(b.Kind, b.Key); ok && f.Told {
			c.edit(failingKey(b.Kind, c.runKey()), ledger.ClassChatter, bot.Recovered(c.after, f, c.now))
		}
	case ledger.IdeaEnded:
		if i, was := c.before.Project.Idea(b.ID); was {
			if m, ok := bot.IdeaOver(c.after, i, b); ok {
				c.push("idea/"+b.ID, ledger.ClassNotice, false, m)
			}
		}
	case ledger.VoiceHeard:
		c.heard(b)
	case ledger.FilesAttached:
		c.attached(b)
	case ledger.TasksAdded:
		c.addition(b.ID)
	case ledger.TasksRemoved:
		c.addition(b.ID)
	case ledger.RequestSeen:
		c.requestSeen(b)
	case ledger.CommentsSeen:
		if c.before.Project.Requests.Branch(b.Run).Count.Waiting == 0 && b.Count.Waiting > 0 {
			c.push("", ledger.ClassNotice, true, bot.CommentsWait(c.after, b))
		}
	case ledger.ReplyEnded:
		if b.Failure != "" && !c.before.Project.Requests.Branch(b.Run).Refused {
			c.push("", ledger.ClassNotice, true, bot.ReplyRefused(c.after, b))
		}
	case ledger.RequestLeft:
		c.push("", ledger.ClassNotice, false, bot.LeftRequest(c.after, b))
	case ledger.MergeEnded:
		c.mergeEnded(b)
	case ledger.BaselineBroke:
		c.push("baseline/"+c.runKey(), ledger.ClassNotice, true, bot.BaselineBroke(c.after, b, c.now))
	case ledger.BranchRemade:
		c.push(remadeKey(c.runKey()), ledger.ClassNotice, true, bot.Remade(c.before, c.after, b, c.now))
	case ledger.RemakeEnded:
		c.remakeEnded(b)
	case ledger.Verified:
		c.remadeVerified(b)
	case ledger.InputPoisoned:
		c.push("", ledger.ClassNotice, false, bot.Poisoned(c.in.Project, b, c.now))
	case ledger.DigestSent:
		c.digest(b.Day)
	case ledger.WeekDigestSent:
		c.digest(b.Week)
	default:
		c.guidance(e)
	}
}
