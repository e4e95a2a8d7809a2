package notify_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/bot/notify"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/people"
)

// TestRemoveUndo checks that [Undo] disappears after a minute from every chat that
// still shows it, that nothing else changes, and that a removed person (3) gets
// nothing.
func TestRemoveUndo(t *testing.T) {
	at := time.Date(2026, 11, 20, 0, 37, 0, 0, time.UTC)
	s := loop.State{
		Shared:  loop.Shared{State: people.State{People: []ledger.Person{{ID: "telegram:1", Role: ledger.RoleAdmin}, {ID: "slack:U1", Role: ledger.RoleView}}}},
		Project: loop.Project{Name: "shop", Answered: []loop.Answered{{ID: "q3", At: at}, {ID: "q4", At: at.Add(-time.Hour)}}},
	}
	settled := bot.Message{Key: "settled.agent", Lines: []bot.Line{{Text: "✓ q3 B, by Mira 00:37"}}, Buttons: []bot.Button{{Label: "Diff", Command: "/diff 4"}, {Label: "Undo", Command: "q3 undo"}}}
	open := bot.Message{Key: "ask.agent", Buttons: []bot.Button{{Label: "A", Command: "q3 a"}}}
	shows := map[string]bot.Message{"telegram:-1 q3": settled, "telegram:3 q3": settled, "telegram:1 q3": settled, "slack:U1 q3": settled, "slack:U1 remind/q3": settled, "telegram:2 q3": open}
	n := notify.New(notify.Options{Group: func(chat string) bool { return chat == "telegram:-1" }, ChatsWith: func(key string) (chats []string) {
		for _, chat := range []string{"telegram:-1", "telegram:1", "telegram:2", "telegram:3", "slack:U1"} {
			if _, stands := shows[chat+" "+key]; stands {
				chats = append(chats, chat)
			}
		}
		return append(chats, "telegram:7") // a chat in which the message is still queued
	}})
	for _, c := range []struct {
		question string
		after    time.Duration
		want     []string
	}{
		{"q3", 59 * time.Second, nil},
		{"q3", time.Minute, []string{"telegram:-1 q3 /diff 4", "telegram:1 q3 /diff 4", "slack:U1 q3 /diff 4", "slack:U1 remind/q3 /diff 4"}},
		{"q4", time.Minute, nil},
		{"q9", time.Minute, nil},
	} {
		var got []string
		for _, o := range n.RemoveUndo(s, c.question, at.Add(c.after), func(chat, key string) (bot.Message, bool) {
			m, ok := shows[chat+" "+key]
			return m, ok
		}) {
			var m bot.Message
			if err := json.Unmarshal(o.Body, &m); err != nil || !o.Edit || !o.Silent || m.First() != settled.First() {
				t.Errorf("%+v, %v", o, err)
			}
			got = append(got, strings.Join([]string{o.Chat, o.Key, m.Twins()}, " "))
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s after %s (-want +got):\n%s", c.question, c.after, diff)
		}
	}
	if len(settled.Buttons) != 2 {
		t.Error("what was shown was changed in place")
	}
}
