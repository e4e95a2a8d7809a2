package telegram_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/bot/telegram"
	far "github.com/nightporter/nightporter/internal/fake/telegram"
	"github.com/nightporter/nightporter/loop/ledger"
)

// TestInbound checks the bot.Inbound of everything that people can do.
func TestInbound(t *testing.T) {
	who := func(in bot.Inbound) bot.Inbound {
		if in.Actor == "" {
			in.Actor, in.Name = "telegram:48213377", "Mira"
		}
		return in
	}
	private, topic := "telegram:48213377", "telegram:-1001234/55"
	at := time.Date(2026, 11, 20, 1, 47, 0, 0, time.UTC)
	for _, c := range []struct {
		name string
		do   func(s *far.Server)
		want bot.Inbound
	}{
		{"words", func(s *far.Server) { s.Post(far.UserMessage{From: mira, Chat: mira.ID, Text: "Wrap it", Date: at}) },
			bot.Inbound{Chat: private, Private: true, Text: "Wrap it", Message: "1", Sent: at}},
		{"a reply", func(s *far.Server) { s.Say(mira, mira.ID, "x"); s.Reply(mira, mira.ID, 1, "retry") },
			bot.Inbound{Chat: private, Private: true, Text: "retry", Message: "2", ReplyTo: "1", ReplyToWhole: "x"}},
		{"a reply to us", func(s *far.Server) { s.Inject(replyTo(7123456789)) },
			bot.Inbound{Chat: "telegram:-1001234", Text: "yes", Message: "9", ReplyTo: "4", ReplyToText: "? shop #4 asks (q1)"}},
		{"a reply to another bot", func(s *far.Server) { s.Inject(replyTo(5)) },
			bot.Inbound{Chat: "telegram:-1001234", Text: "yes", Message: "9", ReplyTo: "4", ReplyToWhole: "? shop #4 asks (q1)\nMay an address be a PO box?"}},
		{"in a group", func(s *far.Server) { s.Say(mira, group, "/status@porter_bot") },
			bot.Inbound{Chat: "telegram:-1001234", Text: "/status@porter_bot", Message: "1"}},
		{"in a topic", func(s *far.Server) { s.Post(far.UserMessage{From: mira, Chat: group, Thread: 55, Text: "/status"}) },
			bot.Inbound{Chat: topic, Title: "night of the shop", Text: "/status", Message: "1"}},
		{"a reply in a topic", func(s *far.Server) {
			s.Post(far.UserMessage{From: mira, Chat: group, Thread: 55, Text: "x"})
			s.Post(far.UserMessage{From: mira, Chat: group, Thread: 55, Text: "retry", ReplyTo: 1})
		}, bot.Inbound{Chat: topic, Text: "retry", Message: "2", ReplyTo: "1", ReplyToWhole: "x"}},
		{"a picture", func(s *far.Server) { s.Post(far.UserMessage{From: mira, Chat: mira.ID, Photo: true, Text: "/status"}) },
			bot.Inbound{Chat: private, Private: true, Text: "/status", Message: "1", Media: true, Kind: "photo", Files: []bot.RemoteFile{{ID: "photo-48213377.1", Kind: ledger.AttachmentPhoto, Size: 11}}}},
		{"of an album", func(s *far.Server) { s.Post(far.UserMessage{From: mira, Chat: mira.ID, Photo: true, Album: "137"}) },
			bot.Inbound{Chat: private, Private: true, Message: "1", Media: true, Kind: "photo", Album: "137", Files: []bot.RemoteFile{{ID: "photo-48213377.1", Kind: ledger.AttachmentPhoto, Size: 11}}}},
		{"a voice note", func(s *far.Server) {
			s.Post(far.UserMessage{From: mira, Chat: mira.ID, Attachment: "voice", Text: "wrap it", Seconds: 3600, File: far.File{Type: "audio/ogg"}})
		},
			bot.Inbound{Chat: private, Private: true, Text: "wrap it", Message: "1", Media: true, Kind: "voice note", Files: []bot.RemoteFile{{ID: "voice-48213377.1", Kind: ledger.AttachmentVoice, Type: "audio/ogg", Size: 7, Duration: time.Hour}}}},
		{"a picture as a file", func(s *far.Server) {
			s.Post(far.UserMessage{From: mira, Chat: mira.ID, Attachment: "document", File: far.File{Name: "a.png", Type: "image/png", Data: []byte("abc")}})
		},
			bot.Inbound{Chat: private, Private: true, Message: "1", Media: true, Kind: "file", Files: []bot.RemoteFile{{ID: "document-48213377.1", Kind: ledger.AttachmentFile, Type: "image/png", Size: 3, Name: "a.png"}}}},
		{"a sticker", func(s *far.Server) { s.Post(far.UserMessage{From: mira, Chat: mira.ID, Attachment: "sticker"}) },
			bot.Inbound{Chat: private, Private: true, Message: "1", Media: true, Kind: "sticker"}},
		{"paid media", func(s *far.Server) { s.Post(far.UserMessage{From: mira, Chat: mira.ID, Attachment: "paid_media"}) },
			bot.Inbound{Chat: private, Private: true, Message: "1", Media: true, Kind: "paid media"}},
		{"a checklist", func(s *far.Server) { s.Post(far.UserMessage{From: mira, Chat: mira.ID, Attachment: "checklist"}) },
			bot.Inbound{Chat: private, Private: true, Message: "1", Media: true, Kind: "checklist"}},
		{"edited", func(s *far.Server) { s.Say(mira, mira.ID, "x"); s.EditText(mira, mira.ID, 1, "y") },
			bot.Inbound{Chat: private, Private: true, Text: "y", Message: "1", Edited: true}},
		{"anonymous", func(s *far.Server) { s.Post(far.UserMessage{From: mira, Chat: group, Text: "/stop", Anonymous: true}) },
			bot.Inbound{Actor: "telegram:1087968824", Name: "GroupAnonymousBot", Chat: "telegram:-1001234", Text: "/stop", Message: "1", Unpairable: telegram.SenderAnonymous}},
		{"as a channel", func(s *far.Server) { s.Post(far.UserMessage{From: mira, Chat: group, Text: "/stop", Channel: -100999}) },
			bot.Inbound{Actor: "telegram:-100999", Name: "channel", Chat: "telegram:-1001234", Text: "/stop", Message: "1", Unpairable: telegram.SenderChannel}},
		{"a bot", func(s *far.Server) { s.Say(far.User{ID: 5, Name: "other_bot", Bot: true}, group, "/stop") },
			bot.Inbound{Actor: "telegram:5", Name: "other_bot", Chat: "telegram:-1001234", Text: "/stop", Message: "1", Unpairable: telegram.SenderBot}},
		{"service", func(s *far.Server) { s.Post(far.UserMessage{From: mira, Chat: group, Service: "group_chat_created"}) },
			bot.Inbound{Chat: "telegram:-1001234", Message: "1", Unpairable: telegram.SenderService}},
		{"a press", func(s *far.Server) { s.Say(mira, mira.ID, "x"); s.PressData(mira, mira.ID, 1, "1.q5.retry.7f3a") },
			bot.Inbound{Chat: private, Private: true, Message: "1", Press: "1.q5.retry.7f3a", PressID: "4821337701"}},
		{"a press in a topic", func(s *far.Server) {
			s.Post(far.UserMessage{From: mira, Chat: group, Thread: 55, Text: "x"})
			s.PressData(mira, group, 1, "1.q5.retry.7f3a")
		}, bot.Inbound{Chat: topic, Message: "1", Press: "1.q5.retry.7f3a", PressID: "4821337701"}},
		{"a press on what is gone", func(s *far.Server) { s.PressData(mira, mira.ID, 9, "1.q5.retry.7f3a") },
			bot.Inbound{Press: "1.q5.retry.7f3a", PressID: "4821337701"}},
		{"a press on an inaccessible message", func(s *far.Server) {
			s.Inject(map[string]any{"callback_query": map[string]any{
				"id": "1", "from": map[string]any{"id": mira.ID, "first_name": "Mira"}, "data": "d",
				"message": map[string]any{"message_id": 7, "date": 0, "chat": map[string]any{"id": mira.ID, "type": "private"}},
			}})
		}, bot.Inbound{Chat: private, Private: true, Message: "7", Press: "d", PressID: "1"}},
		{"a reaction", func(s *far.Server) { s.Say(mira, mira.ID, "x"); s.React(mira, mira.ID, 1, "👍") },
			bot.Inbound{Chat: private, Private: true, Text: "👍", Reaction: true, Message: "1", ReplyTo: "1"}},
		{"a reaction that is taken back", func(s *far.Server) { s.Say(mira, mira.ID, "x"); s.React(mira, mira.ID, 1, "") },
			bot.Inbound{Chat: private, Private: true, Reaction: true, Message: "1", ReplyTo: "1"}},
		{"an answer in a group without topics", func(s *far.Server) {
			s.Inject(map[string]any{"message": map[string]any{
				"message_id": 9, "message_thread_id": 4, "text": "retry", "from": map[string]any{"id": mira.ID, "first_name": "Mira"},
				"chat":             map[string]any{"id": group, "type": "supergroup"},
				"reply_to_message": map[string]any{"message_id": 4, "chat": map[string]any{"id": group, "type": "supergroup"}},
			}})
		}, bot.Inbound{Chat: "telegram:-1001234", Text: "retry", Message: "9", ReplyTo: "4"}},
		{"first words in a topic", func(s *far.Server) {
			s.Inject(map[string]any{"message": map[string]any{
				"message_id": 60, "message_thread_id": 55, "is_topic_message": true, "text": "hello", "from": map[string]any{"id": mira.ID, "first_name": "Mira"},
				"chat":             map[string]any{"id": group, "type": "supergroup", "is_forum": true},
				"reply_to_message": map[string]any{"message_id": 55, "forum_topic_created": map[string]any{"name": "shop"}},
			}})
		}, bot.Inbound{Chat: topic, Title: "shop", Text: "hello", Message: "60"}},
		{"a topic's new name", func(s *far.Server) {
			s.Inject(map[string]any{"message": map[string]any{
				"message_id": 61, "message_thread_id": 55, "is_topic_message": true, "from": map[string]any{"id": mira.ID, "first_name": "Mira"},
				"chat":               map[string]any{"id": group, "type": "supergroup", "is_forum": true, "title": "Porters"},
				"reply_to_message":   map[string]any{"message_id": 55, "forum_topic_created": map[string]any{"name": "shop"}},
				"forum_topic_edited": map[string]any{"name": "the shop", "icon_custom_emoji_id": ""},
			}})
		}, bot.Inbound{Chat: topic, Title: "the shop", Message: "61", Unpairable: telegram.SenderService}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newFixture(t)
			c.do(w.far)
			n := w.far.Unconfirmed()
			w.poll()
			got := w.receiver.Wait(t, n)[n-1]
			ignore := cmpopts.IgnoreFields(bot.Inbound{}, "Key", "Cursor")
			if strings.HasPrefix(got.Title, "group -") && !strings.Contains(got.Chat, "/") {
				got.Title = "" // every group of the fake server has a title, which the test ignores
			}
			if got.Sent.IsZero() {
				t.Error("no time")
			}
			got.Sent = got.Sent.UTC()
			if c.want.Sent.IsZero() && c.name != "words" {
				ignore = cmpopts.IgnoreFields(bot.Inbound{}, "Key", "Cursor", "Sent")
			}
			if diff := cmp.Diff(who(c.want), got, ignore); diff != "" {
				t.Error(diff)
			}
			if !strings.HasPrefix(got.Key, "telegram:7123456789:") {
				t.Errorf("key %q: another bot's updates have the same", got.Key)
			}
			if got.Cursor == nil || got.Cursor.Name != "telegram:7123456789" || got.Cursor.Time.IsZero() {
				t.Errorf("cursor %+v", got.Cursor)
			}
		})
	}
}

