package notify

import (
	"fmt"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// stateSet tells of waits. Pauses and resumptions are the answer to whoever
// asked for them, and stand in the live status.
func (c *composer) stateSet(b ledger.RunStateSet) {
	was := c.before.Project.Run
	if was == nil {
		return
	}
	switch {
	case b.State == ledger.RunWaiting && b.Wait == ledger.WaitLimit:
		c.limited()
	case b.State == ledger.RunWaiting && b.Wait == ledger.WaitAgent:
		c.keep(troubleKey("standstill", was.Commits, was.Counted, was.ID), false, bot.Standstill(c.after, c.cut(), c.now))
	case b.Wait == ledger.WaitDisk:
		c.keep(troubleKey("disk", was.Commits, 0, was.ID), false, bot.DiskFull(c.after, c.now))
	case b.State == ledger.RunRunning || b.State == ledger.RunPlanning:
		c.goesOn(was)
	}
}

// troubleKey names one trouble of a run. What is tried every few minutes in
// vain is one trouble, and one message that is edited; what comes again after
// the run has got on is another one, which has to be told, and to ring, anew.
// How far the run is tells the two apart: a session that a trouble cuts off is
// not counted. The run's id stands last, as reception reads it.
func troubleKey(kind string, commits, counted int, run string) string {
	return fmt.Sprintf("%s/%d.%d/%s", kind, commits, counted, run)
}

// longOutage is the back-off from which on a network that fails is told: the
// waits before it add up to five minutes (SPEC 2.2).
const longOutage = 4

func (c *composer) limited() {
	r := c.after.Project.Run
	key := troubleKey("limit", r.Commits, r.Counted, r.ID)
	hold := c.holdOf(r)
	if hold.Why == ledger.FailureNetwork {
		if hold.Times >= longOutage {
			c.keep(troubleKey("network", r.Commits, r.Counted, r.ID), true, bot.Limited(c.after, "", c.now))
		}
		return
	}
	// A limit whose time was stale, or that nobody named a time for, is there
	// again every few minutes: it stays one message.
	if len(c.o.Where(key)) > 0 {
		c.edit(key, ledger.ClassChatter, bot.StillLimited(c.after, c.now))
		return
	}
	c.push(key, ledger.ClassNotice, true, bot.Limited(c.after, c.cut(), c.now))
}

// holdOf is why the run's agent is held: the one that comes back when the
// wait is over.
func (c *composer) holdOf(r *loop.Run) loop.AgentHold {
	var found loop.AgentHold
	for _, h := range c.after.Shared.Agents {
		if h.Until.Equal(r.Until) {
			found = h
		}
	}
	return found
}

// cut is the session in hand that ended without being counted, for people:
// "#9 planner"; "" where the wait came before one was started.
func (c *composer) cut() string {
	for _, t := range c.after.Project.Tasks.All() {
		if t.Status == ledger.Active && t.Attempt != nil && t.Attempt.Replaces != "" {
			return bot.Doing(c.after)
		}
	}
	return ""
}

// goesOn settles what was told of a wait. It is the message that changes, and
// makes no sound.
func (c *composer) goesOn(was *loop.Run) {
	if was.Wait != ledger.WaitLimit && was.Wait != ledger.WaitAgent && was.Wait != ledger.WaitDisk {
		return
	}
	// A trial of an unusable agent is no going on yet: its own session says so.
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
		c.edit(key, ledger.ClassChatter, bot.GoesOn(c.before, was, c.since(was), c.now))
	}
}

// worked settles a standstill: a session of the agent that was tried has come
// to its event.
func (c *composer) worked(b ledger.AgentUsable) {
	r := c.before.Project.Run
	hold := c.before.Shared.Agents[b.Agent]
	if !b.Worked || !hold.Trial || r.Over() {
		return
	}
	was := *r
	was.Wait, was.WaitAgent = ledger.WaitAgent, b.Agent
	key := troubleKey("standstill", r.Commits, r.Counted-1, r.ID) // the session that was tried is counted by now
	c.edit(key, ledger.ClassChatter, bot.GoesOn(c.before, &was, c.local(hold.Since), c.now))
}

func (c *composer) trial() (ledger.AgentUsable, bool) { return preceded[ledger.AgentUsable](c) }

// since is when the agent that the run waited for was held, the zero time
// where nobody knows any more.
func (c *composer) since(was *loop.Run) time.Time {
	h, held := c.start.Shared.Agents[was.AwaitedAgent()] // this decision may have lifted it
	if !held {
		return time.Time{}
	}
	return c.local(h.Since)
}

// ended tells of a run's end. A preflight that failed was told by itself; a
// look with --check, and a run that gives way to a new one, are nobody's news.
func (c *composer) ended(b ledger.RunEnded) {
	switch b.Reason {
	case ledger.ReasonPreflight, ledger.ReasonChecked, ledger.ReasonReplaced:
		return
	}
	m := bot.Ended(c.last, b, c.now)
	for _, r := range c.readers() {
		// Who stopped it hears it from the answer to the command.
		own := b.Reason == ledger.ReasonStopped && r.only(b.By)
		c.send(ledger.Outgoing{Chat: r.chat, Key: c.runKey(), Class: ledger.ClassNotice, Silent: own || c.quiet(r.chat)}, m)
	}
}

// unusable tells that another agent goes on. Where none does, the standstill
// or the run's end says so.
func (c *composer) unusable(b ledger.AgentUnusable) {
	r := c.last.Project.Run
	if r.Over() || r.Settings.Fallback == "" || r.Settings.Fallback == b.Agent {
		return
	}
	if _, held := c.last.Shared.Agents[r.Settings.Fallback]; held {
		return
	}
	c.keep(troubleKey("agent/"+b.Agent, r.Commits, r.Counted, r.ID), false, bot.Replaced(c.last, b, r.Settings.Fallback, c.now))
}

// sessionEnded tells of an agent session whose end nobody knows.
func (c *composer) sessionEnded(e ledger.Entry, b ledger.SessionEnded) {
	c.handedOn(e, b)
	if b.Kind != ledger.KindAgent || b.End != ledger.EndedLost {
		return
	}
	hat := ""
	if s, ok := c.before.Project.Session(e.Session); ok {
		hat = s.Planned.Hat
	}
	again := b.Counts == ledger.CountsAsNothing && !c.follows(func(e ledger.Entry) bool {
		a, is := e.Body.(ledger.AttemptEnded)
		return is && a.Failed
	})
	c.push("", ledger.ClassNotice, false, bot.Lost(c.after, e.Task, hat, e.Session, again, c.now))
}
