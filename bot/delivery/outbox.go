package delivery

import (
	"context"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/loop/ledger"
)

// Queue is the reading half of the Outbox.
type Queue interface {
	// Chats returns the addresses with something queued, oldest first.
	Chats(ctx context.Context) ([]string, error)
	// NextMessage returns what a chat gets next: sends before edits, then by
	// age; false where nothing is queued.
	NextMessage(ctx context.Context, chat string) (ledger.QueuedMessage, bool, error)
	// Queued returns everything that a chat still gets.
	Queued(ctx context.Context, chat string) ([]ledger.QueuedMessage, error)
	// SentFor returns the message that a key stands on in a chat.
	SentFor(ctx context.Context, chat, key string) (ledger.SentMessage, bool, error)
}

// Outbox holds the committed messages; package store has it. Each method is
// durable when it returns.
type Outbox interface {
	Queue
	// Trying marks that a sending is begun; ledger.ErrReplaced where a newer text
	// has taken the message's place since it was read.
	Trying(ctx context.Context, id int64) error
	// Sent settles a message and returns the platform's id that its key stood
	// on before, where that is another one. For an edit platformID is its
	// target, or the new id where it had to be sent.
	Sent(ctx context.Context, id int64, platformID string, at time.Time) (before string, err error)
	// Unsent takes one Trying back: that sending certainly did not arrive.
	Unsent(ctx context.Context, id int64) error
	// Drop settles a message that will never be sent.
	Drop(ctx context.Context, id int64, why string) error
	// Forget drops a chat's queued sends of these classes that were never
	// begun, and returns how many. Edits stay.
	Forget(ctx context.Context, chat string, classes ...ledger.MessageClass) (int, error)
	// MoveChat gives what is queued for a chat another address, topics included.
	MoveChat(ctx context.Context, from, to string) error
}

// Live gives the texts of messages that change by themselves. They are read
// when they are shown and never stored.
type Live interface {
	// Text is the newest text of the live message with this key, for example
	// "status/shop", and whether it goes on changing by the clock because a run
	// is under way. A message without lines is not shown. It is called from
	// several goroutines, and may wait for what it needs.
	Text(chat, key string) (m bot.Message, ticking bool)
}
