package telegram

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/bot/transport"
	"github.com/nightporter/nightporter/internal/regexp"
)

// API is the default address of the Bot API.
const API = "https://api.telegram.org"

// Prefix starts the address of every chat and person of Telegram.
const Prefix = "telegram:"

// Options configure a Bot. Only Token is required.
type Options struct {
	Token transport.Secret
	API   string       // base URL, "" = API
	Log   *slog.Logger // nil = no log

	Clock func() time.Time                                 // nil = time.Now
	Sleep func(ctx context.Context, d time.Duration) error // waits between polls; nil = a timer; an error ends Poll

	Dial     transport.Dial // nil = TCP
	Timeout  time.Duration  // time limit of one call, 0 = 30 s; uploads have four times as long
	LongPoll time.Duration  // how long Telegram holds a poll open, in whole seconds; 0 = 50 s, the maximum

	// OnChange is called when Connected or Trouble of State changed. It must
	// not block.
	OnChange func(transport.State)
	// OnChatMoved is called when a group got another address, before the update
	// that reports it is confirmed. After an error it is called again. nil =
	// ignored.
	OnChatMoved func(ctx context.Context, from, to string) error
	// OnTopicGone is called when a topic does not exist any more and its
	// message was sent to the group instead. nil = ignored.
	OnTopicGone func(chat string)
}

// Bot is a bot.Sender and receives updates with Poll. Its methods may be called
// from any goroutine; only one Poll may run at a time.
type Bot struct {
	o        Options
	id       string
	endpoint string
	conn     *transport.Conn
}

var _ bot.Sender = (*Bot)(nil)

// tokenForm matches Telegram's tokens: the bot's user id, a colon, and the secret
// part. The token is part of the URL, so other characters are not allowed.
var tokenForm = regexp.MustCompile(`^([0-9]{1,20}):[A-Za-z0-9_-]{1,128}$`)

// New returns a Bot without using the network. Its errors explain what is wrong
// with the token's form or the address, and never contain the token.
func New(o Options) (*Bot, error) {
	form := tokenForm.FindStringSubmatch(string(o.Token))
	if form == nil {
		return nil, errors.New("telegram: this is no bot token; expected what @BotFather gives, digits, a colon and letters, in one line without spaces")
	}
	if o.API == "" {
		o.API = API
	}
	base, err := url.Parse(o.API)
	if err != nil || (base.Scheme != "http" && base.Scheme != "https") || base.Host == "" || base.User != nil ||
		base.RawQuery != "" || base.ForceQuery || base.Fragment != "" || strings.Contains(o.API, string(o.Token)) {
		return nil, fmt.Errorf("telegram: api %q is no address; expected one like %s", strings.ReplaceAll(o.API, string(o.Token), transport.Redacted), API)
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.Sleep == nil {
		o.Sleep = transport.Sleep
	}
	if o.OnTopicGone == nil {
		o.OnTopicGone = func(string) {}
	}
	if o.Timeout == 0 {
		o.Timeout = 30 * time.Second
	}
	if o.LongPoll == 0 {
		o.LongPoll = 50 * time.Second
	}
	b := &Bot{
		o:  o,
		id: form[1],
		// The library inserts token and method with a format string, so a
		// percent sign in the address is escaped.
		endpoint: strings.ReplaceAll(strings.TrimRight(o.API, "/"), "%", "%%") + "/bot%s/%s",
	}
	b.conn = transport.New(transport.Options{Platform: "Telegram", ID: b.id, Log: o.Log, Clock: o.Clock, Redact: b.redact, OnChange: o.OnChange, Dial: o.Dial})
	return b, nil
}

// State returns the state of the connection, as Poll sees it.
func (b *Bot) State() transport.State { return b.conn.State() }

// Close closes unused network connections. Call it after all other calls have
// returned: a call that ends later leaves an open connection behind.
func (b *Bot) Close() { b.conn.CloseIdle() }

// ID returns the bot's user id, the public part of its token.
func (b *Bot) ID() string { return b.id }

// CursorName returns the name of this bot's ledger.Cursor: "telegram:ID". Each bot
// has its own, because update ids differ between bots.
func (b *Bot) CursorName() string { return Prefix + b.id }

// Address returns the address of a chat, "telegram:-100123", or of a topic in it,
// "telegram:-100123/55". A thread of 0 means no topic.
func Address(chat int64, thread int) string {
	a := Prefix + strconv.FormatInt(chat, 10)
	if thread != 0 {
		a += "/" + strconv.Itoa(thread)
	}
	return a
}

// parseAddress is the inverse of Address. Its error describes the form of an
// address.
func parseAddress(address string) (chat int64, thread int, err error) {
	rest, ours := strings.CutPrefix(address, Prefix)
	id, topic, threaded := strings.Cut(rest, "/")
	if chat, err = strconv.ParseInt(id, 10, 64); err == nil && threaded {
		thread, err = strconv.Atoi(topic)
	}
	if !ours || err != nil || chat == 0 {
		return 0, 0, fmt.Errorf("%q is no address of a Telegram chat; expected telegram:CHAT or telegram:CHAT/TOPIC", address)
	}
	return chat, thread, nil
}

// GroupOf returns the address of the group that contains a topic. Any other
// address is returned as it is.
func GroupOf(address string) string {
	chat, _, err := parseAddress(address)
	if err != nil {
		return address
	}
	return Address(chat, 0)
}

// IsGroup reports whether an address belongs to a group or a topic, which
// several people read. Groups have lower rate limits.
func IsGroup(address string) bool {
	chat, _, err := parseAddress(address)
	return err == nil && chat < 0
}
