package loop

import (
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/nightporter/nightporter/loop/history"
	"github.com/nightporter/nightporter/loop/ledger"
)

// TestHistory: what a task took over all its sessions is a sample once it is finished, and
// each of its agent sessions is one at once.
func TestHistory(t *testing.T) {
	d := playing(t, "tasks 1[complexity=5] 2[complexity=5]", "set pattern=single verify=", "go quiet")
	priced := func(usd float64) func(*ledger.Exit) {
		return func(x *ledger.Exit) {
			x.Ended, x.CostUSD, x.Tokens = x.Started.Add(12*time.Minute), usd, 900
		}
	}
	if p := d.s.Project; !p.History.IsZero() {
		t.Fatalf("before a session: %+v", p.History)
	}
	d.exit(priced(0.5)) // no event: it is repeated
	if got := d.s.Project.Tasks.At(0).Effort; got.Sessions != 1 || got.USD != 0.5 {
		t.Errorf("after a session that failed: %+v", got)
	}
	d.emit("build.complete", fmt.Sprintf(built, ""))
	d.exit(priced(0.75))
	minutes := int64(12 * 60_000)
	want := history.History{
		Sessions: []history.SessionRing{{
			Key:  history.Key{Hat: "builder", Agent: "claude", Size: history.Medium},
			Last: []history.Session{{Ms: minutes, USD: 0.5, Tokens: 900}, {Ms: minutes, USD: 0.75, Tokens: 900}},
		}},
		Tasks: []history.TaskRing{{
			Kind: history.Kind{Pattern: "single", Size: history.Medium},
			Last: []history.Task{{Outcome: history.OutcomeDone, Sessions: 2, Attempts: 1, Ms: 2 * minutes, USD: 1.25, Tokens: 1800}},
		}},
	}
	if got := d.s.Project.History; !reflect.DeepEqual(got, want) {
		t.Errorf("%+v", got)
	}
	if got := d.s.Project.Tasks.At(0).Effort; !got.IsZero() {
		t.Errorf("the next time begins with %+v", got)
	}
	d.exit(func(x *ledger.Exit) { // a limit says nothing of what a session takes, and its task pays for it
		priced(0.1)(x)
		x.Failure, x.Until = ledger.FailureLimit, d.now.Add(time.Hour)
	})
	if got := d.s.Project; len(got.History.Sessions[0].Last) != 2 || got.Tasks.At(1).Effort.USD != 0.1 {
		t.Errorf("after a limit: %+v, task %+v", got.History.Sessions, got.Tasks.At(1).Effort)
	}
}
