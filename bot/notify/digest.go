package notify

import (
	"slices"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/loop/ledger"
)

// digest sends one digest a project, of a day or a week, to the chats that get
// the project's news. Only the first digest in a chat makes a sound, and none
// does if nothing happened, or if it covers a week that needs nothing from
// anybody.
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
			here := func(thread string) bool { return c.readsThread(thread, p) }
			if !slices.ContainsFunc(c.threads(m.Project), here) {
				tell(p.ID, m)
			}
		}
	}
	if c.o.Threads == nil {
		return
	}
	for _, m := range c.o.Digests(of, ledger.Person{}) { // no person: the chat is shared, so only content that everybody may read
		for _, thread := range c.threads(m.Project) {
			tell(thread, m)
		}
	}
}
