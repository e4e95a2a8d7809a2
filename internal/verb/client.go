// Package verb is what a session can ask of nightporter, one method a verb. Two
// packages put a surface before it: hatcli, the command line of hat, and hatmcp, the
// tools of nightporter mcp. What is sent, what is refused and in which words it is
// answered stands here alone.
//
//	client.go   Client, its errors, the call of the session's socket
//	event.go    Emit and Ask, which end the session
//	object.go   the JSON of an event or of tasks, checked before it is sent
//	task.go     tasks: list, show, add
//	note.go     guidance, notes, memory
//
// The package belongs to hat, whose start every call of an agent pays for: it
// imports nothing that imports package net; a test of package api counts the
// imports.
package verb

import (
	"context"
	"errors"
	"time"

	"github.com/nightporter/nightporter/internal/api"
)

// Client calls the socket of one session. Its methods may be called by several
// goroutines at once. An error is an InvalidError (nothing was sent), a Refusal
// (nothing was done), or one of package api.
type Client struct {
	Socket string        // path of the session's socket
	Token  string        // names the session
	Task   string        // id of the session's own task, "" for none
	Window time.Duration // how long an unanswered request is repeated
}

// New returns the client of the session whose environment getenv looks up.
func New(getenv func(string) string) Client {
	return Client{Socket: getenv(api.EnvSocket), Token: getenv(api.EnvToken), Task: getenv(api.EnvTask), Window: api.RetryWindow}
}

// InvalidError is the error of a call that cannot be a request. Nothing was sent.
type InvalidError struct{ Text string }

func (e InvalidError) Error() string { return e.Text }

// Refusal is the error of a request that nightporter refused. Its text names the
// correction.
type Refusal struct{ Text string }

func (e Refusal) Error() string { return "refused: " + e.Text }

// Explain returns the text of an error of c for the agent, with what to do about it.
func (c Client) Explain(err error) string {
	if !errors.Is(err, api.ErrLater) {
		return err.Error()
	}
	return err.Error() + "\nTried for " + c.Window.String() + ". Send exactly the same again in a minute: it counts once, however often it is sent."
}

// call sends a request to the session's socket. A refusal is an error.
func (c Client) call(ctx context.Context, path string, body any) (api.Reply, error) {
	for _, e := range [...]struct{ name, value string }{{api.EnvSocket, c.Socket}, {api.EnvToken, c.Token}} {
		if e.value == "" {
			return api.Reply{}, InvalidError{e.name + " is not set: hat works only inside a session that nightporter started"}
		}
	}
	ctx, cancel := context.WithTimeout(ctx, c.Window)
	defer cancel()
	var reply api.Reply
	if err := api.Call(ctx, c.Socket, c.Token, path, body, &reply); err != nil {
		return api.Reply{}, err
	}
	if !reply.OK {
		text := reply.Text
		if text == "" {
			text = "no reason was given"
		}
		return api.Reply{}, Refusal{text}
	}
	return reply, nil
}

// text sends a request and returns the reply's text.
func (c Client) text(ctx context.Context, path string, body any) (string, error) {
	reply, err := c.call(ctx, path, body)
	if err == nil && reply.Text == "" {
		return "Done.", nil
	}
	return reply.Text, err
}
