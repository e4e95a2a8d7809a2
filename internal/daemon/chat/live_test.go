package chat_test

import (
	"testing"

	"github.com/nightporter/nightporter/config"
	"github.com/nightporter/nightporter/internal/daemon/daemontest"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/people"
)

// TestTakenOut checks that a removed person's live status no longer changes,
// and that queued messages are not delivered to them.
func TestTakenOut(t *testing.T) {
	cfg := daemontest.Config(t, "manual")
	cfg.Telegram = &config.Telegram{} // nothing is connected
	p, _ := daemontest.Open(t, cfg)
	const ana, group = "telegram:5", "telegram:-1001/7"
	do := func(actor string, body loop.InputBody) {
		t.Helper()
		if a, err := p.Engine.Do(t.Context(), loop.Input{Actor: actor, Name: "Ana", Body: body}); err != nil || !a.OK {
			t.Fatal(a, err)
		}
	}
	look := func(step string, chat string, sees bool) {
		t.Helper()
		m, _ := p.Hub.LiveText(chat, "status/shop")
		if (len(m.Lines) > 0) != sees || p.Hub.Barred(chat) == sees {
			t.Errorf("%s, %s is told %q, barred %v", step, chat, m.First(), p.Hub.Barred(chat))
		}
	}
	look("unknown", ana, false)
	do("console", people.OfferPairing{Hash: "h", Role: ledger.RoleView})
	do(ana, people.TryPairing{Hash: "h"})
	look("paired", ana, true)
	do("console", people.Remove{ID: ana})
	look("taken out", ana, false)
	look("always", group, true)
}
