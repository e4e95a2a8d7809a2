//go:build e2e

package main_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/nightporter/nightporter/internal/fake/models"
	"github.com/nightporter/nightporter/internal/programtest"
)

// TestLimits: whatever the model's server does, a real Claude Code's session is
// judged by its stream, and in the end the task is done or the person receives
// a remedy (docs/spec 2.2, 10). Each fault hits the first session of one task.
func TestLimits(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		fault func() models.Fault
		env   string // additional lines of the agent's env_file
		wait  string // text that the run prints while it waits; "" = it does not wait
		type_ string // line that the person then types
		want  string
		exit  int
	}{
		{name: "overloaded once", fault: func() models.Fault { return models.Overloaded().Once() }, want: "#1 done"},
		{name: "stream cut once", fault: func() models.Fault { return models.Cut().Once() }, want: "#1 done"},
		{name: "connection reset once", fault: func() models.Fault { return models.Reset().Once() }, want: "#1 done"},
		{name: "hangs once", fault: func() models.Fault { return models.Hang().Once() }, env: "API_TIMEOUT_MS=3000\n", want: "#1 done"},
		{name: "limit with a reset", fault: func() models.Fault { return models.LimitReached("five_hour", time.Now().Add(6*time.Second)) },
			wait: "usage limit", want: "#1 done"},
		{name: "limit without a reset", fault: func() models.Fault { return models.RateLimited(0) },
			wait: "waits", type_: "/resume", want: "#1 done"},
		{name: "refused key", fault: models.Unauthorized, want: "Please run /login", exit: 1},
		{name: "no credit", fault: models.CreditTooLow, want: "Credit balance is too low", exit: 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			e := newNightFixture(t, nightOptions{env: c.env})
			e.injectFaults("Task 1 builder", c.fault)
			e.run(c.wait, c.type_, c.want, c.exit)
		})
	}
}

// TestLongLine: one answer of 50 MB is one line of the agent's stream. The
// stored output truncates it, and the session's event still counts.
func TestLongLine(t *testing.T) {
	t.Parallel()
	e := newNightFixture(t, nightOptions{script: func(e *nightFixture, r models.Request) models.Turn {
		turn := e.sixTasks(r)
		if hat := r.Hat(); hat.Name == "builder" && r.Step == 1 {
			turn.Text = strings.Repeat("tea ", 50<<20/4)
		}
		return turn
	}})
	e.run("", "", "#1 done", 0)
	kept, err := os.Stat(e.Path("state", "nightporter", "sessions", "r1-2", "output.head"))
	e.noError(err)
	t.Logf("output.head: %d bytes", kept.Size())
	if kept.Size() > 17<<20 {
		t.Errorf("%d bytes of the output are kept", kept.Size())
	}
}

// run executes the plan's first task in the foreground. When the output
// contains waits, the person types a line.
func (e *nightFixture) run(waits, types, want string, exit int) {
	e.t.Helper()
	p, err := e.Start(e.Env(), "run", "--pattern", "single", "--only", "Task 1")
	e.noError(err)
	e.t.Cleanup(p.Kill)
	if waits != "" {
		e.noError(programtest.WaitFor("the run to wait", func() (bool, error) { return strings.Contains(p.Out.String(), waits), nil }))
		if types != "" {
			e.noError(p.Type(types))
		}
	}
	got, err := p.Wait()
	e.noError(err)
	e.t.Logf("$ nightporter run --pattern single --only 'Task 1'\n%s", p.Out)
	if out := p.Out.String(); got != exit || !strings.Contains(out, want) {
		e.t.Errorf("exit %d, want %d and %q", got, exit, want)
	}
	tried := len(e.models.Turns())
	e.t.Logf("%d requests of Claude Code", tried)
	if exit == 0 {
		if got, want := e.git("log", "--format=%s", "main..nightporter/shop/r1"), "feat: Task 1 - Extract price rules"; got != want {
			e.t.Errorf("commits: %q, want %q", got, want)
		}
	}
	if out := e.runCommand("verify"); !strings.Contains(out, "ledger whole") {
		e.t.Errorf("verify: %s", out)
	}
}
