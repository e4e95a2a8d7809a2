package notify

import (
	"fmt"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// started announces a run. Where its confirmation was asked, or a group was told that it
// is asked elsewhere, that message becomes the announcement (docs/spec 6.4), unless it
// has to make a sound, which no edit makes.
func (c *composer) started(b ledger.RunStarted) {
	m := bot.Started(c.after, b, c.o.Most(), c.now)
	silent := c.before.Project.Internal > 0 || !bot.Degraded(c.after.Project.Run)
	asked := map[string]string{} // by chat: the key of that message
	if confirmed, ok := bot.StartOf(c.after.Project); ok {
		for _, key := range []string{bot.ElsewhereKey(confirmed.ID), confirmed.ID} {
			for _, chat := range c.chatsShowing(key) {
				asked[chat] = key
			}
		}
	}
	for _, r := range c.readers() {
		o := ledger.Outgoing{Chat: r.chat, Key: "started/" + c.runKey(), Class: ledger.ClassNotice, Silent: silent || c.quiet(r.chat)}
		if key := asked[r.chat]; o.Silent && key != "" {
			o.Key, o.Edit = key, true
		}
		c.send(o, m)
	}
}

// retold tells what the run will probably get done, once that is another thing than people
// were told. It makes no sound, and in quiet hours the live status alone says it.
func (c *composer) retold(b ledger.OutlookChanged) {
	told := c.before.Project.Run.ToldOutlook()
	if told == nil {
		return
	}
	m := bot.Retold(c.after, *told, b.Outlook, c.now)
	for _, r := range c.readers() {
		if !c.last.Shared.QuietHours(r.chat, c.o.Quiet()).Has(c.now) {
			c.send(ledger.Outgoing{Chat: r.chat, Key: "outlook/" + c.runKey(), Class: ledger.ClassChatter, Silent: true}, m)
		}
	}
}

// stateSet tells of waits. Pauses and resumptions are replies to a person's
// command and part of the live status.
func (c *composer) stateSet(b ledger.RunStateSet) {
	was := c.before.Project.Run
	if was == nil {
		return
	}
	switch {
	case b.State == ledger.RunWaiting && b.Wait == ledger.WaitLimit:
		c.limited()
	case b.State == ledger.RunWaiting && b.Wait == ledger.WaitAgent:
		c.keep(troubleKey("standstill", was.Commits, was.Counted, was.ID), false, bot.Standstill(c.after, c.cutSession(), c.now))
	case b.Wait == ledger.WaitDisk:
		c.keep(troubleKey("disk", was.Commits, 0, was.ID), false, bot.DiskFull(c.after, c.now))
	case b.State == ledger.RunRunning || b.State == ledger.RunPlanning:
		c.waitEnded(was)
	}
}

// troubleKey returns the key of the message about one problem of a run. Retries
// that fail every few minutes are the same problem and edit one message; the
// same failure after progress is a new problem, with a new message and sound.
// The numbers of commits and counted sessions tell the two apart, because a
// session that a problem cuts off does not count. The run's id stands last:
// package inbound parses it from there.
func troubleKey(kind string, commits, counted int, run string) string {
	return fmt.Sprintf("%s/%d.%d/%s", kind, commits, counted, run)
}

// failingKey returns the key of the message about a kind of effect that a fault of
// the machine keeps back. The run's id stands last, as in troubleKey.
func failingKey(kind, run string) string { return "fault/" + kind + "/" + run }

// longOutage is the number of failed retries after which people are told of a
// network failure: the waits before it add up to five minutes (docs/spec 2.2).
const longOutage = 4

func (c *composer) limited() {
	r := c.after.Project.Run
	key := troubleKey("limit", r.Commits, r.Counted, r.ID)
	hold := c.holdOf(r)
	if hold.Why == ledger.FailureNetwork || hold.Why == ledger.FailureEarly {
		if hold.Times >= longOutage {
			c.keep(troubleKey("network", r.Commits, r.Counted, r.ID), true, bot.Limited(c.after, "", c.now))
		}
		return
	}
	// A limit without a time, or with a past one, recurs every few minutes: it
	// stays one message.
	if len(c.o.ChatsWith(key)) > 0 {
		c.edit(key, ledger.ClassChatter, bot.StillLimited(c.after, c.now))
		return
	}
	c.push(key, ledger.ClassNotice, true, bot.Limited(c.after, c.cutSession(), c.now))
}

// holdOf returns the hold of an agent that ends when the run's wait ends.
func (c *composer) holdOf(r *loop.Run) loop.AgentHold {
	var found loop.AgentHold
	for _, h := range c.after.Shared.Agents {
		if h.Until.Equal(r.Until) {
			found = h
		}
	}
	return found
}

// cutSession names the session that ended without being counted: "#9 planner". It
// returns "" if the wait began before a session started.
func (c *composer) cutSession() string {
	for _, t := range c.after.Project.Tasks.All() {
		if t.Status == ledger.Active && t.Attempt != nil && t.Attempt.Replaces != "" {
			return bot.Doing(c.after)
		}
	}
	return ""
}

// waitEnded edits the message about a wait that has ended, without a sound.
func (c *composer) waitEnded(was *loop.Run) {
	if was.Wait != ledger.WaitLimit && was.Wait != ledger.WaitAgent && was.Wait != ledger.WaitDisk {
		return
	}
	// The daemon's trial of an unusable agent proves nothing until its session
	// has worked.
	if was.Wait == ledger.WaitAgent && c.in.Actor == "daemon" {
		if b, ok := c.trial(); ok && b.Trial {
			return
		}
	}
	keys := map[ledger.WaitReason][]string{
		ledger.WaitLimit: {troubleKey("limit", was.Commits, was.Counted, was.ID), troubleKey("network", was.Commits, was.Counted, was.ID)},
		ledger.WaitAgent: {troubleKey("standstill", was.Commits, was.Counted, was.ID)},
		ledger.WaitDisk:  {troubleKey("disk", was.Commits, 0, was.ID)},
	}[was.Wait]
	for _, key := range keys {
		c.edit(key, ledger.ClassChatter, bot.GoesOn(c.before, was, c.heldSince(was), c.now))
	}
}

// agentRecovered edits the message about a standstill after a session of the
// agent has emitted its event.
func (c *composer) agentRecovered(b ledger.AgentUsable) {
	r := c.before.Project.Run
	hold := c.before.Shared.Agents[b.Agent]
	if !b.Worked || !hold.Trial || r.Over() {
		return
	}
	was := *r
	was.Wait, was.WaitAgent = ledger.WaitAgent, b.Agent
	key := troubleKey("standstill", r.Commits, r.Counted-1, r.ID) // not counting the trial session, which the run counts already
	c.edit(key, ledger.ClassChatter, bot.GoesOn(c.before, &was, c.local(hold.Since), c.now))
}

func (c *composer) trial() (ledger.AgentUsable, bool) { return earlier[ledger.AgentUsable](c) }

// heldSince returns the time since which the run's agent was held, or the zero
// time if it is unknown.
func (c *composer) heldSince(was *loop.Run) time.Time {
	h, held := c.start.Shared.Agents[was.AwaitedAgent()] // this decision may have ended the hold
	if !held {
		return time.Time{}
	}
	return c.local(h.Since)
}

// ended tells of a run's end. A failed preflight has its own message; a run
// with --check, or one that a new run replaces, is no news.
func (c *composer) ended(b ledger.RunEnded) {
	if r := c.before.Project.Run; r.Aside() {
		if m, ok := bot.LookedAfter(c.before, b); ok {
			c.push("upkeep/"+r.Upkeep.Run, ledger.ClassNotice, true, m)
		}
		return
	}
	if r := c.before.Project.Run; r != nil && r.Check {
		return
	}
	switch b.Reason {
	case ledger.ReasonPreflight, ledger.ReasonChecked, ledger.ReasonReplaced:
		return
	}
	m := bot.Ended(c.last, b, c.now)
	for _, r := range c.readers() {
		// A person who stopped the run has the reply to their command.
		own := b.Reason == ledger.ReasonStopped && r.isOnly(b.By) || b.Reason == ledger.ReasonInternal && c.before.Project.Internal > 0 // the first one made a sound
		c.send(ledger.Outgoing{Chat: r.chat, Key: c.runKey(), Class: ledger.ClassNotice, Silent: own || c.quiet(r.chat)}, m)
	}
}

// unusable tells that another agent continues. If none does, the message about
// the standstill or the end of the run says so.
func (c *composer) unusable(b ledger.AgentUnusable) {
	r := c.last.Project.Run
	if r.Over() {
		return
	}
	other := c.last.Substitute(b.Agent)
	if other == "" {
		return
	}
	c.keep(troubleKey("agent/"+b.Agent, r.Commits, r.Counted, r.ID), false, bot.Replaced(c.last, b, other, c.now))
}

// leaked tells of a session that sent a planted value. It makes a sound at any time of
// day: somebody reads what the machine has.
func (c *composer) leaked(e ledger.Entry, b ledger.SessionEnded) {
	s, _ := c.before.Project.Session(e.Session)
	m := bot.Leaked(c.after, e.Task, s, b, c.now)
	for _, r := range c.readers() {
		c.send(ledger.Outgoing{Chat: r.chat, Class: ledger.ClassNotice}, m)
	}
}

// sessionEnded tells of an agent session whose outcome is unknown.
func (c *composer) sessionEnded(e ledger.Entry, b ledger.SessionEnded) {
	c.releasedGuidance(e, b)
	if b.End == ledger.EndedLeak {
		c.leaked(e, b)
		return
	}
	if b.Kind != ledger.KindAgent || b.End != ledger.EndedLost {
		return
	}
	hat := ""
	if s, ok := c.before.Project.Session(e.Session); ok {
		hat = s.Planned.Hat
	}
	again := b.Counts == ledger.CountsAsNothing && !c.hasLater(func(e ledger.Entry) bool {
		a, is := e.Body.(ledger.AttemptEnded)
		return is && a.Failed
	})
	c.push("", ledger.ClassNotice, false, bot.Lost(c.after, e.Task, hat, e.Session, b, again, c.now))
}
