package notify

import (
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/guidance"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// guidance edits receipts: the outcome of guidance is shown in the receipt of
// that guidance and nowhere else (docs/spec 5.1).
func (c *composer) guidance(e ledger.Entry) {
	name := c.after.Project.Name
	switch b := e.Body.(type) {
	case ledger.GuidanceChanged:
		if _, more := c.in.Body.(loop.AttachMore); more {
			c.moreAttached(b.ID)
			break
		}
		c.receipt(b.ID, func(i guidance.Item) bot.Message { return bot.Changed(c.after, i, c.now) })
	case ledger.GuidanceDropped:
		if _, is := earlier[ledger.FilesAttached](c); is && c.in.Album != "" {
			c.receipt(b.ID, func(i guidance.Item) bot.Message { return bot.Moved(name, i, c.now) })
			break
		}
		by := c.in.Name
		if by == "" {
			by = "the host"
		}
		c.receipt(b.ID, func(i guidance.Item) bot.Message { return bot.Dropped(name, i, by, c.now) })
	case ledger.GuidanceExpired:
		c.receipt(b.ID, func(i guidance.Item) bot.Message { return bot.Gone(c.after, i, b.Why, c.now) })
	case ledger.GuidanceKept:
		c.receipt(b.ID, func(i guidance.Item) bot.Message {
			return bot.Queued(c.after, i, loop.Forecast(c.after, i), c.now, time.Time{})
		})
	case ledger.GuidanceBound:
		c.boundGuidance(e, b)
	case ledger.GuidanceReported:
		hat := c.hatOf(e.Session)
		c.receipt(b.ID, func(i guidance.Item) bot.Message {
			return bot.Reported(c.after, c.heldFor(i, e.Task), hat, c.now)
		})
	case ledger.GuidanceJudged:
		c.receipt(b.ID, func(i guidance.Item) bot.Message {
			return bot.Reviewed(c.after, c.heldFor(i, e.Task), c.reporter(e.Task, i.Session), b.Hat, b.Followed, b.Note, c.now)
		})
	}
}

// heldFor returns an item as shown in a receipt about a task. A sticky item
// belongs to no task; it is shown with the task whose session used it.
func (c *composer) heldFor(i guidance.Item, task string) guidance.Item {
	if i.Sticky {
		i.Bound = ledger.FoldID(task)
	}
	return i
}

// receipt edits the receipt of one item.
func (c *composer) receipt(id string, render func(guidance.Item) bot.Message) {
	if i, ok := c.after.Project.Guidance.Get(id); ok {
		c.edit(id, ledger.ClassReply, render(i))
	}
}

// boundGuidance shows in the receipts that a session now has the guidance. An
// item that an earlier session of the same attempt has reported on stays as it
// is.
func (c *composer) boundGuidance(e ledger.Entry, b ledger.GuidanceBound) {
	replaces := ""
	if p, ok := earlier[ledger.SessionPlanned](c); ok {
		replaces = p.Replaces
	}
	for _, id := range b.Binding.Bound {
		i, ok := c.after.Project.Guidance.Get(id)
		if !ok || i.State != guidance.Injected || i.Judged != nil && !i.Judged.Followed {
			continue // "not followed" stays until a session reports on it again
		}
		c.edit(id, ledger.ClassReply, bot.Injected(c.after, c.heldFor(i, e.Task), b.Hat, e.Session, replaces, c.now))
	}
}

// attached shows that more files of an album came. What came with the words is in the
// reply to them.
func (c *composer) attached(b ledger.FilesAttached) {
	if _, more := c.in.Body.(loop.AttachMore); !more {
		return
	}
	if a, ok := c.after.Project.Addition(b.To); ok && a.ID == b.To && a.Done {
		c.addition(b.To)
	}
	if i, ok := c.after.Project.Guidance.Get(b.To); ok && i.State == guidance.Queued { // else its next change shows it
		c.moreAttached(b.To)
	}
}

// heard shows what a recording was understood as, in the reply to it. Guidance has its
// receipt in the same chats from then on, with the words and [Not guidance], and added
// tasks have their message.
func (c *composer) heard(b ledger.VoiceHeard) {
	i, guides := c.after.Project.Guidance.Get(b.As)
	a, adds := c.after.Project.Addition(b.As)
	for _, chat := range c.chatsShowing(b.ID) {
		o := ledger.Outgoing{Chat: chat, Key: b.As, Class: ledger.ClassReply, Silent: true}
		switch {
		case guides:
			c.send(o, bot.QueuedWords(c.after, i, loop.Forecast(c.after, i), c.now, time.Time{}))
		case adds && a.ID == b.As:
			c.send(o, bot.Added(c.after, a))
		}
	}
	c.edit(b.ID, ledger.ClassReply, bot.Heard(c.after.Project.Name, b))
}

// moreAttached shows an item that was said with an album, most likely in plain words.
func (c *composer) moreAttached(id string) {
	c.receipt(id, func(i guidance.Item) bot.Message {
		return bot.QueuedWords(c.after, i, loop.Forecast(c.after, i), c.now, time.Time{})
	})
}

// releasedGuidance shows in the receipts that a session ended before it could
// use the guidance, and that the session that replaces it gets the guidance.
func (c *composer) releasedGuidance(e ledger.Entry, b ledger.SessionEnded) {
	if b.Kind != ledger.KindAgent || b.Counts == ledger.CountsAsSuccess {
		return
	}
	for _, i := range c.before.Project.Guidance.Items {
		if i.Session == e.Session && i.State == guidance.Injected && !i.Sticky {
			c.edit(i.ID, ledger.ClassReply, bot.HandedOn(c.after, i, b, e.Session, c.now))
		}
	}
}

func (c *composer) hatOf(session string) string {
	if s, ok := c.before.Project.Session(session); ok {
		return s.Planned.Hat
	}
	return ""
}

// reporter returns the hat of a session that has ended.
func (c *composer) reporter(task, session string) string {
	for _, t := range c.after.Project.Tasks.All() {
		if t.Attempt == nil || !ledger.SameID(t.Task.ID, task) {
			continue
		}
		for _, s := range t.Attempt.History {
			if s.Session == session {
				return s.Hat
			}
		}
	}
	return ""
}
