package slack_test

import (
	"testing"

	"github.com/nightporter/nightporter/bot"
)

// A press, its button's command, and the notice to its sender.
func TestPress(t *testing.T) {
	w := newFixture(t)
	w.runConnected()
	m := textMessage("■ shop #8 blocked (q5)")
	m.Buttons = []bot.Button{{Label: "Retry", Command: "q5 retry"}}
	direct := w.far.Direct(mira)
	for n, c := range []struct{ chat, in string }{{shop, channel}, {home, direct}} {
		id := w.send(c.chat, m, bot.SendOptions{Silent: true})
		env, err := w.far.Press(mira, c.in, id, "Retry")
		if err != nil {
			t.Fatal(err)
		}
		in := w.waitInputs(n + 1)[n]
		twin, ok := bot.Pressed(m, in.Press)
		if !ok || twin != "q5 retry" || in.Chat != c.chat || in.Message != id || in.Actor != home || in.Private != (c.chat == home) {
			t.Errorf("%+v", in)
		}
		if _, acked := w.far.Acked(env); !acked {
			t.Error("not acknowledged")
		}
		if err := w.bot.Notice(t.Context(), in.PressID, "settled"); err != nil {
			t.Fatal(err)
		}
		if got := w.shown(c.in); got.VisibleTo != mira || got.Text != "settled" {
			t.Errorf("toast: %+v", got)
		}
	}
}

// A button that needs a text opens a form; the submitted text follows its command.
func TestForm(t *testing.T) {
	w := newFixture(t)
	w.runConnected()
	m := textMessage("■ shop #8 blocked (q5)")
	m.Buttons = []bot.Button{{Label: "Guide…", Command: "q5 guide WORDS"}}
	id := w.send(shop, m, bot.SendOptions{Silent: true})
	if _, err := w.far.Press(mira, channel, id, "Guide…"); err != nil {
		t.Fatal(err)
	}
	in := w.waitInputs(1)[0]
	ask := textMessage("? Your words for #8 (q5):")
	if !w.bot.OpenForm(t.Context(), in, "q5 guide", ask) {
		t.Fatal("no form")
	}
	if v := w.far.Views()[0]; v.Label != "Your words for #8 (q5):" {
		t.Errorf("form: %s", v.Raw)
	}
	if w.bot.OpenForm(t.Context(), in, "q5 guide", ask) {
		t.Error("a press opens two forms")
	}
	env, err := w.far.Submit("wrap it,\ndon't replace it")
	if err != nil {
		t.Fatal(err)
	}
	in = w.waitInputs(2)[1]
	if in.Text != "q5 guide wrap it,\ndon't replace it" || in.Chat != shop || in.ReplyTo != id || in.Private || in.Actor != home {
		t.Errorf("%+v", in)
	}
	if payload, acked := w.far.Acked(env); !acked || (payload != "" && payload != "null") {
		t.Errorf("acknowledged with %q", payload)
	}
}
