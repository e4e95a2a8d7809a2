package transport

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"
)

// Options are what a Link needs: all of them but Changed and Dial.
type Options struct {
	Platform string // as people know it: "Telegram"
	ID       string // which of the platform's bots or apps this is; no secret
	Log      *slog.Logger
	Clock    func() time.Time
	Redact   func(text string) string // takes what is secret out of a text
	OnChange func(State)              // told whenever State changes but for Heard; must return at once. nil = nobody
	Dial     Dial                     // nil = TCP
}

// Dial opens a connection to a platform. Tests have one that stays within
// their process.
type Dial func(ctx context.Context, network, address string) (net.Conn, error)

// TCP is the Dial of everybody else.
var TCP Dial = (&net.Dialer{Timeout: 10 * time.Second, KeepAlive: 15 * time.Second}).DialContext

// Conn is the line of one bot to its platform. Its methods can be called from
// any goroutine.
type Conn struct {
	o      Options
	client *http.Client

	mu    sync.Mutex
	state State
}

// New makes a line that was not tried yet.
func New(o Options) *Conn {
	if o.Dial == nil {
		o.Dial = TCP
	}
	return &Conn{
		o: o,
		client: &http.Client{
			Transport: transport(o.Dial),
			// No platform redirects. Whoever does is not the platform, and
			// would get a token that stands in the address as the Referer.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		state: State{Since: o.Clock(), Trouble: TroubleStart, Text: "not tried yet"},
	}
}

// transport notices dead connections: a laptop wakes up with some.
func transport(dial Dial) *http.Transport {
	return &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           dial,
		TLSHandshakeTimeout:   10 * time.Second,
		ForceAttemptHTTP2:     true,
		HTTP2:                 &http.HTTP2Config{SendPingTimeout: 15 * time.Second, PingTimeout: 15 * time.Second},
		MaxIdleConnsPerHost:   4,
		IdleConnTimeout:       90 * time.Second,
		ExpectContinueTimeout: time.Second,
	}
}

// CloseIdle ends connections that nobody uses.
func (c *Conn) CloseIdle() { c.client.CloseIdleConnections() }
