package telegram_test

import (
	"testing"

	"github.com/nightporter/nightporter/bot/telegram"
	far "github.com/nightporter/nightporter/internal/fake/telegram"
)

// TestIsMember checks members, people who are no members, and people about whom
// Telegram gives no information.
func TestIsMember(t *testing.T) {
	w := newWorld(t)
	w.far.Post(far.UserMessage{From: mira, Chat: group, Thread: 55, Text: "x"})
	topic, own, ana := telegram.Address(group, 55), telegram.Address(mira.ID, 0), "telegram:5"
	look := func(person string, want, known bool) {
		t.Helper()
		got, err := w.bot.IsMember(t.Context(), topic, person)
		if got != want || (err == nil) != known {
			t.Errorf("%s: %v, %v; want %v", person, got, err, want)
		}
	}
	look(own, false, false) // Telegram does not tell
	w.far.SetPinRight(group, true)
	look(own, true, true)
	look(ana, false, true)
	for body, want := range map[string]bool{
		`{"ok":true,"result":{"status":"restricted","is_member":true}}`: true, `{"ok":true,"result":{"status":"restricted"}}`: false, `{"ok":true,"result":{"status":"kicked"}}`: false,
	} {
		w.far.Fault("getChatMember", far.Fault{Code: 200, Body: body})
		look(own, want, true)
	}
	for _, body := range []string{"<html>", `{"ok":true,"result":{}}`, `{"ok":true,"result":7}`, `{"ok":true}`} {
		w.far.Fault("getChatMember", far.Fault{Code: 200, Body: body})
		look(own, false, false)
	}
	w.far.Fault("getChatMember", far.BadRequest("member not found"))
	look(own, false, true)
	look("slack:U1", false, false)
}
