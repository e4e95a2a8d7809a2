package bot

import (
	"slices"
	"strings"
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
			s.Project.Run.State = ledger.RunOver
			if got, want := HeldLine(s, now), strings.Replace(c.want, "works meanwhile", "takes over", 1); got != want {
				t.Errorf("idle: %q, want %q", got, want)
			}
		})
	}
}

// TestHeldIdle: an idle project offers to try a parked agent, and none that each start of a
// run tries anyway.
func TestHeldIdle(t *testing.T) {
	now := time.Date(2026, 11, 20, 3, 20, 0, 0, time.UTC)
	limit := loop.AgentHold{Until: now.Add(50 * time.Minute), Why: ledger.FailureLimit}
	for name, c := range map[string]struct {
		held   map[string]loop.AgentHold
		button string
	}{
		"none":       {nil, ""},
		"parked":     {map[string]loop.AgentHold{"claude": limit}, "/resume claude"},
		"logged out": {map[string]loop.AgentHold{"claude": {Unusable: true, LoggedOut: true, Until: now}}, ""},
		"a fallback": {map[string]loop.AgentHold{"claude": {Unusable: true}, "codex": limit}, "/resume codex"},
	} {
		s := loop.State{Shared: loop.Shared{Agents: c.held}, Project: loop.Project{Name: "shop", Run: &loop.Run{ID: "r14", State: ledger.RunOver, Ended: &ledger.RunEnded{Reason: ledger.ReasonDone}}}}
		s.Project.Run.Settings = ledger.Settings{Agent: "claude", Fallbacks: map[string][]string{"claude": {"codex"}}}
		for _, agent := range []string{"claude", "codex", ""} { // a command that comes late
			if _, held := c.held[agent]; (spentHold(s, Command{Verb: VerbResume, Target: agent}) == "") != held {
				t.Errorf("%s: /resume %s can do something: %v", name, agent, !held)
			}
		}
		for look, m := range map[string]Message{"status": Status(s, now), "/resume": idle(s, now)} {
			has := func(b Button) bool { return strings.HasPrefix(b.Command, "/resume ") }
			n := slices.IndexFunc(m.Buttons, has)
			if (n < 0) != (c.button == "") || n >= 0 && m.Buttons[n].Command != c.button || strings.Contains(m.Text(0), HeldLine(s, now)) != true {
				t.Errorf("%s, %s: %+v\n%s", name, look, m.Buttons, m.Text(0))
			}
		}
	}
}
