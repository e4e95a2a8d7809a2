package notify

import (
	"slices"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// RemoveUndo removes [Undo] from the messages of an answer that can no longer be
// taken back (docs/spec 23.5). shown returns the message that a chat shows under a
// key. RemoveUndo leaves alone a question that was reopened, or answered again.
func (n *Notifier) RemoveUndo(s loop.State, question string, now time.Time, shown func(chat, key string) (bot.Message, bool)) []ledger.Outgoing {
	if !slices.ContainsFunc(s.Project.Answered, func(x loop.Answered) bool {
		return x.ID == question && !now.Before(x.At.Add(loop.UndoTime))
	}) {
		return nil
	}
	c := &composer{Notifier: n, now: n.local(now), last: s, after: s}
	for _, key := range []string{question, bot.ReminderKey(question)} {
		for _, chat := range c.chatsShowing(key) {
			m, found := shown(chat, key)
			left := slices.DeleteFunc(slices.Clone(m.Buttons), func(b bot.Button) bool { return b.Command == bot.Undoing(question) })
			if !found || len(left) == len(m.Buttons) {
				continue
			}
			m.Buttons = left
			c.send(ledger.Outgoing{Chat: chat, Key: key, Edit: true, Class: ledger.ClassChatter, Silent: true}, m)
		}
	}
	return c.out
}
