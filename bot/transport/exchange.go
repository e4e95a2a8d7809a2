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

// maxResponse limits a response, in bytes. The largest page of updates or
// messages that a platform returns is smaller.
const maxResponse = 32 << 20

// NoResponseError is the error of a call that got no HTTP response.
type NoResponseError struct {
	Sent bool // a connection was opened, so the call may have had an effect

	call, text string
	err        error
}

// Error returns the name of the call and the failure, without secrets.
func (e *NoResponseError) Error() string { return e.call + ": " + e.text }

// Text describes the failure, without secrets.
func (e *NoResponseError) Text() string { return e.text }

// Unwrap returns the cause, such as context.Canceled.
func (e *NoResponseError) Unwrap() error { return e.err }

// Response is an HTTP response with its whole body. It may come from a proxy or
// a login page instead of the platform.
type Response struct {
	Status int // HTTP status code
	Header http.Header
	Body   []byte
}

// Exchange sends r and reads the response. method names the call in errors, and
// timeout limits the whole exchange. An error is always a *NoResponseError; any
// status code is a response.
func (c *Conn) Exchange(r *http.Request, method string, timeout time.Duration) (Response, error) {
	ctx, cancel := context.WithTimeout(r.Context(), timeout)
	defer cancel()
	var connected atomic.Bool
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { connected.Store(true) }})
	resp, err := c.client.Do(r.WithContext(ctx))
	var body []byte
	if err == nil {
		body, err = io.ReadAll(io.LimitReader(resp.Body, maxResponse))
		_ = resp.Body.Close() // an error of Close does not matter after reading
	}
	if err == nil {
		return Response{resp.StatusCode, resp.Header, body}, nil
	}
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err // the outer error contains the URL, and with it the token
	}
	text := c.o.Redact(err.Error())
	if errors.Is(err, context.DeadlineExceeded) {
		text = fmt.Sprintf("no answer within %s", timeout)
	}
	return Response{}, &NoResponseError{call: strings.ToLower(c.o.Platform) + " " + method, Sent: connected.Load(), text: text, err: err}
}
