package notify

import (
	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/loop"
)

// digest tells everybody one digest a project, of a day or a week. Only the
// first one of a chat makes a sound, and none does that needs nobody: nothing
// happened, or it is of a week.
func (c *composer) digest(of string) {
	if c.o.Digests == nil {
		return
	}
	for _, p := range c.last.House.People {
		rung := false
		for _, m := range c.o.Digests(of, p) {
			silent := rung || m.Key == bot.KeyDigestIdle || m.Key == bot.KeyDigestWeek || c.quiet(p.ID)
			rung = rung || !silent
			c.send(loop.Outgoing{Chat: p.ID, Key: "digest/" + of + "/" + m.Project, Class: loop.ClassNotice, Silent: silent}, m)
		}
	}
}
