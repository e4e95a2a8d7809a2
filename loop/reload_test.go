package loop

import (
	"maps"
	"testing"
)

// TestAgentChosenAfterReload: hats that were changed on disk and wait for the
// next session go on with the agent that a person chose, too.
func TestAgentChosenAfterReload(t *testing.T) {
	d := newDirector(t, "reload")
	for _, line := range []string{"set others=codex", "go quiet", "plan"} {
		d.play(line)
	}
	hats := maps.Clone(d.settings.Hats)
	builder := hats["builder"]
	builder.Agent, builder.Model = "claude", "large"
	hats["builder"] = builder
	d.input(HatsChanged{Pattern: d.settings.Pattern, Hats: hats})
	d.play("/resume codex")
	d.play("exit silent")
	if p := d.session().Planned; p.Agent != "codex" || p.Model != "" {
		t.Errorf("the next session is %s %s", p.Agent, p.Model)
	}
}
