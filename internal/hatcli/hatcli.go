// Package hatcli is hat, the client that an agent inside a session uses to
// talk to nightporter (SPEC 11). It is a package of its own because
// nightporter itself behaves as hat when it is called by that name.
//
// Start-up is what a call costs. So there is no flag library here, and
// nothing that pulls in package net: a test counts the imports.
package hatcli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/nightporter/nightporter/internal/api"
)

// Main runs hat with the arguments after the program's name and returns its
// exit code: 0 accepted, 1 refused (the text on stderr says what to change),
// 2 usage, 75 try later. getenv finds the session's socket and token.
func Main(args []string, stdin io.Reader, stdout, stderr io.Writer, getenv func(string) string) int {
	return run(args, stdin, stdout, stderr, getenv, api.Window)
}

// run is Main with the time for which an unanswered request is repeated.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer, getenv func(string) string, window time.Duration) int {
	h := &hat{stdin: stdin, stdout: stdout, getenv: getenv, window: window}
	err := h.command(args)
	var usage usageError
	var refused refusal
	switch {
	case err == nil:
		return api.ExitAccepted
	case errors.As(err, &usage):
		say(stderr, "hat: "+err.Error())
		if usage.help != "" {
			say(stderr, usage.help)
		}
		return api.ExitUsage
	case errors.As(err, &refused):
		say(stderr, "hat: refused: "+refused.text)
		return api.ExitRefused
	case errors.Is(err, api.ErrRequest):
		say(stderr, "hat: "+err.Error())
		return api.ExitUsage
	case errors.Is(err, api.ErrLater):
		say(stderr, "hat: "+err.Error()+"\nTried for "+window.String()+". Give exactly the same command again in a minute: it counts once, however often it is given.")
		return api.ExitLater
	default: // internal error, another version, no sense: nothing that the caller could change
		say(stderr, "hat: "+err.Error())
		return api.ExitLater
	}
}

// hat is one call of the program.
type hat struct {
	stdin  io.Reader
	stdout io.Writer
	getenv func(string) string
	window time.Duration
}

// command runs the command that the arguments name.
func (h *hat) command(args []string) error {
	name, rest := "", []string(nil)
	if len(args) > 0 {
		name, rest = args[0], args[1:]
	}
	switch name {
	case "emit":
		return h.emit(rest)
	case "ask":
		return h.ask(rest)
	case "task":
		return h.task(rest)
	case "guidance":
		return h.guidance(rest)
	case "note":
		return h.note(rest)
	case "memory":
		return h.memory(rest)
	case "hook":
		return h.hook(rest)
	case "version", "--version":
		return h.version(rest)
	case "help", "-h", "--help":
		say(h.stdout, helpAll)
		return nil
	case "":
		return usageError{"a command is missing", helpAll}
	}
	return usageError{fmt.Sprintf("there is no command %q", name), helpAll}
}

// call asks the session's socket. A refusal is an error.
func (h *hat) call(path string, body any) (api.Reply, error) {
	socket, token := h.getenv(api.EnvSocket), h.getenv(api.EnvToken)
	for _, e := range [...]struct{ name, value string }{{api.EnvSocket, socket}, {api.EnvToken, token}} {
		if e.value == "" {
			return api.Reply{}, usageError{e.name + " is not set: hat works only inside a session that nightporter started", ""}
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), h.window)
	defer cancel()
	var reply api.Reply
	if err := api.Call(ctx, socket, token, path, body, &reply); err != nil {
		return api.Reply{}, err
	}
	if !reply.OK {
		text := reply.Text
		if text == "" {
			text = "no reason was given"
		}
		return api.Reply{}, refusal{text}
	}
	return reply, nil
}

// usageError is a call that cannot be meant; nothing was sent.
type usageError struct {
	text string
	help string // usage to show, "" where the text is enough
}

func (e usageError) Error() string { return e.text }

// refusal is nightporter's no; the text says what to change.
type refusal struct{ text string }

func (e refusal) Error() string { return e.text }

// say writes text and ends the line. Nobody is left to be told when it fails.
func say(w io.Writer, text string) {
	if !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	_, _ = io.WriteString(w, text)
}
