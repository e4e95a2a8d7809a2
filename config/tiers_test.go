package config

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/nightporter/nightporter/loop/agent/adapter"
	"github.com/nightporter/nightporter/loop/ledger"
)

// TestShippedTiers checks that each row of the shipped file is an agent that
// nightporter knows, says when and where its models were read, and has a model.
func TestShippedTiers(t *testing.T) {
	seen := map[string]bool{}
	for _, row := range AllShippedTiers() {
		if _, err := time.Parse(time.DateOnly, row.Date); err != nil {
			t.Errorf("%s: date: %v", row.Name, err)
		}
		if row.Source == "" || row.Tiers == (Tiers{}) || seen[row.Name] || !slices.Contains(adapter.Names(), row.Name) {
			t.Errorf("row %+v: it needs a known agent, once, a source and a model", row)
		}
		seen[row.Name] = true
	}
	if !seen[adapter.Claude] {
		t.Errorf("rows for %v only", seen)
	}
}

// TestPresetTiers pins the strength that each built-in hat asks for (docs/spec 4.6).
func TestPresetTiers(t *testing.T) {
	want := map[string]ledger.ModelTier{
		"planner": "strong", "critic": "strong", "arbiter": "strong", "lead": "strong", "tester": "strong", "architect": "strong", "reviewer": "strong", "evaluator": "strong", "verifier": "strong",
		"ideas": "strong", "drafter": "strong", "builder": "fast", "builder-strict": "fast", "fixer": "fast", "refactorer": "fast",
		"reproducer": "fast", "writer": "light", "triager": "light",
	}
	hats, err := Hats(Empty(), nil)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]ledger.ModelTier{}
	for name, h := range hats {
		got[name] = ledger.ModelTier(h.Model)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// TestTiersOf: a section's own tiers are all that it has, and nothing is guessed
// for a command of the user's.
func TestTiersOf(t *testing.T) {
	for name, c := range map[string]struct {
		file    string
		want    Tiers
		shipped bool
	}{
		"no section":     {"", Tiers{Strong: "opus", Fast: "sonnet", Light: "haiku"}, true},
		"section":        {"[agents.claude]\nusd_estimate = 1\n", Tiers{Strong: "opus", Fast: "sonnet", Light: "haiku"}, true},
		"own tiers":      {"[agents.claude]\ntiers = { strong = \"big\" }\n", Tiers{Strong: "big"}, false},
		"tiers off":      {"[agents.claude]\ntiers = {}\n", Tiers{}, false},
		"own command":    {"[agents.claude]\ncommand = [\"claude\", \"--model\", \"x\"]\n", Tiers{}, false},
		"command, tiers": {"[agents.claude]\ncommand = [\"claude\"]\ntiers = { fast = \"y\" }\n", Tiers{Fast: "y"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			dir := writeFiles(t, []txtar.File{{Name: "nightporter.toml", Data: []byte(c.file)}})
			cfg, err := Load(dir + "/nightporter.toml")
			if err != nil {
				t.Fatal(err)
			}
			got, shipped := cfg.TiersOf("claude")
			if got != c.want || shipped != c.shipped {
				t.Errorf("%+v, shipped %v; want %+v, %v", got, shipped, c.want, c.shipped)
			}
		})
	}
}

// TestFallbackLists: the agents of a list come in its order, then those that take
// their place.
func TestFallbackLists(t *testing.T) {
	dir := writeFiles(t, []txtar.File{{Name: "nightporter.toml", Data: []byte(`
[agents.claude]
fallback = ["codex", "opencode"]
reserve = "20%"
[agents.codex]
fallback = "gemini"
[agents.opencode]
fallback = ["gemini", "pi"]
`)}})
	cfg, err := Load(dir + "/nightporter.toml")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := cfg.fallbacksOf("claude"), []string{"codex", "opencode", "gemini", "pi"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	s := ledger.Settings{Agent: "claude"}
	cfg.choices(&s)
	if s.Reserve["claude"] != 0.2 || len(s.Reserve) != 1 || !slices.Equal(s.Fallbacks["opencode"], []string{"gemini", "pi"}) || s.Models["gemini"].Light != "flash-lite" {
		t.Errorf("reserve %v, fallbacks %v, models %v", s.Reserve, s.Fallbacks, s.Models)
	}
}
