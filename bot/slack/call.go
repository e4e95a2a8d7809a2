package slack

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/slack-go/slack"
)

// maxAnswer is what is read of one answer: two hundred messages with all that
// people can put into them stay below it.
const maxAnswer = 32 << 20

// refusal is an answer that is no success.
type refusal struct {
	method  string
	code    int // of HTTP
	text    string
	needed  string        // scope
	after   time.Duration // 0 = none
	foreign bool          // not the platform's form: a proxy, a login page
}

// Error is the platform's word alone: slack-go compares it.
func (r *refusal) Error() string { return r.text }

// Unwrap lets slack-go see that it has to wait.
func (r *refusal) Unwrap() error {
	if r.after > 0 {
		return &slack.RateLimitedError{RetryAfter: r.after}
	}
	return nil
}

// silence is a call without an answer.
type silence struct {
	method string
	sent   bool // there was a connection, so the call may have had its effect
	text   string
	err    error
}

func (s *silence) Error() string { return "slack " + s.method + ": " + s.text }

// Unwrap leads to the cause, such as context.Canceled.
func (s *silence) Unwrap() error { return s.err }

// Do is the HTTP client of slack-go. Errors are *refusal and *silence.
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
	}
	ctx, cancel := context.WithTimeout(r.Context(), limit)
	defer cancel()
	var connected atomic.Bool
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { connected.Store(true) }})
	resp, err := b.client.Do(r.WithContext(ctx))
	if err == nil {
		body, err = io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
		_ = resp.Body.Close() // only read
	}
	if err != nil {
		var u *url.Error
		if errors.As(err, &u) {
			err = u.Err // its address may hold what is nobody's business
		}
		text := b.o.without(err.Error())
		if errors.Is(err, context.DeadlineExceeded) {
			text = fmt.Sprintf("no answer within %s", limit)
		}
		return 0, nil, nil, &silence{method: method, sent: connected.Load(), text: text, err: err}
	}
	if ours || resp.StatusCode != http.StatusOK {
		if refused := b.refused(method, resp.StatusCode, resp.Header, body); refused != nil {
			return resp.StatusCode, nil, nil, refused
		}
	}
	return resp.StatusCode, resp.Header, brief(method, body), nil
}

// brief is a successful answer without what it repeats of our own message: the
// library would read that, too, and a field that it does not know would make a
// failure, and a second message, of what arrived.
func brief(method string, body []byte) []byte {
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

// refused reads an answer; nil is success.
func (b *Bot) refused(method string, status int, header http.Header, body []byte) error {
	r := &refusal{method: method, code: status}
	var form struct {
		OK     *bool  `json:"ok"`
		Error  string `json:"error"`
		Needed string `json:"needed"`
	}
	known := json.Unmarshal(body, &form) == nil && form.OK != nil
	seconds, err := strconv.Atoi(header.Get("Retry-After"))
	switch {
	case status == http.StatusTooManyRequests, known && (form.Error == "ratelimited" || form.Error == "rate_limited"):
		r.text, r.after = "ratelimited", time.Second
		if err == nil && seconds > 0 {
			r.after = time.Duration(min(seconds, 3600)) * time.Second
		}
	case !known:
		r.foreign, r.text = true, fmt.Sprintf("%d %s", status, http.StatusText(status))
	case !*form.OK:
		r.text, r.needed = b.o.without(form.Error), b.o.without(form.Needed)
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
func (b *Bot) call(ctx context.Context, method string, token Secret, p url.Values, result any) (http.Header, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, b.base+method, strings.NewReader(p.Encode()))
	if err != nil {
		return nil, fmt.Errorf("slack %s: %w", method, err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Authorization", "Bearer "+string(token))
	status, header, body, err := b.exchange(r)
	if err != nil || result == nil {
		return header, err
	}
	if err := json.Unmarshal(body, result); err != nil {
		return header, &refusal{method: method, code: status, text: "unexpected result: " + b.o.without(err.Error()), foreign: true}
	}
	return header, nil
}
