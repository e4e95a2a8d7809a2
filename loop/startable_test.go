package loop

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
)

// TestStartable checks that a project with start = "auto" begins when work is
// ready, and never starts the same run again and again.
func TestStartable(t *testing.T) {
	began := time.Date(2026, 11, 19, 22, 0, 0, 0, time.UTC)
	ended := began.Add(4 * time.Hour)
	later := ended.Add(time.Minute)
	open := func(ids ...string) (s ledger.Snapshot) {
		for _, id := range ids {
			s.Tasks = append(s.Tasks, ledger.Task{ID: id, Title: id, Mark: ledger.MarkOpen})
		}
		return s
	}
	edited := open("Task 1", "Task 2")
	edited.Tasks[1].Body = "more words"
	needs := open("Task 1", "Task 2")
	needs.Tasks[1].DependsOn = []string{"Task 1"}
	ticked := open("Task 1")
	ticked.Tasks[0].Mark = ledger.MarkDone

	half := open("Task 1", "Task 2")
	half.Tasks[0].Mark = ledger.MarkDone
	repeats := func(s ledger.Snapshot, cooldown time.Duration) ledger.Snapshot {
		s.Tasks = slices.Clone(s.Tasks)
		s.Tasks[0].Repeat = &ledger.Repeat{Cooldown: cooldown}
		return s
	}

	settings := testSettings()
	settings.Stays = true
	// after returns the state after a run that ended for a reason and left its
	// tasks with these statuses.
	after := func(reason ledger.Reason, statuses ...ledger.Status) State {
		s := State{Project: Project{Name: "shop", Source: settings.Source.String()}}
		var tasks []TaskState
		for n, st := range statuses {
			id := []string{"Task 1", "Task 2"}[n]
			tasks = append(tasks, TaskState{Task: ledger.Task{ID: id, Title: id, Mark: ledger.MarkOpen}, Status: st})
		}
		s.Project.Tasks = NewTaskList(tasks...)
		s.Project.Run = &Run{ID: "r1", Settings: settings, State: ledger.RunOver, Planned: began, EndedAt: ended, Ended: &ledger.RunEnded{Reason: reason}}
		return s
	}
	// again makes the first of the tasks one that repeats.
	again := func(s State, cooldown time.Duration) State {
		var tasks []TaskState
		for n, t := range s.Project.Tasks.All() {
			x := *t
			if n == 0 {
				x.Task.Repeat, x.Task.Mark, x.Attempts, x.Ended = &ledger.Repeat{Cooldown: cooldown}, ledger.MarkDone, 1, ended
			}
			tasks = append(tasks, x)
		}
		s.Project.Tasks = NewTaskList(tasks...)
		return s
	}
	with := func(s State, change func(*Run)) State { r := *s.Project.Run; change(&r); s.Project.Run = &r; return s }
	refused := func(s State) State { s.Project.NotStarted = &NotStarted{Text: "no", Times: 12}; return s }
	for _, c := range []struct {
		name    string
		s       State
		source  ledger.Snapshot
		now     time.Time
		changed time.Time
		want    bool
		again   time.Time
	}{
		{"first run", State{Project: Project{Name: "shop"}}, open("Task 1"), later, time.Time{}, true, time.Time{}},
		{"nothing to do", State{Project: Project{Name: "shop"}}, ticked, later, time.Time{}, false, time.Time{}},
		{"under way", with(after(ledger.ReasonDone, ledger.Done), func(r *Run) { r.State = ledger.RunRunning }), open("Task 1", "Task 2"), later, later, false, time.Time{}},
		{"all done before, one is new", after(ledger.ReasonDone, ledger.Done), open("Task 1", "Task 2"), later, later, true, time.Time{}},
		{"all done and nothing new", after(ledger.ReasonDone, ledger.Done, ledger.Done), open("Task 1", "Task 2"), later, later, false, time.Time{}},
		{"blocked stays blocked", after(ledger.ReasonBlocked, ledger.Blocked), open("Task 1"), later, later, false, time.Time{}},
		{"left standing behind a blocked one", after(ledger.ReasonBlocked, ledger.Blocked, ledger.Ready), open("Task 1", "Task 2"), later, later, false, time.Time{}},
		{"a blocked one was edited", after(ledger.ReasonBlocked, ledger.Ready, ledger.Blocked), edited, later, later, true, time.Time{}},
		{"one that stood was edited", after(ledger.ReasonBlocked, ledger.Blocked, ledger.Ready), edited, later, later, true, time.Time{}},
		{"not ready: its need is blocked", after(ledger.ReasonNothing, ledger.Blocked, ledger.Pending), needs, later, later, false, time.Time{}},
		{"stopped by a person", after(ledger.ReasonStopped, ledger.Done, ledger.Ready), open("Task 1", "Task 2"), later, later, false, time.Time{}},
		{"limit, the same night", after(ledger.ReasonIterations, ledger.Ready), open("Task 1", "Task 2"), later, later, false, began.Add(24 * time.Hour)},
		{"limit, a day after it began", after(ledger.ReasonUntil, ledger.Ready), open("Task 1"), began.Add(24 * time.Hour), time.Time{}, true, time.Time{}},
		{"could not start", after(ledger.ReasonPreflight), open("Task 1"), ended.Add(time.Second), ended.Add(-time.Hour), false, ended.Add(time.Minute)},
		{"could not start, a minute later", after(ledger.ReasonPreflight), open("Task 1"), ended.Add(time.Minute), ended.Add(-time.Hour), true, time.Time{}},
		{"could not start for hours", refused(after(ledger.ReasonPreflight)), open("Task 1"), ended.Add(time.Minute), ended.Add(-time.Hour), false, ended.Add(time.Hour)},
		{"setup failed", with(after(ledger.ReasonPreflight), func(r *Run) { r.Base.Commit = "c1" }), open("Task 1"), ended.Add(time.Hour), ended.Add(-time.Hour), false, began.Add(24 * time.Hour)},
		{"could not start, edited since", after(ledger.ReasonPreflight), open("Task 1"), later, later, true, time.Time{}},
		{"one cools down", again(after(ledger.ReasonDone, ledger.Done), time.Hour), repeats(ticked, time.Hour), later, later, false, ended.Add(time.Hour)},
		{"one cools down beside one left standing", again(after(ledger.ReasonStopped, ledger.Done, ledger.Ready), time.Hour), repeats(half, time.Hour), later, later, false, ended.Add(time.Hour)},
		{"its cooldown is over", again(after(ledger.ReasonDone, ledger.Done), time.Hour), repeats(ticked, time.Hour), ended.Add(time.Hour), later, true, time.Time{}},
		{"without a cooldown", again(after(ledger.ReasonDone, ledger.Done), 0), repeats(ticked, 0), later, later, false, ended.Add(24 * time.Hour)},
		{"without a cooldown, a day later", again(after(ledger.ReasonDone, ledger.Done), 0), repeats(ticked, 0), ended.Add(24 * time.Hour), later, true, time.Time{}},
		{"ended by run, not by up", with(after(ledger.ReasonStopped, ledger.Ready), func(r *Run) { r.Settings.Stays = false }), open("Task 1"), later, time.Time{}, true, time.Time{}},
		{"another source", with(after(ledger.ReasonStopped, ledger.Ready), func(r *Run) { r.Settings.Source.Path = "old.md" }), open("Task 1"), later, time.Time{}, true, time.Time{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			before, _ := json.Marshal(c.s)
			got := Startable(c.s, settings, c.source, c.now, c.changed)
			if got.OK != c.want || !got.Again.Equal(c.again) || got.Why == "" {
				t.Errorf("got %+v, want OK %v again %v", got, c.want, c.again)
			}
			if now, _ := json.Marshal(c.s); string(now) != string(before) {
				t.Error("the state was changed")
			}
		})
	}
	asked := after(ledger.ReasonDone, ledger.Done)
	asked.Project.Questions = []ledger.Question{{ID: "q1", Kind: ledger.AskStart}}
	if Startable(asked, settings, open("Task 1", "Task 2"), later, later).OK {
		t.Error("started while a person is being asked")
	}
	if got := ReadyTasks(after(ledger.ReasonStopped, ledger.Done, ledger.Ready), settings, open("Task 1", "Task 2", "Task 3"), time.Time{}); !slices.Equal(got, []string{"Task 2", "Task 3"}) {
		t.Errorf("ready: %v", got)
	}
}

