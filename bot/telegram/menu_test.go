package telegram_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/bot/telegram"
	far "github.com/nightporter/nightporter/internal/fake/telegram"
)

// TestSetCommands checks the menu for everybody, a person's own menu, and their
// removal.
func TestSetCommands(t *testing.T) {
	w := newWorld(t)
	w.far.Say(mira, mira.ID, "/start")
	set := func(chat string, names ...string) {
		t.Helper()
		var list []telegram.MenuCommand
		for _, n := range names {
			list = append(list, telegram.MenuCommand{Name: n, Description: "x"})
		}
		if err := w.bot.SetCommands(t.Context(), chat, list); err != nil {
			t.Error(err)
		}
	}
	sees := func(chat int64, want ...string) {
		t.Helper()
		var got []string
		for _, c := range w.far.Menu(chat) {
			got = append(got, c.Command)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%d sees (-want +got):\n%s", chat, diff)
		}
	}
	own := telegram.Address(mira.ID, 0)
	set("", "status")
	set(own, "status", "stop")
	sees(mira.ID, "status", "stop")
	sees(7, "status")
	set("")
	set("") // repeating is no error
	sees(7)
	sees(mira.ID, "status", "stop")
	set(own)
	sees(mira.ID)

	calls := len(w.far.Calls(""))
	for _, c := range []telegram.MenuCommand{{Name: "Status", Description: "x"}, {Name: "status"}, {Name: "", Description: "x"}, {Name: "a", Description: strings.Repeat("x", 257)}} {
		if err := w.bot.SetCommands(t.Context(), "", []telegram.MenuCommand{c}); err == nil {
			t.Errorf("%+v was taken", c)
		}
	}
	if err := w.bot.SetCommands(t.Context(), "slack:U1", nil); !errors.Is(err, bot.ErrRejected) {
		t.Error(err)
	}
	if n := len(w.far.Calls("")); n != calls {
		t.Errorf("%d calls that can only be refused", n-calls)
	}
	if err := w.bot.SetCommands(t.Context(), "telegram:99", []telegram.MenuCommand{{Name: "a", Description: "x"}}); !errors.Is(err, bot.ErrChatClosed) {
		t.Errorf("a chat that never was: %v", err)
	}
	for _, body := range []string{"<html>", `{"ok":true,"result":"yes"}`, `{"ok":true,"result":false}`, `{"ok":true}`, `[]`, ""} {
		w.far.Fault("deleteMyCommands", far.Fault{Code: 200, Body: body + " "})
		if err := w.bot.SetCommands(t.Context(), own, nil); err == nil {
			t.Errorf("%q is an answer", body)
		}
	}
}
