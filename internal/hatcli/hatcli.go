// Package hatcli is hat, the client by which an agent inside a session talks to
// nightporter: the command line of the verbs in package verb. It is a package because
// nightporter itself acts as hat if it is started under that name.
//
//	hatcli.go       Main, exit codes, commands
//	flags.go        arguments of a command
//	emit.go data.go hat emit and hat ask, and the JSON of an event
//	add.go          hat task add
//	show.go         hat task, guidance, note, memory, version
//	hook.go         hat hook stop and hat hook write, called by an agent's program
//	mcp.go          hat mcp, the same verbs for an agent without a shell
//	help.go         usage texts
//
// Every call of an agent pays for the start of the process. Therefore the
// package uses no flag library and nothing that imports package net; a test of
// package api counts the imports.
package hatcli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/nightporter/nightporter/internal/api"
	"github.com/nightporter/nightporter/internal/verb"
)

// Main runs hat with the arguments after the program's name and returns its
// exit code: 0 accepted, 1 refused (stderr names the correction), 2 usage, 75
// try later. getenv looks up the session's socket and token.
func Main(args []string, stdin io.Reader, stdout, stderr io.Writer, getenv func(string) string) int {
	return run(args, stdin, stdout, stderr, getenv, api.RetryWindow)
}

// run is Main with the time for which it repeats an unanswered request.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer, getenv func(string) string, window time.Duration) int {
	h := &hat{ctx: context.Background(), stdin: stdin, stdout: stdout, client: verb.New(getenv), become: become}
	h.client.Window = window
	err := h.command(args)
	var usage usageError
	var invalid verb.InvalidError
	var refused verb.Refusal
	switch {
	case err == nil:
		return api.ExitAccepted
	case errors.As(err, &usage):
		printLine(stderr, "hat: "+err.Error())
		if usage.help != "" {
			printLine(stderr, usage.help)
		}
		return api.ExitUsage
	}
	printLine(stderr, "hat: "+h.client.Explain(err))
	switch {
	case errors.As(err, &refused):
		return api.ExitRefused
	case errors.As(err, &invalid) || errors.Is(err, api.ErrRequest):
		return api.ExitUsage
	default: // no answer, or what the caller cannot correct: an internal error, another version
		return api.ExitLater
	}
}

// hat is one call of the program.
type hat struct {
	ctx    context.Context //nolint:containedctx // of the process, which is this call
	stdin  io.Reader
	stdout io.Writer
	client verb.Client
	become func(program string, args []string) error
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
	case "mcp":
		return h.mcp(rest)
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

// withHelp adds the usage of a command to the error of a call that cannot be a
// request.
func withHelp(err error, help string) error {
	var invalid verb.InvalidError
	if errors.As(err, &invalid) {
		return usageError{invalid.Text, help}
	}
	return err
}

// print prints the answer of a verb.
func (h *hat) print(text string, err error) error {
	if err == nil {
		printLine(h.stdout, text)
	}
	return err
}

// printLine writes text with a line end. It ignores errors, because no other
// output exists to report them.
func printLine(w io.Writer, text string) {
	if !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	_, _ = io.WriteString(w, text)
}
