package bot

import (
	"context"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
)

// Inbound is one thing that somebody did in a chat, as an adapter delivers it.
type Inbound struct {
	Key     string // natural key: "telegram:BOT:8123"; the same key is the same input
	Cursor  *ledger.Cursor
	Actor   string // "telegram:48213377"
	Name    string // as the platform says it
	Chat    string // address that an answer goes to: "telegram:48213377", "telegram:-100123/55"
	Private bool   // nobody else reads here
	Title   string // of the topic or group that it is, as the platform says it; "" = not known
	Stands  string // why this sender is nobody who can be let in: "anonymous", "a bot", "a channel"; "" = a person

	Text    string // as typed; "" for a press and for what is no text
	Message string // the platform's id of the message that Text stands in, or of the pressed one
	ReplyTo string // the platform's id of the message that this answers, "" = none
	Answers string // first line of that message as the platform shows it, where it is ours; "" = not known
	Edited  bool   // Text took the place of what the message said before
	Media   bool   // holds a picture, voice or file; Text is what was written below it
	Kind    string // of that, as people call it: "photo", "voice note"; "" = not known
	Album   string // the platform's id of what several of them were sent as at once, "" = this one came alone
	Press   string // callback data of a button, "" = none
	PressID string // what the press is acknowledged by

	Sent time.Time // by the platform's clock
}

// Receiver takes what people do in chats. It returns after everything that it
// led to was committed, the cursor with it; only then may an adapter tell the
// platform that it has the input. An error means that nothing was committed
// and that the same input has to be delivered again.
type Receiver interface {
	Receive(ctx context.Context, in Inbound) error
}

// Ref says where a platform shows a message.
type Ref struct {
	Chat string // address
	ID   string // the platform's own
}

// Sender brings messages to one platform. Errors are a *SendError where it is
// known what they mean; any other one leaves open whether the message arrived.
type Sender interface {
	// Send shows a message and returns the platform's id of it.
	Send(ctx context.Context, chat string, m Message, o SendOptions) (id string, err error)
	// Edit takes the place of a message that was sent. The same text is no error.
	Edit(ctx context.Context, at Ref, m Message) error
	// Delete takes a message away.
	Delete(ctx context.Context, at Ref) error
	// Notice answers a press for a moment, at most 200 characters; "" only
	// ends its waiting. A press that is too old is no error.
	Notice(ctx context.Context, pressID, text string) error
}

// Pinner is a Sender that can hold a message above its chat (PHONE 1.3).
type Pinner interface {
	// Pin makes it the one that stands above the chat, without a sound. Where
	// the platform does not let us, that is a *SendError, and nothing is wrong.
	Pin(ctx context.Context, at Ref) error
	// Unpin lets one go that stands there. One that does not is no error.
	Unpin(ctx context.Context, at Ref) error
}

// SendOptions say how a message is shown.
type SendOptions struct {
	ReplyTo string // the platform's id of the message that it answers; one that is gone is no error
	Silent  bool
}

// Fault is what an unsuccessful sending means.
type Fault string

// Faults of sendings.
const (
	FaultOffline     Fault = "away"    // certainly not sent: no connection
	FaultUnknown     Fault = "unknown" // nobody knows whether it arrived
	FaultRateLimited Fault = "slow"    // the platform wants us to wait: After
	FaultMessageGone Fault = "gone"    // the message to be edited is not there any more
	FaultChatClosed  Fault = "closed"  // this chat takes nothing: blocked, kicked, deleted
	FaultMoved       Fault = "moved"   // the chat has another address now: To
	FaultRefused     Fault = "refused" // the platform will never take it
	FaultToken       Fault = "token"   // the platform refuses our token
)

// SendError says what became of a sending. Its text never holds a token.
type SendError struct {
	Fault Fault
	After time.Duration // of FaultRateLimited
	To    string        // of FaultMoved: address
	Text  string
}

// Error is the platform's own words.
func (e *SendError) Error() string { return string(e.Fault) + ": " + e.Text }
