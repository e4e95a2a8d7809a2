// Package hatcli is hat, the client by which an agent inside a session talks to
// nightporter. It is a package because nightporter itself acts as hat if it is
// started under that name.
//
//	hatcli.go       Main, exit codes, commands
//	call.go         the call of the session's socket
//	flags.go        arguments of a command
//	emit.go data.go hat emit and hat ask, and the JSON of an event
//	show.go         hat task, guidance, note, memory, version
//	hook.go         hat hook stop, called by an agent's program
//	help.go         usage texts
//
// Every call of an agent pays for the start of the process. Therefore the
// package uses no flag library and nothing that imports package net; a test of
// package api counts the imports.
package hatcli

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/nightporter/nightporter/internal/api"
)

// Main runs hat with the arguments after the program's name and returns its
// exit code: 0 accepted, 1 refused (stderr names the correction), 2 usage, 75
// try later. getenv looks up the session's socket and token.
func Main(args []string, stdin io.Reader, stdout, stderr io.Writer, getenv func(string) string) int {
	return run(args, stdin, stdout, stderr, getenv, api.RetryWindow)
}

// run is Main with the time for which it repeats an unanswered request.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer, getenv func(string) string, window time.Duration) int {
	h := &hat{stdin: stdin, stdout: stdout, getenv: getenv, window: window}
	err := h.command(args)
	var usage usageError
	var refused refusal
	switch {
	case err == nil:
		return api.ExitAccepted
	case errors.As(err, &usage):
		printLine(stderr, "hat: "+err.Error())
		if usage.help != "" {
			printLine(stderr, usage.help)
		}
		return api.ExitUsage
	case errors.As(err, &refused):
		printLine(stderr, "hat: refused: "+refused.text)
		return api.ExitRefused
	case errors.Is(err, api.ErrRequest):
		printLine(stderr, "hat: "+err.Error())
		return api.ExitUsage
	case errors.Is(err, api.ErrLater):
		printLine(stderr, "hat: "+err.Error()+"\nTried for "+window.String()+". Give exactly the same command again in a minute: it counts once, however often it is given.")
		return api.ExitLater
	default: // errors that the caller cannot correct: an internal error, another version
		printLine(stderr, "hat: "+err.Error())
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

// command runs the command named by the first argument.
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
		printLine(h.stdout, helpAll)
		return nil
	case "":
		return usageError{"a command is missing", helpAll}
	}
	return usageError{fmt.Sprintf("there is no command %q", name), helpAll}
}

// usageError is an invalid call. Nothing was sent.
type usageError struct {
	text string
	help string // usage to print, "" for none
}

func (e usageError) Error() string { return e.text }

// printLine writes text with a line end. It ignores errors, because no other
// output exists to report them.
func printLine(w io.Writer, text string) {
	if !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	_, _ = io.WriteString(w, text)
}
