package adapter

import (
	"fmt"
	"io"
	"strings"

	"github.com/nightporter/nightporter/loop/ledger"
)

// Text is the form of output of which nothing is read: it is for people.
const Text = "text"

// Ways in which an agent gets its prompt.
const (
	PromptStdin = "stdin" // on standard input, of any length
	PromptArg   = "arg"   // as the last argument, at most 128 kB
	PromptFile  = "file"  // in a file whose path is the last argument
)

// maxArg is the most that one argument can take: the kernel's MAX_ARG_STRLEN,
// its end included.
const maxArg = 128<<10 - 1

// Call is one session as its agent's command line is built from it.
type Call struct {
	Agent  string   // name in the configuration
	Output string   // form of output, as the configuration has it
	Prompt string   // way in which the prompt is passed; "" is the agent's own
	Args   []string // arguments of the configured command

	Launch     ledger.Launch
	PromptFile string // holds the prompt, for an agent that gets it in no other way
	Hat        string // path of the program hat
}

func (c Call) problem(text, fix string) error { return Problem(c.Agent, text, fix) }

// Problem returns a *ledger.InputError about an agent of the configuration.
func Problem(agent, text, fix string) error {
	return &ledger.InputError{Diagnostics: []ledger.Diagnostic{{Text: fmt.Sprintf("agent %q: %s", agent, text), Remedy: fix}}}
}

// command is the row of any command of the user's: the prompt goes in, an
// event comes by hat, and the output is for people.
var command = Agent{
	Name:     Text,
	Origin:   FromCommand,
	Command:  commandArgs,
	StopHook: NoStopHook,
	Read:     readText,
	Tail:     WholeLines,
	Login:    NoLogin,
	Vars:     NoVars,
	Secrets:  NoSecrets,
	Failures: NoFailures, // those of all others count
}

// commandArgs passes the prompt as the configuration asks.
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

// readText looks for known phrases in the last lines of a session that failed,
// and nowhere else: a model that writes about rate limits is not limited.
func readText(_ io.Reader, x ledger.Exit, known []Failure) Verdict {
	v := unknown()
	switch x.Reason {
	case ledger.ExitStall, ledger.ExitWall: // some agents never give up, and repeat why they cannot go on
	case ledger.ExitSelf:
		if x.Code == 0 {
			return v
		}
	default:
		return v
	}
	v.Failure, v.Until, v.Text = recognise(known, x.Tail, x.Ended)
	return v
}
