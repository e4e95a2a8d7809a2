package adapter

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/nightporter/nightporter/loop/ledger"
)

// Text is the output format that is not parsed: it is meant for people.
const Text = "text"

// Ways to pass the prompt to an agent.
const (
	PromptStdin = "stdin" // on standard input, of any length
	PromptArg   = "arg"   // as the last argument, at most 128 kB
	PromptFile  = "file"  // in a file whose path is the last argument
)

// maxArg is the maximum length of one argument: the kernel's MAX_ARG_STRLEN
// without the final NUL.
const maxArg = 128<<10 - 1

// Call holds the data from which an agent's command line for one session is
// built.
type Call struct {
	Agent  string   // name in the configuration
	Output string   // configured output format
	Prompt string   // configured way to pass the prompt; "" = the agent's default
	Args   []string // arguments of the configured command
	MCP    bool     // whether the agent is offered the verbs of hat as tools
	// TrustsRepo permits settings, hooks and servers for agents that lie in the
	// repository. Without it a program that can leave them out does.
	TrustsRepo bool

	Launch     ledger.Launch
	PromptFile string // file with the prompt, for PromptFile
	Hat        string // path of the program hat
	Home       string // the session's HOME
}

func (c Call) problem(text, fix string) error { return Problem(c.Agent, text, fix) }

// Problem returns a *ledger.InputError about a configured agent.
func Problem(agent, text, fix string) error {
	return &ledger.InputError{Diagnostics: []ledger.Diagnostic{{Text: fmt.Sprintf("agent %q: %s", agent, text), Remedy: fix}}}
}

// command is the row of the user's own commands. Its output is for people, so
// the session's event comes through hat alone.
var command = Agent{
	Name:        Text,
	Origin:      FromCommand,
	Command:     commandArgs,
	StopHook:    NoStopHook,
	MCP:         NoMCP,
	Read:        readText,
	LastMessage: lastLines,
	Tail:        WholeLines,
	Idle:        IdleWaits,
	Circle:      NoCircle,
	Spent:       NoSpent,
	Reports:     "neither tokens nor cost",
	Cost:        CostUnknown,
	Guesses:     NoGuess,
	Kinds:       KindsUnknown,
	Login:       NoLogin,
	Vars:        NoVars,
	Home:        NoHome,
	Untrusted:   NoHome,
	Settings:    NoSettings,
	Secrets:     NoSecrets,
	Failures:    NoFailures, // failures adds those of all agents
}

// commandArgs passes the prompt in the configured way.
func commandArgs(c Call) ([]string, bool, error) {
	prompt := c.Launch.Prompt
	switch c.Prompt {
	case "", PromptStdin:
		return nil, true, nil
	case PromptArg:
		if len(prompt) > maxArg || strings.ContainsRune(prompt, 0) {
			return nil, false, c.problem(fmt.Sprintf("a prompt of %d kB does not fit into one argument", len(prompt)>>10),
				fmt.Sprintf("set prompt = \"stdin\" or \"file\" in [agents.%s]", c.Agent))
		}
		return []string{prompt}, false, nil
	case PromptFile:
		return []string{c.PromptFile}, false, nil
	}
	return nil, false, c.problem(fmt.Sprintf("prompt = %q is not known", c.Prompt), "write \"stdin\", \"arg\" or \"file\"")
}

// longestEvent is the longest line of a command's output that is parsed as an
// event, in bytes. Some programs repeat the whole conversation in one.
const longestEvent = 4 << 20

// readText searches the last lines of a session's output for known phrases,
// whatever its exit code: some programs exit with 0 after a limit. A line that
// is an event of a known program says what that program says, and nothing else:
// texts of the model and results of tools stand in other events.
func readText(output io.Reader, x ledger.Exit, known []Failure) Verdict {
	v := unknownVerdict()
	var lines []string  // the last lines, without events
	var last eventError // of the newest event that matters
	age := 0            // number of lines after it
	eachLine(output, longestEvent, func(line []byte, cut bool) {
		if line[0] != '{' {
			age++
			if !bytes.HasPrefix(line, []byte("[nightporter: ")) {
				parts := strings.FieldsFunc(Clean(string(line[:min(len(line), 1000)]), 1000), func(r rune) bool { return r == '\r' })
				lines = append(lines, parts...)
				lines = lines[max(0, len(lines)-searchedLines):]
			}
			return
		}
		e, answered := readEvent(line)
		switch {
		case cut:
		case answered:
			v.Turns = max(v.Turns, 0) + 1
			last, lines = eventError{}, nil
		case e != eventError{}:
			if e.until.IsZero() {
				e.until = last.until // an error that follows a limit's event is the same limit
			}
			last, age = e, 0
		}
	})
	if !gaveUp(x) {
		return v
	}
	if last.text != "" && age < searchedLines {
		if last.until.IsZero() {
			last.until = resetTime(last.text, x.Ended)
		}
		v.Failure, v.Until = waits(last.class(known), last.until, x.Ended)
		v.Text = shorten(last.text)
	} else {
		v.Failure, v.Until, v.Text = recognise(known, lines, x.Ended)
	}
	v.Unverified = v.Failure != ""
	return v
}

// gaveUp reports whether the end of a session's output can tell why it ended.
// The output of a session that nightporter ended or lost cannot; that of a
// stalled one can, because some agents never give up, and repeat the cause until
// they are stopped.
func gaveUp(x ledger.Exit) bool {
	return x.Reason == ledger.ExitSelf || x.Reason == ledger.ExitStall || x.Reason == ledger.ExitWall
}
