package session

import (
	"os"
	"path/filepath"
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
