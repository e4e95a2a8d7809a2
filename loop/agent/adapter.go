package agent

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
)

// Adapter knows one agent's command line and what its output means. A
// command of the user's is the one that knows nothing.
type Adapter interface {
	// Command returns the arguments behind the program, and whether the
	// prompt goes to standard input.
	Command(l ledger.Launch, d Definition, b SessionPaths) (args []string, stdin bool, err error)
	// Read reads a session's output, head and tail with a mark between them,
	// and says what it means. x is the exit as the shim recorded it. It never
	// fails: what is not understood is left unknown.
	Read(output io.Reader, x ledger.Exit) Verdict
}

// SessionPaths names what a session finds in its folder.
type SessionPaths struct {
	Prompt string // a file with the prompt, for an agent that does not get it otherwise
	Hat    string // the program hat
}

// Adapters may do more: loggedIn, and these.
type (
	// variabled is one whose program needs variables of its own.
	variabled interface{ Vars() []string }
	// known is one of a program that nightporter knows.
	known interface {
		Program() string // its name on PATH
		Install() string // the command that installs it
	}
)

// Verdict is what an agent's output says. Unknown numbers are -1.
type Verdict struct {
	Trouble ledger.FailureClass
	Until   time.Time // end of a limit, zero where it was not named
	Text    string    // the line that says so
	Turns   int
	Tokens  int64
	CostUSD float64
}

// unknown is the verdict on an output that says nothing.
func unknown() Verdict { return Verdict{Turns: -1, Tokens: -1, CostUSD: -1} }

// adapterOf returns what knows the agent.
func adapterOf(d Definition) (Adapter, error) {
	switch {
	case d.Scripted:
		return scripted{}, nil
	case d.Output == "" || d.Output == "text":
		return command{}, nil
	case d.Output == Claude:
		return claude{}, nil
	}
	return nil, d.problem(fmt.Sprintf("output = %q is not known", d.Output),
		fmt.Sprintf("set output = \"text\" in [agents.%s], or leave it out", d.Name))
}

// command is any command: the prompt goes in, an event comes by hat, and the
// output is for people.
type command struct{}

// Command gives the prompt as the definition asks.
func (command) Command(l ledger.Launch, d Definition, b SessionPaths) ([]string, bool, error) {
	args := d.Command[1:len(d.Command):len(d.Command)]
	switch d.Prompt {
	case "", PromptStdin:
		return args, true, nil
	case PromptArg:
		if len(l.Prompt) > maxArg || strings.ContainsRune(l.Prompt, 0) {
			return nil, false, d.problem(fmt.Sprintf("a prompt of %d kB does not fit into one argument", len(l.Prompt)>>10),
				fmt.Sprintf("set prompt = \"stdin\" or \"file\" in [agents.%s]", d.Name))
		}
		return append(args, l.Prompt), false, nil
	case PromptFile:
		return append(args, b.Prompt), false, nil
	}
	return nil, false, d.problem(fmt.Sprintf("prompt = %q is not known", d.Prompt), "write \"stdin\", \"arg\" or \"file\"")
}

// Read looks for a provider's words in the last lines of a session that
// failed, and nowhere else: a model that writes about rate limits is not
// limited.
func (command) Read(_ io.Reader, x ledger.Exit) Verdict {
	v := unknown()
	switch x.Reason {
	case ledger.ExitStall, ledger.ExitWall: // some never give up, and say so again and again
	case ledger.ExitSelf:
		if x.Code == 0 {
			return v
		}
	default:
		return v
	}
	v.Trouble, v.Until, v.Text = recognise(x.Tail, x.Ended)
	return v
}

// scripted is an agent that calls no model: what it costs is known.
type scripted struct{ command }

// Read says that there were no turns, and no cost.
func (scripted) Read(output io.Reader, x ledger.Exit) Verdict {
	v := command{}.Read(output, x)
	v.Tokens, v.CostUSD = 0, 0
	return v
}
