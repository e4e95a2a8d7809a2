package report_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nightporter/nightporter/bot/report"
	"github.com/nightporter/nightporter/internal/scenario"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/store"
)

// TestSpans checks that the digests of two spans of one night add up to the
// digest of the night: each session's cost, each task and each failure is in
// exactly one of them.
func TestSpans(t *testing.T) {
	whole, night := exampleNight(t)
	records := night.All()
	for minute := 15; minute < 450; minute += 29 {
		mid := evening.Add(time.Duration(minute)*time.Minute + time.Second)
		first, err := report.Collect(records, night.State, evening.Add(-time.Hour), mid)
		if err != nil {
			t.Fatal(err)
		}
		second, err := report.Collect(records, night.State, mid, morning)
		if err != nil {
			t.Fatal(err)
		}
		sum := func(f report.Facts) string {
			return fmt.Sprintf("%.2f of %d, %d done, %d fix rounds, %d failures", f.Cost.USD, f.Cost.Sessions, len(f.Completed), f.Fixes, len(f.Failures))
		}
		both := whole
		both.Cost = report.Cost{USD: first.Cost.USD + second.Cost.USD, Sessions: first.Cost.Sessions + second.Cost.Sessions}
		both.Completed = append(append([]string{}, first.Completed...), second.Completed...)
		both.Fixes = first.Fixes + second.Fixes
		both.Failures = append(append([]report.Failure{}, first.Failures...), second.Failures...)
		if sum(both) != sum(whole) {
			t.Errorf("cut at %v: %s, want %s", mid, sum(both), sum(whole))
		}
		for _, f := range []report.Facts{first, second} {
			for _, s := range f.Sessions {
				if s.Start.Before(f.From) || s.End.After(f.To) || s.End.Before(s.Start) {
					t.Errorf("cut at %v: session %s from %v to %v", mid, s.ID, s.Start, s.End)
				}
			}
			for n := 1; n < len(f.Burndown); n++ {
				if f.Burndown[n].At.Before(f.Burndown[n-1].At) || f.Burndown[n].Left == f.Burndown[n-1].Left {
					t.Errorf("cut at %v: course %v", mid, f.Burndown)
				}
			}
		}
		if n := len(first.Burndown); n > 0 && len(second.Burndown) > 0 && second.Began.After(mid) && first.Burndown[n-1].Left != second.Burndown[0].Left {
			t.Errorf("cut at %v: %d tasks are left, and then %d", mid, first.Burndown[n-1].Left, second.Burndown[0].Left)
		}
	}
}

// TestRead checks that the records that Read selects give the same digest as
// the whole ledger, also if the span begins long after the records or in the
// middle of them.
func TestRead(t *testing.T) {
	_, night := exampleNight(t)
	l := store.NewMemory()
	for _, r := range night.All() {
		if _, err := l.Commit(t.Context(), ledger.Batch{Time: r.Time, Records: []ledger.Record{r}}); err != nil {
			t.Fatal(err)
		}
	}
	var all []ledger.Record
	for _, stream := range []string{ledger.SharedStream, ledger.ProjectStream("shop")} {
		if err := l.Records(t.Context(), stream, 0, func(r ledger.Record) error { all = append(all, r); return nil }); err != nil {
			t.Fatal(err)
		}
	}
	slices.SortStableFunc(all, func(a, b ledger.Record) int { return a.Time.Compare(b.Time) })
	for _, from := range []time.Time{evening.Add(-time.Hour), evening.Add(2 * time.Hour), morning, morning.Add(20 * time.Hour), morning.Add(72 * time.Hour)} {
		to := from.Add(24 * time.Hour)
		want, err := report.Collect(all, night.State, from, to)
		if err != nil {
			t.Fatal(err)
		}
		got, err := report.Read(t.Context(), l, night.State, from, to)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(report.FullText(want).Text(0)+report.Alt(want), report.FullText(got).Text(0)+report.Alt(got)); diff != "" {
			t.Errorf("from %v (-all +read):\n%s", from, diff)
		}
	}
}

