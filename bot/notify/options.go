package notify

import (
	"encoding/json"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// Options configure a Notifier. The zero value is usable.
type Options struct {
	// ChatsWith returns the addresses of the chats that show a message with the
	// key, or have it queued. nil: none, so no message is ever edited.
	ChatsWith func(key string) []string
	// Group reports whether several people read a chat. Any other chat belongs
	// to one person and gets nothing once that person was removed (docs/spec 6.6).
	// nil: no chat is a group.
	Group func(chat string) bool
	// Threads returns the addresses of a project's own chats, at most one a
	// platform. A thread gets the project's news instead of the people on its
	// platform. nil: no project has a thread.
	Threads func(project string) []string
	// Reads reports whether a person is known to read a thread of their
	// platform. A person who does not read it gets the news in their own chat.
	// nil: everybody reads it.
	Reads func(thread, person string) bool
	// Quiet returns the quiet hours of chats without hours of their own. Urgent
	// returns the kinds of news that make a sound in them all the same (docs/spec
	// 6.4).
	Quiet  func() ledger.Hours
	Urgent func() []string
	// Most returns the number of sessions that the configuration allows at a time, 0 for
	// any. nil: any.
	Most func() int
	// Digests returns the digest of each project as a person may read it, of a
	// day ("2026-11-20") or a week ("2026-W47"). They are made before the
	// decision to send them. nil: there are none.
	Digests func(of string, p ledger.Person) []bot.Message
	// Wave returns what the picture of a wave shows (bot.Drawing.Wave). s is the state
	// after the decision that ended it, now the time in the recipients' zone. It is called
	// within the decision, so it draws nothing. Without it (nil) the words stand alone; a
	// nil Wave has none.
	Wave func(s loop.State, w ledger.WaveEnded, now time.Time) json.RawMessage
	// Zone returns the recipients' time zone, which a reload may change. nil leaves
	// times as they are in the entries.
	Zone func() *time.Location
}

// Notifier composes the messages about decisions. It keeps nothing between calls
// and may be used from any goroutine.
type Notifier struct{ o Options }

// New returns a Notifier.
func New(o Options) *Notifier {
	if o.ChatsWith == nil {
		o.ChatsWith = func(string) []string { return nil }
	}
	if o.Quiet == nil {
		o.Quiet = func() ledger.Hours { return ledger.QuietOff }
	}
	if o.Urgent == nil {
		o.Urgent = func() []string { return []string{Standstill} }
	}
	if o.Most == nil {
		o.Most = func() int { return 0 }
	}
	if o.Group == nil {
		o.Group = func(string) bool { return false }
	}
	return &Notifier{o: o}
}

func (n *Notifier) local(t time.Time) time.Time {
	if n.o.Zone == nil {
		return t
	}
	return t.In(n.o.Zone())
}
