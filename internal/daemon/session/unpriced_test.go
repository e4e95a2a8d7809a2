package session

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/nightporter/nightporter/config"
	"github.com/nightporter/nightporter/loop/ledger"
)

// TestUnpriced: under a budget in money an agent that reports no cost is refused, unless
// it tells tokens by kind and all its models have a price.
func TestUnpriced(t *testing.T) {
	for name, c := range map[string]struct {
		agent, model, prices, settings string
		want                           string // part of the refusal; "" = none
		remedy                         string
	}{
		"reports cost":                  {agent: "claude"},
		"a guess":                       {agent: "claude", model: "glm-4.7", want: "agent claude, which guesses what glm-4.7 costs", remedy: "Write the price of glm-4.7 into prices.toml"},
		"the owner's price for a guess": {agent: "claude", model: "glm-4.7", prices: "[[model]]\nname = \"glm-4.7\"\ninput = 1\noutput = 2\n"},
		"its own by another name":       {agent: "claude", model: "us.anthropic.claude-opus-5-v1:0"},
		"a short name of its own":       {agent: "claude", model: "opus"},
		"no model":                      {agent: "codex", want: "agent codex, which reports no cost", remedy: "name a model"},
		"a model without a row":         {agent: "codex", model: "gpt-x", want: "the price of gpt-x is not known", remedy: "prices.toml beside this file"},
		"a shipped price":               {agent: "codex", model: "gpt-5-codex"},
		"the owner's price":             {agent: "codex", model: "gpt-x", prices: "[[model]]\nname = \"gpt-x\"\ninput = 1\noutput = 2\n"},
		"no tokens by kind":             {agent: "copilot", model: "gpt-5-codex", want: "agent copilot", remedy: "usd_estimate"},
		"an estimate":                   {agent: "copilot", settings: "[agents.copilot]\nusd_estimate = 0.5\n"},
	} {
		dir := t.TempDir()
		for file, text := range map[string]string{"nightporter.toml": c.settings, config.PricesFile: c.prices} {
			if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		cfg, err := config.Load(filepath.Join(dir, "nightporter.toml"))
		if err != nil {
			t.Fatal(err)
		}
		s := ledger.Settings{Agent: c.agent, Budget: ledger.Budget{USDRun: 5}, Hats: map[string]ledger.Hat{"builder": {Name: "builder", Model: c.model}}}
		got := Unpriced(cfg, s)
		if c.want == "" {
			if len(got) != 0 {
				t.Errorf("%s: refused: %+v", name, got)
			}
			continue
		}
		if len(got) != 1 || !strings.Contains(got[0].Text, c.want) || !strings.Contains(got[0].Remedy, c.remedy) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// TestBarred: what Unpriced refuses as a run's agent can be no other agent of it, nor make
// a second review.
func TestBarred(t *testing.T) {
	cfg, err := config.Load(write(t, "[agents.codex]\n[agents.copilot]\n"))
	if err != nil {
		t.Fatal(err)
	}
	hats := func(builder, reviewer ledger.Hat) map[string]ledger.Hat {
		reviewer.Emits = []string{ledger.EventReview}
		return map[string]ledger.Hat{"builder": builder, "reviewer": reviewer}
	}
	codex := map[string]ledger.Tiers{"codex": {Strong: "gpt-5-codex", Fast: "gpt-5-codex"}}
	tiers := hats(ledger.Hat{Tier: ledger.ModelFast}, ledger.Hat{Tier: ledger.ModelStrong})
	for name, c := range map[string]struct {
		s    ledger.Settings
		want []string
	}{
		"no budget":                              {ledger.Settings{Hats: tiers}, nil},
		"of a run":                               {ledger.Settings{Hats: tiers, Models: codex, Budget: ledger.Budget{USDRun: 5}}, []string{"copilot"}},
		"without a model":                        {ledger.Settings{Hats: tiers, Budget: ledger.Budget{USDRun: 5}}, []string{"codex", "copilot"}},
		"of the reviewer, who has another agent": {ledger.Settings{Hats: hats(ledger.Hat{}, ledger.Hat{Agent: "pi", Tier: ledger.ModelStrong, MaxCostUSD: 1}), Models: codex}, []string{"copilot"}},
	} {
		c.s.Agent, c.s.Others = "claude", []string{"codex", "copilot"}
		var got []string
		for _, b := range Barred(cfg, c.s) {
			got = append(got, b.Agent)
			if b.Text == "" || b.Remedy == "" {
				t.Errorf("%s: %+v", name, b)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// write writes a configuration and returns its path.
func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "nightporter.toml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestUntold: under a budget in tokens an agent that never tells any is refused, and the
// remedy says what to do.
func TestUntold(t *testing.T) {
	for name, c := range map[string]struct {
		agent  string
		budget ledger.Budget
		day    int64
		want   bool
	}{
		"tells none":      {agent: "copilot", budget: ledger.Budget{TokensRun: 1_000_000}, want: true},
		"tells none, day": {agent: "copilot", day: 1_000_000, want: true},
		"without one":     {agent: "copilot"},
		"tells its end":   {agent: "codex", budget: ledger.Budget{TokensRun: 1_000_000}},
		"tells answers":   {agent: "claude", day: 1_000_000},
		"uses none":       {agent: "scripted", day: 1_000_000},
	} {
		cfg := &config.Config{Budget: config.Budget{TokensDay: c.day}}
		got := Unpriced(cfg, ledger.Settings{Agent: c.agent, Budget: c.budget, Hats: map[string]ledger.Hat{"builder": {Name: "builder"}}})
		if !c.want && len(got) != 0 || c.want && (len(got) != 1 || got[0].Text != "a budget in tokens cannot hold for agent copilot, which reports none" || !strings.Contains(got[0].Remedy, "usd_estimate in [agents.copilot]")) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