// TestUnknownStaysUnknown checks that a cost that no agent reported is never
// shown as zero.
func TestUnknownStaysUnknown(t *testing.T) {
	n := newFixture(t)
	n.Cost = -1
	n.plan()
	n.Until(func() bool { return n.State.Project.Run.Commits == 2 })
	f := n.facts(n.Now.Add(time.Minute))
	if diff := cmp.Diff(report.Cost{Unpriced: f.Cost.Sessions, Sessions: f.Cost.Sessions, Running: f.Cost.Running}, f.Cost); diff != "" || f.Cost.Unpriced < 6 {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := f.Cost.String(); got != "cost unknown" {
		t.Errorf("it says %q", got)
	}
}

// TestOpenNetwork checks that hosts of sessions with an open network are unknown in a
// digest, never none.
func TestOpenNetwork(t *testing.T) {
	for _, c := range []struct {
		mode ledger.NetworkMode
		uses []ledger.HostUse
		want string
	}{
		{"", nil, ""},
		{ledger.NetworkNone, []ledger.HostUse{{Host: "a.example", Port: 443, Conns: 1}}, "1 host; unknown for 2 sessions with an open network"},
		{ledger.NetworkNone, []ledger.HostUse{{Host: "evil.example", Port: 443, Conns: 1, Refused: "no"}}, "hosts unknown for 2 sessions with an open network; refused: evil.example"},
	} {
		var f report.Facts
		for n, mode := range []ledger.NetworkMode{"", c.mode, ""} {
			x := ledger.Exit{Session: fmt.Sprint("r1-", n)}
			if n == 1 {
				x.Hosts = c.uses
			}
			f.Reach.Apply(ledger.Entry{Session: x.Session, Body: ledger.SessionPlanned{Network: mode}})
			f.Reach.Apply(ledger.Entry{Session: x.Session, Body: ledger.SessionEnded{Exit: x}})
		}
		if text := report.FullText(f).Text(0); !strings.Contains(text, c.want) || c.want == "" && strings.Contains(text, "host") {
			t.Errorf("want %q\n%s", c.want, text)
		}
	}
}

// TestFirstSession checks that the cost is unknown, not zero, while the first
// session of a span runs.
func TestFirstSession(t *testing.T) {
	n := newFixture(t)
	n.plan()
	n.Until(func() bool { return n.State.Project.Run.Agents == 1 })
	f := n.facts(n.Now.Add(time.Minute))
	if len(f.Sessions) != 1 || !f.Sessions[0].Live {
		t.Fatalf("%+v", f.Sessions)
	}
	for what, text := range map[string]string{"text": report.Text(f).Text(0), "alt": report.Alt(f)} {
		if strings.Contains(text, "$0.00") || !strings.Contains(text, "1 session · cost not yet known") && !strings.Contains(text, "cost not yet known, 1 session") {
			t.Errorf("%s: %s", what, text)
		}
	}
	n.Until(func() bool { return n.State.Project.Run.Agents == 2 })
	if f := n.facts(n.Now.Add(time.Minute)); f.Cost.String() != "$0.35" || f.Cost.Running != 1 {
		t.Errorf("after the first: %+v", f.Cost)
	}
}

// TestPlanChanges: tasks added or removed during the night change the burndown at
// that time.
func TestPlanChanges(t *testing.T) {
	n := newFixture(t)
	n.plan()
	n.Until(func() bool { return n.State.Project.Run.Commits == 1 })
	at := n.Now.Add(time.Second)
	n.Now = at
	snap := ledger.Snapshot{Name: "checkout", Path: n.State.Project.Run.Settings.Source.Path}
	for _, ts := range n.State.Project.Tasks.All() {
		if ts.Task.ID != "Task 9" { // taken out
			snap.Tasks = append(snap.Tasks, ts.Task)
		}
	}
	for _, id := range []string{"Task 13", "Task 14", "Task 15"} {
		snap.Tasks = append(snap.Tasks, ledger.Task{ID: id, Title: id, Body: id, Mark: ledger.MarkOpen})
	}
	n.Do(loop.Input{Body: loop.SourceChanged{Snapshot: snap}})
	n.Do(loop.Input{Body: loop.SourceChanged{Snapshot: snap, Doubted: n.Now}}) // it stays away
	f := n.facts(n.Now.Add(time.Second))
	var left []int
	for _, p := range f.Burndown {
		left = append(left, p.Left)
	}
	if len(left) < 3 || left[0] != 12 || left[1] != 11 || left[len(left)-1] != 13 {
		t.Errorf("tasks left: %v, want 12, 11, … 13", left)
	}
	if f.Left != 13 {
		t.Errorf("%d left at the end", f.Left)
	}
}

// TestNewerEntry checks that entry types of a newer release are skipped, and
// that an entry that does not decode is an error.
func TestNewerEntry(t *testing.T) {
	at := evening.Add(time.Minute)
	newer := ledger.Record{Stream: "project/shop", Time: at, Type: "task.imagined", V: 9, Body: []byte(`{}`)}
	if _, err := report.Collect([]ledger.Record{newer}, loop.State{}, evening, morning); err != nil {
		t.Error(err)
	}
	broken := ledger.Record{Stream: "project/shop", Time: at, Type: "run.started", V: 1, Body: []byte(`[`)}
	if _, err := report.Collect([]ledger.Record{broken}, loop.State{}, evening, morning); err == nil {
		t.Error("what does not decode was told all the same")
	}
}

// TestNoSessionNoPrice checks that a task that a person completed in the
// morning has no cost per task, because its sessions are in another digest.
func TestNoSessionNoPrice(t *testing.T) {
	f := report.Facts{Project: "shop", From: evening, To: morning, Total: 1, Done: 1, Completed: []string{"Task 1"}}
	if text := report.FullText(f).Text(0); !strings.Contains(text, "First pass") || strings.Contains(text, "a task") {
		t.Error(text)
	}
}

// TestFirstPass checks that a retry, and a success that follows, take no flaw away: what
// failed once is not done at the first pass, also if that was days before.
func TestFirstPass(t *testing.T) {
	n := newFixture(t)
	n.Entry(scenario.Person("telegram:48213377", "Mira", ledger.RoleAdmin, evening))
	n.does("Task 2 builder", blockedAct)
	n.does("Task 3 builder", redAct("--- FAIL: TestTax"))
	n.begin(4, nil)
	n.Until(nil)
	if f := n.facts(morning); f.FirstPass != 2 || len(f.Completed) != 3 {
		t.Fatalf("%d of %v at the first pass, want 2 of 3: #3 was red once", f.FirstPass, f.Completed)
	}
	for _, later := range []time.Duration{time.Hour, 5 * 24 * time.Hour} {
		again := *n
		night := *n.Night
		again.Night = &night
		again.Now = again.Now.Add(later)
		again.again(4)
		again.Until(nil)
		at := again.Now.Add(time.Minute)
		f := again.read(at.Add(-12*time.Hour), at)
		if ready, _ := again.State.Project.Find("Task 2"); ready.Status != ledger.Done {
			t.Fatalf("#2 is %s", ready.Status)
		}
		done := map[time.Duration]int{time.Hour: 4, 5 * 24 * time.Hour: 1}[later]
		first := map[time.Duration]int{time.Hour: 2, 5 * 24 * time.Hour: 0}[later]
		if len(f.Completed) != done || f.FirstPass != first {
			t.Errorf("%v later: %d of %v at the first pass, want %d of %d", later, f.FirstPass, f.Completed, first, done)
		}
	}
}

// TestSettled checks that a digest drops what a later success settled: the failures of
// tasks that are done by now, and the run that could not start.
func TestSettled(t *testing.T) {
	n := newFixture(t)
	n.does("Task 2 builder", slices.Repeat([]scenario.Act{redAct("--- FAIL: TestTax")}, 4)...)
	n.Do(loop.Input{Key: "run", Actor: "console", Body: loop.StartRun{Settings: n.Settings(), MaxSessions: 1}})
	n.Do(loop.Input{Key: "none", Body: loop.Preflighted{Problems: []ledger.Diagnostic{{Text: "the agent claude is not on PATH"}}}})
	if text := report.Text(n.facts(morning)).Text(0); !strings.Contains(text, "r1 could not start, 23:10: the agent claude is not on PATH") {
		t.Errorf("why it could not start is missing:\n%s", text)
	}
	n.Now = n.Now.Add(time.Hour)
	set := n.Settings()
	n.Do(loop.Input{Key: "run 2", Actor: "console", Body: loop.StartRun{Settings: set, MaxSessions: 1}})
	n.Do(loop.Input{Key: "some", Body: loop.Preflighted{Base: n.Base("r2"), Snapshot: ledger.Snapshot{Name: "checkout", Path: set.Source.Path, Tasks: []ledger.Task{scenario.Task(1, "Sum"), scenario.Task(2, "Tax")}}}})
	n.Until(n.commits(1))
	n.Until(func() bool { t2, _ := n.State.Project.Find("Task 2"); return t2.Failed == 1 })
	text := report.FullText(n.facts(n.Now.Add(time.Second))).Text(0)
	for want, is := range map[string]bool{"✗ #2 attempt 1: ": true, "by checks": true, "could not start": false} {
		if strings.Contains(text, want) != is {
			t.Errorf("%q: want %v in\n%s", want, is, text)
		}
	}
	n.Until(nil)
	f := n.facts(morning)
	for name, text := range map[string]string{"caption": report.Text(f).Text(0), "whole": report.FullText(f).Text(0)} {
		for _, settled := range []string{"✗", "Failed", "red"} {
			if strings.Contains(text, settled) {
				t.Errorf("%s: it still says %q:\n%s", name, settled, text)
			}
		}
		if !strings.Contains(text, "First pass 1 of 2") {
			t.Errorf("%s: the flaw is gone:\n%s", name, text)
		}
	}
}

// TestWhyEnded checks that each run's end is told once, those that no sentence tells as
// lines.
func TestWhyEnded(t *testing.T) {
	n := newFixture(t)
	n.Entry(scenario.Person("telegram:48213377", "Mira", ledger.RoleAdmin, evening))
	n.begin(4, nil)
	n.Until(n.commits(2))
	n.mira(loop.Stop{Now: true})
	n.Until(nil)
	text := report.Text(n.facts(morning)).Text(0)
	if strings.Count(text, "stopped by Mira") != 1 || strings.Contains(text, "r1 was") {
		t.Errorf("one run:\n%s", text)
	}
	n.Now = n.Now.Add(time.Hour)
	set := n.Settings()
	n.Do(loop.Input{Key: "run 2", Actor: "console", Body: loop.StartRun{Settings: set, MaxSessions: 1}})
	n.Do(loop.Input{Key: "some", Body: loop.Preflighted{Base: n.Base("r2"), Snapshot: ledger.Snapshot{Name: "checkout", Path: set.Source.Path, Tasks: []ledger.Task{scenario.Task(1, titles[0]), scenario.Task(2, titles[1]), scenario.Task(3, titles[2]), scenario.Task(4, titles[3])}}}})
	n.Until(nil)
	text = report.Text(n.facts(morning)).Text(0)
	if strings.Count(text, "stopped by Mira") != 1 || !strings.Contains(text, "r1 was stopped by Mira, ") {
		t.Errorf("two runs:\n%s", text)
	}
}

// TestOutside: the digest names the commits of its span whose sessions had read text by
// strangers, and no others.
func TestOutside(t *testing.T) {
	n := newFixture(t)
	n.plan()
	committed := func(task, hash string, outside bool) {
		n.Entry(ledger.Entry{Stream: ledger.ProjectStream("shop"), Time: n.Now, Run: "r1", Task: task, Actor: "daemon", Body: ledger.TaskCommitted{Commit: hash, Outside: outside}})
	}
	committed("Task 1", "aaaaaaa1", true)
	n.Now = n.Now.Add(time.Hour)
	from := n.Now
	n.Now = n.Now.Add(time.Hour)
	committed("Task 2", "bbbbbbb2", false)
	committed("Task 3", "ccccccc3", true)
	for name, f := range map[string]report.Facts{"collected": n.facts(from.Add(24 * time.Hour)), "read": n.read(from, n.Now)} {
		if len(f.Outside) != 1 || f.Outside[0] != (report.Commit{Task: "Task 3", Hash: "ccccccc3"}) {
			t.Errorf("%s: %+v", name, f.Outside)
		}
	}
}

// TestLanes checks what is counted of a night in lanes: sessions that ran at the same
// time, what was in which lane, and what was merged when.
func TestLanes(t *testing.T) {
	f, _ := lanesNight(t, 5)
	if f.Lanes != 5 || f.AtOnce() != 5 || len(f.Landed) != len(f.Completed) {
		t.Errorf("%d lanes, %d at once, %d merged of %d", f.Lanes, f.AtOnce(), len(f.Landed), len(f.Completed))
	}
	var inSessions, inLane time.Duration
	for _, s := range f.Sessions {
		inSessions += s.End.Sub(s.Start)
		held := false
		for _, h := range f.Held {
			held = held || h.Lane == s.Lane && h.Task == s.Task && !s.Start.Before(h.From) && !s.End.After(h.To)
		}
		if !held {
			t.Errorf("%s of %s at %s is not in its lane %d", s.ID, s.Task, s.Start.Format("15:04"), s.Lane)
		}
	}
	for n, h := range f.Held {
		inLane += h.To.Sub(h.From)
		for _, o := range f.Held[:n] {
			if o.Lane == h.Lane && o.To.After(h.From) && h.To.After(o.From) {
				t.Errorf("lane %d had %s and %s at the same time", h.Lane, o.Task, h.Task)
			}
		}
	}
	if span := f.Ended.Sub(f.Began); inSessions < 3*span || inLane > 5*span {
		t.Errorf("%s in sessions and %s in lanes of a night of %s", inSessions, inLane, span)
	}
	want := "5 lanes, at most 5 sessions at the same time: 1 had #1 #6 #12; 2 had #2 #7; 3 had #3 #8 #10; 4 had #4 #9; 5 had #5 #11."
	if alt := report.Alt(f); !strings.Contains(alt, want) {
		t.Errorf("%s\nwithout %s", alt, want)
	}
	if one, _ := exampleNight(t); one.Lanes != 0 || one.Held != nil {
		t.Errorf("a night in one lane has %d lanes", one.Lanes)
	}
}
