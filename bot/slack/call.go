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

// apiError is a response that reports a failure.
type apiError struct {
	method     string
	code       int // HTTP status
	text       string
	needed     string        // the scope that the method needs
	retryAfter time.Duration // 0 = none
	foreign    bool          // the response is not in Slack's form: a proxy or a login page sent it
}

// Error returns Slack's error code alone, because slack-go compares it.
func (r *apiError) Error() string { return r.text }

// Unwrap makes slack-go recognize a rate limit.
func (r *apiError) Unwrap() error {
	if r.retryAfter > 0 {
		return &slack.RateLimitedError{RetryAfter: r.retryAfter}
	}
	return nil
}

// Do is the HTTP client of slack-go. Errors are *apiError or
// *transport.NoResponseError.
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

// exchange makes one call, and checks the response before slack-go decodes it.
func (b *Bot) exchange(r *http.Request) (status int, header http.Header, body []byte, err error) {
	method, ours := strings.CutPrefix(r.URL.String(), b.base)
	method, _, _ = strings.Cut(method, "?")
	if ours = ours && !strings.Contains(method, "/"); !ours {
		method = "upload" // its URL is a secret
	}
	limit := b.o.Timeout
	if !ours {
		limit *= 4
	} else if r.Header.Get("Authorization") == "" {
		r.Header.Set("Authorization", "Bearer "+string(b.tokenFor(method))) // slack-go sends the token in some bodies only
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

// noteServerTime records Slack's time from the Date header of a response.
func (b *Bot) noteServerTime(header http.Header) {
	date, err := http.ParseTime(header.Get("Date"))
	if err != nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.serverTime, b.serverTimeAt = date, time.Now()
}

// platformTime returns Slack's current time, zero before the first response. It
// may lag behind Slack's clock but is never ahead of it: local time only
// measures the time since that response, and does not advance while the machine
// sleeps.
func (b *Bot) platformTime() time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.serverTime.IsZero() {
		return time.Time{}
	}
	return b.serverTime.Add(time.Since(b.serverTimeAt))
}

// tokenFor returns the token that a method requires.
func (b *Bot) tokenFor(method string) transport.Secret {
	if method == openSocket {
		return b.o.AppToken
	}
	return b.o.BotToken
}

// trimEcho removes the echo of our own message from a successful response.
// slack-go would decode it too, and a field of an unknown type would turn a posted
// message into an error and a second attempt.
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

// openSocket is the only method that uses the app token.
const openSocket = "apps.connections.open"

// parseResponse returns the *apiError of a response, nil for success.
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

// call calls a method and decodes the result into result, a type of this package;
// nil discards it. It returns the response's header.
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
