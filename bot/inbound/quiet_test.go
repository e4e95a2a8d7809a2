package inbound_test

import (
	"strings"
	"testing"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/loop/ledger"
)

// TestQuietUntil checks that everybody sets the quiet hours of their own chat, also
// once, up to a moment, and that those of a group need an admin.
func TestQuietUntil(t *testing.T) {
	w := newFixture(t) // it is 23:10 or later, the configured hours are 23:00-07:00
	hours := func(chat string) ledger.Hours { return w.engine.Shared().QuietHours(chat, "23:00-07:00") }
	at := func(clock string) time.Time {
		v, err := time.ParseInLocation("2006-01-02 15:04", "2026-11-20 "+clock, zone)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	w.private(ben, "/quiet until 9")
	w.private(ben, "/quiet")
	if got := w.newest(ben).m; got.First() != "✓ Quiet until 09:00" || !strings.Contains(got.Text(0), "Then quiet 23:00-07:00 as before.") || len(got.Buttons) != 1 {
		t.Errorf("%s", got.Text(0))
	}
	if h := hours(ben); !h.Has(at("08:59")) || h.Has(at("09:00")) || !h.Has(at("23:30")) {
		t.Errorf("hours %q", h)
	}
	w.press(ben, ben, w.newest(ben), "Ring again")
	if h := hours(ben); h.Has(at("08:59")) || !h.Has(at("06:59")) {
		t.Errorf("hours %q", h)
	}
	w.private(ana, "/quiet 22:00-06:00")
	w.private(ana, "/quiet bis 7:30 Uhr")
	if h := hours(ana); !h.Has(at("07:29")) || h.Has(at("07:30")) || !h.Has(at("22:30")) || h.Has(at("21:59")) {
		t.Errorf("hours %q", h)
	}
	w.receive(bot.Inbound{Actor: ana, Chat: group, Text: "/quiet off", Message: w.message()})
	if got := w.newest(group).m; got.Key != "cmd.forbidden" {
		t.Errorf("in a group: %s", got.Text(0))
	}
	w.receive(bot.Inbound{Actor: mira, Chat: group, Text: "/quiet until 9am", Message: w.message()})
	if !hours(group).Has(at("08:00")) {
		t.Errorf("by an admin: %s", w.newest(group).m.Text(0))
	}
	w.private(ana, "/quiet until later")
	if got := w.newest(ana).m; !strings.Contains(got.Text(0), "not a part of the") {
		t.Errorf("%s", got.Text(0))
	}
}
