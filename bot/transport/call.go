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

// maxAnswer is what is read of one answer, in bytes. As many updates or
// messages as a platform gives at once, with all that people can put into
// them, stay below it.
const maxAnswer = 32 << 20

// NoResponseError is a call without an answer.
type NoResponseError struct {
	Sent bool // there was a connection, so the call may have had its effect

	call, text string
	err        error
}

func (s *NoResponseError) Error() string { return s.call + ": " + s.text }

// Text is what went wrong, without secrets.
func (s *NoResponseError) Text() string { return s.text }

// Unwrap leads to the cause, such as context.Canceled.
func (s *NoResponseError) Unwrap() error { return s.err }

// Response is what somebody answered, whoever that was.
type Response struct {
	Status int // of HTTP
	Header http.Header
	Body   []byte
}

// Exchange makes one call of a method within a limit and reads its answer. An
// error is a *Silence.
func (l *Conn) Exchange(r *http.Request, method string, limit time.Duration) (Response, error) {
	ctx, cancel := context.WithTimeout(r.Context(), limit)
	defer cancel()
	var connected atomic.Bool
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { connected.Store(true) }})
	resp, err := l.client.Do(r.WithContext(ctx))
	var body []byte
	if err == nil {
		body, err = io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
		_ = resp.Body.Close() // only read
	}
	if err == nil {
		return Response{resp.StatusCode, resp.Header, body}, nil
	}
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err // its address may hold what is nobody's business
	}
	text := l.o.Redact(err.Error())
	if errors.Is(err, context.DeadlineExceeded) {
		text = fmt.Sprintf("no answer within %s", limit)
	}
	return Response{}, &NoResponseError{call: strings.ToLower(l.o.Platform) + " " + method, Sent: connected.Load(), text: text, err: err}
}
