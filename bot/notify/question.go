package notify

import (
	"slices"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/guidance"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// asked sends a question to everybody. A confirmation goes only to the person
// whose command it is about.
func (c *composer) asked(q ledger.Question) {
	for _, e := range c.d.Entries[:c.at] {
		if b, ok := e.Body.(ledger.QuestionExpired); ok && b.ID == q.ID {
			return // the question stays open, as its own message shows
		}
	}
	if q.Personal() {
		if p, ok := c.last.Shared.Person(c.actor()); ok {
			c.send(ledger.Outgoing{Chat: p.ID, Key: q.ID, Class: ledger.ClassAsk, Silent: true, Ahead: true}, bot.Ask(c.last, q, c.now))
		}
		return
	}
	m := bot.AskAfter(c.last, q, c.outcome(q.Task), c.now)
	if near := blockedWith(c.after, q.ID); len(near) >= minShared {
		m = bot.BlockedTogether(c.last, near, c.now)
	}
	if q.Pictured != nil && q.Pictured.Result.Picture != nil {
		m.Drawing = &bot.Drawing{Pictured: &bot.Compared{Task: q.Task, Pictured: *q.Pictured}}
	}
	// A question that follows from a person's own command is the reply to it,
	// and makes no sound.
	for _, r := range c.readers() {
		c.send(ledger.Outgoing{Chat: r.chat, Key: q.ID, Class: ledger.ClassAsk, Silent: r.isOnly(c.in.Actor) || c.quiet(r.chat)}, m)
	}
}

// actor returns who gave the command that was decided: of a recording, its sender.
func (c *composer) actor() string {
	if heard, is := c.in.Body.(loop.Transcribed); is {
		return heard.Of.Actor
	}
	return c.in.Actor
}

// outcome returns the outcome of a task's attempt that ended in this decision,
// or "".
func (c *composer) outcome(task string) ledger.AttemptOutcome {
	for n := c.at - 1; n >= 0; n-- {
		e := c.d.Entries[n]
		if b, ok := e.Body.(ledger.AttemptEnded); ok && ledger.SameID(e.Task, task) {
			return b.Outcome
		}
	}
	return ""
}

// reminder repeats an open question to the people who may answer it. It sends
// nothing in quiet hours, even if the question is urgent: the question is
// already on the phone.
func (c *composer) reminder(b ledger.ReminderDue) {
	q, ok := open(c.last, b.ID)
	if !ok || q.Expires.IsZero() || q.Expires.Sub(c.now) < loop.ReminderLeft { // nightporter was off when the reminder was due
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

// settle edits a question's message in every chat, and its reminder.
func (c *composer) settle(question string, class ledger.MessageClass, m bot.Message) {
	c.edit(question, class, m)
	c.edit(bot.ReminderKey(question), class, m)
}

// settleElsewhere edits the message that tells a group that a question is asked in a
// person's own chat: it says what became of it.
func (c *composer) settleElsewhere(q ledger.Question, m bot.Message) {
	if m.Buttons = nil; q.Personal() {
		c.edit(bot.ElsewhereKey(q.ID), ledger.ClassChatter, m)
	}
}

// answered shows the answer in a question's message in every chat.
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
	m := bot.Answered(c.before, q, b, item, c.now)
	c.settle(q.ID, ledger.ClassChatter, m)
	c.settleElsewhere(q, m)
	c.regroup(q)
}

// undone reopens a question's message in every chat. Tasks that were skipped
// along with the question's task are back too, so their message changes as well.
func (c *composer) undone(q ledger.Question) {
	c.settle(q.ID, ledger.ClassReply, bot.Ask(c.last, q, c.now))
	c.regroup(q)
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

// expired shows in a question's message which default was taken.
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
	chats := c.chatsShowing(q.ID)
	m := bot.Expired(c.before, q, b, again, c.now)
	c.settle(q.ID, class, m)
	c.settleElsewhere(q, m)
	c.regroup(q)
	if q.Kind == ledger.AskNow {
		c.receiptOfNow(chats)
	}
}

// receiptOfNow sends the receipt of the words of a /now that were queued because
// nobody answered, or because its session ended by itself: it shows what becomes of
// them.
func (c *composer) receiptOfNow(chats []string) {
	for _, e := range c.d.Entries[c.at+1:] {
		b, queued := e.Body.(ledger.GuidanceQueued)
		if !queued {
			continue
		}
		i := b.Item
		i.State = guidance.Queued
		m := bot.Queued(c.last, i, loop.Forecast(c.last, i), c.now, time.Time{})
		for _, chat := range chats {
			c.send(ledger.Outgoing{Chat: chat, Key: i.ID, Class: ledger.ClassReply, Silent: true}, m)
		}
		return
	}
}

func open(s loop.State, id string) (ledger.Question, bool) {
	for _, q := range s.Project.Questions {
		if q.ID == id {
			return q, true
		}
	}
	return ledger.Question{}, false
}
