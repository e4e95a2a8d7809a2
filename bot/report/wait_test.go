package report_test

import (
	"slices"
	"testing"
	"time"

	"github.com/nightporter/nightporter/bot/report"
	"github.com/nightporter/nightporter/internal/scenario"
	"github.com/nightporter/nightporter/loop/ledger"
)

// TestWaits: a wait is named after what was waited for. A run waits in the same state
// for a usage limit, for the network, and for an agent whose sessions end at once.
func TestWaits(t *testing.T) {
	for why, want := range map[ledger.FailureClass]string{
		ledger.FailureLimit:   "claude's limit",
		ledger.FailureNetwork: "the network",
		ledger.FailureEarly:   "claude to work",
	} {
		n := scenario.New("shop", evening)
		n.Start(n.Settings(), n.Base("r1"), scenario.Task(1, "Refund flow"))
		add := func(stream string, body ledger.Body) {
			n.Entry(ledger.Entry{Stream: stream, Time: n.Now, Run: "r1", Body: body})
		}
		add(ledger.SharedStream, ledger.AgentParked{Agent: "claude", Why: why, Until: n.Now.Add(time.Hour)})
		add(ledger.ProjectStream("shop"), ledger.RunStateSet{State: ledger.RunWaiting, Wait: ledger.WaitLimit, Agent: "claude"})
		f, err := report.Collect(n.All(), n.State, evening.Add(-time.Hour), n.Now.Add(30*time.Minute))
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(f.Waits, func(s report.Span) bool { return s.Why == want }) {
			t.Errorf("%s: waits %+v, want one for %s", why, f.Waits, want)
		}
	}
}
