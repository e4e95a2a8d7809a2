package notify

import (
	"slices"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/loop/ledger"
)

// digest tells everybody one digest a project, of a day or a week, where that
// one's news goes. Only the first one of a chat makes a sound, and none does
// that needs nobody: nothing happened, or it is of a week.
func (c *composer) digest(of string) {
	if c.o.Digests == nil {
		return
	}
	rung := map[string]bool{}
	tell := func(chat string, m bot.Message) {
		silent := rung[chat] || m.Key == bot.KeyDigestIdle || m.Key == bot.KeyDigestWeek || c.quiet(chat)
		rung[chat] = rung[chat] || !silent
		c.send(ledger.Outgoing{Chat: chat, Key: "digest/" + of + "/" + m.Project, Class: ledger.ClassNotice, Silent: silent}, m)
	}
	for _, p := range c.last.Shared.People {
		for _, m := range c.o.Digests(of, p) {
			here := func(thread string) bool { return c.reads(thread, p) }
			if !slices.ContainsFunc(c.threads(m.Project), here) {
				tell(p.ID, m)
			}
		}
	}
	if c.o.Threads == nil {
		return
	}
	for _, m := range c.o.Digests(of, ledger.Person{}) { // nobody's own: what everybody may read
		for _, thread := range c.threads(m.Project) {
			tell(thread, m)
		}
	}
}
