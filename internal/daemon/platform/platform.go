package platform

import (
	"context"
	"log/slog"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/bot/delivery"
	"github.com/nightporter/nightporter/bot/inbound"
	"github.com/nightporter/nightporter/bot/transport"
	"github.com/nightporter/nightporter/config"
	"github.com/nightporter/nightporter/loop/ledger"
)

// Platform is one row of the table: a place where people chat, with everything
// that the daemon and the commands know about it. Every cell is required unless
// Lacks names it.
type Platform struct {
	Name  string // prefix of addresses, and name of the configuration's section
	Title string // name for people

	// Lacks names the cells of this row and of its Conn that are empty because
	// the platform has no such feature.
	Lacks []string

	// Section returns the platform's section of a configuration as a comparable
	// value, nil where the platform is not in use.
	Section func(*config.Config) any
	// Tokens are the files needed to connect. Sessions cannot read them, and no
	// error quotes their contents.
	Tokens []Token
	// TokenFix returns the remedy and text that doctor shows for an unreadable
	// token.
	TokenFix func(*TokenError) (fix, text string)

	// Connect creates the adapter without using the network. tokens has one value
	// for each of Tokens, in order. Call it only if Section is not nil.
	Connect func(cfg *config.Config, tokens []transport.Secret, h Hooks) (*Conn, error)
	// Probe asks the platform, for the command doctor, whether tokens and
	// threads work. It fetches no updates, so it may run beside the daemon.
	Probe func(ctx context.Context, cfg *config.Config, tokens []transport.Secret) ([]ledger.Diagnostic, error)
	// NoticeStays reports that the notice about a press is a message in the chat.
	NoticeStays bool
	// Limits are the platform's rate limits.
	Limits *delivery.Limits

	// IsGroup reports whether several people read a chat.
	IsGroup func(chat string) bool
	// Group returns the group that a thread belongs to, and any other address
	// unchanged.
	Group func(chat string) string

	// Thread returns the configured address of a project's thread, "" for none.
	// ThreadKey is the configuration key that sets it. ThreadName splits an
	// address without prefix into its kind and name, such as "topic" and "42".
	Thread     func(config.Project) string
	ThreadKey  string
	ThreadName func(id string) (kind, name string)
	// SentAt finds the sent message that an id in a chat refers to. threads are
	// the addresses of all projects' threads.
	SentAt func(ctx context.Context, sent inbound.Outbox, threads []string, chat, id string) (ledger.SentMessage, bool, error)

	// PairLabel is the label of PairLine, the text with which a person sends a
	// pairing code. PairLink returns a link that does the same; bot is the bot's
	// name.
	PairLabel string
	PairLine  func(code string) string
	PairLink  func(bot, code string) string
}

// Hooks are the daemon's callbacks for a connection. Those without a context
// return at once.
type Hooks struct {
	Log      *slog.Logger
	Changed  func(transport.State)                                 // the connection's state changed
	Moved    func(ctx context.Context, from, to string) error      // a group has a new address
	Lost     func(chat string)                                     // a thread was deleted
	Alive    func(chat string)                                     // called when somebody has written in a chat
	Steerers func(chat string) []string                            // returns the people of the platform who may steer
	Answered func(ctx context.Context, chat, message string) bool  // reports whether nightporter replied to a message
	Open     func(ctx context.Context, chat string) (ids []string) // returns the messages with open questions
}

// Conn is an adapter that is ready to run.
type Conn struct {
	ID     string // identifies bot and platform address; a lock on it keeps out a second poller
	Cursor string // name of the stored cursor of received updates
	Sender bot.Sender
	State  func() transport.State
	// Fetch loads a file of an update, as inbound.Options.Fetch does.
	Fetch func(ctx context.Context, f bot.RemoteFile) ([]byte, error)
	Close func() // closes unused network connections; the last call
	// Listen passes updates to r until ctx ends. cursor returns the position
	// after the last handled update.
	Listen func(ctx context.Context, cursor func(context.Context) (string, error), r bot.Receiver) error

	// What follows is optional.

	BotName func(ctx context.Context) (string, error)                                       // returns the name for mentions and links
	Ask     func(ctx context.Context, in bot.Inbound, command string, ask bot.Message) bool // opens a form, reports whether it could
	SetMenu func(ctx context.Context, chat string, items []bot.MenuItem) error              // chat "" = the menu of all other chats
	Reads   func(ctx context.Context, thread, person string) (bool, error)                  // reports whether a person is in a thread's group
}

// Prefix returns the prefix of the platform's addresses, such as "slack:".
func (p Platform) Prefix() string { return p.Name + ":" }

// ReadTokens reads the platform's tokens. Call it only for a configuration with
// the platform's section. Errors are *TokenError.
func (p Platform) ReadTokens(cfg *config.Config) ([]transport.Secret, error) {
	var out []transport.Secret
	for _, t := range p.Tokens {
		s, err := t.read(t.File(cfg))
		if err != nil {
			return nil, err
		}
		out = append(out, transport.Secret(s))
	}
	return out, nil
}
