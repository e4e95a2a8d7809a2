package notify

import (
	"slices"
	"time"

	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// composer turns one decision into messages.
type composer struct {
	*Notifier
	d             loop.Decision
	in            loop.Input
	now           time.Time
	at            int        // index of the current entry
	kind          string     // kind of the current entry, as the setting [digest] urgent names it
	before, after loop.State // states before and after the current entry
	start, last   loop.State // states before and after all entries
	out           []ledger.Outgoing
}

// runKey returns the id of the run, which is part of the keys of its messages:
// "r14".
func (c *composer) runKey() string {
	if r := c.after.Project.Run; r != nil {
		return r.ID
	}
	return ""
}

// hasLater reports whether is returns true for a later entry of the decision.
func (c *composer) hasLater(is func(ledger.Entry) bool) bool {
	return slices.ContainsFunc(c.d.Entries[c.at+1:], is)
}

// earlier returns the body of the last entry of type B before the current one in
// the same decision.
func earlier[B ledger.Body](c *composer) (B, bool) {
	for n := c.at - 1; n >= 0; n-- {
		if b, ok := c.d.Entries[n].Body.(B); ok {
			return b, true
		}
	}
	var none B
	return none, false
}
