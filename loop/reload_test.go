package loop

import (
	"maps"
	"testing"
)

// TestAgentChosenAfterReload checks that an agent that a person chose also
// applies to changed hats that wait for the next session.
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

// TestHatsUnchangedByRestart checks that hats that are read again after a
// restart are not seen as changed only because the ledger stores no empty
// lists.
func TestHatsUnchangedByRestart(t *testing.T) {
	d := newDirector(t, "restart")
	builder := d.settings.Hats["builder"]
	builder.Load, builder.Denied = []string{}, []string{}
	d.settings.Hats["builder"] = builder
	d.play("go quiet")
	d.play("restart")
	if dec := d.do(HatsChanged{Pattern: d.settings.Pattern, Hats: d.settings.Hats}, ""); len(dec.Entries) > 0 {
		t.Errorf("%d entries, the first is %s", len(dec.Entries), dec.Entries[0].Body.EntryType())
	}
}
