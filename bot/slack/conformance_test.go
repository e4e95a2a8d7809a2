package slack_test

import (
	"strings"
	"testing"

	"github.com/nightporter/nightporter/bot/chattest"
	"github.com/nightporter/nightporter/bot/slack"
	far "github.com/nightporter/nightporter/internal/fake/slack"
)

func TestConformance(t *testing.T) {
	chattest.Run(t, func(t *testing.T) *chattest.Fixture {
		w := newFixture(t, func(o *slack.Options) { o.Mentions = nil })
		conversation := map[string]string{home: w.far.Direct(mira), shop: channel}
		named := func(chat, text string) string {
			if chat == shop {
				return "@porter " + text
			}
			return text
		}
		return &chattest.Fixture{
			Sender: w.bot, Run: w.bot.Run, Data: slack.Data,
			Prefix: slack.Prefix, Cursor: w.bot.CursorName(), Secret: "5ec7e7", Person: home, Group: shop,
			Say:    func(chat, text string) string { return w.far.Say(mira, conversation[chat], named(chat, text)) },
			Reply:  func(chat, to, text string) { w.far.Reply(mira, conversation[chat], to, text) },
			Change: func(chat, said, text string) { w.far.Edit(conversation[chat], said, text) },
			Press: func(chat, id, label string) {
				if _, err := w.far.Press(mira, conversation[chat], id, label); err != nil {
					t.Error(err)
				}
			},
			OtherBot: func(chat, text string) {
				w.far.Post(far.UserMessage{User: "U0OTHER", Channel: conversation[chat], Text: named(chat, text), Bot: true})
			},
			Messages: func(chat string) []chattest.Shown {
				var out []chattest.Shown
				for _, m := range w.far.Messages(conversation[chat]) {
					if !m.Bot || m.User != far.BotUser || m.VisibleTo != "" || len(m.Files) > 0 {
						continue
					}
					s := chattest.Shown{ID: m.TS, Text: strings.ReplaceAll(m.Plain(), "|", "")}
					for _, b := range m.Buttons {
						s.Labels = append(s.Labels, b.Label)
					}
					out = append(out, s)
				}
				return out
			},
			Fail: func(f chattest.Failure) {
				w.far.Fault("chat.postMessage", map[chattest.Failure]far.Fault{
					chattest.RateLimited: far.RateLimited(17), chattest.ForeignPage: far.ForeignPage(200), chattest.ResponseLost: far.ResponseLost(),
					chattest.TokenRevoked: far.Rejected("token_revoked"), chattest.ChatClosed: far.Rejected("is_archived"), chattest.BadGateway: far.ForeignPage(502),
				}[f])
			},
		}
	})
}
