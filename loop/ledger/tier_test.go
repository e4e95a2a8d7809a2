package ledger_test

import (
	"slices"
	"testing"

	"github.com/nightporter/nightporter/loop/ledger"
)

// TestModelFor pins which model a session asks its agent for.
func TestModelFor(t *testing.T) {
	s := ledger.Settings{Agent: "claude", Models: map[string]ledger.Tiers{
		"claude": {Strong: "opus", Fast: "sonnet", Light: "haiku"},
		"codex":  {Strong: "big", Light: "small"},
	}}
	fast := ledger.Hat{Tier: ledger.ModelFast, Model: "sonnet"}
	strong := ledger.Hat{Tier: ledger.ModelStrong, Model: "opus"}
	pinned := ledger.Hat{Model: "claude-opus-9", Pinned: true}
	for _, c := range []struct {
		name   string
		hat    ledger.Hat
		agent  string
		raised bool
		want   string
	}{
		{"tier", fast, "claude", false, "sonnet"},
		{"raised", fast, "claude", true, "opus"},
		{"nothing above strong", strong, "claude", true, "opus"},
		{"another agent", strong, "codex", false, "big"},
		{"another agent without that tier", fast, "codex", false, ""},
		{"another agent, raised", fast, "codex", true, "big"},
		{"an agent without tiers", fast, "pi", false, ""},
		{"pinned", pinned, "claude", false, "claude-opus-9"},
		{"pinned, raised", pinned, "claude", true, "claude-opus-9"},
		{"pinned, another agent", pinned, "codex", false, ""},
		{"a hat of another agent", ledger.Hat{Agent: "codex", Tier: ledger.ModelLight, Model: "small"}, "codex", false, "small"},
		{"no model", ledger.Hat{}, "claude", true, ""},
		{"an entry of an earlier release", ledger.Hat{Model: "sonnet"}, "codex", false, "sonnet"},
	} {
		if got := s.ModelFor(c.hat, c.agent, c.raised); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// TestWithAgentKeepsTiers checks that a person who switches the run's agent gets that
// agent's models.
func TestWithAgentKeepsTiers(t *testing.T) {
	s := ledger.Settings{Agent: "claude", Models: map[string]ledger.Tiers{"codex": {Strong: "big"}}, Hats: map[string]ledger.Hat{
		"planner": {Tier: ledger.ModelStrong, Model: "opus"},
		"builder": {Model: "claude-opus-9", Pinned: true},
	}}
	s = s.WithAgent("codex")
	if got := s.Hats["planner"].Model; got != "big" {
		t.Errorf("planner has %q", got)
	}
	if got := s.ModelFor(s.Hats["builder"], "codex", false); got != "" {
		t.Errorf("builder has %q", got)
	}
}

// TestAgentsFor checks that preflight sees each agent that may get a session.
func TestAgentsFor(t *testing.T) {
	s := ledger.Settings{Agent: "claude", Fallbacks: map[string][]string{"claude": {"codex", "pi"}, "qwen": {"claude"}}, Hats: map[string]ledger.Hat{
		"planner": {}, "builder": {Agent: "qwen"}, "reviewer": {Fallbacks: []string{"gemini", "codex"}},
	}}
	got := s.AgentsFor([]string{"planner", "builder", "reviewer"})
	if want := []string{"claude", "qwen", "codex", "pi", "gemini"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	old := ledger.Settings{Agent: "claude", Fallback: "codex"}
	if got := old.FallbacksOf(ledger.Hat{}, "claude"); !slices.Equal(got, []string{"codex"}) {
		t.Errorf("an earlier release's fallback: %v", got)
	}
	if got := old.FallbacksOf(ledger.Hat{}, "codex"); len(got) != 0 {
		t.Errorf("an agent is its own fallback: %v", got)
	}
}
