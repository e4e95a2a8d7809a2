package ledger

import (
	"time"
)

// SharedStream is the stream of what projects share.
const SharedStream = "house"

// ProjectStream is the stream of one project.
func ProjectStream(name string) string { return "project/" + name }

// Record is one entry of the ledger in the form in which it is kept: the
// envelope of docs/spec 8.1 with the body as bytes that are never encoded again.
// Seq, Hash and Prev are the store's; everything else is decided here.
type Record struct {
	Stream  string
	Seq     int64 // from 1, without gaps
	Time    time.Time
	Type    string
	V       int
	Run     string
	Task    string
	Attempt string // a1
	Session string
	Actor   string // who caused it: "agent", "daemon", "console", "telegram:48213377"
	Cause   string // natural key of the input that led here
	Body    []byte // JSON
	Prev    []byte // hash of the entry before in this stream
	Hash    []byte
}

// Class of an effect: what is done about one whose outcome is unknown after a
// crash (docs/architecture.md 2).
type Class string

// Classes of effects.
const (
	Repeatable Class = "repeatable" // just again
	Findable   Class = "findable"   // look first, by key
)

// PendingEffect is an effect that was committed and whose result was not.
type PendingEffect struct {
	ID     int64
	Stream string
	Kind   string
	Class  Class
	Key    string // what it is about; unique together with Kind among all effects ever committed
	Body   []byte // JSON
	Time   time.Time
	Seq    int64  // of the stream's last entry when the effect was committed
	Head   []byte // that entry's hash
}

// Batch is what one input leads to; it is committed whole or not at all.
type Batch struct {
	Key     string // natural key of the input; "" for one that nobody will ever repeat
	Time    time.Time
	Records []Record        // without Seq, Prev and Hash
	Effects []PendingEffect // without ID, Seq and Head
	Settles []int64         // effects whose result this input is
	Answer  []byte          // kept under Key, and given again to whoever repeats the input

	Messages []Outgoing // what people are told of it, in the order of their chat
	Cursor   *Cursor    // how far the input's chat has been read with it
}

// Receipt is what came of a Batch.
type Receipt struct {
	Repeated bool // the key was there already: nothing was written, Answer is the first one's
	Answer   []byte
	Records  []Record        // as written
	Effects  []PendingEffect // as written
	Chats    []string        // that have something new to be sent
}

// SnapshotRow is a state that was folded earlier: disposable, outside the
// hash chain, and only good for the core version that wrote it.
type SnapshotRow struct {
	Stream  string
	Seq     int64
	Version int
	Body    []byte
}
