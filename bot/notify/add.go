package notify

import (
	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/loop/ledger"
)

// addition shows what became of added tasks, in the message of their /add.
func (c *composer) addition(id string) {
	if a, ok := c.after.Project.Addition(id); ok {
		c.edit(id, ledger.ClassReply, bot.Added(c.after, a))
	}
}
