package adapter

import (
	"fmt"
	"io"
	"path/filepath"

	"github.com/nightporter/nightporter/loop/ledger"
)

// Pi is the name of pi, as an agent and as an output format.
const Pi = "pi"

// pi is the row of pi. It runs headless, with one conversation per session. It has
// neither servers of MCP nor hooks but extensions.
var pi = Agent{
	Name:        Pi,
	Origin:      FromPath,
	Program:     "pi",
	Install:     "npm i -g @mariozechner/pi-coding-agent",
	Measured:    Measured{"0.73.1", "2026-11-27"},
	Command:     piArgs,
	StopHook:    &StopHook{piStopHook},
	MCP:         NoMCP,
	Read:        piRead,
	LastMessage: piLastMessage,
	Tail:        passageTail,
	Idle:        IdleWaits,
	Circle:      NoCircle,
	Spent:       piSpent,
	Reports:     "tokens, and cost where it knows the price",
	Cost:        CostReported,
	Guesses:     NoGuess,
	Kinds:       KindsReported,
	Login:       &piLogin,
	Vars:        piVars,
	Home:        map[string]string{".pi/agent/settings.json": piSettings, piExtensionPath: piExtension},
	Untrusted:   NoHome,
	Settings:    []string{".pi"},
	Secrets:     []string{".pi/agent/auth.json"},
	Failures:    piFailures,
}

// piFailures are phrases of pi itself.
var piFailures = []Failure{
	{ledger.FailureAuth, phrase(`no api key( found)? for\b|no models? available\b|model .* not found\b`)},
	{ledger.FailureLimit, word(`\byou have hit your chatgpt usage limit\b`)},
	{ledger.FailureNetwork, word(`^terminated$|^connection error\b|^request timed out\b|\bfetch failed\b`)},
}

// piVars are the environment variables of its sessions: no look for updates, no
// downloads, no statistics.
var piVars = []string{
	"PI_OFFLINE=1",
	"PI_SKIP_VERSION_CHECK=1",
	"PI_TELEMETRY=0",
}

// piSettings keeps retries few, because nightporter waits better. Those of the
// provider's library are off: it obeys a wait of hours without a word.
const piSettings = `{"retry":{"maxRetries":2,"baseDelayMs":2000,"provider":{"maxRetries":0}},"enableInstallTelemetry":false}` + "\n"

// piExtensionPath is the path of piExtension below a home.
const piExtensionPath = ".pi/nightporter.ts"

// piReminder is a second message to the program, after the prompt. piExtension takes it
// away or puts the hook's words in its place.
const piReminder = "If you have not sent your event yet, send it now."

// piExtension is the stop hook: the program has none, and an extension cannot keep a
// conversation from its end, but it may decide about the next message. An answer that
// failed is not followed by another try.
const piExtension = `import { spawnSync } from "node:child_process";

export default function (pi) {
  pi.on("input", (event, ctx) => {
    if (event.text === "") return { action: "handled" };
    if (event.text !== "` + piReminder + `") return { action: "continue" };
    const last = ctx.sessionManager.getEntries().filter((e) => e.type === "message" && e.message.role === "assistant").pop();
    if (!last || last.message.stopReason === "error" || last.message.stopReason === "aborted") return { action: "handled" };
    const hook = spawnSync("hat", ["hook", "stop"], { input: "{}", encoding: "utf8", timeout: 30000 });
    try {
      return { action: "transform", text: JSON.parse(hook.stdout).reason };
    } catch {
      return { action: "handled" };
    }
  });
}
`

// piStopHook loads piExtension and adds the message that it waits for. The first message
// among the arguments is added to the prompt, so it is empty; behind one of a configured
// command it is a message of its own, which piExtension takes away.
func piStopHook(c Call) ([]string, error) {
	return []string{"--extension", filepath.Join(c.Home, piExtensionPath), "", piReminder}, nil
}

// piArgs passes the prompt on standard input. A repository's own extensions, which
// are programs that pi runs within itself, are not loaded. A configured command keeps
// its own options.
func piArgs(c Call) ([]string, bool, error) {
	if c.Prompt != "" && c.Prompt != PromptStdin {
		return nil, false, c.problem(fmt.Sprintf("prompt = %q does not go with output = %q, whose prompt is on standard input", c.Prompt, c.Output),
			fmt.Sprintf("take prompt out of [agents.%s]", c.Agent))
	}
	var args []string
	if !hasOption(c.Args, "-p", "--print") {
		args = append(args, "--print", "--no-session", "--no-extensions")
	}
	if !hasOption(c.Args, "--mode") {
		args = append(args, "--mode", "json")
	}
	if c.Launch.Model != "" {
		args = append(args, "--model", c.Launch.Model)
	}
	if c.Launch.Effort != "" {
		args = append(args, "--thinking", c.Launch.Effort)
	}
	return args, true, nil
}

// piLastMessage returns the last message of a conversation that ended well.
func piLastMessage(output io.Reader) string {
	var s piStream
	eachLine(output, longestLine, s.readLine)
	if !s.ended || s.err != nil {
		return ""
	}
	return s.said
}

// piRead judges by the stream, never by the exit code, which is 0 also when the model
// could not be asked: see piStream.
func piRead(output io.Reader, x ledger.Exit, known []Failure) Verdict {
	s := piStream{eventStream: eventStream{known: known}}
	eachLine(output, longestLine, s.readLine)
	return s.result(x)
}
