package loop

import (
	"fmt"
	"testing"
	"time"

	"github.com/nightporter/nightporter/loop/history"
	"github.com/nightporter/nightporter/loop/ledger"
)

// TestOutlook: the open tasks of the run count, each behind what it depends on, from when
// the agent can work.
func TestOutlook(t *testing.T) {
	d := playing(t, "tasks 1 2<3 3 4:done 5:manual_verify 6<5", "set pattern=single verify=", "go quiet")
	q := outlookQuestion(d.s, d.now, nil)
	var order []string
	for _, task := range q.Tasks {
		order = append(order, ledger.ShortID(task.ID))
	}
	if want := "[#1 #3 #2 #6]"; fmt.Sprint(order) != want {
		t.Errorf("%v, not %s", order, want)
	}
	if !q.Tasks[3].Never || q.Tasks[2].Never || q.Agent != "claude" || !q.Begin.Equal(d.now) {
		t.Errorf("%+v", q)
	}
	for range history.Enough {
		d.s.Project.History = d.s.Project.History.WithTask(history.Kind{Pattern: "single", Size: history.Small}, history.Task{Outcome: history.OutcomeDone, Ms: 3_600_000, USD: 1})
	}
	got := OutlookOf(d.s, d.now)
	if got.Total != 4 || got.Done != 3 || got.USDHigh != 3 || !got.By.Equal(d.now.Add(3*time.Hour)) {
		t.Errorf("%+v", got)
	}
	until := d.now.Add(time.Hour)
	d.s.Shared.Agents = map[string]AgentHold{"claude": {Until: until, Why: ledger.FailureLimit}}
	if got := OutlookOf(d.s, d.now); !got.By.Equal(until.Add(3 * time.Hour)) {
		t.Errorf("held until %s: %+v", until, got)
	}
	if got := OutlookOf(State{}, d.now); got.Total != 0 || got.Known() {
		t.Errorf("without a run: %+v", got)
	}
}
