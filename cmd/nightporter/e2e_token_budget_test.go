//go:build e2e

package main_test

import (
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/nightporter/nightporter/internal/e2e/agents"
	"github.com/nightporter/nightporter/internal/fake/models"
	"github.com/nightporter/nightporter/internal/programtest"
	"github.com/nightporter/nightporter/loop/ledger"
)

// TestTokenBudget: a run meets its budget in tokens in mid-session, with a real agent. The
// session is ended while its model still answers, its work is kept, and a person is asked.
// The tokens are counted after a SIGKILL of nightporter, too, and the run goes on from the
// work once the person allows more (docs/spec 12.2).
func TestTokenBudget(t *testing.T) {
	t.Parallel()
	for _, a := range []nightAgent{{agents.Claude, ledger.PricedByAgent}, {agents.Opencode, ledger.PricedByAgent}} {
		t.Run(a.Name, func(t *testing.T) {
			t.Parallel()
			var allowed atomic.Bool
			e := newNightFixture(t, nightOptions{script: func(e *nightFixture, r models.Request) models.Turn {
				if allowed.Load() {
					turn := a.threeTasks(r)
					if r.Step == 0 { // it finds what the session before left
						turn.Tools[0] = a.Tool("test -e lib/half.sh && " + turn.Tools[0].Input.(map[string]any)["command"].(string))
					}
					return turn
				}
				turn := models.Use(a.Tool(writes("lib/half.sh", "# half")))
				turn.Usage = models.Usage{Input: 90_000, Output: 100}
				if r.Step > 5 { // 540,000 tokens
					turn = models.Say("I look at it.").WithFault(models.Hang())
				}
				return turn
			}})
			e.configure(a.section(e), "agent = \""+a.Name+"\"\npattern = \"single\"\nstart = \"auto\"\nbudget = { tokens_run = 510_000 }\n")
			e.up()
			asked := func() (bool, error) {
				out, err := e.tryCommand("status", "--json")
				return err == nil && strings.Contains(strings.ReplaceAll(out, " ", ""), `"questions":["q1"]`), nil
			}
			e.noError(programtest.WaitFor("the question about the budget", asked))
			e.daemon.Kill()
			e.up()
			e.noError(programtest.WaitFor("the question after the kill", asked))
			out := e.runCommand("answer", "q1")
			t.Logf("$ nightporter answer q1\n%s", out)
			if !strings.Contains(out, "540 k of 510 k") {
				t.Errorf("it asks %q", out)
			}
			allowed.Store(true)
			e.runCommand("answer", "q1", "task")
			e.noError(programtest.WaitFor("Task 1", func() (bool, error) {
				return strings.Contains(e.runCommand("tasks"), "✓"), nil
			}))
			e.runCommand("stop", "--now")
			if code := e.down(); code != 0 {
				t.Errorf("nightporter up ended with %d", code)
			}
			commit := strings.Fields(e.git("log", "--format=", "--name-only", "nightporter/shop/r1", "-1"))
			if !slices.Contains(commit, "lib/half.sh") || !slices.Contains(commit, modelWork["Task 1"].file) {
				t.Errorf("the commit has %q", commit)
			}
			var ends []ledger.SessionOutcome
			for _, b := range bodies[ledger.SessionEnded](e, e.ledger()) {
				if b.Kind == ledger.KindAgent {
					t.Logf("%s: %s, %d tokens, $%.5f", b.Exit.Session, b.End, b.Exit.Tokens, b.Exit.CostUSD)
					ends = append(ends, b.End)
					if len(ends) == 1 && (b.Exit.Tokens < 540_000 || b.Exit.Tokens > 541_000 || b.Counts != ledger.CountsAsNothing) {
						t.Errorf("the first session: %+v", b)
					}
				}
			}
			if len(ends) < 2 || ends[0] != ledger.EndedBudget || ends[1] != ledger.EndedEvent {
				t.Errorf("sessions ended %v", ends)
			}
			if out := e.runCommand("verify"); !strings.Contains(out, "ledger whole") {
				t.Errorf("verify: %s", out)
			}
		})
	}
}
