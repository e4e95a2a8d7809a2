package notify

import (
	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// remadeKey returns the key of the message about a branch that was made again,
// which its verification edits. The run's id stands last, as in troubleKey.
func remadeKey(run string) string { return "remade/" + run }

// remadeVerified tells whether a branch that was made again is green. Other results
// of a check of the tip are told with the run's end.
func (c *composer) remadeVerified(b ledger.Verified) {
	r := c.before.Project.Run
	if r == nil || r.Remake == nil || r.Remake.Stage != loop.RemakeChecking || c.after.Project.Run.Remake != nil {
		return
	}
	m := bot.RemadeVerified(c.after, r.Remake.Wish, b.OK, b.Results, c.now)
	c.keep(remadeKey(c.runKey()), b.OK, m)
}

// remadeStands edits the message about a branch that was made again and is green: it
// is the last one in the chat of a person who waits for the merge.
func (c *composer) remadeStands(run string) {
	p := c.after.Project
	if r := p.Run; r == nil || r.ID != run || !r.Over() || p.Green[p.Source] != r.Tip || p.RequestStale(p.Requests.Branch(run)) {
		return
	}
	c.edit(remadeKey(run), ledger.ClassChatter, bot.RemadeStands(c.after, c.now))
}

// remakeEnded tells why a branch was not made. Tasks that need it are asked about
// instead. A tip that passed before is green.
func (c *composer) remakeEnded(b ledger.RemakeEnded) {
	r := c.before.Project.Run
	switch {
	case r == nil || r.Remake == nil:
	case b.Green:
		c.keep(remadeKey(c.runKey()), true, bot.RemadeVerified(c.after, r.Remake.Wish, true, nil, c.now))
	case b.Made:
		c.keep(remadeKey(c.runKey()), true, bot.NotRemade(c.before, c.after, b, c.now))
	case len(b.Needs) > 0 && b.Remedy == "":
	default:
		c.push("", ledger.ClassNotice, false, bot.NotRemade(c.before, c.after, b, c.now))
	}
}
