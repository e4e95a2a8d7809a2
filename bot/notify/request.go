package notify

import (
	"fmt"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/loop/ledger"
)

// requestSeen tells how a request stands, in one message a request. Checks that begin
// are no news of their own; checks that fail, a request that somebody merged or
// closed, and what only a person can mend, make a sound.
func (c *composer) requestSeen(b ledger.RequestSeen) {
	of := c.after.Project.Requests.Branch(b.Run)
	if of.Request == nil || of.Request.Number != b.Now.Number {
		return
	}
	c.remadeStands(b.Run)
	key, m := requestKey(b.Now.Number, b.Run), bot.RequestNews(c.before, c.after, b.Run)
	was := c.before.Project.Requests.Branch(b.Run).Seen
	switch {
	case b.Now.State != ledger.RequestOpen:
		c.edit(key, ledger.ClassChatter, m)
		c.push("", ledger.ClassNotice, false, m)
	case b.Now.Failure == ledger.ForgeAway || b.Now.Failure == ledger.ForgeLimited: // over by itself; /status says it
	case b.Now.Failure != "":
		c.keep(key, was != nil && was.Failure == b.Now.Failure, m)
	case b.Now.Base == "" && (was == nil || was.Base != ""), b.Now.Failing > 0 && (was == nil || was.Failing == 0):
		c.push(key, ledger.ClassNotice, false, m)
	case b.Now.Base == "", b.Now.Failing > 0:
		c.edit(key, ledger.ClassChatter, m)
	case b.Now.Pending > 0, !b.Now.ChecksDue.IsZero():
		c.edit(key, ledger.ClassChatter, m)
	case bot.IsGreenAgain(c.before, c.after, b.Run):
		c.push(key, ledger.ClassNotice, true, m)
	default:
		c.keep(key, true, m)
	}
}

// requestKey returns the key of the message about a request.
func requestKey(number int, run string) string { return fmt.Sprintf("request/%d/%s", number, run) }

// mergeEnded tells what became of a merge, and takes its offer back elsewhere.
func (c *composer) mergeEnded(b ledger.MergeEnded) {
	c.remadeStands(b.Run)
	c.edit(requestKey(b.Request.Number, b.Run), ledger.ClassChatter, bot.RequestNews(c.before, c.after, b.Run))
	c.push("", ledger.ClassNotice, false, bot.Merged(c.after, b))
}
