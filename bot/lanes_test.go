package bot

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// TestBoundsShown: the status and the list say when the load of the machine, or the
// account of an agent, keeps another session from beginning.
func TestBoundsShown(t *testing.T) {
	now := time.Date(2026, 11, 20, 1, 47, 0, 0, time.UTC)
	task := func(id, title string, a *loop.Attempt) loop.TaskState {
		x := loop.TaskState{Task: ledger.Task{ID: "Task " + id, Title: title, Scope: "`src/" + id + "`"}, Status: ledger.Ready, Attempt: a}
		if a != nil {
			a.Hat, x.Status = "builder", ledger.Active
		}
		return x
	}
	s := loop.State{Project: loop.Project{Name: "shop", Tasks: loop.NewTaskList(
		task("1", "Add the till", &loop.Attempt{Stage: ledger.StageSession}),
		task("2", "Sum it up", &loop.Attempt{Stage: ledger.StageReady, Lane: 1}),
		task("3", "Print the bill", nil),
	), Run: &loop.Run{ID: "r1", State: ledger.RunRunning, Settings: ledger.Settings{Parallel: 4, Agent: "claude", Hats: map[string]ledger.Hat{"builder": {Name: "builder"}}, Pattern: ledger.Pattern{Start: "builder"}}, Started: now.Add(-time.Hour), LastEvent: now.Add(-3 * time.Minute)}}}
	s.Project.Sessions = []loop.Session{{ID: "r1-7", Task: "Task 1", At: now.Add(-12 * time.Minute), Planned: ledger.SessionPlanned{Kind: ledger.KindAgent, Agent: "claude"}}}
	s.Shared.Leases = []ledger.LeaseGranted{{Session: "r1-7", Project: "shop", Agent: "claude"}}
	shown := func(want, third string) {
		t.Helper()
		if diff := cmp.Diff("● shop 0/3 · #1 #2 · 01:47\n"+want+"\nr1 1 h 00 · $0.00\n/log · /pause · /stop", Status(s, now).Text(0)); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
		if x, _ := s.Project.Find("Task 3"); taskStanding(s, x) != third {
			t.Errorf("Task 3: %q, want %q", taskStanding(s, x), third)
		}
	}
	head := func(waits string) string {
		return "#1 builder 12 min · Add the till\n#2 builder " + waits + " · Sum it up\nlast event 01:44\nleft 3 · blocked 0 · needs you 0"
	}
	shown(head("waits"), "")
	s.Project.Run.Loaded = &ledger.LoadHeld{Load: 9.26, Max: 4}
	shown(head("waits")+"\nload 9.3, max_load 4: no more at a time", "waits for less load")
	s.Project.Run.Loaded, s.Project.Run.Base.OneSession = nil, []string{"claude"}
	shown(head("waits for claude")+"\nclaude: 1 session at a time", "waits for claude, in use")
	s.Project.Run.Base.OneSession, s.Project.Run.Settings.AgentSessions = nil, map[string]int{"claude": 2}
	shown(head("waits"), "")
}

// TestLanesShown: the status has a line for each task that is worked on, and the list
// says what the others wait for.
func TestLanesShown(t *testing.T) {
	now := time.Date(2026, 11, 20, 1, 47, 0, 0, time.UTC)
	task := func(id, title, scope string, status ledger.Status, stage ledger.Stage) loop.TaskState {
		x := loop.TaskState{Task: ledger.Task{ID: "Task " + id, Title: title, Scope: scope}, Status: status}
		if stage != "" {
			x.Attempt = &loop.Attempt{Hat: "builder", Stage: stage, Converged: stage == ledger.StageTurn || stage == ledger.StageChecks}
		}
		return x
	}
	s := loop.State{Project: loop.Project{Name: "shop", Tasks: loop.NewTaskList(
		task("1", "Add the till with all of its drawers and keys", "`src/till`", ledger.Active, ledger.StageSession),
		task("2", "Sum the basket", "`src/basket`", ledger.Active, ledger.StageRoom),
		task("3", "Print the bill", "`src/bill`", ledger.Active, ledger.StageTurn),
		task("4", "Pack it", "`src/pack`", ledger.Active, ledger.StageChecks),
		task("5", "Ask", "`src/ask`", ledger.Active, ledger.StageReady),
		task("6", "Round the sum", "`src/basket/round.go`", ledger.Ready, ""),
		task("7", "Tidy up", "", ledger.Ready, ""),
		task("8", "Weigh it", "`src/scale`", ledger.Ready, ""),
	), Run: &loop.Run{ID: "r1", State: ledger.RunRunning, Settings: ledger.Settings{Parallel: 4}, Started: now.Add(-time.Hour), LastEvent: now.Add(-3 * time.Minute)}}}
	s.Project.Sessions = []loop.Session{{ID: "r1-7", Task: "Task 1", At: now.Add(-12 * time.Minute), Planned: ledger.SessionPlanned{Kind: ledger.KindAgent}}, {ID: "r1-c3", Task: "Task 4", At: now.Add(-time.Minute), Planned: ledger.SessionPlanned{Kind: ledger.KindVerify}}}
	want := `● shop 0/8 · #1–#5 · 01:47
#1 builder 12 min · Add the till with…
#2 waits to verify, after #4 · Sum the…
#3 waits to commit, after #4 · Print…
#4 verify · Pack it
#5 builder waits · Ask
last event 01:44
left 8 · blocked 0 · needs you 0
r1 1 h 00 · $0.00
/log · /pause · /stop`
	if diff := cmp.Diff(want, Status(s, now).Text(0)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	for id, want := range map[string]string{"Task 1": "builder", "Task 2": "waits to verify, after #4", "Task 3": "waits to commit, after #4", "Task 4": "verify", "Task 6": "after #2, same files", "Task 7": "alone, after #1", "Task 8": ""} {
		x, _ := s.Project.Find(id)
		if got := taskStanding(s, x); got != want {
			t.Errorf("%s: %q, want %q", id, got, want)
		}
	}
	for n, want := range []string{"#1 builder", "#2 waits to verify, after #4", "#3 waits to commit, after #4", "#4 verify", "#5 builder"} {
		if got := Lanes(s); len(got) != 5 || got[n] != want {
			t.Errorf("lane %d of %q, want %q", n, got, want)
		}
	}
	s.Project.Sessions = s.Project.Sessions[:1] // its check was cut off, and nobody has the room
	if x, _ := s.Project.Find("Task 2"); taskStanding(s, x) != "waits to verify" {
		t.Errorf("nobody has the room: %q", taskStanding(s, x))
	}
	s.Project.Run.Settings.Parallel = 0
	if x, _ := s.Project.Find("Task 7"); taskStanding(s, x) != "" {
		t.Error("a run with one lane says what a ready task waits for")
	}
}
