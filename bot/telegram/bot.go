package telegram

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/bot/transport"
)

// API is where the platform answers when nothing else is configured.
const API = "https://api.telegram.org"

// Prefix begins the address of every chat and person of this platform.
const Prefix = "telegram:"

// Options are what a Bot needs. Only Token must be set.
type Options struct {
	Token transport.Secret
	API   string       // base of the address, "" = API
	Log   *slog.Logger // nil = nothing is logged

	Clock func() time.Time                                 // nil = time.Now
	Wait  func(ctx context.Context, d time.Duration) error // pauses between polls; nil = a timer; an error ends Poll

	Dial     transport.Dial // nil = TCP
	Timeout  time.Duration  // of one call, 0 = 30 s; uploads may take four times as long
	LongPoll time.Duration  // how long the platform holds a poll, whole seconds; 0 = 50 s, its maximum

	// Changed is told whenever the connection comes, goes or has another
	// trouble. It must return at once.
	Changed func(transport.State)
	// Moved is told that a group has another address now, before the update
	// that says so is confirmed; with an error it is told again. nil = ignored.
	Moved func(ctx context.Context, from, to string) error
	// Lost is told that a topic is not there, whenever something that was for it
	// was sent to its group instead. nil = ignored.
	Lost func(chat string)
}

// Bot is one bot of the platform. Its methods can be called from any
// goroutine; Poll runs once at a time.
type Bot struct {
	o        Options
	id       string
	endpoint string
	line     *transport.Conn
}

var _ bot.Sender = (*Bot)(nil)

// tokenForm is how the platform's tokens look: the bot's user id, a colon, and
// what is secret. Anything else could not stand in an address.
var tokenForm = regexp.MustCompile(`^([0-9]{1,20}):[A-Za-z0-9_-]{1,128}$`)

// New makes a bot. It does not use the network. Errors say what is wrong with
// the token's form or with the address, and never hold the token.
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
		return nil, fmt.Errorf("telegram: api %q is no address; expected one like %s", strings.ReplaceAll(o.API, string(o.Token), transport.Hidden), API)
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.Wait == nil {
		o.Wait = transport.Wait
	}
	if o.Lost == nil {
		o.Lost = func(string) {}
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
		// The library puts token and method in by a format, so a percent sign
		// of the address must survive it.
		endpoint: strings.ReplaceAll(strings.TrimRight(o.API, "/"), "%", "%%") + "/bot%s/%s",
	}
	b.line = transport.New(transport.Options{Platform: "Telegram", ID: b.id, Log: o.Log, Clock: o.Clock, Clean: b.clean, Changed: o.Changed, Dial: o.Dial})
	return b, nil
}

// State is how Poll stands with the platform now.
func (b *Bot) State() transport.State { return b.line.State() }

// ID is the bot's user id, the part of its token that is no secret.
func (b *Bot) ID() string { return b.id }

// CursorName is the name of this bot's ledger.Cursor: "telegram:ID". Another
// bot's token has another one.
func (b *Bot) CursorName() string { return Prefix + b.id }

// Address is a chat's: "telegram:-100123", with a topic "telegram:-100123/55".
func Address(chat int64, thread int) string {
	a := Prefix + strconv.FormatInt(chat, 10)
	if thread != 0 {
		a += "/" + strconv.Itoa(thread)
	}
	return a
}

// place reads an address.
func place(address string) (chat int64, thread int, err error) {
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

// Group is the address of the group that a topic is of; any other address is
// its own.
func Group(address string) string {
	chat, _, err := place(address)
	if err != nil {
		return address
	}
	return Address(chat, 0)
}

// IsGroup reports whether an address is a group's: its rates are lower, and
// others read there.
func IsGroup(address string) bool {
	chat, _, err := place(address)
	return err == nil && chat < 0
}
