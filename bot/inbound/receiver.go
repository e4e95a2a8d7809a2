package inbound

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// Service is the part of the daemon that a Receiver needs.
type Service interface {
	bot.DaemonService
	// DoWith decides an input and commits messages and the cursor in the same
	// transaction. It calls with before the commit, from the engine's goroutine.
	// If the input's key was committed before, it commits nothing and returns
	// the stored answer, which is empty if the key was Say's.
	DoWith(ctx context.Context, in loop.Input, with func(ledger.Answer) ([]ledger.Outgoing, *ledger.Cursor)) (ledger.Answer, error)
	// Say commits messages and the cursor under a key, without a decision. If
	// the key was committed before, it does nothing.
	Say(ctx context.Context, key string, at time.Time, msgs []ledger.Outgoing, cursor *ledger.Cursor) error
}

// Outbox finds messages that were sent.
type Outbox interface {
	// SentAt returns the message that a chat shows under the platform's id.
	SentAt(ctx context.Context, chat, platformID string) (ledger.SentMessage, bool, error)
	// SentFor returns the message that a chat shows under a key.
	SentFor(ctx context.Context, chat, key string) (ledger.SentMessage, bool, error)
	// Together returns the messages that the platform shows as one under its id.
	Together(ctx context.Context, chat, platformID string) ([]ledger.SentMessage, error)
	// AnswerTo returns the message that was sent or queued as the reply to a
	// person's message.
	AnswerTo(ctx context.Context, chat, replyTo string) (ledger.SentMessage, bool, error)
}

// Files are the files that people send, beside the ledger by hash.
type Files interface {
	// Put writes bytes to the disk and returns their hash. One of the other calls has
	// to follow.
	Put(data []byte) (hash string, err error)
	// Settle keeps what was put: an entry names it.
	Settle(hash string) error
	// Discard takes back what was put.
	Discard(hash string) error
	// Leave is called where nobody knows whether an entry names it.
	Leave(hash string)
}

// Options configure a Receiver.
type Options struct {
	Service Service
	Outbox  Outbox
	// Hash returns the hash under which a pairing code is stored. The code is
	// passed in upper case.
	Hash func(code string) string
	// Notice acknowledges a press, as bot.Sender does. nil: presses are not
	// acknowledged.
	Notice func(ctx context.Context, pressID, text string) error
	// NoticeStays reports that a notice is a message in the chat, as in Slack: there is
	// none that only repeats what an edit shows.
	NoticeStays bool
	// Ask opens a form for the text that command needs, and reports whether a
	// form was opened. If not, or if Ask is nil, the receiver sends the message
	// ask, and a reply to it is the text.
	Ask func(ctx context.Context, in bot.Inbound, command string, ask bot.Message) bool
	// Fetch loads a file of an update from the platform. An error that is
	// bot.ErrRejected is final; after any other it is tried again. It returns no more
	// than ledger.MaxAttachment bytes. nil: files are not taken.
	Fetch func(ctx context.Context, f bot.RemoteFile) ([]byte, error)
	// Files keeps what was loaded. nil: files are not taken.
	Files Files
	// Transcribes reports whether recordings are turned into words. nil: they are not.
	Transcribes func() bool
	// Name returns the bot's name in groups, without "@". nil or "": the name
	// is unknown, and commands addressed to any name are handled.
	Name func() string
	// ProjectOf returns the project of a chat or topic, or "" for a shared chat.
	// nil: all chats are shared.
	ProjectOf func(chat string) string
	Patience  time.Duration    // limit for a command that only reads, such as /diff; 0: 5 s
	Zone      *time.Location   // time zone of the times in replies; nil: that of Clock
	Clock     func() time.Time // nil: time.Now
	Log       *slog.Logger
}

// Receiver is the bot.Receiver of all chats. It is safe for concurrent use.
type Receiver struct {
	o Options

	mu     sync.Mutex // guards the fields below
	album  string     // chat and id of the album answered last
	missed string     // the same of the album of which files were not kept, and the sender was told
	unread string     // key of the input whose files could not be loaded last
	loads  int        // how often in a row

	failed map[string]int       // by key of an input that is not committed yet: how often it failed
	looks  map[string]time.Time // by chat, person and line: when a look was answered last
}

// New returns a Receiver.
func New(o Options) *Receiver {
	if o.Notice == nil {
		o.Notice = func(context.Context, string, string) error { return nil }
	}
	if o.Ask == nil {
		o.Ask = func(context.Context, bot.Inbound, string, bot.Message) bool { return false }
	}
	if o.Name == nil {
		o.Name = func() string { return "" }
	}
	if o.ProjectOf == nil {
		o.ProjectOf = func(string) string { return "" }
	}
	if o.Patience <= 0 {
		o.Patience = 5 * time.Second
	}
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if clock, zone := o.Clock, o.Zone; zone != nil {
		o.Clock = func() time.Time { return clock().In(zone) }
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &Receiver{o: o, failed: map[string]int{}}
}

// maxFailures is the number of failures after which an input is put
// aside: its sender is told, and the next input is handled. Otherwise an input
// that can never be decided would block its chat. A fault of the machine does not
// count: the input can be decided once that is over, and the chat waits.
const maxFailures = 3

// countFailure counts a failure of the input with a key and returns its failures.
func (r *Receiver) countFailure(key string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failed[key]++
	return r.failed[key]
}

// forgetFailures forgets those of an input that is committed.
func (r *Receiver) forgetFailures(key string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.failed, key)
}

// failures returns the number of failures of the input with a key.
func (r *Receiver) failures(key string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.failed[key]
}
