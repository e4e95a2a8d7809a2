package adapter

import (
	"fmt"
	"io"
	"slices"

	"github.com/nightporter/nightporter/loop/ledger"
)

// Gemini is the name of Google's Gemini CLI, as an agent and as an output format.
const Gemini = "gemini"

// gemini is the row of Gemini CLI. It runs headless, with one conversation per
// session. Servers of MCP and hooks are named in its settings alone.
var gemini = Agent{
	Name:        Gemini,
	Origin:      FromPath,
	Program:     "gemini",
	Install:     "npm i -g @google/gemini-cli",
	Measured:    Measured{"0.61.0", "2026-11-27"},
	Command:     geminiArgs,
	StopHook:    HomeStopHook,
	MCP:         NoMCP,
	Read:        geminiRead,
	LastMessage: geminiLastMessage,
	Tail:        eventTail,
	Idle:        IdleWaits,
	Circle:      NoCircle,
	Spent:       NoSpent, // figures come with the end
	Reports:     "tokens, but no cost",
	Cost:        CostUnknown,
	Guesses:     NoGuess,
	Kinds:       KindsReported,
	Login:       &geminiLogin,
	Vars:        geminiVars,
	Home:        map[string]string{geminiSettingsPath: geminiSettings("gemini-api-key")},
	Untrusted:   NoHome,
	Settings:    []string{".gemini"},
	Secrets:     []string{".gemini"},
	Failures:    geminiFailures,
}

// geminiFailures are phrases of Gemini CLI itself and of its provider. A daily quota
// and one of an account are on the list of providers.
var geminiFailures = []Failure{
	{ledger.FailureAuth, phrase(`api key not valid\b|api_key_invalid`)},
	{ledger.FailureAuth, phrase(`invalid auth method selected\b|please set an auth method in your\b`)},
	{ledger.FailureAuth, word(`\bis not found for api version\b|\brequested entity was not found\b|\bunauthenticated\b|\bpermission_denied\b`)},
	{ledger.FailureLimit, phrase(`attempt \d+ failed: you have exhausted your ([\w'’-]+ ){0,3}(quota|capacity) on this model\b`)},
	{ledger.FailureNetwork, phrase(`attempt \d+ failed with status (429|5\d\d)\b`)},
	{ledger.FailureNetwork, word(`\bresource has been exhausted\b|\bfetch failed\b|^terminated$|\bno capacity available for model\b`)},
}

// geminiVars are the environment variables of its sessions. In a folder that is not
// trusted, the program refuses all tools that it would have to ask for.
var geminiVars = []string{
	"GEMINI_CLI_TRUST_WORKSPACE=true",
	"GEMINI_TELEMETRY_ENABLED=false",
}

// geminiSettingsPath is the path of the program's settings below a home.
const geminiSettingsPath = ".gemini/settings.json"

// geminiSettings returns the settings of a session, each for a reason:
//
//   - A login of another kind than the one that is named is refused.
//   - Retries are few, because nightporter waits better; lost connections are among
//     them.
//   - Updates and statistics are not asked for.
//   - A repository's .env could name another server, which would get the key.
func geminiSettings(login string) string {
	return `{"security":{"auth":{"selectedType":"` + login + `"}},` +
		`"general":{"maxAttempts":3,"retryFetchErrors":true,"enableAutoUpdate":false,"enableAutoUpdateNotification":false},` +
		`"privacy":{"usageStatisticsEnabled":false},"advanced":{"ignoreLocalEnv":true},` +
		`"hooks":{"AfterAgent":[{"hooks":[{"type":"command","command":"` + stopHookCommand + `","timeout":30000}]}],` +
		`"BeforeTool":[{"matcher":"write_file|replace","hooks":[{"type":"command","command":"` + writeHook("hat") + `","timeout":10000}]}]}}` + "\n"
}

// geminiArgs passes the prompt on standard input. Without --yolo the program takes
// the tools away that it would have to ask for, and ends with 0. It has no option for
// the effort. A configured command keeps its own options.
func geminiArgs(c Call) ([]string, bool, error) {
	if c.Prompt != "" && c.Prompt != PromptStdin {
		return nil, false, c.problem(fmt.Sprintf("prompt = %q does not go with output = %q, whose prompt is on standard input", c.Prompt, c.Output),
			fmt.Sprintf("take prompt out of [agents.%s]", c.Agent))
	}
	var args []string
	if !hasOption(c.Args, "-o", "--output-format") {
		args = append(args, "--output-format", "stream-json")
	}
	if !hasOption(c.Args, "-y", "--yolo", "--approval-mode") {
		args = append(args, "--yolo")
	}
	if c.Launch.Model != "" {
		args = append(args, "--model", c.Launch.Model)
	}
	return args, true, nil
}

// hasOption reports whether arguments have an option by one of its names.
func hasOption(args []string, names ...string) bool {
	return slices.ContainsFunc(args, func(a string) bool {
		return slices.ContainsFunc(names, func(n string) bool { return a == n || len(a) > len(n) && a[:len(n)+1] == n+"=" })
	})
}

// geminiLastMessage returns the last message of a conversation that ended well.
func geminiLastMessage(output io.Reader) string {
	var s geminiStream
	eachLine(output, longestLine, s.readLine)
	if !s.ended {
		return ""
	}
	return s.said
}

// geminiRead judges by the stream, never by the exit code: see geminiStream.
func geminiRead(output io.Reader, x ledger.Exit, known []Failure) Verdict {
	s := geminiStream{eventStream: eventStream{known: known}}
	eachLine(output, longestLine, s.readLine)
	return s.result(x)
}