// TestWorksOn checks that a project that no process works on any more holds no
// slot.
func TestWorksOn(t *testing.T) {
	s := State{Shared: Shared{MaxSessions: 1, Leases: []ledger.LeaseGranted{{Session: "r1-1", Project: "old"}, {Session: "r2-1", Project: "shop"}}}}
	d := Decide(s, Input{Actor: "daemon", Body: WorksOn{Projects: []string{"shop", "blog"}}})
	if got := d.State.Shared.Leases; len(got) != 1 || got[0].Session != "r2-1" {
		t.Errorf("leases: %+v", got)
	}
	if d := Decide(d.State, Input{Actor: "daemon", Body: WorksOn{Projects: []string{"shop"}}}); len(d.Entries) != 0 {
		t.Errorf("said twice: %+v", d.Entries)
	}
}

// TestInternalErrorPauses begins the next run some minutes after an internal
// error, and later for each in a row.
func TestInternalErrorPauses(t *testing.T) {
	set := ledger.Settings{Project: "shop", Source: ledger.SourceRef{Kind: "plan", Path: "p.md"}, Stays: true}
	plan := ledger.Snapshot{Tasks: []ledger.Task{{ID: "Task 1", Mark: ledger.MarkOpen}}}
	at := time.Date(2026, 11, 20, 1, 0, 0, 0, time.UTC)
	s := State{Project: Project{Name: "shop"}}
	for _, pause := range []time.Duration{5 * time.Minute, 10 * time.Minute, 20 * time.Minute, 40 * time.Minute, 80 * time.Minute, 2 * time.Hour, 2 * time.Hour} {
		for _, b := range []ledger.Body{ledger.RunPlanned{Run: "r1", Settings: set}, ledger.RunEnded{Reason: ledger.ReasonInternal}} {
			s = Apply(s, ledger.Entry{Stream: ledger.ProjectStream("shop"), Time: at, Run: "r1", Body: b})
		}
		if got := Startable(s, set, plan, at, time.Time{}); got.OK || !got.Again.Equal(at.Add(pause)) {
			t.Errorf("after an internal error: %+v, want again in %s", got, pause)
		}
		if at = at.Add(pause); !Startable(s, set, plan, at, time.Time{}).OK {
			t.Errorf("%s after an internal error no run begins", pause)
		}
	}
}
