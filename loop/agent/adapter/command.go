package adapter

import (
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

	Launch     ledger.Launch
	PromptFile string // file with the prompt, for PromptFile
	Hat        string // path of the program hat
}

func (c Call) problem(text, fix string) error { return Problem(c.Agent, text, fix) }

// Problem returns a *ledger.InputError about a configured agent.
func Problem(agent, text, fix string) error {
	return &ledger.InputError{Diagnostics: []ledger.Diagnostic{{Text: fmt.Sprintf("agent %q: %s", agent, text), Remedy: fix}}}
}

// command is the row of the user's own commands. Its output is for people, so
// the session's event comes through hat alone.
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
	Failures: NoFailures, // failures adds those of all agents
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

// readText searches the last lines of a failed session for known phrases.
// Elsewhere they prove nothing: a model may write about rate limits without
// being limited.
func readText(_ io.Reader, x ledger.Exit, known []Failure) Verdict {
	v := unknownVerdict()
	switch x.Reason {
	case ledger.ExitStall, ledger.ExitWall: // some agents never give up, and repeat the cause until they are stopped
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
