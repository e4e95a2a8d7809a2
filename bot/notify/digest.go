package notify

import (
	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/loop"
)

// digest tells everybody one digest a project. Only the first one of a chat
// makes a sound, and none does that says that nothing happened.
func (c *composer) digest(b loop.DigestSent) {
	if c.o.Digests == nil {
		return
	}
	for _, p := range c.last.House.People {
		rung := false
		for _, m := range c.o.Digests(b, p) {
			silent := rung || m.Key == bot.KeyDigestIdle || c.quiet(p.ID)
			rung = rung || !silent
			c.send(loop.Outgoing{Chat: p.ID, Key: "digest/" + b.Day + "/" + m.Project, Class: loop.ClassNotice, Silent: silent}, m)
		}
	}
}
