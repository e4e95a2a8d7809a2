package chattest

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nightporter/nightporter/bot"
)

func message(lines ...string) bot.Message {
	m := bot.Message{Key: "answer.x"}
	for _, l := range lines {
		m.Lines = append(m.Lines, bot.Line{Text: l})
	}
	return m
}

// lastMessage returns the newest message of the bot in a chat.
func (w *Fixture) lastMessage(t *testing.T, chat string) Shown {
	t.Helper()
	all := w.Messages(chat)
	if len(all) == 0 {
		t.Fatalf("%s shows nothing of ours", chat)
	}
	return all[len(all)-1]
}

// testSend: a message appears with the returned id, and can be edited and deleted.
func testSend(t *testing.T, w *Fixture) {
	for _, chat := range []string{w.Person, w.Group} {
		m := message("● shop r14 started", "12 tasks.")
		m.Buttons = []bot.Button{{Label: "Status", Command: "/status"}, {Label: "Stop now", Command: "/stop now"}}
		id, err := w.Sender.Send(t.Context(), chat, m, bot.SendOptions{Silent: true})
		if err != nil || id == "" {
			t.Fatalf("%s: %q, %v", chat, id, err)
		}
		if got := w.lastMessage(t, chat); got.ID != id || !strings.Contains(got.Text, "● shop r14 started") || !strings.Contains(got.Text, "12 tasks.") || fmt.Sprint(got.Labels) != "[Status Stop now]" {
			t.Errorf("%s shows %+v, sent as %s", chat, got, id)
		}
		at := bot.Ref{Chat: chat, ID: id}
		for range 2 { // the same text again is no error
			if err := w.Sender.Edit(t.Context(), at, message("✓ shop r14 ended")); err != nil {
				t.Fatal(err)
			}
		}
		if got := w.lastMessage(t, chat); got.ID != id || !strings.Contains(got.Text, "ended") || len(got.Labels) != 0 {
			t.Errorf("%s shows %+v after an edit", chat, got)
		}
		n := len(w.Messages(chat))
		for range 2 { // deleting again is no error
			if err := w.Sender.Delete(t.Context(), at); err != nil {
				t.Fatal(err)
			}
		}
		if len(w.Messages(chat)) != n-1 {
			t.Errorf("%s still shows what was taken away", chat)
		}
		if err := w.Sender.Edit(t.Context(), at, m); !errors.Is(err, bot.ErrMessageGone) {
			t.Errorf("edit of what is gone: %v", err)
		}
		if _, err := w.Sender.Send(t.Context(), chat, m, bot.SendOptions{ReplyTo: id}); err != nil {
			t.Errorf("answer to what is gone: %v", err)
		}
	}
}

// testFailures: an error says whether the message was sent, as far as that is
// known, and a Sender sends once.
func testFailures(t *testing.T, w *Fixture) {
	for f, want := range map[Failure]error{
		RateLimited: bot.ErrRateLimited, ForeignPage: bot.ErrOutcomeUnknown, ResponseLost: bot.ErrOutcomeUnknown, TokenRevoked: bot.ErrTokenRejected, ChatClosed: bot.ErrChatClosed, BadGateway: bot.ErrOutcomeUnknown,
	} {
		before := len(w.Messages(w.Group))
		w.Fail(f)
		_, err := w.Sender.Send(t.Context(), w.Group, message("■ shop #8 blocked"), bot.SendOptions{})
		if !errors.Is(bot.SendReason(err), want) {
			t.Errorf("failure %d: %v, want %s", f, err, want)
		}
		if err != nil && strings.Contains(err.Error(), w.Secret) {
			t.Errorf("failure %d shows the token: %v", f, err)
		}
		var e *bot.SendError
		if f == RateLimited && errors.As(err, &e) && e.RetryAfter != 17*time.Second {
			t.Errorf("to wait %s, want 17s", e.RetryAfter)
		}
		arrived := 0
		if f == ResponseLost {
			arrived = 1
		}
		if n := len(w.Messages(w.Group)) - before; n != arrived {
			t.Errorf("failure %d: %d messages arrived, want %d", f, n, arrived)
		}
	}
	if _, err := w.Sender.Send(t.Context(), w.Group, message("after it"), bot.SendOptions{}); err != nil {
		t.Errorf("after all that: %v", err)
	}
}

// testHostileText: any text arrives and reads as it was written.
func testHostileText(t *testing.T, w *Fixture) {
	for _, text := range []string{
		"<b>", "&amp;", "*x* _y_ `z` ~q~", "<@U1> <!channel>", "@everyone", "</blockquote>", "\u202eright to left", "a\nb\tc\x00d",
		strings.Repeat("long & <wide> ", 900), "[x](http://evil.example)", ":tada: ```",
	} {
		for _, kind := range []bot.LineKind{bot.Plain, bot.Quote, bot.Pre} {
			m := message("■ shop #8", "x")
			m.Lines[1] = bot.Line{Kind: kind, Text: text}
			m.Lines = append(m.Lines, bot.Line{Text: "Stays blocked."})
			m.Buttons = []bot.Button{{Label: text, Command: "/guidance " + text}}
			before := len(w.Messages(w.Person))
			if _, err := w.Sender.Send(t.Context(), w.Person, m, bot.SendOptions{}); err != nil {
				t.Fatalf("%q as %q: %v", bot.Cut(text, 40), kind, err)
			}
			all := w.Messages(w.Person)
			if len(all) == before {
				t.Fatalf("%q as %q: nothing is shown", bot.Cut(text, 40), kind)
			}
			clean := bot.Clean(text)
			if kind != bot.Plain {
				clean = bot.CleanPre(text)
			}
			if short := len(text) < 100; short && (len(all) != before+1 || !strings.Contains(withoutJoiners(all[before].Text), clean)) {
				t.Errorf("%q as %q is shown as %q", text, kind, all[before].Text)
			}
			if data := w.Data(m, 0); data == "" {
				t.Error("a button without data")
			} else if twin, ok := bot.Pressed(m, data); !ok || twin != m.Buttons[0].Command {
				t.Errorf("the button of %q is short for %q, %v", bot.Cut(text, 40), twin, ok)
			}
		}
	}
}

// withoutJoiners removes the invisible joiners that adapters insert.
func withoutJoiners(s string) string { return strings.ReplaceAll(s, "\u2060", "") }

// testAddresses: addresses of other platforms are rejected, and nothing is sent.
func testAddresses(t *testing.T, w *Fixture) {
	for _, chat := range []string{"", w.Prefix, w.Prefix + "?", "other:1", "console", w.Prefix + "a b"} {
		if _, err := w.Sender.Send(t.Context(), chat, message("x"), bot.SendOptions{}); !errors.Is(err, bot.ErrRejected) {
			t.Errorf("%q: %v", chat, err)
		}
		if err := w.Sender.Edit(t.Context(), bot.Ref{Chat: chat, ID: "1"}, message("x")); !errors.Is(err, bot.ErrRejected) {
			t.Errorf("edit in %q: %v", chat, err)
		}
		if err := w.Sender.Delete(t.Context(), bot.Ref{Chat: chat, ID: "1"}); !errors.Is(err, bot.ErrRejected) {
			t.Errorf("deletion in %q: %v", chat, err)
		}
	}
}
