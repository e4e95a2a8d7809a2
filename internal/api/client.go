package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
)

// RetryWindow is how long Call repeats an unanswered request.
const RetryWindow = 30 * time.Second

// MaxPath limits the path of a Unix socket, in bytes. The limit of some kernels
// is 104.
const MaxPath = 100

// Errors of requests that got no reply, to be tested with errors.Is.
var (
	// ErrLater: no answer (no socket, connection refused or cut off, status
	// 503), or one that tells to wait (status 429). The request may or may not have been carried out; repeating it is
	// safe.
	ErrLater = errors.New("nightporter did not answer")
	// ErrVersion: client and server speak different versions of this contract.
	ErrVersion = errors.New("different versions")
	// ErrInternal: the daemon accepted the request and failed.
	ErrInternal = errors.New("nightporter failed")
	// ErrAnswer: the answer does not follow this contract.
	ErrAnswer = errors.New("the answer makes no sense")
	// ErrRequest: the request is invalid and was not sent.
	ErrRequest = errors.New("not a request")
)

// Waits between two attempts of Call.
const (
	firstWait = 5 * time.Millisecond
	lastWait  = time.Second
)

// Call sends body as JSON to path on a Unix socket and fills in reply. It
// repeats an unanswered request, byte for byte and with growing waits, until
// Window has passed or ctx ends; then it returns an ErrLater with the last
// reason.
//
// A nil error means that the daemon answered: reply.OK reports whether the
// request was carried out, and reply.Text names the correction if not.
func Call(ctx context.Context, socket, token, path string, body any, reply *Reply) error {
	request, err := encode(socket, token, path, body)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, RetryWindow)
	defer cancel()
	for wait := firstWait; ; wait = min(2*wait, lastWait) {
		err = tryOnce(ctx, socket, request, reply)
		if !errors.Is(err, ErrLater) {
			return err
		}
		pause := time.NewTimer(wait)
		select {
		case <-pause.C:
		case <-ctx.Done():
			pause.Stop()
			return err
		}
	}
}

// Try is Call without repetition, for a caller that immediately shows that the
// daemon does not respond.
func Try(ctx context.Context, socket, token, path string, body any, reply *Reply) error {
	request, err := encode(socket, token, path, body)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, RetryWindow)
	defer cancel()
	return tryOnce(ctx, socket, request, reply)
}

// tryOnce sends a request a single time.
func tryOnce(ctx context.Context, socket string, request []byte, reply *Reply) error {
	answer, err := exchange(ctx, socket, request)
	if err != nil {
		return err
	}
	*reply = Reply{}
	if err := json.Unmarshal(answer.body, reply); err != nil {
		return fmt.Errorf("%w: status %d, %w", ErrAnswer, answer.status, err)
	}
	switch {
	case answer.status == 426:
		return fmt.Errorf("%w: %s", ErrVersion, reply.Text)
	case answer.status == 503 || answer.status == 429:
		return fmt.Errorf("%w: %s", ErrLater, reply.Text)
	case answer.status >= 500:
		return fmt.Errorf("%w: %s", ErrInternal, reply.Text)
	case answer.version != versionText:
		return fmt.Errorf("%w: the answer has version %q, this program speaks %s: start the session or the command with the programs of one release", ErrVersion, answer.version, versionText)
	case answer.status >= 400:
		reply.OK = false // a status and a text suffice to know that nothing was done
	}
	return nil
}

// encode encodes a request. The version header comes first, so that a daemon of
// another version need not understand the rest.
func encode(socket, token, path string, body any) ([]byte, error) {
	switch {
	case socket == "":
		return nil, fmt.Errorf("%w: no socket is named", ErrRequest)
	case len(socket) > MaxPath:
		return nil, fmt.Errorf("%w: the socket's path has %d bytes, at most %d are possible: %s", ErrRequest, len(socket), MaxPath, socket)
	case strings.ContainsFunc(socket, isControl):
		return nil, fmt.Errorf("%w: the socket's path holds a control character: %q", ErrRequest, socket)
	case strings.ContainsFunc(token, isControl):
		return nil, fmt.Errorf("%w: the token holds a control character", ErrRequest) // the message must not contain the token
	}
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false) // keep < in an event as it is
	if err := e.Encode(body); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrRequest, err)
	}
	if text.Len() > MaxBody {
		return nil, fmt.Errorf("%w: it has %d bytes, at most %d are taken", ErrRequest, text.Len(), MaxBody)
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "POST %s HTTP/1.1\r\n"+
		VersionHeader+": "+versionText+"\r\n"+
		"Host: nightporter\r\n"+
		TokenHeader+": %s\r\n"+
		"Connection: close\r\n"+
		"Content-Type: application/json\r\n"+
		"Content-Length: %d\r\n\r\n", path, token, text.Len())
	b.Write(text.Bytes())
	return b.Bytes(), nil
}

// isControl reports whether r could end a header or a path early.
func isControl(r rune) bool { return r < 0x20 || r == 0x7f }
