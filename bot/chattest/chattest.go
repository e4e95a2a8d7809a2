package chattest

import (
	"context"
	"testing"

	"github.com/nightporter/nightporter/bot"
)

// Fixture is one adapter beside its far end, where one person is.
type Fixture struct {
	Sender bot.Sender
	// Run hands over what people do until ctx ends.
	Run  func(ctx context.Context, cursor func(context.Context) (string, error), r bot.Receiver) error
	Data func(m bot.Message, n int) string // of a message's button n

	Prefix string // of addresses
	Cursor string // name of the cursor
	Secret string // of the token: no error holds it
	Person string // who says everything below, and the address of their own chat
	Group  string // address of a chat that others read

	// The person's side. Each works on the chat with an address, and on ids as
	// the Sender gave them.
	Say      func(chat, text string) (said string) // something that is for us
	Reply    func(chat, to, text string)           // to one of ours
	Change   func(chat, said, text string)         // what they said
	Press    func(chat, id, label string)          // a button of ours
	OtherBot func(chat, text string)               // another program says something to us
	Messages func(chat string) []Shown             // all of ours, in order
	Fail     func(f Failure)                       // of the next sending
}

// Shown is a message of ours as its reader sees it.
type Shown struct {
	ID     string
	Text   string
	Labels []string
}

// Failure is how a sending goes wrong.
type Failure int

// Failures.
const (
	RateLimited  Failure = iota // the platform wants 17 s of patience
	ForeignPage                 // 200, and a page of somebody else
	ResponseLost                // it arrived, and the connection broke before the answer
	TokenRevoked                // the token is refused
	ChatClosed                  // this chat takes nothing
	BadGateway                  // 502
)

// Run runs all tests, each in a world of its own.
func Run(t *testing.T, open func(t *testing.T) *Fixture) {
	for _, c := range []struct {
		name string
		test func(t *testing.T, w *Fixture)
	}{
		{"shows", testSend}, {"fails", testFailures}, {"hostile", testHostileText}, {"addresses", testAddresses},
		{"hears", testReceive}, {"repeats", testRedelivery}, {"restarts", testRestart}, {"presses", testPresses}, {"answers", testReplies}, {"robots", testOtherBots},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(t, open(t)) })
	}
}
