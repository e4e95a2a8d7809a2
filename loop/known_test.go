package loop

import (
	"testing"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
)

// TestKnown checks what looks between runs know of the source: what a run would find,
// without an entry.
func TestKnown(t *testing.T) {
	at := time.Date(2026, 11, 19, 22, 0, 0, 0, time.UTC)
	settings := testSettings()
	list := func(marks ...ledger.Mark) (s ledger.Snapshot) {
		for n, m := range marks {
			id := []string{"Task 1", "Task 2", "Task 3"}[n]
			x := ledger.Task{ID: id, Title: id, Mark: m}
			if n == 2 {
				x.DependsOn = []string{"Task 2"}
			}
			s.Tasks = append(s.Tasks, x)
		}
		s.Name = "checkout"
		return s
	}
	open, done, blocked := ledger.MarkOpen, ledger.MarkDone, ledger.MarkBlocked
	ran := func(statuses ...ledger.Status) State {
		s := State{Project: Project{Name: "shop", Source: settings.Source.String()}}
		var tasks []TaskState
		for n, x := range list(open, open, open).Tasks[:len(statuses)] {
			if statuses[n] == ledger.Done {
				x.Mark = done
			}
			if statuses[n] == ledger.Blocked {
				x.Mark = blocked
			}
			tasks = append(tasks, TaskState{Task: x, Status: statuses[n]})
		}
		s.Project.Tasks = NewTaskList(tasks...)
		s.Project.Run = &Run{ID: "r1", Settings: settings, State: ledger.RunOver, EndedAt: at, Ended: &ledger.RunEnded{Reason: ledger.ReasonNothing}}
		return s
	}
	working := ran(ledger.Done, ledger.Ready)
	r := *working.Project.Run
	r.State, r.Ended = ledger.RunRunning, nil
	working.Project.Run = &r
	justMarked := ran(ledger.Done, ledger.Blocked, ledger.Pending)
	marked := *justMarked.Project.Tasks.At(1)
	marked.MarkedAt = at
	justMarked.Project.Tasks = NewTaskList(*justMarked.Project.Tasks.At(0), marked, *justMarked.Project.Tasks.At(2))
	inbox := ran(ledger.Done, ledger.Skipped) // after a run on reports, which the project's own source is not
	reports := *inbox.Project.Run
	reports.Settings.Source = ledger.SourceRef{Kind: ledger.SourceBugs, Path: "bugs.json"}
	inbox.Project.Run, inbox.Project.Source = &reports, reports.Settings.Source.String()
	other := ran(ledger.Done, ledger.Skipped) // its source is another one now
	other.Project.Source = "plan:other.md"
	for _, c := range []struct {
		name   string
		s      State
		source ledger.Snapshot
		before TaskList
		after  time.Duration
		want   []ledger.Status
	}{
		{"no run yet", State{Project: Project{Name: "shop"}}, list(done, open, open), TaskList{}, 0, []ledger.Status{ledger.Done, ledger.Ready, ledger.Pending}},
		{"marks that are no work for agents", State{Project: Project{Name: "shop"}}, list(ledger.MarkManualVerify, blocked, open), TaskList{}, 0, []ledger.Status{ledger.ManualVerify, ledger.Blocked, ledger.Pending}},
		{"a new task after a run", ran(ledger.Done, ledger.Done), list(done, done, open), TaskList{}, 0, []ledger.Status{ledger.Done, ledger.Done, ledger.Ready}},
		{"a blocked task that was opened", ran(ledger.Done, ledger.Blocked), list(done, open), TaskList{}, 0, []ledger.Status{ledger.Done, ledger.Ready}},
		{"unticked: the ledger decides what is done", ran(ledger.Done, ledger.Ready), list(open, open), TaskList{}, time.Minute, []ledger.Status{ledger.Done, ledger.Ready}},
		{"a run is at work", working, list(done, done), TaskList{}, 0, []ledger.Status{ledger.Done, ledger.Ready}},
		{"read before the mark was written", justMarked, list(done, open, open), ran(ledger.Done, ledger.Blocked).Project.Tasks, 0, []ledger.Status{ledger.Done, ledger.Blocked, ledger.Pending}},
		{"gone for a moment", ran(ledger.Done, ledger.Ready), list(done), TaskList{}, 0, []ledger.Status{ledger.Done, ledger.Ready}},
		{"after a run on reports", inbox, list(open, open, open), TaskList{}, time.Minute, []ledger.Status{ledger.Done, ledger.Skipped}},
		{"after another plan", other, list(open, open, open), TaskList{}, time.Minute, []ledger.Status{ledger.Ready, ledger.Ready, ledger.Pending}},
		{"gone", ran(ledger.Done, ledger.Ready), list(done), TaskList{}, time.Minute, []ledger.Status{ledger.Done, ledger.Withdrawn}},
	} {
		known := Known(c.s, SourceReading{Settings: settings, Snapshot: c.source, Before: c.before, At: at}, at.Add(c.after))
		var got []ledger.Status
		for _, x := range known.Project.Tasks.All() {
			got = append(got, x.Status)
		}
		if len(got) != len(c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
			continue
		}
		for n := range got {
			if got[n] != c.want[n] {
				t.Errorf("%s: %v, want %v", c.name, got, c.want)
				break
			}
		}
		if (known.Project.Run == nil) != (c.s.Project.Run == nil) || known.Project.Run != nil && known.Project.Run.ID != "r1" || len(known.Project.Questions) > 0 || known.Shared.Issued != nil {
			t.Errorf("%s: more than tasks is another: %+v", c.name, known.Project)
		}
	}
}
