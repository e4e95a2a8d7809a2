package chattest

import (
	"context"
	"testing"

	"github.com/nightporter/nightporter/bot"
)

// Fixture is an adapter connected to a fake platform, with one person.
type Fixture struct {
	Sender bot.Sender
	// Run receives until ctx ends, as the adapter's Poll or Run does.
	Run  func(ctx context.Context, cursor func(context.Context) (string, error), r bot.Receiver) error
	Data func(m bot.Message, n int) string // callback data of button n

	Prefix string // of addresses
	Cursor string // name of the cursor
	Secret string // the token; no error may contain it
	Person string // address of the person who does everything below, and of their chat
	Group  string // address of a chat of several people

	// The person's side. chat is an address, and message ids are the Sender's.
	Say      func(chat, text string) (id string) // a message to the bot
	Reply    func(chat, to, text string)         // a reply to the bot's message
	Change   func(chat, id, text string)         // an edit of the person's message
	Press    func(chat, id, label string)        // a press of a button of the bot's message
	OtherBot func(chat, text string)             // a message of another bot
	Messages func(chat string) []Shown           // all messages of the bot, in order
	Fail     func(f Failure)                     // makes the next send fail
}

// Shown is a message of the bot as people see it.
type Shown struct {
	ID     string
	Text   string
	Labels []string
}

// Failure is a failure of a send.
type Failure int

// Failures of a send.
const (
	RateLimited  Failure = iota // the platform asks for a pause of 17 s
	ForeignPage                 // status 200 with a page of a proxy
	ResponseLost                // the message arrives and the connection breaks before the response
	TokenRevoked                // the token is rejected
	ChatClosed                  // the chat accepts no messages
	BadGateway                  // status 502
)

// Run runs all tests, each with its own Fixture.
func Run(t *testing.T, open func(t *testing.T) *Fixture) {
	for _, c := range []struct {
		name string
		test func(t *testing.T, w *Fixture)
	}{
		{"send", testSend}, {"failures", testFailures}, {"hostile text", testHostileText}, {"addresses", testAddresses},
		{"receive", testReceive}, {"redelivery", testRedelivery}, {"restart", testRestart}, {"presses", testPresses}, {"replies", testReplies}, {"other bots", testOtherBots},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(t, open(t)) })
	}
}
