package delivery

import (
	"context"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/loop/ledger"
)

// Queue reads the committed messages.
type Queue interface {
	// Chats returns the addresses with queued messages, the oldest message first.
	Chats(ctx context.Context) ([]string, error)
	// NextMessage returns the next message of a chat: sends before edits, then the
	// oldest. found is false if nothing is queued.
	NextMessage(ctx context.Context, chat string) (ledger.QueuedMessage, bool, error)
	// Queued returns all queued messages of a chat, in the order of NextMessage.
	Queued(ctx context.Context, chat string) ([]ledger.QueuedMessage, error)
	// SentFor returns the message that a chat shows under a key.
	SentFor(ctx context.Context, chat, key string) (ledger.SentMessage, bool, error)
	// LastJoined returns the last message sent to a chat whose Joins has a value.
	LastJoined(ctx context.Context, chat, joins string) (ledger.SentMessage, bool, error)
	// Together returns the messages that the platform shows as one under its id,
	// oldest first.
	Together(ctx context.Context, chat, platformID string) ([]ledger.SentMessage, error)
}

// Outbox stores the committed messages and their outcomes; package store
// implements it. A method's change is durable when the method returns.
type Outbox interface {
	Queue
	// BeginDelivery marks that a send or edit begins. It returns ledger.ErrReplaced if a
	// newer text has replaced the message since it was read.
	BeginDelivery(ctx context.Context, id int64) error
	// Sent settles a message as delivered. platformID is the platform's id of
	// the new message or of the edited one. before is the platform's id of the
	// previous message under the same key, if there was another one.
	Sent(ctx context.Context, id int64, platformID string, at time.Time) (before string, err error)
	// AbortDelivery takes one BeginDelivery back: that attempt certainly did
	// not arrive.
	AbortDelivery(ctx context.Context, id int64) error
	// Drop settles a message that will never be sent, with the reason.
	Drop(ctx context.Context, id int64, why string) error
	// Forget drops a chat's queued sends of these classes that were never begun,
	// and returns their number. It keeps edits.
	Forget(ctx context.Context, chat string, classes ...ledger.MessageClass) (int, error)
	// MoveChat gives the queued messages of a chat and its topics another address.
	MoveChat(ctx context.Context, from, to string) error
}

// Live provides the texts of live messages, which are rendered when they are
// shown and never stored.
type Live interface {
	// Text returns the newest text of the live message with this key, for example
	// "status/shop". ticking reports that the text changes with the clock, because
	// a run is in progress. A message without lines is not shown. Text may block,
	// and is called from several goroutines.
	Text(chat, key string) (m bot.Message, ticking bool)
}
