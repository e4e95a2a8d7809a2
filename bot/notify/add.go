package notify

import (
	"path"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/loop/ledger"
)

// addition shows what became of added tasks, in the message of their /add.
func (c *composer) addition(id string) {
	if a, ok := c.after.Project.Addition(id); ok {
		c.edit(id, ledger.ClassReply, bot.Added(c.after, a))
	}
}

// additionWaits shows in the message of an /add that a fault of the machine keeps its
// tasks out of the file, for now.
func (c *composer) additionWaits(b ledger.EffectFailed) {
	if b.Kind != (ledger.EffectAddTasks{}).EffectKind() || b.Fault == "" {
		return
	}
	if a, ok := c.after.Project.Addition(path.Base(b.Key)); ok {
		c.edit(a.ID, ledger.ClassReply, bot.AddWaits(c.after, a, b))
	}
}
