package ledger

import (
	"errors"
	"time"
)

// Outgoing is a message that is committed together with the entries it reports, and
// delivered afterwards, if necessary by the next process (docs/spec 6.7).
type Outgoing struct {
	Chat    string       // address: "telegram:48213377", with a topic "telegram:-1001234/55"
	Key     string       // subject: "q5", "g17", "status/shop"; "" = it is never edited
	Edit    bool         // edit the chat's last message under Key; if there is none, send a new message
	Class   MessageClass // how to recover if its arrival is unknown
	ReplyTo string       // the platform's id of the message it replies to
	Silent  bool         // makes no sound
	Ahead   bool         // answers what a person just asked: sent before the other messages that are queued for the chat; never for an edit
	Joins   string       // messages of a chat with the same value that follow each other within seconds share one message of the platform; "" = none
	Body    []byte       // bot.Message as JSON
}

// MessageClass says how to handle a message that may or may not have arrived, and
// one that waited through an outage (docs/spec 6.7).
type MessageClass string

// Classes of messages.
const (
	ClassAsk     MessageClass = "ask"     // a question: sent again with a mark, also after an outage
	ClassNotice  MessageClass = "notice"  // news that a person must learn: sent again with a mark
	ClassReply   MessageClass = "reply"   // reply to a command that changed something: sent again, since a second equal reply does no harm
	ClassLook    MessageClass = "look"    // reply to a read-only command: sent again with a mark, once; after an outage the newest of each kind
	ClassChatter MessageClass = "chatter" // status and what is over: dropped
)

// QueuedMessage is an Outgoing in the outbox, not yet delivered or dropped.
type QueuedMessage struct {
	Outgoing
	ID      int64
	Time    time.Time // when it was committed
	Target  string    // the platform's id of the message to edit, "" if there is none
	InDoubt int       // number of deliveries that began and whose outcome is unknown
}

// SentMessage is a message that a chat shows.
type SentMessage struct {
	Chat string
	ID   string // the platform's
	Key  string
	Body []byte // its latest text
	Time time.Time
	// ReplyTo is the platform's id of the message that it replies to.
	ReplyTo string
}

// Cursor is the position up to which a chat's inputs have been handled. It is
// committed with the last of them, so that each input is handled exactly once
// (docs/spec 6.7).
type Cursor struct {
	Name  string // "telegram:BOT"
	Value string // the platform's
	Time  time.Time
}

// ErrReplaced reports that a queued message must not be delivered any more: a
// newer text replaced it, or it is settled. The caller drops it and asks for
// the next message.
var ErrReplaced = errors.New("the message is not queued any more")
