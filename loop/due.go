package loop

import (
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
)

// Due returns when a Tick is next needed, or the zero time.
func Due(s State) time.Time {
	var due time.Time
	need := func(t time.Time) {
		if !t.IsZero() && (due.IsZero() || t.Before(due)) {
			due = t
		}
	}
	for _, q := range s.Project.Questions {
		if s.Project.shelved(q) == "" {
			need(q.Expires)
			need(q.Remind)
		}
	}
	need(s.Project.Guidance.NextDue())
	for _, h := range s.Shared.Agents {
		if !h.Unusable || s.Project.tries() {
			need(h.Until)
		}
	}
	if s.Shared.Pairing != nil {
		need(s.Shared.Pairing.Until)
	}
	if r := s.Project.Run; !r.Over() {
		// Every other wait ends with its question or its agent, above.
		if r.Wait == ledger.WaitDisk {
			need(r.Until)
		}
		// While something is in hand, its end is what asks for the time: a due
		// time that nothing can be done about would only keep the clock busy.
		if !r.Settings.Until.IsZero() && r.Finishing == nil && r.Wait != ledger.WaitDisk && !s.Project.busy() && (r.State == ledger.RunRunning || r.State == ledger.RunWaiting) {
			need(r.Settings.Until)
		}
	}
	return due
}
