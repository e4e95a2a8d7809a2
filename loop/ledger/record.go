package ledger

import (
	"errors"
	"time"
)

// SharedStream is the stream of the state that all projects share.
const SharedStream = "house"

// ProjectStream returns the name of a project's stream.
func ProjectStream(name string) string { return "project/" + name }

// Record is an entry in its stored form: the envelope of docs/spec 8.1 with the
// body as bytes that are never encoded again. The store sets Seq, Prev and Hash;
// the decision sets everything else.
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
	Actor   string // actor who caused the entry: "agent", "daemon", "console", "telegram:48213377"
	Cause   string // natural key of the input that led to the entry
	Body    []byte // JSON
	Prev    []byte // hash of the previous entry in the stream
	Hash    []byte
}

// Class says how to recover an effect whose outcome is unknown after a crash
// (docs/architecture.md 4).
type Class string

// Classes of effects.
const (
	Repeatable Class = "repeatable" // do it again
	Findable   Class = "findable"   // look for its result by its key before doing it again
)

// PendingEffect is a committed effect without a committed result.
type PendingEffect struct {
	ID     int64
	Stream string
	Kind   string
	Class  Class
	Key    string // natural key; unique together with Kind among all effects ever committed
	Body   []byte // JSON
	Time   time.Time
	Seq    int64  // of the stream's last entry when the effect was committed
	Head   []byte // that entry's hash
}

// Batch is everything that one input causes. It is committed in one transaction.
type Batch struct {
	Key     string // natural key of the input; "" for an input that is never repeated
	Time    time.Time
	Records []Record        // without Seq, Prev and Hash
	Effects []PendingEffect // without ID, Seq and Head
	Settles []int64         // ids of the effects whose result is this input
	Answer  []byte          // stored under Key and returned again if the input is repeated

	Messages []Outgoing // messages to people, in the order of delivery per chat
	Cursor   *Cursor    // new read position of the input's chat; nil: unchanged
}

// Receipt is the result of committing a Batch.
type Receipt struct {
	Repeated bool // the key was committed before: nothing was written, Answer is the first answer
	Answer   []byte
	Records  []Record        // as written
	Effects  []PendingEffect // as written
	Chats    []string        // chats with new messages to deliver
}

// ErrSnapshotAltered is the error for a stored snapshot that is not the one that
// was saved. The state is then folded from the stream's first entry.
var ErrSnapshotAltered = errors.New("the stored snapshot was altered")

// SnapshotRow is a stored state that saves folding from the start. It is disposable,
// outside the hash chain, and valid only for the core version that wrote it.
type SnapshotRow struct {
	Stream  string
	Seq     int64
	Version int
	Body    []byte
}
