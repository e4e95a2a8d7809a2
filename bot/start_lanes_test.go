package bot_test

import (
	"strings"
	"testing"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/bot/internal/messagelint"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// TestLanesOffered checks the question that confirms a run where several lanes would be
// faster, and what becomes of it.
func TestLanesOffered(t *testing.T) {
	d := newService("shop")
	set := d.Settings()
	offer := loop.OfferRun{Settings: set, MaxSessions: 1, Tasks: 12, First: "Task 1", Lanes: &ledger.LanesProposal{
		Parallel: 4, Tasks: 12, One: ledger.Duration(6*time.Hour + 40*time.Minute), Several: ledger.Duration(2*time.Hour + 10*time.Minute),
	}}
	d.Night.Do(loop.Input{Key: "offer", Actor: "telegram:1", Name: "Mira", Body: offer})
	m := bot.Ask(d.Night.State, d.Night.State.Project.Questions[0], d.Now)
	messagelint.Check(t, "offer", m)
	want := strings.TrimSpace(`
? Start shop? 12 tasks (q1)
Plan checkout, from #1
claude · plan-build-review
overnight: no task cap, goes on past blocked tasks.
12 tasks are independent: 4 at a time take about 2 h 10 instead of 6 h 40.
No answer by 23:20: not started.
q1 start · q1 parallel · q1 cancel`)
	if got := m.Text(0); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	var labels []string
	for _, b := range m.Buttons {
		labels = append(labels, b.Label)
	}
	if got := strings.Join(labels, ", "); got != "As configured, 4 at a time, Cancel" {
		t.Error(got)
	}
	offer.Lanes.One, offer.Lanes.Several = 0, 0
	if got := bot.LanesProposed(*offer.Lanes); got != "12 tasks are independent: 4 at a time would be faster." {
		t.Error(got)
	}
	d.say(t, "q1 parallel")
	if r := d.Night.State.Project.Run; r == nil || r.Settings.Parallel != 4 {
		t.Errorf("the run is %+v", r)
	}
}
