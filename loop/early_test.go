package loop

import (
	"slices"
	"testing"

	"github.com/nightporter/nightporter/loop/ledger"
)

// shared folds an entry that another project wrote into the shared stream.
func (d *director) shared(b ledger.Body) {
	d.s = Apply(d.s, ledger.Entry{Stream: ledger.SharedStream, Time: d.now, Body: b})
	d.folded, d.folder, d.gaveJSON, d.stands = d.s, NewFolder(d.s), "", ""
}

// TestEarlyEndsBesideASession ends sessions of another project at once. A session
// that was under way then says nothing about them; the next one shows that the agent
// works, and that their task is alone with it.
func TestEarlyEndsBesideASession(t *testing.T) {
	d := playing(t, "set pattern=single", "tasks 1", "go quiet")
	other := ledger.AgentFaltered{Agent: "claude", Project: "other", Source: "plan:a.md", Task: "Task 1", Session: "r9-1"}
	d.shared(other)
	d.play("build")
	if l := d.s.Shared.Early["claude"]; l.Times != 1 || len(l.Alone) > 0 {
		t.Fatalf("after a session that began before, the streak is %+v", l)
	}
	for !d.s.Project.Run.Over() {
		d.exit(nil)
	}
	d.play("tasks 1:done 2")
	d.play("go quiet")
	d.play("build")
	want := []string{earlyKey(other.Project, other.Source, other.Task)}
	if l := d.s.Shared.Early["claude"]; l.Times != 0 || !slices.Equal(l.Alone, want) {
		t.Errorf("after a session that began later, the streak is %+v, want %q alone", l, want)
	}
}

// TestEarlyEndsOfAnotherSource leaves a task alone with sessions that end at once.
// A task with the same id in another plan is judged by its own.
func TestEarlyEndsOfAnotherSource(t *testing.T) {
	d := playing(t, "set pattern=single", "tasks 1 2", "go quiet", "exit early")
	d.shared(ledger.AgentUsable{Agent: "claude", Worked: true, Project: "other", Task: "Task 7"})
	d.play("exit early")
	if l := d.s.Shared.Early["claude"]; l.Times > 0 || len(l.Alone) != 1 {
		t.Fatalf("the streak is %+v, want the task alone", l)
	}
	d.play("/stop now")
	d.play("exit asked")
	d.settings.Source.Path = "other.md"
	for _, line := range []string{"tasks 1", "go quiet", "exit early"} {
		d.play(line)
	}
	if l := d.s.Shared.Early["claude"]; l.Times != 1 {
		t.Errorf("the streak is %+v, want the session of another Task 1 counted", l)
	}
}
