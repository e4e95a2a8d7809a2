package bot

import (
	"testing"
	"time"

	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// TestHeldLine: one line says what is held, until when, and what works meanwhile.
func TestHeldLine(t *testing.T) {
	now := time.Date(2026, 11, 20, 3, 20, 0, 0, time.UTC)
	limit := loop.AgentHold{Until: now.Add(50 * time.Minute), Why: ledger.FailureLimit, Known: true}
	set := ledger.Settings{Agent: "claude", Fallbacks: map[string][]string{"claude": {"codex", "pi"}}}
	for name, c := range map[string]struct {
		held map[string]loop.AgentHold
		want string
	}{
		"none":               {nil, ""},
		"another project's":  {map[string]loop.AgentHold{"gemini": limit}, ""},
		"on trial":           {map[string]loop.AgentHold{"claude": {Trial: true}}, ""},
		"the run's":          {map[string]loop.AgentHold{"claude": limit}, "! claude parked until 04:10; codex works meanwhile"},
		"and a fallback":     {map[string]loop.AgentHold{"claude": limit, "codex": {Unusable: true, LoggedOut: true}}, "! claude parked until 04:10, codex logged out; pi works meanwhile"},
		"only a fallback":    {map[string]loop.AgentHold{"codex": limit}, "! codex parked until 04:10"},
		"all, before a wait": {map[string]loop.AgentHold{"claude": limit, "codex": limit, "pi": limit}, "! claude parked until 04:10, codex parked until 04:10, pi parked until 04:10"},
	} {
		t.Run(name, func(t *testing.T) {
			s := loop.State{Shared: loop.Shared{Agents: c.held}, Project: loop.Project{Name: "shop", Run: &loop.Run{Settings: set, State: ledger.RunRunning}}}
			if got := HeldLine(s, now); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}
