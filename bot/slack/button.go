package slack

import (
	"strings"

	"github.com/nightporter/nightporter/bot"
)

// maxData limits a button's value, in bytes. Slack's limit is 2000 characters.
const maxData = 1900

// Data returns the value of button n of a message.
func Data(m bot.Message, n int) string { return bot.ButtonData(m, n, maxData) }

// stopsSession reports whether a button's command stops a session. Only such
// buttons are red.
func stopsSession(twin string) bool {
	c, err := bot.Parse(twin)
	return err == nil && (c.Now || c.Verb == bot.VerbAnswer && strings.EqualFold(c.Words, "rerun"))
}
