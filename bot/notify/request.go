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
	key, m := fmt.Sprintf("request/%d/%s", b.Now.Number, b.Run), bot.RequestNews(c.before, c.after, b.Run)
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
	case b.Now.Pending > 0:
		c.edit(key, ledger.ClassChatter, m)
	case bot.IsGreenAgain(c.before, c.after, b.Run):
		c.push(key, ledger.ClassNotice, true, m)
	default:
		c.keep(key, true, m)
	}
}
