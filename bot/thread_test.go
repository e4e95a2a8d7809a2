package bot_test

import (
	"strings"
	"testing"

	"github.com/nightporter/nightporter/bot"
)

// TestThreadMessages checks that messages about a project's thread keep their
// form, whatever the project's name and the platform's reason contain.
func TestThreadMessages(t *testing.T) {
	var text strings.Builder
	for _, name := range []string{"shop", strings.Repeat("n", 32)} {
		for _, m := range []bot.Message{
			bot.ThreadGone(name, "telegram_topic"),
			bot.ThreadShut(name, "Bad Request: TOPIC_CLOSED\n"+strings.Repeat("x", 200), []string{"q5", "q7"}),
			bot.ThreadShut(name, "Forbidden: bot was kicked from the supergroup chat", nil),
			bot.ThreadMoved(name, "telegram_topic", "-1009876543210"),
		} {
			if bot.Width(m.First()) > bot.FirstWidth || m.Project != name || len(m.Lines) < 2 {
				t.Errorf("%+v", m)
			}
			text.WriteString("▸ " + m.Key + "\n" + m.Text(38) + "\n\n")
		}
	}
	golden(t, "threads", []byte(text.String()))
}
