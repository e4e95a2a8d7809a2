package loop_test

import (
	"testing"
	"time"

	"github.com/nightporter/nightporter/internal/scenario"
	"github.com/nightporter/nightporter/loop/ledger"
)

// TestUntilAndTheClock sets the clock back in the night in which summer time begins. The
// end of the run is the same for a ledger that is read again, whose times know their
// offset and no zone.
func TestUntilAndTheClock(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	until := time.Date(2027, 3, 28, 7, 8, 0, 0, berlin)
	for name, is := range map[string]time.Time{"as it was said": until, "as a ledger has it": until.In(time.FixedZone("", 2*60*60)), "in UTC": until.UTC()} {
		n := scenario.New("shop", time.Date(2027, 3, 27, 22, 0, 0, 0, time.UTC))
		s := n.Settings()
		s.Timezone, s.Until = "Europe/Berlin", is
		n.Start(s, n.Base("r1"), scenario.Task(1, "One"))
		to := time.Date(2027, 3, 27, 4, 30, 0, 0, time.UTC)
		n.Entry(ledger.Entry{Stream: ledger.ProjectStream("shop"), Time: to, Run: "r1", Body: ledger.ClockJumped{From: n.Now, To: to}})
		if got, want := n.State.Project.Run.Settings.Until, time.Date(2027, 3, 27, 5, 8, 0, 0, time.UTC); !got.Equal(want) {
			t.Errorf("%s: the run ends at %s, want %s", name, got.In(berlin), want)
		}
	}
}
