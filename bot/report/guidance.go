package report

import (
	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/guidance"
	"github.com/nightporter/nightporter/loop/ledger"
)

// guidanceUsed records which guidance items an entry of the span concerns.
func (c *collector) guidanceUsed(e ledger.Entry) {
	ids := []string{}
	switch b := e.Body.(type) {
	case ledger.GuidanceQueued:
		ids = append(ids, b.Item.ID)
	case ledger.GuidanceBound:
		ids = append(ids, b.Binding.Bound...)
	case ledger.GuidanceReported:
		ids = append(ids, b.ID)
	case ledger.GuidanceJudged:
		ids = append(ids, b.ID)
	case ledger.GuidanceDropped:
		ids = append(ids, b.ID)
	case ledger.GuidanceExpired:
		ids = append(ids, b.ID)
	case ledger.GuidanceKept:
		ids = append(ids, b.ID)
	}
	if !c.inSpan(e.Time) {
		return
	}
	for _, id := range ids {
		if c.given[id] == nil {
			c.given[id] = &Guided{}
			c.order = append(c.order, id)
		}
		if e.Task != "" {
			c.given[id].Task = e.Task
		}
		if _, is := e.Body.(ledger.GuidanceQueued); is {
			c.given[id].InSpan, c.given[id].At = true, c.local(e.Time)
		}
	}
}

// guidanceOutcomes adds the outcome of each recorded item to the Facts.
func (c *collector) guidanceOutcomes() {
	for _, id := range c.order {
		g := *c.given[id]
		i, ok := c.s.Project.Guidance.Get(id)
		if !ok || i.State == guidance.Dropped && !g.InSpan {
			continue
		}
		g.Item = i
		c.Guidance = append(c.Guidance, g)
	}
}

// outcomeLine returns an item and its outcome in one line: "✓ g17 Wrap the
// existing code… → #7, followed".
func (g Guided) outcomeLine() string {
	i := g.Item
	words := i.ID + " " + bot.Cut(bot.Clean(i.Text), 24) + bot.OriginOf(i)
	task := g.Task
	if task == "" {
		task = i.Task
	}
	to := ""
	if task != "" {
		to = " → " + shortID(task)
	}
	note := bot.Cut(bot.Clean(i.Note), 32)
	judged := ""
	if j := i.Judged; j != nil {
		if judged = ", followed"; !j.Followed {
			return bot.SignFailed + " " + words + to + ", not followed"
		}
	}
	switch i.State {
	case guidance.Addressed:
		return bot.SignDone + " " + words + to + judged
	case guidance.SetAside:
		return bot.SignAway + " " + words + noteOr(note, "set aside")
	case guidance.Expired:
		return bot.SignAway + " " + words + noteOr(note, "expired")
	case guidance.Dropped:
		return bot.SignAway + " " + words + ": dropped"
	case guidance.NotReported:
		return bot.SignLook + " " + words + to + ", not reported" + judged
	case guidance.Injected:
		return bot.SignNow + " " + words + to + ", in use"
	}
	if i.Sticky {
		return bot.SignLater + " " + words + ": sticky"
	}
	return bot.SignLater + " " + words + ": waits"
}

func noteOr(note, otherwise string) string {
	if note == "" {
		note = otherwise
	}
	return ": " + note
}
