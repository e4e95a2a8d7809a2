package inbound_test

import (
	"context"
	"testing"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/bot/inbound"
	"github.com/nightporter/nightporter/loop/ledger"
)

// TestForm checks that on a platform with forms, a form asks for text instead
// of a message, and its content completes the command. A person who may not
// give the answer sees no form.
func TestForm(t *testing.T) {
	for _, opens := range []bool{true, false} {
		w := asking(t, ledger.Question{Kind: ledger.AskPlan, Text: "x"})
		var forms []string
		o := w.options()
		o.Ask = func(_ context.Context, _ bot.Inbound, command string, ask bot.Message) bool {
			forms = append(forms, command+": "+ask.First())
			return opens
		}
		w.r = inbound.New(o)
		w.private(mira, "q9")
		shown := w.newest(mira)
		w.press(ana, mira, shown, "Reject…")
		if len(forms) != 0 {
			t.Errorf("Ana, who may not, is shown %q", forms)
		}
		w.press(mira, mira, shown, "Reject…")
		if len(forms) != 1 || forms[0] != "q9 reject: ? What is wrong with it? (q9)" {
			t.Errorf("Mira is shown %q", forms)
		}
		if asks := w.newest(mira).m.First() == "? What is wrong with it? (q9)"; asks == opens {
			t.Errorf("with a form %v, a message asks: %v", opens, asks)
		}
		if !opens {
			continue
		}
		w.receive(bot.Inbound{Actor: mira, Chat: mira, Private: true, Text: "q9 reject split it,\nplease", Message: "cmd:" + mira + ":q9 reject", ReplyTo: shown.id})
		if n := w.entries("question.answered"); n != 1 {
			t.Errorf("%d answers", n)
		}
	}
}
