package loop

import (
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/triage"
)

// TestTriagerOnlyReads: a pattern with a hat that may write decides about no report, and
// neither does one without the event.
func TestTriagerOnlyReads(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*ledger.Settings)
		asks   bool
	}{
		"shipped": {func(*ledger.Settings) {}, true},
		"writes": {func(s *ledger.Settings) {
			hat := s.Hats["triager"]
			hat.WriteAllowed = []string{"docs/**"}
			s.Hats["triager"] = hat
		}, false},
		"goes on to a builder": {func(s *ledger.Settings) {
			p := s.Roles[TriagePattern]
			p.Routes = []ledger.Route{{From: "triager", On: ledger.EventTriage, To: "builder"}, {From: "builder", On: "build.complete", To: ledger.Converged}}
			s.Roles[TriagePattern] = p
		}, false},
		"another event": {func(s *ledger.Settings) {
			hat := s.Hats["triager"]
			hat.Emits = []string{ledger.EventAdvice}
			s.Hats["triager"] = hat
		}, false},
		"no pattern": {func(s *ledger.Settings) { delete(s.Roles, TriagePattern) }, false},
	} {
		d := playing(t, "tasks 1[says=total]", "set waves=5 pattern=single verify= roles=triage")
		c.change(&d.settings)
		d.play("go quiet")
		if got := d.session().Planned.Hat; (got == "triager") != c.asks {
			t.Errorf("%s: the first session is of a %s", name, got)
		}
	}
}

// TestTriagerBound: one session decides about the reports that the wave would take up,
// and about some whose turn comes next.
func TestTriagerBound(t *testing.T) {
	d := newDirector(t, t.Name())
	d.play("set waves=5 batch=2 pattern=single verify= roles=triage")
	d.plan.Tasks = nil
	for n := range 3 * maxAsked {
		d.plan.Tasks = append(d.plan.Tasks, ledger.Task{
			ID: fmt.Sprintf("Task %d", n+1), Title: fmt.Sprintf("Page %d", n), Body: fmt.Sprintf("On the page /orders%c%c I clicked Save and saw another colour instead.", 'a'+n%26, 'a'+n/26),
			Outside: true, Mark: ledger.MarkOpen, Report: &ledger.Report{}, Priority: 1,
		})
	}
	d.plan.Tasks[3*maxAsked-1].Priority = 4
	d.play("go quiet")
	task, _ := d.s.Project.Find(d.session().Task)
	if got := task.Task.Sorts; len(got) != maxAsked || got[0] != fmt.Sprintf("Task %d", 3*maxAsked) {
		t.Errorf("%d reports are asked about, the first is %q", len(got), got[0])
	}
	if len(d.s.Project.Run.Wave.Batch) != 0 {
		t.Errorf("the wave takes up %q before they are decided", d.s.Project.Run.Wave.Batch)
	}
}

// TestTaken: what fixes of a kind took here corrects what the next one is expected to
// take, and so its place.
func TestTaken(t *testing.T) {
	d := playing(t, "tasks 1[says=total] 2[says=label] 3[says=date] 4[says=crash] 5[says=saved]", "set waves=0 batch=1 pattern=single verify=", "go quiet")
	for n := range 3 {
		if got := d.s.Project.Tasks.At(4).Triage; got.Tier != ledger.TierSimple || got.Estimate != 0 {
			t.Errorf("after %d fixes: %+v", n, got)
		}
		d.emit("build.complete", fmt.Sprintf(built, ""))
		d.exit(func(x *ledger.Exit) { x.Ended = x.Started.Add(12 * time.Minute) })
	}
	left := d.s.Project.Tasks.At(4).Triage
	if left.Tier != ledger.TierComplex || left.Estimate != ledger.TierSimple {
		t.Errorf("after three that took 12 min: %+v", left)
	}
	want := []triage.Taken{{Tier: ledger.TierSimple, Seconds: []float64{720, 720, 720}}}
	if got := d.s.Project.Taken; !reflect.DeepEqual(got, want) {
		t.Errorf("taken: %+v", got)
	}
}
