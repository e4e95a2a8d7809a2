package transport

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync/atomic"
	"time"
)

// maxResponse is what is read of one answer, in bytes. As many updates or
// messages as a platform gives at once, with all that people can put into
// them, stay below it.
const maxResponse = 32 << 20

// NoResponseError is a call without an answer.
type NoResponseError struct {
	Sent bool // there was a connection, so the call may have had its effect

	call, text string
	err        error
}

func (e *NoResponseError) Error() string { return e.call + ": " + e.text }

// Text is what went wrong, without secrets.
func (e *NoResponseError) Text() string { return e.text }

// Unwrap leads to the cause, such as context.Canceled.
func (e *NoResponseError) Unwrap() error { return e.err }

// Response is what somebody answered, whoever that was.
type Response struct {
	Status int // of HTTP
	Header http.Header
	Body   []byte
}

// Exchange makes one call of a method within a limit and reads its answer. An
// error is a *Silence.
func (c *Conn) Exchange(r *http.Request, method string, limit time.Duration) (Response, error) {
	ctx, cancel := context.WithTimeout(r.Context(), limit)
	defer cancel()
	var connected atomic.Bool
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { connected.Store(true) }})
	resp, err := c.client.Do(r.WithContext(ctx))
	var body []byte
	if err == nil {
		body, err = io.ReadAll(io.LimitReader(resp.Body, maxResponse))
		_ = resp.Body.Close() // only read
	}
	if err == nil {
		return Response{resp.StatusCode, resp.Header, body}, nil
	}
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err // its address may hold what is nobody's business
	}
	text := c.o.Redact(err.Error())
	if errors.Is(err, context.DeadlineExceeded) {
		text = fmt.Sprintf("no answer within %s", limit)
	}
	return Response{}, &NoResponseError{call: strings.ToLower(c.o.Platform) + " " + method, Sent: connected.Load(), text: text, err: err}
}
