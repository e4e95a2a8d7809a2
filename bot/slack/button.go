package slack

import (
	"strings"

	"github.com/nightporter/nightporter/bot"
)

// maxData is what a button's value may have, in bytes: the platform takes two
// thousand characters.
const maxData = 1900

// Data is the value of the message's button n.
func Data(m bot.Message, n int) string { return bot.ButtonData(m, n, maxData) }

// stopsSession reports whether a twin cuts a session off: its button is red,
// and no other one is.
func stopsSession(twin string) bool {
	c, err := bot.Parse(twin)
	return err == nil && (c.Now || c.Verb == bot.VerbAnswer && strings.EqualFold(c.Words, "rerun"))
}
