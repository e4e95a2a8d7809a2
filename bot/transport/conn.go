package transport

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"
)

// Options configure a Conn. Only OnChange and Dial are optional.
type Options struct {
	Platform string // name for people: "Telegram"
	ID       string // id of the bot or app at its platform; not secret
	Log      *slog.Logger
	Clock    func() time.Time
	Redact   func(text string) string // removes secrets from a text
	OnChange func(State)              // called when Connected or Trouble has changed; must not block; nil = no call
	Dial     Dial                     // nil means TCP
}

// Dial opens a network connection. Tests replace it by one within the process.
type Dial func(ctx context.Context, network, address string) (net.Conn, error)

// TCP is the default Dial.
var TCP Dial = (&net.Dialer{Timeout: 10 * time.Second, KeepAlive: 15 * time.Second}).DialContext

// Conn is the HTTP client of one bot at its platform, with the state of the
// connection. Its methods may be called from any goroutine.
type Conn struct {
	o      Options
	client *http.Client

	mu    sync.Mutex
	state State
}

// New returns a Conn. Until MarkUp its State is not connected, with the trouble
// TroubleStart.
func New(o Options) *Conn {
	if o.Dial == nil {
		o.Dial = TCP
	}
	return &Conn{
		o: o,
		client: &http.Client{
			Transport: transport(o.Dial),
			// No platform redirects API calls. Following a redirect could send a
			// token in the URL to another host, in the Referer header.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		state: State{Since: o.Clock(), Trouble: TroubleStart, Text: "not tried yet"},
	}
}

// transport returns an HTTP transport that detects dead connections, which a
// laptop has after it wakes up.
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

// CloseIdle closes unused connections.
func (c *Conn) CloseIdle() { c.client.CloseIdleConnections() }
