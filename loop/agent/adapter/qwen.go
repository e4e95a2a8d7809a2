package adapter

import (
	"fmt"
	"io"

	"github.com/nightporter/nightporter/loop/ledger"
)

// Qwen is the name of Qwen Code, as an agent and as an output format.
const Qwen = "qwen"

// qwen is the row of Qwen Code. It runs headless, with one conversation per session.
var qwen = Agent{
	Name:        Qwen,
	Origin:      FromPath,
	Program:     "qwen",
	Install:     "npm i -g @qwen-code/qwen-code",
	Measured:    Measured{"0.24.4", "2026-11-27"},
	Command:     qwenArgs,
	StopHook:    HomeStopHook,
	MCP:         NoMCP,
	Read:        qwenRead,
	LastMessage: qwenLastMessage,
	Tail:        eventTail,
	Idle:        IdleWaits,
	Circle:      NoCircle,
	Spent:       qwenSpent,
	Reports:     "tokens, but no cost",
	Cost:        CostUnknown,
	Guesses:     NoGuess,
	Kinds:       KindsReported,
	Login:       &qwenLogin,
	Vars:        qwenVars,
	Home:        map[string]string{".qwen/settings.json": qwenSettings},
	Untrusted:   qwenUntrusted,
	Settings:    NoSettings,
	Secrets:     []string{".qwen"},
	Failures:    qwenFailures,
}

// qwenFailures are phrases of Qwen Code itself and of its provider.
var qwenFailures = []Failure{
	{ledger.FailureAuth, phrase(`no auth type is selected\b|missing api key\b|qwen oauth free tier has been discontinued\b`)},
	{ledger.FailureAuth, word(`\barrearage\b|\bmodel .* does not exist\b`)},
	{ledger.FailureLimit, word(`\bfree allocated quota exceeded\b|\ballocated quota exceeded\b|\bhour allocated quota exceeded\b|\bmonth allocated quota exceeded\b`)},
	{ledger.FailureNetwork, word(`^connection error\b|^terminated$|\bfetch failed\b|\brequests rate limit exceeded\b|\brequest timed out\b`)},
}

// qwenVars are the environment variables of its sessions.
var qwenVars = []string{
	"QWEN_CODE_SUPPRESS_YOLO_WARNING=1",
	"QWEN_TELEMETRY_ENABLED=false",
	"QWEN_CODE_SYSTEM_SETTINGS_PATH=~/" + qwenSystemPath,
}

// qwenSystemPath is the path below a home of settings that override all others.
const qwenSystemPath = ".qwen/nightporter.json"

// qwenUntrusted makes a repository one that nobody trusts: its settings, its .env and
// servers of MCP, which can send the key to another server and start programs, are left
// out, and so are the servers of MCP of the session's own settings. In such a folder the
// program ignores --yolo, so the tools are permitted one by one.
var qwenUntrusted = map[string]string{
	".qwen/trustedFolders.json": `{"/":"DO_NOT_TRUST"}` + "\n",
	qwenSystemPath: `{"security":{"folderTrust":{"enabled":true}},` +
		`"permissions":{"allow":["run_shell_command","monitor","edit","write_file","notebook_edit","read_file","grep_search","glob","list_directory","web_fetch","web_search","todo_write","agent","skill","save_memory"]}}` + "\n",
}

// qwenSettings are the settings of a session, each for a reason:
//
//   - Refusals are not tried again for hours.
//   - Updates and statistics are not asked for.
var qwenSettings = `{"general":{"enableAutoUpdate":false},"privacy":{"usageStatisticsEnabled":false},"telemetry":{"enabled":false},` +
	`"model":{"generationConfig":{"maxRetries":0,"timeout":300000}},` +
	`"hooks":{"Stop":[{"hooks":[{"type":"command","command":"` + stopHookCommand + `","timeout":30}]}],` +
	`"PreToolUse":[{"matcher":"write_file|edit|notebook_edit","hooks":[{"type":"command","command":"` + writeHook("hat") + `","timeout":10}]}]}}` + "\n"

// qwenArgs passes the prompt on standard input. Without --yolo the program takes the
// tools away that it would have to ask for, and ends with 0. It has no option for the
// effort. A configured command keeps its own options.
func qwenArgs(c Call) ([]string, bool, error) {
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

// qwenLastMessage returns the text of the result, unless that is an error.
func qwenLastMessage(output io.Reader) string {
	var s qwenStream
	eachLine(output, longestLine, s.readLine)
	if !s.ended {
		return ""
	}
	return s.said
}

// qwenRead judges by the stream, never by the exit code: see qwenStream.
func qwenRead(output io.Reader, x ledger.Exit, known []Failure) Verdict {
	s := qwenStream{eventStream: eventStream{known: known}}
	eachLine(output, longestLine, s.readLine)
	return s.result(x)
}
