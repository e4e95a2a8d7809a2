package slack

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/slack-go/slack"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/bot/transport"
	"github.com/nightporter/nightporter/internal/regexp"
)

// API is the default address of Slack's Web API.
const API = "https://slack.com/api/"

// Prefix starts the address of every chat and person of Slack.
const Prefix = "slack:"

// Command is the slash command that precedes all commands, as in "/porter
// status". Slack reserves names such as "/status" for itself.
const Command = "/porter"

// Options configure a Bot. Only the tokens are required.
type Options struct {
	AppToken transport.Secret // "xapp-…": opens the socket
	BotToken transport.Secret // "xoxb-…": for all other methods
	API      string           // base URL, "" = API
	Log      *slog.Logger

	Clock       func() time.Time                                 // nil = time.Now
	Sleep       func(ctx context.Context, d time.Duration) error // waits for a pause; nil = a timer; an error ends Run
	Dial        transport.Dial                                   // nil = TCP
	Timeout     time.Duration                                    // time limit of one call, 0 = 30 s; uploads have four times as long
	PingTimeout time.Duration                                    // a socket without a ping for this long is dead; 0 = 30 s

	// OnChange is called when Connected or Trouble of State changed. It must
	// not block.
	OnChange func(transport.State)
	// Mentions returns the addresses ("slack:U…") of people to mention in a
	// message that makes a sound in a channel: Slack notifies only them. nil
	// means nobody.
	Mentions func(chat string) []string
	// RepliedTo reports whether the bot replied to a person's message. Further
	// messages in that thread are for the bot. nil means never.
	RepliedTo func(ctx context.Context, chat, message string) bool
	// OpenQuestions returns the ids of the bot's unanswered questions in a
	// chat. Replies to them are read back after an outage, however old the
	// questions are. nil means none.
	OpenQuestions func(ctx context.Context, chat string) []string
	// OnChannelActive is called when anybody writes in a channel, or the bot
	// joins it: a closed channel may accept messages again. It must not block.
	// nil = ignored.
	OnChannelActive func(chat string)
}

// Bot is a bot.Sender for one app in one workspace, and receives with Run. Its
// methods may be called from any goroutine; only one Run may be active at a time.
type Bot struct {
	o    Options
	id   string
	api  *slack.Client
	base string
	conn *transport.Conn

	mu           sync.Mutex
	me           Me
	directOf     map[string]string // direct conversation of each person: "U…" → "D…"
	serverTime   time.Time         // Slack's time in the last response
	serverTimeAt time.Time         // local time of that response

	authMu          sync.Mutex // guards the fields below, and conn's state with them
	tokenRefusal    string     // why Slack rejects the bot token, "" = it does not
	socketOpen      bool       // the socket is open
	onTokenAccepted func()     // called when the token is accepted again; must not block
}

var _ bot.Sender = (*Bot)(nil)

// Forms of the tokens. The app's id within its token is no secret.
var (
	appForm = regexp.MustCompile(`^xapp-[0-9]{1,3}-(A[A-Z0-9]{1,20})-[A-Za-z0-9-]{1,255}$`)
	botForm = regexp.MustCompile(`^xoxb-[A-Za-z0-9-]{1,255}$`)
)

// New returns a Bot without using the network. Its errors explain what is wrong
// with a token's form or the address, and never contain a token.
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
		return nil, fmt.Errorf("slack: api %q is no address; expected one like %s", o.redact(o.API), API)
	}
	o = o.orDefault()
	b := &Bot{
		o: o, id: form[1], base: strings.TrimRight(o.API, "/") + "/", directOf: map[string]string{}, onTokenAccepted: func() {},
		conn: transport.New(transport.Options{Platform: "Slack", ID: form[1], Log: o.Log, Clock: o.Clock, Redact: o.redact, OnChange: o.OnChange, Dial: o.Dial}),
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
	if o.Sleep == nil {
		o.Sleep = transport.Sleep
	}
	if o.Dial == nil {
		o.Dial = transport.TCP
	}
	if o.Timeout == 0 {
		o.Timeout = 30 * time.Second
	}
	if o.PingTimeout == 0 {
		o.PingTimeout = 30 * time.Second
	}
	if o.Mentions == nil {
		o.Mentions = func(string) []string { return nil }
	}
	if o.RepliedTo == nil {
		o.RepliedTo = func(context.Context, string, string) bool { return false }
	}
	if o.OpenQuestions == nil {
		o.OpenQuestions = func(context.Context, string) []string { return nil }
	}
	if o.OnChannelActive == nil {
		o.OnChannelActive = func(string) {}
	}
	return o
}

// redact removes tokens and socket tickets from a text.
func (o Options) redact(text string) string {
	for _, token := range []transport.Secret{o.AppToken, o.BotToken} {
		if token != "" {
			text = strings.ReplaceAll(text, string(token), transport.Redacted)
		}
	}
	return ticket.ReplaceAllString(text, "$1"+transport.Redacted)
}

// ticket matches the secret part of a socket's address.
var ticket = regexp.MustCompile(`(ticket=)[^&\s"]+`)

// State returns the state of the connection, as Run sees it.
func (b *Bot) State() transport.State { return b.conn.State() }

// Close closes unused network connections. Call it after all other calls have
// returned: a call that ends later leaves an open connection behind.
func (b *Bot) Close() { b.conn.CloseIdle() }

// ID returns the app's id, the public part of its token.
func (b *Bot) ID() string { return b.id }

// CursorName returns the name of this app's ledger.Cursor: "slack:A…".
func (b *Bot) CursorName() string { return Prefix + b.id }

// parseAddress returns the id of a person or conversation from its address.
func parseAddress(address string) (id string, err error) {
	id, ours := strings.CutPrefix(address, Prefix)
	if !ours || !idForm.MatchString(id) {
		return "", fmt.Errorf("%q is no address of a Slack conversation; expected slack:U… or slack:C…", address)
	}
	return id, nil
}

var idForm = regexp.MustCompile(`^[A-Z][A-Z0-9]{1,30}$`)

// isPerson reports whether an id is a person's.
func isPerson(id string) bool { return strings.HasPrefix(id, "U") || strings.HasPrefix(id, "W") }

// isDirect reports whether an id is a direct conversation's.
func isDirect(id string) bool { return strings.HasPrefix(id, "D") }

// IsGroup reports whether an address is a channel's, which several people read.
func IsGroup(address string) bool {
	id, err := parseAddress(address)
	return err == nil && !isPerson(id)
}