// TestAnonymousReaction: an administrator who is hidden is nobody.
func TestAnonymousReaction(t *testing.T) {
	w := newFixture(t)
	chat := map[string]any{"id": group, "type": "supergroup"}
	w.far.Inject(map[string]any{"message_reaction": map[string]any{"chat": chat, "message_id": 4, "date": 9, "actor_chat": chat,
		"old_reaction": []any{}, "new_reaction": []any{map[string]any{"type": "emoji", "emoji": "👍"}}}})
	w.poll()
	if got := w.receiver.Wait(t, 1)[0]; got.Actor != "" || got.Unpairable != telegram.SenderAnonymous || !got.Reaction {
		t.Errorf("%+v", got)
	}
}

// replyTo returns a reply in a group to a bot's message.
func replyTo(id int64) map[string]any {
	chat := map[string]any{"id": group, "type": "supergroup"}
	return map[string]any{"message": map[string]any{
		"message_id": 9, "text": "yes", "from": map[string]any{"id": mira.ID, "first_name": "Mira"}, "chat": chat,
		"reply_to_message": map[string]any{"message_id": 4, "chat": chat, "text": "? shop #4 asks (q1)\nMay an address be a PO box?", "from": map[string]any{"id": id, "is_bot": true, "first_name": "porter"}},
	}}
}
