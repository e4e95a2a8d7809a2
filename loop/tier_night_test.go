package loop

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/nightporter/nightporter/loop/ledger"
)

// tierNight plays a night of 30 tasks, four of which need a round of fixes, and returns
// the models that its sessions were planned with, by hat.
func tierNight(t *testing.T, tiers map[string]string) (models map[string][]string) {
	var tasks []string
	for n := range 30 {
		tasks = append(tasks, strconv.Itoa(n+1))
	}
	script := []string{"tasks " + strings.Join(tasks, " "), "set models=claude:strong,fast,light"}
	for hat, tier := range tiers {
		script = append(script, "set tier="+hat+":"+tier)
	}
	d := playing(t, script...)
	d.trusts, d.unread = true, true // TestTranscripts plays such tasks too
	d.input(StartRun{Settings: d.settings, MaxSessions: 1})
	d.play("preflight")
	d.play("greens")
	for n := range tasks {
		if n%8 != 0 {
			d.play("task")
			continue
		}
		for _, step := range []string{"plan", "build", "greens", "issues critical:wrong", "fix", "greens", "ok", "show"} {
			d.play(step)
		}
	}
	models = map[string][]string{}
	for _, e := range d.entries {
		if b, ok := e.Body.(ledger.SessionPlanned); ok && b.Kind == ledger.KindAgent {
			models[b.Hat] = append(models[b.Hat], b.Model)
		}
	}
	if done := len(d.s.Project.Run.DoneNow); done != 30 {
		t.Fatalf("%d of 30 tasks are done", done)
	}
	return models
}

// TestTierNight pins what docs/figures.md says of a night with models by strength: its
// cost against the same night on the strong model alone, by three price tables.
func TestTierNight(t *testing.T) {
	shipped := map[string]string{"planner": "strong", "builder": "fast", "reviewer": "strong", "fixer": "fast"}
	strong := map[string]string{}
	for hat := range shipped {
		strong[hat] = "strong"
	}
	mixed, alone := tierNight(t, shipped), tierNight(t, strong)
	for hat, sessions := range map[string]int{"planner": 30, "builder": 30, "reviewer": 34, "fixer": 4} {
		if len(mixed[hat]) != sessions || len(alone[hat]) != sessions {
			t.Errorf("%s: %d and %d sessions, want %d", hat, len(mixed[hat]), len(alone[hat]), sessions)
		}
	}
	price := func(in, write, read, out float64) ledger.Price {
		return ledger.Price{Input: in, CacheWrite: &write, CacheRead: &read, Output: out}
	}
	opus5, sonnet5 := price(5, 6.25, 0.5, 25), price(2, 2.5, 0.2, 10)
	for _, table := range []struct {
		name         string
		strong, fast ledger.Price
		even, heavy  float64 // ratio where every session has the same tokens, and where a builder's and a fixer's has three times a reviewer's
	}{
		{"claude-opus-4-5, claude-sonnet-4-5", price(5, 6.25, 0.5, 25), price(3, 3.75, 0.3, 15), 0.86, 0.75},
		{"claude-opus-5, claude-sonnet-5", opus5, sonnet5, 0.79, 0.63},
		{"claude-fable-5, claude-opus-5", price(10, 12.5, 1, 50), opus5, 0.83, 0.69},
	} {
		cost := func(models map[string][]string, heavy int64) (sum float64) {
			for hat, list := range models {
				u := ledger.TokenUsage{Input: 2_000, CacheWrite: 30_000, CacheRead: 300_000, Output: 6_000}
				if hat == "builder" || hat == "fixer" {
					u = ledger.TokenUsage{Input: heavy * u.Input, CacheWrite: heavy * u.CacheWrite, CacheRead: heavy * u.CacheRead, Output: heavy * u.Output}
				}
				for _, model := range list {
					p := map[string]ledger.Price{"strong": table.strong, "fast": table.fast}[model]
					usd, ok := p.Cost(u)
					if !ok {
						t.Fatalf("no price for %q of %s", model, hat)
					}
					sum += usd
				}
			}
			return sum
		}
		even, heavy := cost(mixed, 1)/cost(alone, 1), cost(mixed, 3)/cost(alone, 3)
		t.Logf("%s: $%.2f of $%.2f, ratio %.2f; builders with three times the tokens: %.2f", table.name, cost(mixed, 1), cost(alone, 1), even, heavy)
		if math.Abs(even-table.even) > 0.006 || math.Abs(heavy-table.heavy) > 0.006 {
			t.Errorf("%s: %.3f and %.3f, want %.2f and %.2f", table.name, even, heavy, table.even, table.heavy)
		}
	}
}
