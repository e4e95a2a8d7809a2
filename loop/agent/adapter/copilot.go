package adapter

import (
	"fmt"
	"io"

	"github.com/nightporter/nightporter/loop/ledger"
)

// Copilot is the name of GitHub's Copilot CLI, as an agent and as an output format.
const Copilot = "copilot"

// copilot is the row of Copilot CLI. It runs headless, with one conversation per
// session.
var copilot = Agent{
	Name:        Copilot,
	Origin:      FromPath,
	Program:     "copilot",
	Install:     "npm i -g @github/copilot",
	Measured:    Measured{"1.0.102", "2026-11-27"},
	Command:     copilotArgs,
	StopHook:    HomeStopHook,
	MCP:         NoMCP,
	Read:        copilotRead,
	LastMessage: copilotLastMessage,
	Tail:        passageTail,
	Idle:        IdleWaits,
	Circle:      NoCircle,
	Spent:       NoSpent, // it has no figures
	Reports:     "neither tokens nor cost",
	Cost:        CostUnknown,
	Guesses:     NoGuess,
	Kinds:       KindsUnknown,
	Login:       &copilotLogin,
	Vars:        copilotVars,
	Home:        map[string]string{".copilot/hooks/nightporter.json": copilotHooks},
	Untrusted:   NoHome,
	Settings:    NoSettings,
	Secrets:     []string{".copilot", ".config/github-copilot"},
	Failures:    copilotFailures,
}

// copilotFailures are phrases of Copilot CLI itself.
var copilotFailures = []Failure{
	{ledger.FailureAuth, phrase(`(error: )?no authentication information found\b`)},
	{ledger.FailureAuth, word(`^authentication failed\b|\baccess denied by policy\b|^model ".*" (from --model flag )?is not available\b`)},
	{ledger.FailureLimit, word(`\byou['’]?(ve| have) (exceeded|used|reached) (all )?your ([\w'’-]+ ){0,4}(premium requests?|quota|limit|allowance)\b`)},
	{ledger.FailureNetwork, word(`\bfailed native model http request\b|\berror sending request for url\b|\berror decoding response body\b`)},
}

// copilotVars are the environment variables of its sessions. The program unpacks
// itself into a folder of caches: into the session's own, because whoever writes that
// of the project would write the next session's program.
var copilotVars = []string{
	"COPILOT_AUTO_UPDATE=false",
	"COPILOT_CACHE_HOME=~/.cache/copilot",
}

// copilotHooks is the hook of the session's own user. Those of a repository run only in
// folders that a person has trusted.
const copilotHooks = `{"version":1,"hooks":{"agentStop":[{"type":"command","bash":"` + stopHookCommand + `","timeoutSec":30}]}}` + "\n"

// copilotSettings are options of every session, each for a reason:
//
//   - Nobody could answer a question for a permission.
//   - Whole messages are enough.
//   - Statistics are not sent.
//   - The servers of MCP that it brings act at GitHub, as the person.
//   - Commands get no login.
var copilotSettings = []string{
	"--stream=off",
	"--disable-client-telemetry",
	"--disable-builtin-mcps",
	"--secret-env-vars=COPILOT_GITHUB_TOKEN,GH_TOKEN,GITHUB_TOKEN,COPILOT_PROVIDER_API_KEY,COPILOT_PROVIDER_BEARER_TOKEN",
}

// copilotArgs passes the prompt on standard input. A configured command keeps its own
// options.
func copilotArgs(c Call) ([]string, bool, error) {
	if c.Prompt != "" && c.Prompt != PromptStdin {
		return nil, false, c.problem(fmt.Sprintf("prompt = %q does not go with output = %q, whose prompt is on standard input", c.Prompt, c.Output),
			fmt.Sprintf("take prompt out of [agents.%s]", c.Agent))
	}
	var args []string
	if !hasOption(c.Args, "--allow-all", "--allow-all-tools", "--allow-tool", "--yolo") {
		args = append(append(args, "--allow-all"), copilotSettings...)
	}
	if !hasOption(c.Args, "--output-format") {
		args = append(args, "--output-format=json")
	}
	if c.Launch.Model != "" {
		args = append(args, "--model="+c.Launch.Model)
	}
	if c.Launch.Effort != "" {
		args = append(args, "--reasoning-effort="+c.Launch.Effort)
	}
	return args, true, nil
}

// copilotLastMessage returns the last message of a conversation that ended well.
func copilotLastMessage(output io.Reader) string {
	var s copilotStream
	eachLine(output, longestLine, s.readLine)
	if !s.ended {
		return ""
	}
	return s.said
}

// copilotRead judges by the stream, never by the exit code: see copilotStream.
func copilotRead(output io.Reader, x ledger.Exit, known []Failure) Verdict {
	s := copilotStream{eventStream: eventStream{known: known}}
	eachLine(output, longestLine, s.readLine)
	v := s.verdict(x, s.ended)
	v.Uncounted = s.types.changed(x, s.ended, s.err != nil)
	return v
}
