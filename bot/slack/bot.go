package slack

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/slack-go/slack"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/bot/transport"
)

// API is where the platform answers when nothing else is configured.
const API = "https://slack.com/api/"

// Prefix begins the address of every chat and person of this platform.
const Prefix = "slack:"

// Command is the one that everything is typed behind: Slack has a "/status" of
// its own.
const Command = "/porter"

// Options are what a Bot needs. Only the tokens must be set.
type Options struct {
	AppToken transport.Secret // "xapp-…": opens the socket
	BotToken transport.Secret // "xoxb-…": everything else
	API      string           // base of the address, "" = API
	Log      *slog.Logger

	Clock   func() time.Time                                 // nil = time.Now
	Wait    func(ctx context.Context, d time.Duration) error // pauses; nil = a timer; an error ends Run
	Dial    transport.Dial                                   // nil = TCP
	Timeout time.Duration                                    // of one call, 0 = 30 s; uploads may take four times as long
	Silence time.Duration                                    // without the platform's ping, after which a socket is dead; 0 = 30 s

	// Changed is told whenever the connection comes, goes or has another
	// trouble. It must return at once.
	Changed func(transport.State)
	// Rings returns the ids of those who are named by a message that makes a
	// sound in a channel ("slack:U…"): there, nothing else would. nil: nobody.
	Rings func(chat string) []string
	// Answered reports whether a message of somebody's was answered by us: what
	// is said in its thread is for us, then. nil: none was.
	Answered func(ctx context.Context, chat, message string) bool
	// Open returns the ids of our messages in a chat that ask something and have
	// no answer yet: what is said below them is read back, however old they are.
	// nil: none do.
	Open func(ctx context.Context, chat string) []string
	// Alive is told of every channel in which somebody says something, whomever
	// it is for, or into which the bot was let: one that took nothing does again.
	// It must return at once. nil: nobody wants to know.
	Alive func(chat string)
}

// Bot is one app in one workspace. Its methods can be called from any
// goroutine; Run runs once at a time.
type Bot struct {
	o    Options
	id   string
	api  *slack.Client
	base string
	line *transport.Conn

	mu     sync.Mutex
	me     Me
	direct map[string]string // conversation of each person: "U…" → "D…"
	date   time.Time         // the platform's time, when it told last
	dated  time.Time         // when that was, by our clock

	token   sync.Mutex // guards what follows, and the line's state with it
	refused string     // why the bot's token is, "" = it is not
	open    bool       // there is a socket
	mended  func()     // told once the token is accepted again; must return at once
}

var _ bot.Sender = (*Bot)(nil)

// How the platform's tokens look. The app's id within its token is no secret.
var (
	appForm = regexp.MustCompile(`^xapp-[0-9]{1,3}-(A[A-Z0-9]{1,20})-[A-Za-z0-9-]{1,255}$`)
	botForm = regexp.MustCompile(`^xoxb-[A-Za-z0-9-]{1,255}$`)
)

// New makes a bot. It does not use the network. Errors say what is wrong with
// a token's form or with the address, and never hold a token.
func New(o Options) (*Bot, error) {
	form := appForm.FindStringSubmatch(string(o.AppToken))
	if form == nil {
		return nil, errors.New("slack: this is no app token; expected what the app's page Basic Information gives under App-Level Tokens, xapp-… in one line")
	}
	if !botForm.MatchString(string(o.BotToken)) {
		return nil, errors.New("slack: this is no bot token; expected what the app's page OAuth & Permissions gives, xoxb-… in one line")
	}
	if o.API == "" {
		o.API = API
	}
	base, err := url.Parse(o.API)
	if err != nil || (base.Scheme != "http" && base.Scheme != "https") || base.Host == "" || base.User != nil ||
		base.RawQuery != "" || base.ForceQuery || base.Fragment != "" {
		return nil, fmt.Errorf("slack: api %q is no address; expected one like %s", o.without(o.API), API)
	}
	o = o.orDefault()
	b := &Bot{
		o: o, id: form[1], base: strings.TrimRight(o.API, "/") + "/", direct: map[string]string{}, mended: func() {},
		line: transport.New(transport.Options{Platform: "Slack", ID: form[1], Log: o.Log, Clock: o.Clock, Clean: o.without, Changed: o.Changed, Dial: o.Dial}),
	}
	b.api = slack.New(string(o.BotToken), slack.OptionAppLevelToken(string(o.AppToken)), slack.OptionAPIURL(b.base), slack.OptionHTTPClient(b))
	return b, nil
}

func (o Options) orDefault() Options {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.Wait == nil {
		o.Wait = transport.Wait
	}
	if o.Dial == nil {
		o.Dial = transport.TCP
	}
	if o.Timeout == 0 {
		o.Timeout = 30 * time.Second
	}
	if o.Silence == 0 {
		o.Silence = 30 * time.Second
	}
	if o.Rings == nil {
		o.Rings = func(string) []string { return nil }
	}
	if o.Answered == nil {
		o.Answered = func(context.Context, string, string) bool { return false }
	}
	if o.Open == nil {
		o.Open = func(context.Context, string) []string { return nil }
	}
	if o.Alive == nil {
		o.Alive = func(string) {}
	}
	return o
}

// without takes the tokens out of a text: the last line against one in a log.
func (o Options) without(text string) string {
	for _, token := range []transport.Secret{o.AppToken, o.BotToken} {
		if token != "" {
			text = strings.ReplaceAll(text, string(token), transport.Hidden)
		}
	}
	return ticket.ReplaceAllString(text, "$1"+transport.Hidden)
}

// ticket is what opens a socket, within its address.
var ticket = regexp.MustCompile(`(ticket=)[^&\s"]+`)

// State is how Run stands with the platform now.
func (b *Bot) State() transport.State { return b.line.State() }

// ID is the app's, the part of its token that is no secret.
func (b *Bot) ID() string { return b.id }

// CursorName is the name of this bot's ledger.Cursor: "slack:A…".
func (b *Bot) CursorName() string { return Prefix + b.id }

// place reads an address: the id of a person or of a conversation.
func place(address string) (id string, err error) {
	id, ours := strings.CutPrefix(address, Prefix)
	if !ours || !idForm.MatchString(id) {
		return "", fmt.Errorf("%q is no address of a Slack conversation; expected slack:U… or slack:C…", address)
	}
	return id, nil
}

var idForm = regexp.MustCompile(`^[A-Z][A-Z0-9]{1,30}$`)

// isPerson reports whether an id is a person's.
func isPerson(id string) bool { return strings.HasPrefix(id, "U") || strings.HasPrefix(id, "W") }

// isDirect reports whether a conversation is one of two.
func isDirect(id string) bool { return strings.HasPrefix(id, "D") }

// IsGroup reports whether an address is a channel's: others read there.
func IsGroup(address string) bool {
	id, err := place(address)
	return err == nil && !isPerson(id)
}
