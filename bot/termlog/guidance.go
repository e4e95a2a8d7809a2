package termlog

import (
	"strings"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/guidance"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// bound prints guidance that a session got for the first time, or again because
// the previous session was cut off.
func (c *Console) bound(v view, b ledger.GuidanceBound) {
	var fresh, again []string
	for _, id := range b.Binding.Bound {
		item, ok := v.before.Project.Guidance.Get(id)
		switch {
		case !ok, c.sticky[id]:
		case item.State == guidance.Queued:
			fresh = append(fresh, id)
			c.sticky[id] = item.Sticky
		case item.State == guidance.Injected && item.Session != v.e.Session:
			again = append(again, id)
		}
	}
	if len(fresh) > 0 {
		if s := c.held[ledger.FoldID(v.e.Task)]; s != nil && s.ready {
			what, _ := c.eventText(s)
			gap := "   "
			if c.opt.Demo { // the column of verifications
				gap = strings.Repeat(" ", max(37-bot.Width(what), 3))
			}
			s.then += gap + bot.Clean(b.Hat) + " " + bot.SignNow + " with " + strings.Join(fresh, " ")
			c.printSession(v, s)
		} else {
			c.printEntry(v, bot.SignNow+" "+strings.Join(fresh, " ")+" with "+c.id(v.e.Task)+" "+bot.Clean(b.Hat))
		}
	}
	if len(again) > 0 {
		c.printEntry(v, bot.SignAgain+" "+strings.Join(again, " ")+" handed on to "+c.id(v.e.Task)+" "+bot.Clean(b.Hat))
	}
}

// guidance prints changes of guidance that is queued.
func (c *Console) guidance(v view) {
	switch b := v.e.Body.(type) {
	case ledger.GuidanceQueued:
		if b.Item.Origin != nil {
			c.printWrapped(v, bot.SignLater+" "+b.Item.ID+" "+bot.Cut(bot.Clean(b.Item.Text), 60)+bot.OriginOf(b.Item))
		}
		c.printEntry(v, bot.SignLater+" "+b.Item.ID+" queued → "+bot.Clean(loop.Forecast(v.after, b.Item).String()))
	case ledger.GuidanceChanged:
		c.printEntry(v, bot.SignLater+" "+bot.Clean(b.ID)+" changed: "+bot.Clean(b.Text))
	case ledger.GuidanceDropped:
		c.printEntry(v, bot.SignAway+" "+bot.Clean(b.ID)+" dropped")
	case ledger.GuidanceExpired:
		c.printWrapped(v, bot.SignAway+" "+bot.Clean(b.ID)+" expired"+reasonSuffix(b.Why)+"   "+bot.Clean(b.ID)+" keep")
	case ledger.GuidanceKept:
		c.printEntry(v, bot.SignLater+" "+bot.Clean(b.ID)+" queued again")
	}
}
