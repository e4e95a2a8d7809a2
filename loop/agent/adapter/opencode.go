package adapter

import (
	"fmt"
	"io"
	"slices"

	"github.com/nightporter/nightporter/loop/ledger"
)

// Opencode is the name of opencode, as an agent and as an output format.
const Opencode = "opencode"

// opencode is the row of opencode. It runs headless, with one conversation per
// session. Servers of MCP are named in its configuration alone.
var opencode = Agent{
	Name:        Opencode,
	Origin:      FromPath,
	Program:     "opencode",
	Install:     "npm i -g opencode-ai",
	Measured:    Measured{"1.18.33", "2026-11-27"},
	Command:     opencodeArgs,
	StopHook:    NoStopHook, // its plugins are not asked before a conversation ends
	MCP:         NoMCP,
	Read:        opencodeRead,
	LastMessage: opencodeLastMessage,
	Tail:        passageTail,
	Idle:        0.05, // 1.5 % was measured
	Circle:      opencodeCircle,
	Spent:       opencodeSpent,
	Reports:     "tokens, and cost where it knows the price",
	Cost:        CostReported,
	Guesses:     NoGuess,
	Kinds:       KindsReported,
	Login:       &opencodeLogin,
	Vars:        opencodeVars,
	Home:        opencodeHome,
	Untrusted:   NoHome,
	Settings:    NoSettings,
	Secrets:     []string{".local/share/opencode"},
	Failures:    opencodeFailures,
}

// opencodeFailures are phrases of opencode itself.
var opencodeFailures = []Failure{
	{ledger.FailureAuth, word(`^(provider )?model not found: |^provider not found: `)},
	{ledger.FailureAuth, word(`^no provider available\b|^no models? available\b`)},
	{ledger.FailureNetwork, word(`^unable to connect\b|\bcannot connect to api\b|^the socket connection was closed unexpectedly\b`)},
}

// opencodeVars are the environment variables of its sessions: no updates, no
// downloads of language servers, no publication of conversations. A repository's
// own configuration, which could name plugins to run and another provider, is not
// read.
var opencodeVars = []string{
	"OPENCODE_DISABLE_AUTOUPDATE=1",
	"OPENCODE_DISABLE_LSP_DOWNLOAD=1",
	"OPENCODE_DISABLE_SHARE=1",
	"OPENCODE_DISABLE_PROJECT_CONFIG=1",
}

// opencodeHome makes the program believe that the library for plugins is there,
// which it would install from npm's registry at each start.
var opencodeHome = map[string]string{
	".config/opencode/node_modules/.keep": "",
	".config/opencode/package-lock.json":  `{"packages":{"":{"dependencies":{"@opencode-ai/plugin":"*"}}}}` + "\n",
}

// opencodeArgs passes the prompt on standard input. Permissions are granted,
// because nobody could answer: without --auto the program refuses them and ends
// with 0. The title saves a request to a model that the stream does not count. A
// configured command that calls run itself keeps its own options.
func opencodeArgs(c Call) ([]string, bool, error) {
	if c.Prompt != "" && c.Prompt != PromptStdin {
		return nil, false, c.problem(fmt.Sprintf("prompt = %q does not go with output = %q, whose prompt is on standard input", c.Prompt, c.Output),
			fmt.Sprintf("take prompt out of [agents.%s]", c.Agent))
	}
	var args []string
	if !slices.Contains(c.Args, "run") {
		args = append(args, "run", "--auto", "--title", "nightporter")
	}
	if !slices.Contains(c.Args, "--format") && !slices.Contains(c.Args, "--format=json") {
		args = append(args, "--format", "json")
	}
	if c.Launch.Model != "" {
		args = append(args, "--model", c.Launch.Model)
	}
	if c.Launch.Effort != "" {
		args = append(args, "--variant", c.Launch.Effort)
	}
	return args, true, nil
}

// opencodeLastMessage returns the texts of the last message of a conversation that
// ended well.
func opencodeLastMessage(output io.Reader) string {
	var s opencodeStream
	eachLine(output, longestLine, s.readLine)
	if !s.ended {
		return ""
	}
	return s.said
}

// opencodeRead judges by the stream, never by the exit code: see opencodeStream.
func opencodeRead(output io.Reader, x ledger.Exit, known []Failure) Verdict {
	s := opencodeStream{eventStream: eventStream{known: known}}
	eachLine(output, longestLine, s.readLine)
	return s.result(x)
}
