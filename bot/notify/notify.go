package notify

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// Options are what a Notifier works with.
type Options struct {
	// Where returns the addresses of the chats in which a message with the key
	// stands, or is queued. nil: nowhere, so that nothing is ever edited.
	Where func(key string) []string
	// Group reports whether a chat is one that several people read. Any other
	// chat is somebody's own, and is told nothing once they were taken out
	// (SPEC 6.6). nil: no chat is a group.
	Group func(chat string) bool
	// Threads returns the addresses of a project's own chats, at most one a
	// platform: what is told of the project is told there, once, and not to each
	// person of that platform. nil: no project has one.
	Threads func(project string) []string
	// Reads reports whether a person of its platform reads in a thread, as far as
	// is known: who does not is told in their own chat. nil: all do.
	Reads func(thread, person string) bool
	// Quiet are the quiet hours of chats that have none of their own, and Urgent
	// the kinds that ring in them all the same (SPEC 6.4).
	Quiet  func() ledger.Hours
	Urgent func() []string
	// Digests returns the digest of each project as a person reads it, in order:
	// of a day, "2026-11-20", or of a week, "2026-W47". They are made before the
	// decision, which says that they go out now. nil: there are none.
	Digests func(of string, p ledger.Person) []bot.Message
	// Zone is the person's; nil leaves the times of decisions as they are.
	Zone *time.Location
}

// Notifier composes what people are told. It keeps nothing between calls and
// may be used from any goroutine.
type Notifier struct{ o Options }

// New returns a Notifier.
func New(o Options) *Notifier {
	if o.Where == nil {
		o.Where = func(string) []string { return nil }
	}
	if o.Quiet == nil {
		o.Quiet = func() ledger.Hours { return ledger.QuietOff }
	}
	if o.Urgent == nil {
		o.Urgent = func() []string { return []string{Standstill} }
	}
	if o.Group == nil {
		o.Group = func(string) bool { return false }
	}
	return &Notifier{o: o}
}

// Compose returns what people are told of a decision, in order. before is the
// state that was decided on.
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

// AwayAgain asks the open questions again after nightporter was off from one
// time to another: a press in that time is lost (PHONE 3.11). Settled ones and
// confirmations, which somebody asked for in passing, are not repeated.
func (n *Notifier) AwayAgain(s loop.State, from, to time.Time) []ledger.Outgoing {
	c := &composer{Notifier: n, now: n.local(to), last: s, after: s}
	for _, q := range s.Project.Questions {
		if q.Personal() {
			continue
		}
		c.push(q.ID, ledger.ClassAsk, false, bot.StillOpen(s, q, n.local(from), c.now, c.now))
	}
	return c.out
}

func (n *Notifier) local(t time.Time) time.Time {
	if n.o.Zone == nil {
		return t
	}
	return t.In(n.o.Zone)
}

// composer is one decision on its way to messages.
type composer struct {
	*Notifier
	d             loop.Decision
	in            loop.Input
	now           time.Time
	at            int        // of the entry in hand
	kind          string     // of what it is about, as [digest] urgent names it
	before, after loop.State // around it
	start, last   loop.State // around all of them
	out           []ledger.Outgoing
}

// entry is the table: what is told of which entry.
func (c *composer) entry(e ledger.Entry) {
	switch b := e.Body.(type) {
	case ledger.PreflightFailed:
		c.push(c.runKey(), ledger.ClassNotice, false, bot.Problems(c.after, b.Problems))
	case ledger.PreflightDone:
		if len(b.Warnings) > 0 {
			c.push(c.runKey(), ledger.ClassNotice, true, bot.Warnings(c.after, b.Warnings))
		}
	case ledger.RunStarted:
		c.push(c.runKey(), ledger.ClassNotice, !bot.Degraded(c.after.Project.Run), bot.Started(c.after, b, c.now))
		// The one live message moves down with each run (PHONE 1.3).
		c.push(bot.LiveKey(c.after.Project.Name), ledger.ClassChatter, true, bot.Status(c.last, c.now))
	case ledger.RunStateSet:
		c.stateSet(b)
	case ledger.RunEnded:
		c.ended(b)
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
		c.worked(b)
	case ledger.SessionEnded:
		c.sessionEnded(e, b)
	case ledger.EffectFailed:
		// A disk that is full is tried again; what fails a session, an attempt or
		// the run is told by these. A mark that cannot be made fails nothing.
		if b.Kind == (ledger.EffectMark{}).EffectKind() && !b.Disk {
			c.keep("mark/"+c.runKey(), false, bot.NotMarked(c.after, b, c.now))
		}
	case ledger.BaselineBroke:
		c.push("baseline/"+c.runKey(), ledger.ClassNotice, true, bot.BaselineBroke(c.after, b, c.now))
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

// runKey is the key of what is told of the run: "r14".
func (c *composer) runKey() string {
	if r := c.after.Project.Run; r != nil {
		return r.ID
	}
	return ""
}

// push tells everybody by a message of its own.
func (c *composer) push(key string, class ledger.MessageClass, silent bool, m bot.Message) {
	for _, r := range c.readers() {
		c.send(ledger.Outgoing{Chat: r.chat, Key: key, Class: class, Silent: silent || c.quiet(r.chat)}, m)
	}
}

// keep tells everybody by one message that is edited when the same comes
// again: trouble that is tried every few minutes is one trouble.
func (c *composer) keep(key string, silent bool, m bot.Message) {
	for _, r := range c.readers() {
		c.send(ledger.Outgoing{Chat: r.chat, Key: key, Edit: true, Class: ledger.ClassNotice, Silent: silent || c.quiet(r.chat)}, m)
	}
}

// edit takes the place of the message with the key in every chat where one
// stands. A chat that never had it is told nothing, and neither is one of
// somebody who was taken out since.
func (c *composer) edit(key string, class ledger.MessageClass, m bot.Message) {
	for _, chat := range c.standing(key) {
		c.send(ledger.Outgoing{Chat: chat, Key: key, Edit: true, Class: class, Silent: true}, m)
	}
}

// standing are the chats in which a message with the key stands, but for those
// of people who were taken out: they are told nothing any more (SPEC 6.6).
func (c *composer) standing(key string) []string {
	return slices.DeleteFunc(c.o.Where(key), func(chat string) bool {
		_, in := c.last.Shared.Person(chat)
		return !in && !c.o.Group(chat)
	})
}

// send adds one message, with the buttons that its reader may press. A chat
// that is nobody's own keeps all: who presses is looked at then.
func (c *composer) send(o ledger.Outgoing, m bot.Message) {
	if p, ok := c.last.Shared.Person(o.Chat); ok {
		m = m.For(p.Role)
	}
	body, err := json.Marshal(m)
	if err != nil { // a struct of strings always encodes
		return
	}
	o.Body = body
	// Of two edits in one decision only the last one is to be seen.
	if o.Edit {
		c.out = slices.DeleteFunc(c.out, func(x ledger.Outgoing) bool { return x.Edit && x.Chat == o.Chat && x.Key == o.Key })
	}
	c.out = append(c.out, o)
}

// follows reports whether a later entry of the decision is of a kind.
func (c *composer) follows(is func(ledger.Entry) bool) bool {
	return slices.ContainsFunc(c.d.Entries[c.at+1:], is)
}

// preceded returns the body of the last entry of a type before the one in
// hand, in the same decision.
func preceded[B ledger.Body](c *composer) (B, bool) {
	for n := c.at - 1; n >= 0; n-- {
		if b, ok := c.d.Entries[n].Body.(B); ok {
			return b, true
		}
	}
	var none B
	return none, false
}
