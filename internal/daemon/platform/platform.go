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

// Platform is one place where people chat, with all that belongs to it.
type Platform struct {
	Name  string // begins the addresses of chats and people, and names the section of the configuration
	Title string // for people

	// Lacks names the optional cells of this row and of its Conn that are empty
	// because the platform has nothing of the kind.
	Lacks []string

	// Section is the platform's section of a configuration, as a comparable value;
	// nil where the platform is not in use.
	Section func(*config.Config) any
	// Tokens are the files that connecting needs. No session and no error shows
	// what is in them.
	Tokens []Token
	// TokenFix is what doctor says of a token that cannot be read.
	TokenFix func(*TokenError) (fix, text string)

	// Connect makes the adapter; it does not use the network. tokens are those of
	// Tokens, in order. Only a configuration with a Section is connected.
	Connect func(cfg *config.Config, tokens []transport.Secret, h Hooks) (*Conn, error)
	// Probe asks the platform, for doctor, whether tokens and threads are well. It
	// takes nothing that is meant for the daemon, so it may run beside it.
	Probe func(ctx context.Context, cfg *config.Config, tokens []transport.Secret) ([]transport.Finding, error)
	// Limits are how fast the platform may be called.
	Limits *delivery.Limits

	// IsGroup reports whether several people read in a chat.
	IsGroup func(chat string) bool
	// Group is the chat that a thread is part of; an address that is no thread is
	// its own.
	Group func(chat string) string

	// Thread is the address of a project's own chat as the configuration has it,
	// "" for none. ThreadKey is the key that sets it, and ThreadName what people
	// call the chat of an address without its prefix: "topic", "42".
	Thread     func(config.Project) string
	ThreadKey  string
	ThreadName func(id string) (kind, name string)
	// SentAt finds the message of ours that an id in a chat stands for; threads
	// are the addresses of all projects' threads.
	SentAt func(ctx context.Context, sent inbound.Outbox, threads []string, chat, id string) (ledger.SentMessage, bool, error)

	// PairLine is what a person types to send a pairing code, with a remark behind
	// it, PairLabel what stands before that, and PairLink, optional, an address
	// that does the same; bot is the name of the bot.
	PairLabel string
	PairLine  func(code string) string
	PairLink  func(bot, code string) string
}

// Hooks are what a connection asks of the daemon and tells it. All return at
// once but those with a context.
type Hooks struct {
	Log      *slog.Logger
	Changed  func(transport.State)                                 // the connection came, went or has another trouble
	Moved    func(ctx context.Context, from, to string) error      // a group has another address
	Lost     func(chat string)                                     // a thread is not there
	Alive    func(chat string)                                     // somebody said something in a chat
	Steerers func(chat string) []string                            // people of the platform who may steer
	Answered func(ctx context.Context, chat, message string) bool  // a message of theirs has an answer of ours
	Open     func(ctx context.Context, chat string) (ids []string) // messages of ours whose question waits
}

// Conn is an adapter, ready to be run.
type Conn struct {
	ID     string // of the bot, with the platform's address: two programs with one bot take messages from each other
	Cursor string // name under which the store keeps how far messages were taken
	Sender bot.Sender
	State  func() transport.State
	// Listen hands over what people do until ctx ends.
	Listen func(ctx context.Context, cursor func(context.Context) (string, error), r bot.Receiver) error

	// What follows is optional.

	BotName func(ctx context.Context) (string, error)                                       // by which a group calls the bot
	Ask     func(ctx context.Context, in bot.Inbound, command string, ask bot.Message) bool // opens a form
	SetMenu func(ctx context.Context, chat string, items []bot.MenuItem) error              // of a chat, "" for everybody else's
	Reads   func(ctx context.Context, thread, person string) (bool, error)                  // is somebody in the group of a thread
}

// Prefix begins the platform's addresses.
func (p Platform) Prefix() string { return p.Name + ":" }

// ReadTokens reads the tokens of a platform that the configuration uses. Errors
// are *TokenError.
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
