package telegram_test

import (
	"net/http"
	"strconv"
	"testing"

	"github.com/nightporter/nightporter/bot/chattest"
	"github.com/nightporter/nightporter/bot/telegram"
	far "github.com/nightporter/nightporter/internal/fake/telegram"
)

func TestConformance(t *testing.T) {
	chattest.Run(t, func(t *testing.T) *chattest.Fixture {
		w := newWorld(t)
		person, all := telegram.Address(mira.ID, 0), telegram.Address(group, 0)
		chats := map[string]int64{person: mira.ID, all: group}
		for _, chat := range chats { // a bot cannot start a conversation with a person
			w.far.Say(mira, chat, "hello")
		}
		w.far.Renumber(900000100) // removes that update
		id := func(s string) int {
			n, err := strconv.Atoi(s)
			if err != nil {
				t.Errorf("%q is no id", s)
			}
			return n
		}
		return &chattest.Fixture{
			Sender: w.bot, Run: w.bot.Poll, Data: telegram.Data,
			Prefix: telegram.Prefix, Cursor: w.bot.CursorName(), Secret: w.far.Token()[12:], Person: person, Group: all,
			Say:    func(chat, text string) string { return strconv.Itoa(w.far.Say(mira, chats[chat], text)) },
			Reply:  func(chat, to, text string) { w.far.Reply(mira, chats[chat], id(to), text) },
			Change: func(chat, said, text string) { w.far.EditText(mira, chats[chat], id(said), text) },
			Press: func(chat, message, label string) {
				if _, err := w.far.Press(mira, chats[chat], id(message), label); err != nil {
					t.Error(err)
				}
			},
			OtherBot: func(chat, text string) {
				w.far.Say(far.User{ID: 77, Name: "Robot", Bot: true}, chats[chat], text)
			},
			Messages: func(chat string) []chattest.Shown {
				var out []chattest.Shown
				for _, m := range w.far.Chat(chats[chat]).Messages {
					if m.From.ID == w.far.BotID() {
						out = append(out, chattest.Shown{ID: strconv.Itoa(m.ID), Text: m.Text, Labels: m.Labels()})
					}
				}
				return out
			},
			Fail: func(f chattest.Failure) {
				w.far.Fault("sendMessage", map[chattest.Failure]far.Fault{
					chattest.RateLimited: far.TooMany(17), chattest.ForeignPage: {Code: http.StatusOK, Body: "<html>Welcome to the hotel</html>"},
					chattest.ResponseLost: far.CutAfter(), chattest.TokenRevoked: far.Unauthorized(), chattest.ChatClosed: far.Forbidden("bot was kicked from the group chat"),
					chattest.BadGateway: far.BadGateway(),
				}[f])
			},
		}
	})
}
