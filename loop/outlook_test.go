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
	if got.Total != 4 || got.Done != 3 || got.USDLow != 3 || !got.By.Equal(d.now.Add(3*time.Hour)) {
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

// TestOutlookBeside: with several lanes it counts whose files meet, and the sections of a
// divided task that are still to be built.
func TestOutlookBeside(t *testing.T) {
	d := playing(t, "set parallel=3 pattern=single verify=", "tasks 1[scope=src/a] 2[scope=src/a/x.go] 3[scope=src/b] 4", "go quiet")
	q := outlookQuestion(d.s, d.now, nil)
	got := ""
	for _, task := range q.Tasks {
		got += fmt.Sprint(ledger.ShortID(task.ID), task.Meets, task.Alone, " ")
	}
	if want := "#1[] false #3[] false #2[0] false #4[] true "; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	d = playing(t, "set parallel=3 pattern=ultrawork", "tasks 1", "go quiet", "sections a b c<a", "on 1/b build")
	if q := outlookQuestion(d.s, d.now, nil); len(q.Tasks) != 1 || q.Tasks[0].Wide != 2 || q.Tasks[0].Spent.Sessions != 2 {
		t.Errorf("of a divided task it asks %+v", q.Tasks)
	}
}

// TestChecksCounted: what is known of a task has its checks apart, and that of what was
// merged apart from the others: a run with one lane does not have it.
func TestChecksCounted(t *testing.T) {
	d := playing(t, "set parallel=2 pattern=single", "tasks 1[scope=src/a] 2[scope=src/b]", "go quiet", "on 2 build", "on 1 build", "on 2 green", "on 1 green", "on 1 green")
	var got []history.Task
	for _, r := range d.s.Project.History.Tasks {
		got = append(got, r.Last...)
	}
	minute := time.Minute.Milliseconds()
	want := []history.Checks{{Times: 1, VerifyMs: minute}, {Times: 1, VerifyMs: minute, MergedMs: minute}}
	if len(got) != 2 || got[0].Checks != want[0] || got[1].Checks != want[1] || got[1].Ms != 3*minute {
		t.Errorf("%+v, want the checks %+v", got, want)
	}
}

// TestOfferedOutlook: a run that is offered is foretold from the source as it was just
// read, and what was said of it at its start is kept with it.
func TestOfferedOutlook(t *testing.T) {
	n := newNight(t)
	n.plan = ledger.Snapshot{Name: "checkout", Tasks: []ledger.Task{
		{ID: "Task 1", Title: "A", Mark: ledger.MarkOpen}, {ID: "Task 2", Title: "B", Mark: ledger.MarkOpen}, {ID: "Task 3", Title: "C", Mark: ledger.MarkDone},
	}}
	o := OfferedOutlook(n.s, n.settings, ledger.DayBudget{}, n.plan, n.now)
	if o == nil || o.Total != 2 || o.Low > o.Done || o.Done > o.High || o.Basis != "prior" {
		t.Fatalf("foretold is %+v", o)
	}
	only := n.settings
	only.Only = "Task 2"
	if o := OfferedOutlook(n.s, only, ledger.DayBudget{}, n.plan, n.now); o == nil || o.Total != 1 {
		t.Errorf("of one task is foretold %+v", o)
	}
	if o := OfferedOutlook(n.s, n.settings, ledger.DayBudget{}, ledger.Snapshot{Name: "checkout"}, n.now); o != nil {
		t.Errorf("of no task is foretold %+v", o)
	}
	n.do(StartRun{Settings: n.settings, MaxSessions: 1}, "run")
	n.do(Preflighted{Run: "r1", Base: ledger.Base{Commit: "c0", Tree: "tree-c0", Branch: "nightporter/shop/r1"}, Snapshot: n.plan}, "preflight")
	for range 2 {
		if e, ok := take[ledger.EffectStart](n, nil); ok && n.s.Project.Run.Said == nil {
			n.outcome[e.Session] = ledger.Exit{Session: e.Session, Reason: ledger.ExitSelf, Started: n.now, Ended: n.now}
			n.do(SessionExited{n.outcome[e.Session]}, "exit "+e.Session)
		}
	}
	if said := n.s.Project.Run.Said; said == nil || said.Total != 2 {
		t.Errorf("the run keeps that %+v was said", said)
	}
}
