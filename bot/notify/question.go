package notify

import (
	"slices"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// together is how close blocked tasks are to each other that become one
// message, and how many there have to be.
const (
	together = time.Hour
	crowd    = 3
)

// asked puts a question to everybody; a confirmation only to who is asked
// back.
func (c *composer) asked(q ledger.Question) {
	for _, e := range c.d.Entries[:c.at] {
		if b, ok := e.Body.(ledger.QuestionExpired); ok && b.ID == q.ID {
			return // it stays open, which its own message says
		}
	}
	if q.Personal() {
		if p, ok := c.last.Shared.Person(c.in.Actor); ok {
			c.send(ledger.Outgoing{Chat: p.ID, Key: q.ID, Class: ledger.ClassAsk, Silent: true}, bot.Ask(c.last, q, c.now))
		}
		return
	}
	m := bot.AskAfter(c.last, q, c.outcome(q.Task), c.now)
	if q.Kind == ledger.AskBlocked {
		var near []ledger.Question
		for _, o := range c.after.Project.Questions {
			if o.Kind == ledger.AskBlocked && q.Asked.Sub(o.Asked) < together {
				near = append(near, o)
			}
		}
		if len(near) >= crowd {
			m = bot.BlockedTogether(c.last, near, c.now)
		}
	}
	// What follows from somebody's own command is their answer, and silent.
	for _, r := range c.readers() {
		c.send(ledger.Outgoing{Chat: r.chat, Key: q.ID, Class: ledger.ClassAsk, Silent: r.only(c.in.Actor) || c.quiet(r.chat)}, m)
	}
}

// outcome is how the attempt of a task came out that this decision ended, ""
// where it ended none.
func (c *composer) outcome(task string) ledger.AttemptOutcome {
	for n := c.at - 1; n >= 0; n-- {
		e := c.d.Entries[n]
		if b, ok := e.Body.(ledger.AttemptEnded); ok && ledger.SameID(e.Task, task) {
			return b.Outcome
		}
	}
	return ""
}

// reminder says once more that a question is open, to those who may answer it.
// In quiet hours nobody is, whatever is urgent there: it would be noise on a
// phone that is not read, about what lies on it already.
func (c *composer) reminder(b ledger.ReminderDue) {
	q, ok := open(c.last, b.ID)
	if !ok || q.Expires.IsZero() || q.Expires.Sub(c.now) < loop.ReminderLeft { // nobody was there in time to say it
		return
	}
	m := bot.Reminder(c.last, q, c.now)
	for _, r := range c.readers() {
		answers := slices.ContainsFunc(r.people, func(p ledger.Person) bool { return p.Role.May(ledger.RoleSteer) })
		if answers && !c.last.Shared.QuietHours(r.chat, c.o.Quiet()).Has(c.now) {
			c.send(ledger.Outgoing{Chat: r.chat, Key: bot.ReminderKey(q.ID), Class: ledger.ClassChatter}, m)
		}
	}
}

// settle changes a question's message in every chat, and its reminder where
// there was one.
func (c *composer) settle(question string, class ledger.MessageClass, m bot.Message) {
	c.edit(question, class, m)
	c.edit(bot.ReminderKey(question), class, m)
}

// answered settles a question's message in every chat.
func (c *composer) answered(b ledger.QuestionAnswered) {
	q, ok := open(c.before, b.ID)
	if !ok {
		return
	}
	item := ""
	for _, e := range c.d.Entries[c.at+1:] {
		if g, is := e.Body.(ledger.GuidanceQueued); is {
			item = g.Item.ID
		}
	}
	c.settle(q.ID, ledger.ClassChatter, bot.Answered(c.before, q, b, item, c.now))
}

// undone opens a question's message again in every chat. What was skipped along
// with its task is back too, which the message that said so must not deny.
func (c *composer) undone(q ledger.Question) {
	c.settle(q.ID, ledger.ClassReply, bot.Ask(c.last, q, c.now))
	for _, s := range c.before.Project.Answered {
		if s.Subject.Kind != ledger.AskSkip || !ledger.SameID(s.Subject.Task, q.Task) {
			continue
		}
		var back []string
		for _, id := range s.Along {
			was, _ := c.before.Project.Find(id)
			if is, ok := c.last.Project.Find(id); ok && was.Status == ledger.Skipped && is.Status != ledger.Skipped {
				back = append(back, id)
			}
		}
		if len(back) > 0 {
			c.edit(s.ID, ledger.ClassReply, bot.PutBack(c.last, s, q, back, c.now))
		}
	}
}

// expired changes a question's message to what was done without an answer.
func (c *composer) expired(b ledger.QuestionExpired) {
	q, ok := open(c.before, b.ID)
	if !ok {
		return
	}
	var again *ledger.Question
	for _, e := range c.d.Entries[c.at+1:] {
		if a, is := e.Body.(ledger.QuestionAsked); is && a.Question.ID == b.ID {
			again = &a.Question
		}
	}
	class := ledger.ClassChatter
	if again != nil {
		class = ledger.ClassAsk
	}
	c.settle(q.ID, class, bot.Expired(c.before, q, b, again, c.now))
}

func open(s loop.State, id string) (ledger.Question, bool) {
	for _, q := range s.Project.Questions {
		if q.ID == id {
			return q, true
		}
	}
	return ledger.Question{}, false
}
