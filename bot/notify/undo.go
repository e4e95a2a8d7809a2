package notify

import (
	"slices"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// NoUndo takes [Undo] off the messages of an answer whose time to be taken back
// is over (PHONE 3.5). shown is what a chat shows under a key. A question that
// was taken back, or answered anew since, is left alone.
func (n *Notifier) NoUndo(s loop.State, question string, now time.Time, shown func(chat, key string) (bot.Message, bool)) []ledger.Outgoing {
	if !slices.ContainsFunc(s.Project.Answered, func(x loop.Answered) bool {
		return x.ID == question && !now.Before(x.At.Add(loop.UndoTime))
	}) {
		return nil
	}
	c := &composer{Notifier: n, now: n.local(now), last: s, after: s}
	for _, key := range []string{question, bot.ReminderKey(question)} {
		for _, chat := range c.standing(key) {
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
