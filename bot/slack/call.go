package slack

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/slack-go/slack"

	"github.com/nightporter/nightporter/bot/transport"
)

// apiError is an answer that is no success.
type apiError struct {
	method     string
	code       int // of HTTP
	text       string
	needed     string        // missingScope
	retryAfter time.Duration // 0 = none
	foreign    bool          // not the platform's form: a proxy, a login page
}

// Error is the platform's word alone: slack-go compares it.
func (r *apiError) Error() string { return r.text }

// Unwrap lets slack-go see that it has to wait.
func (r *apiError) Unwrap() error {
	if r.retryAfter > 0 {
		return &slack.RateLimitedError{RetryAfter: r.retryAfter}
	}
	return nil
}

// Do is the HTTP client of slack-go. Errors are *refusal and *transport.Silence.
func (b *Bot) Do(r *http.Request) (*http.Response, error) {
	status, header, body, err := b.exchange(r)
	if err != nil {
		return nil, err
	}
	return &http.Response{
		Status: http.StatusText(status), StatusCode: status, Header: header, Request: r,
		Body: io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body)),
	}, nil
}

// exchange makes one call and looks at the answer before the library does.
func (b *Bot) exchange(r *http.Request) (status int, header http.Header, body []byte, err error) {
	method, ours := strings.CutPrefix(r.URL.String(), b.base)
	method, _, _ = strings.Cut(method, "?")
	if ours = ours && !strings.Contains(method, "/"); !ours {
		method = "upload" // whose address is a secret
	}
	limit := b.o.Timeout
	if !ours {
		limit *= 4
	} else if r.Header.Get("Authorization") == "" {
		r.Header.Set("Authorization", "Bearer "+string(b.tokenFor(method))) // slack-go has it in some bodies alone
	}
	a, err := b.conn.Exchange(r, method, limit)
	if err != nil {
		return 0, nil, nil, err
	}
	if ours || a.Status != http.StatusOK {
		if refused := b.parseResponse(method, a.Status, a.Header, a.Body); refused != nil {
			b.noteAuth(method, refused)
			return a.Status, nil, nil, refused
		}
	}
	if ours {
		b.noteServerTime(a.Header)
		b.noteAuth(method, nil)
	}
	return a.Status, a.Header, trimEcho(method, a.Body), nil
}

// noteServerTime notes the platform's time, by the clock of an answer.
func (b *Bot) noteServerTime(header http.Header) {
	date, err := http.ParseTime(header.Get("Date"))
	if err != nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.serverTime, b.serverTimeAt = date, time.Now()
}

// platformTime is the platform's, zero where it did not tell yet. It may be
// late, never early: our clock only measures how long ago it told, and stands
// still while the machine sleeps.
func (b *Bot) platformTime() time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.serverTime.IsZero() {
		return time.Time{}
	}
	return b.serverTime.Add(time.Since(b.serverTimeAt))
}

// tokenFor is the token that a method takes.
func (b *Bot) tokenFor(method string) transport.Secret {
	if method == openSocket {
		return b.o.AppToken
	}
	return b.o.BotToken
}

// trimEcho is a successful answer without what it repeats of our own message: the
// library would read that, too, and a field that it does not know would make a
// failure, and a second message, of what arrived.
func trimEcho(method string, body []byte) []byte {
	if !strings.HasPrefix(method, "chat.") && !strings.HasPrefix(method, "views.") && method != "files.completeUploadExternal" {
		return body
	}
	var keep struct {
		OK      bool   `json:"ok"`
		Channel any    `json:"channel,omitempty"`
		TS      string `json:"ts,omitempty"`
		Message string `json:"message_ts,omitempty"`
	}
	if json.Unmarshal(body, &keep) != nil {
		return body
	}
	if _, is := keep.Channel.(string); !is {
		keep.Channel = nil
	}
	short, err := json.Marshal(keep)
	if err != nil {
		return body
	}
	return short
}

// openSocket is the one method that the app's token is for.
const openSocket = "apps.connections.open"

// parseResponse reads an answer; nil is success.
func (b *Bot) parseResponse(method string, status int, header http.Header, body []byte) error {
	r := &apiError{method: method, code: status}
	var form struct {
		OK     *bool  `json:"ok"`
		Error  string `json:"error"`
		Needed string `json:"needed"`
	}
	known := json.Unmarshal(body, &form) == nil && form.OK != nil
	seconds, err := strconv.Atoi(header.Get("Retry-After"))
	switch {
	case status == http.StatusTooManyRequests, known && (form.Error == "ratelimited" || form.Error == "rate_limited"):
		r.text, r.retryAfter = "ratelimited", time.Second
		if err == nil && seconds > 0 {
			r.retryAfter = time.Duration(min(seconds, 3600)) * time.Second
		}
	case !known:
		r.foreign, r.text = true, fmt.Sprintf("%d %s", status, http.StatusText(status))
	case !*form.OK:
		r.text, r.needed = b.o.redact(form.Error), b.o.redact(form.Needed)
		if r.text == "" {
			r.text = "unknown_error"
		}
	default:
		return nil
	}
	return r
}

// call makes a call whose result is read by a type of this package, nil for
// none. The header is the answer's.
func (b *Bot) call(ctx context.Context, method string, p url.Values, result any) (http.Header, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, b.base+method, strings.NewReader(p.Encode()))
	if err != nil {
		return nil, fmt.Errorf("slack %s: %w", method, err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	status, header, body, err := b.exchange(r)
	if err != nil || result == nil {
		return header, err
	}
	if err := json.Unmarshal(body, result); err != nil {
		return header, &apiError{method: method, code: status, text: "unexpected result: " + b.o.redact(err.Error()), foreign: true}
	}
	return header, nil
}
