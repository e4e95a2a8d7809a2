package bot_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// TestNightLimit: /plan night and nightporter forecast --json say when the window of the
// run's agent ends and who goes on, from what its sessions told of it.
func TestNightLimit(t *testing.T) {
	d := atWork()
	s := &d.Night.State
	s.Project.Run.Settings.Fallbacks = map[string][]string{"claude": {"codex"}}
	if text := d.say(t, "/plan night").Text(0); strings.Contains(text, "window") {
		t.Errorf("no window is known:\n%s", text)
	}
	s.Shared.Windows = map[string][]loop.UsedWindow{"claude": {{
		UsageWindow: ledger.UsageWindow{Name: "five_hour", Used: 0.9, Resets: d.Now.Add(3 * time.Hour)}, At: d.Now, Parts: []float64{0.1, 0.1, 0.1},
	}}}
	text := d.say(t, "/plan night").Text(0)
	if !strings.Contains(text, "claude's window ends at about ") || !strings.Contains(text, ", then codex\n") {
		t.Errorf("/plan night:\n%s", text)
	}
	out, err := json.Marshal(bot.OutlookOf(t.Context(), d, *s, d.Now))
	if err != nil || !strings.Contains(string(out), `"limit":{"agent":"claude","at":"2026-11-19T23:`) || !strings.Contains(string(out), `"then":"codex","until":"2026-11-20T02:`) {
		t.Errorf("%s, %v", out, err)
	}
	s.Project.Run.Settings.Fallbacks = nil
	if text := d.say(t, "/forecast").Text(0); !strings.Contains(text, ", then it waits until 02:") {
		t.Errorf("without a fallback:\n%s", text)
	}
}
