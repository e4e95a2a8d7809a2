package messagelint

import (
	"fmt"
	"strings"
	"testing"

	"github.com/nightporter/nightporter/bot/slack"
	"github.com/nightporter/nightporter/bot/telegram"
	far "github.com/nightporter/nightporter/internal/fake/telegram"
)

// TestForeignCommands checks that words of others are no command of nightporter: no
// finger can tap them on Telegram, and Slack shows them as they were written (docs/spec
// 27). No message of nightporter's own is about this task.
func TestForeignCommands(t *testing.T) {
	const command, inSlack = "/task_4711", slack.Command + " task 4711"
	for _, word := range []string{command, "May I " + command + "?", "(" + command + "), then", strings.Repeat("a longer text ", 3) + command + "."} {
		for n, m := range messages(word) {
			if strings.HasSuffix(m.Key, ".late") || strings.Contains(m.First(), ": still?") {
				continue // it names the command that waits for a person's yes
			}
			name := fmt.Sprintf("%q, message %d %s", word, n, m.Key)
			p := telegram.Render(m)
			text, entities, err := far.ParseHTML(p.HTML)
			if err != nil {
				t.Fatal(err)
			}
			for _, tap := range append(far.Taps(text, entities), far.Taps(p.Text, nil)...) {
				if tap == command {
					t.Errorf("%s: a finger can tap it on Telegram:\n%s", name, text)
					break
				}
			}
			s := slack.Render(m, nil, "")
			shown := s.Text + "\n" + slackText(s)
			if s.File != nil {
				shown += "\n" + string(s.File.Data)
			}
			if strings.Contains(shown, inSlack) {
				t.Errorf("%s: Slack shows it as its own command:\n%s", name, shown)
			}
			if strings.Contains(shown+m.Text(80)+string(m.File()), "\u2060") {
				t.Errorf("%s: a joiner can be copied:\n%q", name, shown)
			}
		}
	}
}
