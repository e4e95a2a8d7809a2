package notify

import (
	"encoding/json"
	"slices"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/loop/ledger"
)

// push sends everybody a new message.
func (c *composer) push(key string, class ledger.MessageClass, silent bool, m bot.Message) {
	for _, r := range c.readers() {
		c.send(ledger.Outgoing{Chat: r.chat, Key: key, Class: class, Silent: silent || c.quiet(r.chat)}, m)
	}
}

// keep sends everybody a message, or edits the message with the same key, so
// that a problem that recurs every few minutes stays one message.
func (c *composer) keep(key string, silent bool, m bot.Message) {
	for _, r := range c.readers() {
		c.send(ledger.Outgoing{Chat: r.chat, Key: key, Edit: true, Class: ledger.ClassNotice, Silent: silent || c.quiet(r.chat)}, m)
	}
}

// edit replaces the message with the key in every chat that shows it. It sends
// nothing to a chat that never had it, nor to a person who was removed since.
func (c *composer) edit(key string, class ledger.MessageClass, m bot.Message) {
	for _, chat := range c.chatsShowing(key) {
		c.send(ledger.Outgoing{Chat: chat, Key: key, Edit: true, Class: class, Silent: true}, m)
	}
}

// chatsShowing returns the chats that show a message with the key, except those
// of people who were removed: they get no messages any more (docs/spec 6.6).
func (c *composer) chatsShowing(key string) []string {
	return slices.DeleteFunc(c.o.ChatsWith(key), func(chat string) bool {
		_, in := c.last.Shared.Person(chat)
		return !in && !c.o.Group(chat)
	})
}

// send adds one message with the buttons that its reader may press. A chat of
// several people keeps all buttons: a press is checked against the person who
// makes it.
func (c *composer) send(o ledger.Outgoing, m bot.Message) {
	if p, ok := c.last.Shared.Person(o.Chat); ok {
		m = m.For(p.Role)
	}
	body, err := json.Marshal(m)
	if err != nil { // cannot happen: a struct of strings always encodes
		return
	}
	o.Body = body
	// Of two edits of one message in a decision, only the last one counts.
	if o.Edit {
		c.out = slices.DeleteFunc(c.out, func(x ledger.Outgoing) bool { return x.Edit && x.Chat == o.Chat && x.Key == o.Key })
	}
	c.out = append(c.out, o)
}
