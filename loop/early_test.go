package loop

import (
	"slices"
	"testing"
	"time"

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
	if l := d.s.Shared.Early["claude"]; l.Times != 0 || !slices.Equal(sortedKeys(l.Alone), want) {
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

// TestEarlyEndsLongAgo ends the sessions of a task at once, has one of another task
// work right after that or hours later, and ends the first task's sessions at once
// again. Only what worked soon tells the task's own failure from its agent's trouble.
func TestEarlyEndsLongAgo(t *testing.T) {
	for _, c := range []struct {
		later time.Duration
		alone bool
	}{{aloneWithin, true}, {aloneWithin + time.Minute, false}} {
		d := playing(t, "set pattern=single", "tasks 1 2", "go quiet", "exit early", "exit early", "next same", "exit early", "wait")
		d.now = d.now.Add(c.later - d.now.Sub(d.s.Shared.Early["claude"].Last))
		d.play("build")
		if l := d.s.Shared.Early["claude"]; l.Times > 0 || len(l.Alone) > 0 != c.alone {
			t.Fatalf("after a session that worked %s later, the streak is %+v", c.later, l)
		}
		for _, line := range []string{"greens", "exit early", "exit early", "next same", "exit early"} {
			d.play(line)
		}
		if hold := d.s.Shared.Agents["claude"]; hold.Until.IsZero() != c.alone {
			t.Errorf("after a session that worked %s later and a second burst, the agent is %+v", c.later, hold)
		}
	}
}

// TestEarlyEndsAndTheClock sets the clock back after a session that ended at once:
// the time since then stays the same.
func TestEarlyEndsAndTheClock(t *testing.T) {
	d := playing(t)
	d.shared(ledger.AgentFaltered{Agent: "claude", Project: "other", Task: "Task 1", Session: "r9-1"})
	back := d.now.Add(-24 * time.Hour)
	d.shared(ledger.ClockJumped{From: d.now, To: back})
	if l := d.s.Shared.Early["claude"]; !l.Last.Equal(back) {
		t.Errorf("the last end is at %s, want %s", l.Last, back)
	}
}

// TestEarlyEndsOfOneThatWasAlone: a task that was alone with sessions that end at once
// is not, once another task shows it, too.
func TestEarlyEndsOfOneThatWasAlone(t *testing.T) {
	d := playing(t, "set pattern=single", "tasks 1 2", "go quiet", "exit early")
	d.shared(ledger.AgentUsable{Agent: "claude", Worked: true, Project: "other", Task: "Task 7"})
	d.shared(ledger.AgentFaltered{Agent: "claude", Project: "other", Source: "plan:a.md", Task: "Task 7", Session: "r9-1"})
	if l := d.s.Shared.Early["claude"]; l.Times != 1 || len(l.Alone) != 1 {
		t.Fatalf("the streak is %+v, want one session of another task, and this task alone before", l)
	}
	d.play("next same")
	d.play("exit early")
	if l := d.s.Shared.Early["claude"]; len(l.Tasks) != 2 || l.Holds != 1 {
		t.Errorf("the streak is %+v, want both tasks in it, and the agent held", l)
	}
}
