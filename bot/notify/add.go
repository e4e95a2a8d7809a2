package notify

import (
	"path"
	"slices"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// addition shows what became of added tasks, in the message of their /add. Where no
// chat has that message, whoever asked waits for the answer: a session, or a terminal.
// If both may have left, everybody is told of tasks that the source does not take. The
// plan of an idea is asked about again then.
func (c *composer) addition(id string) {
	a, ok := c.after.Project.Addition(id)
	if !ok {
		return
	}
	m := bot.Added(c.after, a)
	_, waits := c.after.Project.Session(a.Session)
	planned := slices.ContainsFunc(c.before.Project.Ideas, func(i loop.Idea) bool { return i.Addition == id })
	if a.Error != "" && len(a.IDs) == 0 && !waits && !planned && len(c.chatsShowing(id)) == 0 {
		c.keep(id, true, m)
		return
	}
	c.edit(id, ledger.ClassReply, m)
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
