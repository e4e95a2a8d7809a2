package ledger

import (
	"errors"
	"time"
)

// Outgoing is a message that is committed together with what it reports, and
// delivered afterwards, if need be by the next process (docs/spec 6.7).
type Outgoing struct {
	Chat    string       // address: "telegram:48213377", with a topic "telegram:-1001234/55"
	Key     string       // what it is about: "q5", "g17", "status/shop"; "" = nothing will change it
	Edit    bool         // takes the place of the message that the chat was last sent under Key; where there is none, it is sent
	Class   MessageClass // what is done where nobody knows whether it arrived
	ReplyTo string       // the platform's id of the message that it answers
	Silent  bool         // makes no sound
	Body    []byte       // bot.Message as JSON
}

// MessageClass says what becomes of a message whose answer from the platform
// was not seen, and of one that waited through an outage (docs/spec 6.7).
type MessageClass string

// Classes of messages.
const (
	ClassAsk     MessageClass = "ask"     // a question: repeated and marked so, also after an outage
	ClassNotice  MessageClass = "notice"  // what somebody must learn: repeated and marked so
	ClassReply   MessageClass = "reply"   // answer to a command that changed something: repeated, an equal answer says nothing new
	ClassChatter MessageClass = "chatter" // status and what was only looked at: dropped
)

// QueuedMessage is an Outgoing that has not been settled.
type QueuedMessage struct {
	Outgoing
	ID     int64
	Time   time.Time // when it was committed
	Target string    // the platform's id of the message that Key stands on now, "" where there is none
	Tried  bool      // a sending was begun whose outcome nobody saw
}

// SentMessage is one that a chat shows, by the platform's own id.
type SentMessage struct {
	Chat string
	ID   string // the platform's
	Key  string
	Body []byte // as it was sent last
	Time time.Time
}

// Cursor is how far a chat's inputs have been handled. It is committed with
// the last of them, so that none is handled twice or never (docs/spec 6.7).
type Cursor struct {
	Name  string // "telegram:BOT"
	Value string // the platform's
	Time  time.Time
}

// ErrReplaced says that a queued message is not the one to be delivered any
// more: a newer text took its place, or it is settled. Nothing is to be sent
// or kept for it; whoever delivers asks for the next one.
var ErrReplaced = errors.New("the message is not queued any more")
