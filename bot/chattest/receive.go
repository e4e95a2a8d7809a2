package chattest

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/nightporter/nightporter/bot"
)

// start runs the adapter until stop is called.
func (w *Fixture) start(t *testing.T, r *Recorder) (stop func()) {
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); _ = w.Run(ctx, r.Cursor, r) }()
	stop = func() {
		cancel()
		select {
		case <-done:
		case <-time.After(Patience):
			t.Error("the adapter does not stop")
		}
	}
	t.Cleanup(stop)
	return stop
}

func texts(got []bot.Inbound) string {
	var out []string
	for _, in := range got {
		out = append(out, in.Text)
	}
	return strings.Join(out, " | ")
}

// testReceive: messages arrive in order, with sender, chat and time.
func testReceive(t *testing.T, w *Fixture) {
	r := NewRecorder("")
	w.start(t, r)
	w.Say(w.Person, "Wrap the <existing> code & keep it")
	w.Say(w.Person, "/status")
	w.Say(w.Group, "/pause")
	got := r.Wait(t, 3)
	if texts(got) != "Wrap the <existing> code & keep it | /status | /pause" {
		t.Errorf("%s", texts(got))
	}
	keys := map[string]bool{}
	for n, in := range got {
		chat := w.Person
		if n == 2 {
			chat = w.Group
		}
		if in.Actor != w.Person || in.Chat != chat || in.Private != (chat == w.Person) || in.Message == "" || in.Unpairable != "" || in.Edited || in.Press != "" {
			t.Errorf("%+v", in)
		}
		if in.Cursor == nil || in.Cursor.Name != w.Cursor || time.Since(in.Sent).Abs() > time.Minute {
			t.Errorf("%q: cursor %+v, sent %s", in.Text, in.Cursor, in.Sent)
		}
		if keys[in.Key] || !strings.HasPrefix(in.Key, w.Prefix) {
			t.Errorf("key %q", in.Key)
		}
		keys[in.Key] = true
	}
}

// testRedelivery: an input that was not committed arrives again with the same key,
// and no later input before it.
func testRedelivery(t *testing.T, w *Fixture) {
	r := NewRecorder("")
	r.Reject(3)
	w.start(t, r)
	for _, text := range []string{"one of them", "two of them", "three of them"} {
		w.Say(w.Person, text)
	}
	if got := r.Wait(t, 3); texts(got) != "one of them | two of them | three of them" || len(r.rejected) != 3 || r.rejected[0] != got[0].Key || r.rejected[2] != got[0].Key {
		t.Errorf("%s; not committed: %q", texts(got), r.rejected)
	}
}

// testRestart: messages sent while the adapter was stopped arrive later, and no
// message arrives twice.
func testRestart(t *testing.T, w *Fixture) {
	r := NewRecorder("")
	stop := w.start(t, r)
	w.Say(w.Person, "before it")
	r.Wait(t, 1)
	for n, text := range []string{"while it was off", "and off again"} {
		stop()
		w.Say(w.Person, text)
		w.Say(w.Group, "/resume")
		stop = w.start(t, r)
		r.Wait(t, 1+2*(n+1))
	}
	w.Say(w.Person, "after it")
	if got := texts(r.Wait(t, 6)); got != "before it | while it was off | /resume | and off again | /resume | after it" {
		t.Errorf("%s", got)
	}
}

// testPresses: a press stands for its button's command, whatever it contains.
func testPresses(t *testing.T, w *Fixture) {
	r := NewRecorder("")
	w.start(t, r)
	twins := []string{"q5 retry", "/evidence 7.1", "shop: /guidance ~tidy @1", "/guidance " + strings.Repeat("long words ", 30)}
	for n, twin := range twins {
		chat := []string{w.Person, w.Group}[n%2]
		m := message("? shop asks (q5)")
		m.Buttons = []bot.Button{{Label: "Other", Command: "/help"}, {Label: "This", Command: twin}}
		id, err := w.Sender.Send(t.Context(), chat, m, bot.SendOptions{Silent: true})
		if err != nil {
			t.Fatal(err)
		}
		w.Press(chat, id, "This")
		in := r.Wait(t, n+1)[n]
		got, ok := bot.Pressed(m, in.Press)
		if !ok || got != twin || in.Chat != chat || in.Message != id || in.Actor != w.Person || in.Text != "" || in.Private != (chat == w.Person) {
			t.Errorf("%q came as %q, %v: %+v", twin, got, ok, in)
		}
		for _, words := range []string{"", "Nothing <changed> & " + strings.Repeat("so ", 200)} {
			if err := w.Sender.Notice(t.Context(), in.PressID, words); err != nil {
				t.Errorf("notice: %v", err)
			}
		}
	}
	_ = w.Sender.Notice(t.Context(), "no press at all", "x") // an unknown press may be an error, but must not panic
	if _, ok := bot.Pressed(bot.Message{}, "9.q5.retry.0000"); ok {
		t.Error("data of another version is read")
	}
}

// testReplies: a reply has the id that Send returned, and an edit is another input
// with the same message id.
func testReplies(t *testing.T, w *Fixture) {
	r := NewRecorder("")
	w.start(t, r)
	for n, chat := range []string{w.Person, w.Group} {
		id, err := w.Sender.Send(t.Context(), chat, message("■ shop #8 blocked (q5)"), bot.SendOptions{Silent: true})
		if err != nil {
			t.Fatal(err)
		}
		w.Reply(chat, id, "guide by line")
		if in := r.Wait(t, 3*n+1)[3*n]; in.ReplyTo != id || in.Text != "guide by line" || in.Chat != chat {
			t.Errorf("%+v, to %s", in, id)
		}
		if n == 1 {
			break
		}
		said := w.Say(chat, "Keep the names")
		first := r.Wait(t, 2)[1]
		w.Change(chat, said, "Keep the old names")
		all := r.Wait(t, 3)
		if in := all[2]; !in.Edited || in.Message != first.Message || in.Key == first.Key || in.Text != "Keep the old names" {
			t.Errorf("%+v after %+v", in, first)
		}
	}
}

// testOtherBots: a message of another bot is marked as one without authorization.
func testOtherBots(t *testing.T, w *Fixture) {
	r := NewRecorder("")
	w.start(t, r)
	w.OtherBot(w.Group, "/stop")
	if in := r.Wait(t, 1)[0]; in.Unpairable == "" || in.Private || in.Actor == w.Person {
		t.Errorf("%+v", in)
	}
}
