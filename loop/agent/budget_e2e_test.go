//go:build e2e

package agent

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/nightporter/nightporter/internal/e2e/agents"
	"github.com/nightporter/nightporter/internal/fake/models"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/agent/adapter"
	"github.com/nightporter/nightporter/loop/ledger"
)

// TestAgentsBudget: a session of a program whose stream says what its answers cost is
// ended once that is what it may spend: what it wrote is there, and the next answer, which
// would never end, is not waited for. Claude Code has a test of its own.
func TestAgentsBudget(t *testing.T) {
	eachRealAgent(t, func(t *testing.T, a realAgent) {
		if a.Name == adapter.Claude || adapter.Find(a.Name).Spent() == nil {
			t.Skipf("SKIPPED: the stream of %s says nothing of its costs while it runs", a.Name)
		}
		dear := models.Use(a.Tool("echo whole >whole.txt"))
		dear.Usage = models.Usage{Input: 20_000, Output: 2000}
		var work string
		x, hat, server := a.session(t, "", models.Play(func(models.Request) []models.Turn {
			return []models.Turn{models.Use(a.Tool("echo half >half.txt")), dear, models.Say("I look at it.").WithFault(models.Hang())}
		}), func(h *fixture, l *ledger.Launch, _ string) {
			work, l.Model, l.MaxUSD = h.work, a.Model, 0.05
			h.runner.o.Prices = []ledger.Price{{Model: "fake-model", Input: 3, Output: 15}}
		})
		const cost = 0.00375 + 20_000*3e-6 + 2000*15e-6
		if x.Reason != ledger.ExitBudget || !x.OverBudget || !x.Estimated || x.CostUSD < cost-1e-9 || x.CostUSD > cost+1e-9 || x.Failure != "" {
			t.Errorf("%+v", x)
		}
		if n := len(server.Turns()); n > 3 || len(hat.sent()) != 0 {
			t.Errorf("%d turns, %d events", n, len(hat.sent()))
		}
		if _, err := os.Stat(filepath.Join(work, "half.txt")); err != nil {
			t.Error(err)
		}
		if end, counts := loop.Classify(x, false, false); end != ledger.EndedBudget || counts != ledger.CountsAsNothing {
			t.Errorf("it counts as %s, %s", end, counts)
		}
	})
}

// TestAgentsTokens: the same for tokens. Claude Code does not keep to a limit in tokens by
// itself, so its session is ended as the others.
func TestAgentsTokens(t *testing.T) {
	for _, a := range append([]agents.Agent{agents.Claude}, agents.All...) {
		t.Run(a.Name, func(t *testing.T) {
			if adapter.Find(a.Name).Spent() == nil {
				t.Skipf("SKIPPED: the stream of %s says nothing of its tokens while it runs", a.Name)
			}
			a := realAgent{a}
			dear := models.Use(a.Tool("echo whole >whole.txt"))
			dear.Usage = models.Usage{Input: 20_000, Output: 2000}
			var work string
			x, hat, server := a.session(t, "", models.Play(func(models.Request) []models.Turn {
				return []models.Turn{models.Use(a.Tool("echo half >half.txt")), dear, models.Say("I look at it.").WithFault(models.Hang())}
			}), func(h *fixture, l *ledger.Launch, _ string) { work, l.Model, l.MaxTokens = h.work, a.Model, 20_500 })
			// The first answer has 1,050. What Claude Code's model wrote is told at its end alone.
			least, most := int64(1000+20_000), int64(1050+22_000)
			if x.Reason != ledger.ExitBudget || !x.OverBudget || x.Tokens < least || x.Tokens > most || x.Failure != "" {
				t.Errorf("%+v, want %d to %d tokens", x, least, most)
			}
			if n := len(server.Turns()); n > 3 || len(hat.sent()) != 0 {
				t.Errorf("%d turns, %d events", n, len(hat.sent()))
			}
			if _, err := os.Stat(filepath.Join(work, "half.txt")); err != nil {
				t.Error(err)
			}
			if end, counts := loop.Classify(x, false, false); end != ledger.EndedBudget || counts != ledger.CountsAsNothing {
				t.Errorf("it counts as %s, %s", end, counts)
			}
		})
	}
}
