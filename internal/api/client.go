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

// Window is how long Call repeats a request that was not answered (DESIGN 4).
const Window = 30 * time.Second

// MaxPath is the longest path of a Unix socket in bytes (DESIGN 4): some
// kernels end at 104, and a socket is worth nothing where only half of the
// clients can reach it.
const MaxPath = 100

// What can keep a request from being answered. All are matched with errors.Is.
var (
	// ErrLater: nobody answered (no socket, refused, cut off, 503). The
	// request may or may not have been carried out; the same one again is safe.
	ErrLater = errors.New("nightporter did not answer")
	// ErrVersion: the two programs speak different versions of this contract.
	ErrVersion = errors.New("different versions")
	// ErrInternal: the daemon took the request and failed at it.
	ErrInternal = errors.New("nightporter failed")
	// ErrAnswer: what answered does not speak this contract.
	ErrAnswer = errors.New("the answer makes no sense")
	// ErrRequest: the request cannot be sent as it is.
	ErrRequest = errors.New("not a request")
)

// Waits between two tries of Call.
const (
	firstWait = 5 * time.Millisecond
	lastWait  = time.Second
)

// Call sends body as JSON to path on a Unix socket and fills reply. A request
// that is not answered is repeated, byte for byte, with growing waits, until
// Window has passed or ctx ends; what comes of that is an ErrLater with the
// last reason.
//
// A nil error means that the daemon answered: reply.OK says whether it did
// what was asked, and reply.Text what to change where it did not.
func Call(ctx context.Context, socket, token, path string, body any, reply *Reply) error {
	request, err := encode(socket, token, path, body)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, Window)
	defer cancel()
	for wait := firstWait; ; wait = min(2*wait, lastWait) {
		err = once(ctx, socket, request, reply)
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

// Try is Call without the repeats: who watches wants to know at once that
// nobody is there, and says so before it calls again.
func Try(ctx context.Context, socket, token, path string, body any, reply *Reply) error {
	request, err := encode(socket, token, path, body)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, Window)
	defer cancel()
	return once(ctx, socket, request, reply)
}

// once sends a request a single time.
func once(ctx context.Context, socket string, request []byte, reply *Reply) error {
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
	case answer.status == 503:
		return fmt.Errorf("%w: %s", ErrLater, reply.Text)
	case answer.status >= 500:
		return fmt.Errorf("%w: %s", ErrInternal, reply.Text)
	case answer.version != versionText:
		return fmt.Errorf("%w: the answer has version %q, this program speaks %s: start the session or the command with the programs of one release", ErrVersion, answer.version, versionText)
	case answer.status >= 400:
		reply.OK = false // a status and a text are enough to know that nothing was done
	}
	return nil
}

// encode makes the bytes of one request. The version stands first, so that a
// daemon of another version need not understand what follows.
func encode(socket, token, path string, body any) ([]byte, error) {
	switch {
	case socket == "":
		return nil, fmt.Errorf("%w: no socket is named", ErrRequest)
	case len(socket) > MaxPath:
		return nil, fmt.Errorf("%w: the socket's path has %d bytes, at most %d are possible: %s", ErrRequest, len(socket), MaxPath, socket)
	case strings.ContainsFunc(socket, control):
		return nil, fmt.Errorf("%w: the socket's path holds a control character: %q", ErrRequest, socket)
	case strings.ContainsFunc(token, control):
		return nil, fmt.Errorf("%w: the token holds a control character", ErrRequest) // never the token itself
	}
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false) // an event's < stays a <
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

// control reports whether r would end a header or a path early.
func control(r rune) bool { return r < 0x20 || r == 0x7f }
