package termlog

import (
	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/loop/ledger"
)

// chained prints which tasks are verified together, and why others are not among
// them.
func (c *Console) chained(v view, b ledger.BatchChained) {
	var ids []string
	for _, link := range b.Links {
		ids = append(ids, link.Task)
	}
	switch text := bot.Ranges(ids); len(ids) {
	case 1:
		c.printEntry(v, bot.SignLater+" "+text+" is verified by all commands")
	default:
		c.printEntry(v, bot.SignLater+" "+text+" are verified together")
	}
	for _, left := range b.Left {
		c.wrapped(c.id(left.Task) + " is not with them: " + bot.Clean(left.Why))
	}
}

// batchVerified prints the result of tasks that were verified together. The same
// result about one of them says whose change failed.
func (c *Console) batchVerified(v view, b ledger.Verified) {
	if v.e.Task != "" {
		c.printEntry(v, bot.SignAgain+" "+c.id(v.e.Task)+" goes back: it fails on top of the others")
		return
	}
	if r := v.run(); r.Batch != nil {
		c.line(v.at, "    "+bot.Ranges(r.Batch.Tasks(b.Tree))+" "+bot.VerifyText(b))
	}
}
