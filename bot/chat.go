package bot

import (
	"context"
	"errors"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
)

// Inbound is one update from a chat, such as a message or a button press, as an
// adapter delivers it.
type Inbound struct {
	Key        string // natural key: "telegram:BOT:8123"; the same key is the same input
	Cursor     *ledger.Cursor
	Actor      string // "telegram:48213377"
	Name       string // the sender's name, as the platform gives it
	Chat       string // address to reply to: "telegram:48213377", "telegram:-100123/55"
	Private    bool   // nobody else reads here
	Thread     string // the platform's id of the thread within Chat that the answer goes to, where an address names none; "" = none
	Title      string // title of the topic or group, as the platform gives it; "" = not known
	Unpairable string // why the sender can never be paired: "anonymous", "a bot", "a channel"; "" = a person

	Text         string       // as typed; "" for a button press and for a message without text
	Message      string       // the platform's id of the message with Text, or of the message whose button was pressed
	Unseen       bool         // Text leaves no message in the chat, which the bot need not be in: Message names the sender, to reply to them
	ReplyTo      string       // the platform's id of the message that this one replies to, "" = none
	ReplyToText  string       // first line of the ReplyTo message as the platform shows it, if the bot sent it; "" = not known
	ReplyToWhole string       // text or caption of the ReplyTo message, if somebody but the bot wrote it and the platform shows it
	Named        bool         // Text was addressed to the bot by its name, which the adapter removed
	Reaction     bool         // Text is a symbol that was put on the ReplyTo message, which the bot sent
	Edited       bool         // the sender edited the message; Text is the new text
	Media        bool         // the message has a picture, voice message or file; Text is its caption
	Kind         string       // what Media is, for people: "photo", "voice note"; "" = not known
	Album        string       // the platform's id of the album that Media belongs to, "" = none
	Files        []RemoteFile // of Media, what can be loaded from the platform
	Press        string       // the pressed button's callback data, "" = no press
	PressID      string       // the platform's id of the press, needed to acknowledge it

	Sent time.Time // by the platform's clock
	More bool      // later updates are at hand, and the cursor of each covers this one

	Repeated bool // the input of this Key was committed before without Cursor, which is all that is left to commit
}

// TakesTime reports whether an update may wait for the network before it can be
// committed. An adapter lets later updates overtake it, but not an edit, which may be
// one of it.
func (in Inbound) TakesTime() bool { return len(in.Files) > 0 }

// RemoteFile is a picture or a recording that lies at the platform until it is loaded.
type RemoteFile struct {
	ID       string // what its adapter loads it by
	Kind     ledger.AttachmentKind
	Type     string        // media type as the sender's program says; "" = not known
	Size     int64         // bytes as the platform says; 0 = not known
	Name     string        // as the sender has it; "" = none
	Duration time.Duration // of a recording; 0 = not known
}

// Receiver takes the updates of a platform. Receive returns after the update's
// entries and the chat's new cursor are committed; only then may an adapter
// confirm the update to the platform. An update with More that changes nothing may
// leave the cursor to a later one. An update may come without a Cursor, because it
// overtakes one that TakesTime and is not committed yet. An error means that nothing was committed
// and that the adapter has to deliver the same update again.
type Receiver interface {
	Receive(ctx context.Context, in Inbound) error
}

// Ref identifies a message that a platform shows.
type Ref struct {
	Chat string // address
	ID   string // the platform's id of the message
}

// Sender delivers messages to one platform. An error with a known reason wraps
// one of the errors below (ErrOffline, ErrRateLimited, …), in a *SendError if
// the platform gave details. Any other error leaves open whether the message
// arrived.
type Sender interface {
	// Send posts a message and returns the platform's id of it.
	Send(ctx context.Context, chat string, m Message, o SendOptions) (id string, err error)
	// Edit replaces the text of a sent message. An unchanged text is no error.
	Edit(ctx context.Context, at Ref, m Message) error
	// Delete deletes a sent message.
	Delete(ctx context.Context, at Ref) error
	// Notice shows text, at most 200 characters, to the sender of a button
	// press for a moment. An empty text only ends the button's waiting state.
	// An expired press is no error.
	Notice(ctx context.Context, pressID, text string) error
}

// Pinner is a Sender that can pin a message above its chat.
type Pinner interface {
	// Pin pins a message without a sound. A missing permission is an error of
	// Pin only: it does not affect the other methods.
	Pin(ctx context.Context, at Ref) error
	// Unpin unpins a message. A message that is not pinned is no error.
	Unpin(ctx context.Context, at Ref) error
}

// SendOptions say how a message is posted.
type SendOptions struct {
	ReplyTo string // the platform's id of the message to reply to; a deleted message is no error
	Silent  bool
}

// Reasons why a Sender fails. Test for them with errors.Is; SendReason reduces
// any error to one of them.
var (
	ErrOffline        = errors.New("offline")         // no connection: the message was certainly not sent
	ErrOutcomeUnknown = errors.New("outcome unknown") // the message may have arrived
	ErrRateLimited    = errors.New("rate limited")    // not sent; the platform asks for a pause of SendError.RetryAfter
	ErrMessageGone    = errors.New("message gone")    // the message to edit does not exist any more
	ErrChatClosed     = errors.New("chat closed")     // the chat accepts no messages: bot blocked, kicked, chat deleted
	ErrChatMoved      = errors.New("chat moved")      // the chat has a new address, SendError.MovedTo
	ErrRejected       = errors.New("rejected")        // the platform will never accept this message
	ErrTokenRejected  = errors.New("token rejected")  // the platform does not accept the bot's token
)

// SendError is an error of a Sender with the platform's explanation. It wraps
// its Reason, and its text never holds a token.
type SendError struct {
	Reason     error         // one of the errors above; any other means ErrOutcomeUnknown
	RetryAfter time.Duration // set with ErrRateLimited
	MovedTo    string        // address, set with ErrChatMoved
	Text       string        // the platform's explanation
}

// Error returns the reason and the platform's explanation.
func (e *SendError) Error() string { return SendReason(e).Error() + ": " + e.Text }

// Unwrap returns the Reason.
func (e *SendError) Unwrap() error { return e.Reason }

// SendReason returns the reason why a Sender failed: nil for nil, and
// ErrOutcomeUnknown for an error that wraps none of the others.
func SendReason(err error) error {
	if err == nil {
		return nil
	}
	for _, reason := range []error{ErrOffline, ErrRateLimited, ErrMessageGone, ErrChatClosed, ErrChatMoved, ErrRejected, ErrTokenRejected} {
		if errors.Is(err, reason) {
			return reason
		}
	}
	return ErrOutcomeUnknown
}
