package bot_test

import (
	"strings"
	"testing"
	"time"

	"github.com/nightporter/nightporter/bot/internal/messagelint"
	"github.com/nightporter/nightporter/internal/scenario"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// idleHost is a host of projects without a run under way, in which claude is parked.
func idleHost(names ...string) *host {
	n := scenario.New("shop", evening)
	n.Start(n.Settings(), n.Base("r1"), scenario.Task(1, "One"))
	n.Until(nil)
	n.State.Shared.Agents = map[string]loop.AgentHold{"claude": {Until: evening.Add(5 * time.Hour), Why: ledger.FailureLimit}}
	h := &host{service: &service{scenario.NewService(n)}, configured: names}
	h.Names = names
	return h
}

// TestResumeParked: the name of a parked agent is enough where no run is under way, in
// whichever project it is typed.
func TestResumeParked(t *testing.T) {
	for _, names := range [][]string{{"shop"}, {"shop", "blog"}} {
		h := idleHost(names...)
		if m := h.say(t, "/resume"); len(names) == 1 && (m.Key != "run.idle" || !strings.Contains(m.Text(0), "! claude parked until 04:10")) {
			t.Errorf("%s: %s\n%s", names, m.Key, m.Text(0))
		}
		m := h.say(t, "/resume claude")
		messagelint.Check(t, "/resume claude", m)
		if want := "● claude is tried again\nBy the next session that wants it, in all projects. shop is idle."; m.Text(0) != want || m.Refused || len(h.Night.State.Shared.Agents) != 0 {
			t.Errorf("%s: %q", names, m.Text(0))
		}
		m = h.say(t, "shop: /resume claude")
		messagelint.Check(t, "not parked", m)
		if want := "✗ claude is not parked\nNo agent is. shop is idle."; m.Text(0) != want || !m.Refused {
			t.Errorf("%s: %q", names, m.Text(0))
		}
	}
	h := idleHost("shop", "blog")
	if m := h.say(t, "/resume codex"); m.Key != "cmd.whichproject" { // it is not parked: what is meant?
		t.Errorf("%s\n%s", m.Key, m.Text(0))
	}
}
