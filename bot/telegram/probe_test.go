package telegram_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nightporter/nightporter/bot/telegram"
	"github.com/nightporter/nightporter/bot/transport"
	far "github.com/nightporter/nightporter/internal/fake/telegram"
	"github.com/nightporter/nightporter/loop/ledger"
)

func TestNew(t *testing.T) {
	good := transport.Secret("7123456789:AAE-far_end")
	if b, err := telegram.New(telegram.Options{Token: good}); err != nil || b.ID() != "7123456789" || b.CursorName() != "telegram:7123456789" || b.State().Connected {
		t.Errorf("%v, %v", b, err)
	}
	for _, token := range []string{"", "x", "7123456789", "7123456789:", ":AAE", "7123456789:AAE far", "7123456789:AAE\n", "7123456789:AAE/../x", "bot7123456789:AAE", "7123456789:AAE%2f"} {
		_, err := telegram.New(telegram.Options{Token: transport.Secret(token)})
		if err == nil || !strings.Contains(err.Error(), "@BotFather") || (len(token) > 3 && strings.Contains(err.Error(), token)) {
			t.Errorf("%q: %v", token, err)
		}
	}
	for _, api := range []string{"x", "ftp://a", "http://", "http://u:p@host", "http://a?b=c", "::", "https://api.telegram.org/bot" + string(good) + "?"} {
		_, err := telegram.New(telegram.Options{Token: good, API: api})
		if err == nil || strings.Contains(err.Error(), string(good)) {
			t.Errorf("%q: %v", api, err)
		}
	}
}

const (
	ok      = ledger.DiagnosticOK
	warning = ledger.DiagnosticWarning
	wrong   = ledger.DiagnosticError
)

func TestProbe(t *testing.T) {
	hook := func(s *far.Server) { s.SetWebhook("https://example.org/hook") }
	for _, c := range []struct {
		name string
		do   func(s *far.Server)
		want []ledger.DiagnosticSeverity
	}{
		{"fine", func(s *far.Server) { s.Say(mira, mira.ID, "x") }, []ledger.DiagnosticSeverity{ok, ok}},
		{"webhook", hook, []ledger.DiagnosticSeverity{ok, wrong}},
		{"token", func(s *far.Server) { s.Fault("getMe", far.Unauthorized()) }, []ledger.DiagnosticSeverity{wrong}},
		{"away", (*far.Server).Disconnect, []ledger.DiagnosticSeverity{warning}},
		{"502", func(s *far.Server) { s.Fault("getMe", far.BadGateway()) }, []ledger.DiagnosticSeverity{warning}},
		{"half", func(s *far.Server) { s.Fault("getWebhookInfo", far.BadGateway()) }, []ledger.DiagnosticSeverity{ok, warning}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			c.do(w.far)
			waiting := w.far.Unconfirmed()
			var got []ledger.DiagnosticSeverity
			for _, f := range w.bot.Probe(t.Context()) {
				got = append(got, f.Severity)
				w.assertNoToken("diagnostic", f.Text+f.Remedy)
				if f.Text == "" {
					t.Errorf("diagnostic %+v", f)
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
			if w.far.Unconfirmed() != waiting || len(w.far.Calls("getUpdates")) > 0 {
				t.Error("the probe had an effect")
			}
		})
	}
	w := newWorld(t)
	if me, err := w.bot.Me(t.Context()); err != nil || me.Username != "porter_bot" || me.ID != 7123456789 {
		t.Errorf("%+v, %v", me, err)
	}
}

// TestProbeGroups checks the finding about each problem of a group, with its
// remedy.
func TestProbeGroups(t *testing.T) {
	for name, c := range map[string]struct {
		do   func(s *far.Server)
		chat string
		want ledger.DiagnosticSeverity
		fix  string
	}{
		"fine":              {func(s *far.Server) { s.SetPinRight(group, true) }, telegram.Address(group, 55), ok, ""},
		"may not pin":       {nil, telegram.Address(group, 55), warning, "may pin messages"},
		"no topics":         {func(s *far.Server) { s.Say(mira, -1007, "x") }, "telegram:-1007/4", wrong, `telegram_topic = "-1007"`},
		"unknown":           {nil, "telegram:-1009", wrong, "add it there"},
		"thrown out":        {func(s *far.Server) { s.Block(group) }, telegram.Address(group, 0), wrong, "add it there"},
		"another number":    {func(s *far.Server) { s.Migrate(-7, -1008) }, "telegram:-7", wrong, `telegram_topic = "-1008"`},
		"garbage":           {func(s *far.Server) { s.Fault("getChat", far.Fault{Code: 200, Body: `{"ok":true,"result":[]}`}) }, telegram.Address(group, 55), warning, ""},
		"garbage of rights": {func(s *far.Server) { s.Fault("getChatMember", far.Fault{Code: 200, Body: "<html>"}) }, telegram.Address(group, 55), warning, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.far.Post(far.UserMessage{From: mira, Chat: group, Thread: 55, Text: "x"})
			if c.do != nil {
				c.do(w.far)
			}
			all := w.bot.Probe(t.Context(), c.chat)
			f := all[len(all)-1]
			if len(all) != 3 || f.Severity != c.want || !strings.Contains(f.Remedy, c.fix) || f.Text == "" {
				t.Errorf("%+v", all)
			}
		})
	}
}
