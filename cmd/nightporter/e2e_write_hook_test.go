//go:build e2e

package main_test

import (
	"path"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/nightporter/nightporter/internal/e2e/agents"
	"github.com/nightporter/nightporter/internal/fake/models"
	"github.com/nightporter/nightporter/loop/ledger"
)

// TestWriteHook: the released program tells a real Claude Code that a file is out of the
// task's scope before it writes it. The session goes on within its scope, and nothing has
// to be undone.
func TestWriteHook(t *testing.T) {
	t.Parallel()
	a := nightAgent{agents.Claude, ledger.PricedByAgent}
	var refused, written atomic.Int32
	e := newNightFixture(t, nightOptions{script: func(_ *nightFixture, r models.Request) models.Turn {
		last := ""
		for _, p := range r.Results() {
			last += p.Text
		}
		work, _, _ := strings.Cut(last, "\n")
		switch r.Step {
		case 0:
			return models.Use(a.Tool("pwd"))
		case 1:
			return models.Use(models.Write(path.Join(work, "stray.txt"), "x\n"), models.Write(path.Join(work, "lib", "in-scope.sh"), "# x\n"))
		case 2:
			if strings.Contains(last, `"stray.txt" is not in the scope of this session`) {
				refused.Add(1)
			}
			if strings.Contains(last, "File created successfully at: ") && strings.Contains(last, "lib/in-scope.sh") {
				written.Add(1)
			}
			return models.Use(a.Tool("test ! -e stray.txt"))
		}
		r.Step -= 3
		return a.threeTasks(r)
	}})
	e.configure(a.section(e), "agent = \"claude\"\n")
	e.runNight("--pattern", "single", "--only", "Task 1")
	if refused.Load() != 1 || written.Load() != 1 {
		t.Errorf("refused %d times, wrote %d times, want 1 each", refused.Load(), written.Load())
	}
	if got, want := e.git("log", "--format=%s", "main..nightporter/shop/r1"), "feat: Task 1 - Extract price rules"; got != want {
		t.Errorf("commits: %q, want %q", got, want)
	}
	for _, b := range bodies[ledger.TakenOver](e, e.ledger()) {
		if len(b.Taken.Outside) > 0 {
			t.Errorf("undone: %q", b.Taken.Outside)
		}
	}
}
