package loop

import (
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/people"
)

// Due returns the time at which s next needs a Tick, which may be past, or the zero
// time if it needs none.
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
	need(s.Project.Guidance.NextDue(s.Project.Rests))
	for _, h := range s.Shared.Agents {
		if !h.Unusable || s.Project.tries() {
			need(h.Until)
		}
	}
	need(people.Due(s.Shared.State))
	for _, f := range s.Project.Failing {
		if !f.Told && f.Key != startKey {
			need(f.Since.Add(toldAfter))
		}
	}
	if _, _, from := upkeepNext(s.Project); !from.IsZero() {
		need(from)
	}
	need(nextRepeat(s))
	if r := s.Project.Run; !r.Over() {
		// Other waits end with their question or agent, which are handled above. A day's
		// budget has room again without an answer.
		if isFaultWait(r.Wait) || r.State == ledger.RunWaiting && r.Wait == ledger.WaitQuestion && r.Finishing == nil && s.Project.asksBudget() {
			need(r.Until)
		}
		// While work is in flight, the run's end time is not due: advance checks it
		// when that work ends. Until then every Tick would change nothing.
		if !r.Settings.Until.IsZero() && r.Finishing == nil && !isFaultWait(r.Wait) && !s.Project.busy() && (r.State == ledger.RunRunning || r.State == ledger.RunWaiting) {
			need(r.Settings.Until)
		}
	}
	return due
}
