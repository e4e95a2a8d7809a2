package adapter

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/nightporter/nightporter/internal/guard"
	"github.com/nightporter/nightporter/internal/regexp"
	"github.com/nightporter/nightporter/loop/ledger"
)

// Claude is the name of Claude Code, as an agent and as an output format.
const Claude = "claude"

// claude is the row of Claude Code. It runs headless, with one conversation per
// session.
var claude = Agent{
	Name:        Claude,
	Origin:      FromPath,
	Program:     "claude",
	Install:     "npm i -g @anthropic-ai/claude-code",
	Measured:    Measured{"2.1.329", "2026-11-26"},
	Command:     claudeArgs,
	StopHook:    &StopHook{claudeStopHook},
	MCP:         claudeMCP,
	Read:        claudeRead,
	LastMessage: claudeLastMessage,
	Tail:        claudeTail,
	Idle:        IdleWaits,
	Circle:      NoCircle,
	Spent:       claudeSpent,
	Reports:     "tokens and cost",
	Cost:        CostReported,
	Guesses:     claudeGuesses,
	Kinds:       KindsReported,
	Login:       &claudeLogin,
	Vars:        claudeVars,
	Home:        NoHome,
	Untrusted:   NoHome,
	Settings:    NoSettings,
	Secrets:     []string{".claude", ".claude.json"},
	Failures:    claudeFailures,
}

// claudeFailures are phrases of Claude Code itself; /login is its own command.
var claudeFailures = []Failure{
	{ledger.FailureAuth, phrase(`not logged in\b.*/login|please run /login`)},
	{ledger.FailureAuth, phrase(`credit balance is too low`)},
	{ledger.FailureAuth, phrase(`failed to authenticate\b|oauth token (has expired|(has been )?revoked)`)},
	{ledger.FailureAuth, phrase(`organization (does not have access to claude|has been disabled)`)},
	{ledger.FailureAuth, phrase(`api error:? 40[13]\b`)},
	{ledger.FailureAuth, phrase(`there['’]s an issue with the selected model`)},
	{ledger.FailureLimit, phrase(`((claude|ai|opus|sonnet|\d+-hour) )*\b(usage|session|weekly|daily|monthly|\d+-hour) limit reached` + endOfClause)},
	{ledger.FailureLimit, phrase(`(you['’]re )?(now )?out of extra usage` + endOfClause)},
	{ledger.FailureLimit, phrase(`your usage allocation has been disabled`)},
	{ledger.FailureNetwork, phrase(`api error:? (request rejected \()?(429|5\d\d)\b`)},
	{ledger.FailureNetwork, phrase(`api error:? \(?connection (error|reset|refused|dropped)`)},
	{ledger.FailureNetwork, phrase(`request timed out\. if the api is slow`)},
}

// claudeVars are the environment variables of its sessions.
//
// Retries are few, because nightporter waits better: it tells the person, uses
// another agent and keeps no session open. The time-out covers the time to the
// first byte of an answer; a hanging server is noticed after three of them.
// (For gaps within an answer the program has a shorter time-out of its own, and
// retries.)
//
// IS_SANDBOX is missing on purpose: it only permits root to use the permission
// mode below, and no session runs as root.
var claudeVars = []string{
	"CLAUDE_CODE_MAX_RETRIES=2",
	"API_TIMEOUT_MS=300000",
	"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
	"DISABLE_AUTOUPDATER=1",
	"DISABLE_TELEMETRY=1",
	"DISABLE_ERROR_REPORTING=1",
}

// claudeDisabledTools are tools that lose work in a session: one makes a folder
// of its own inside the work folder, the others plan work for after the
// session's end. As denied tools they are not offered to the model, so it never
// calls them in vain.
var claudeDisabledTools = []string{"EnterWorktree", "CronCreate", "ScheduleWakeup"}

// claudeArgs passes the prompt on standard input, because an argument holds 128
// kB at most. The permission mode never asks, because nobody could answer: in
// every other mode the program silently refuses tools and exits with 0. The
// boundary confines the session instead.
func claudeArgs(c Call) ([]string, bool, error) {
	if c.Prompt != "" && c.Prompt != PromptStdin {
		return nil, false, c.problem(fmt.Sprintf("prompt = %q does not go with output = %q, whose prompt is on standard input", c.Prompt, c.Output),
			fmt.Sprintf("take prompt out of [agents.%s]", c.Agent))
	}
	args := []string{
		"-p", "--output-format", "stream-json", "--verbose",
		"--permission-mode", "bypassPermissions",
	}
	if c.Launch.Model != "" {
		args = append(args, "--model", c.Launch.Model)
	}
	if c.Launch.Effort != "" {
		args = append(args, "--effort", c.Launch.Effort)
	}
	if c.Launch.MaxUSD > 0 { // checked after each turn, so it is a little late
		args = append(args, "--max-budget-usd", strconv.FormatFloat(max(c.Launch.MaxUSD, 0.01), 'f', 2, 64))
	}
	// A repository's settings decide which model server gets the key, which commands run as
	// hooks, and which tools are denied. The flag leaves them out, its servers of MCP, its
	// skills and CLAUDE.md too; the prompt has the last. HOME is the session's own.
	if !c.TrustsRepo && !hasOption(c.Args, "--setting-sources") {
		args = append(args, "--setting-sources=user")
	}
	// This flag comes last, because it takes all following arguments.
	args = append(args, "--disallowedTools")
	return append(args, claudeDenied(c.Launch.Denied)...), true, nil
}

// claudeWrites are the tools that write a file which they name.
var claudeWrites = []string{"Write", "Edit", "MultiEdit", "NotebookEdit"}

// claudeStopHook passes the stop hook, and the one before a tool that writes a file, as
// settings on the command line, because a session's HOME has no settings file.
func claudeStopHook(c Call) ([]string, error) {
	type hook struct {
		Type    string `json:"type"`
		Command string `json:"command"`
		Timeout int    `json:"timeout"` // in seconds
	}
	type matcher struct {
		Matcher string `json:"matcher,omitempty"`
		Hooks   []hook `json:"hooks"`
	}
	stop := []matcher{{Hooks: []hook{{Type: "command", Command: shellWord(c.Hat) + " hook stop", Timeout: 30}}}}
	write := []matcher{{Matcher: strings.Join(claudeWrites, "|"), Hooks: []hook{{Type: "command", Command: writeHook(shellWord(c.Hat)), Timeout: 10}}}}
	// A trusted repository's settings could disable all hooks; this overrides them.
	data, err := json.Marshal(map[string]any{"hooks": map[string]any{"Stop": stop, "PreToolUse": write}, "disableAllHooks": false})
	if err != nil {
		return nil, fmt.Errorf("stop hook of Claude Code: %w", err)
	}
	return []string{"--settings", string(data)}, nil
}

// claudeMCP names the server on the command line, because a session's HOME has no
// settings file. The flag takes all arguments up to the next flag, so it cannot come
// last. The server inherits the session's variables, and with them its token, which
// other users could read in arguments. Its tools are always offered: by default the
// program makes the model search for them first.
func claudeMCP(hat string) ([]string, error) {
	type server struct {
		Type       string   `json:"type"`
		Command    string   `json:"command"`
		Args       []string `json:"args"`
		AlwaysLoad bool     `json:"alwaysLoad"`
	}
	data, err := json.Marshal(map[string]any{"mcpServers": map[string]server{"nightporter": {"stdio", hat, []string{"mcp"}, true}}})
	if err != nil {
		return nil, fmt.Errorf("MCP server for Claude Code: %w", err)
	}
	return []string{"--mcp-config", string(data)}, nil
}

// shellWord quotes text as one word of a shell command.
func shellWord(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// toolName matches names of the program's tools: "Bash", "mcp__db__query",
// "Bash(npm publish:*)".
var toolName = regexp.MustCompile(`^(?:[A-Z][A-Za-z]+|mcp__[A-Za-z0-9_-]+)(?:\(.*\))?$`)

// claudeDenied translates a hat's tools.denied into rules of the program. A
// tool's name stays as it is; any other text denies the commands that begin
// with it or contain it as a word. Texts with parentheses cannot be expressed
// and are left to the boundary: these rules are only a safety net.
//
// Rules match the text of a command, so they see pipes, which a wrapper cannot.
// The rule against rm -rf is omitted: as text it would also forbid rm -rf
// build, which is everyday work. The wrapper of rm checks the path, and the
// program itself refuses to remove the root, its direct subfolders and HOME in
// every mode.
func claudeDenied(denied []string) []string {
	rules := claudeDisabledTools[:len(claudeDisabledTools):len(claudeDisabledTools)]
	for _, d := range denied {
		d = strings.Join(strings.Fields(d), " ")
		from, to, piped := strings.Cut(d, " | ")
		switch {
		case d == "", guard.IsRemoval(d):
		case toolName.MatchString(d):
			rules = append(rules, d)
		case strings.ContainsAny(d, "()"):
		case piped:
			rules = append(rules, claudePiped(from, to)...)
		default:
			rules = append(rules, "Bash("+d+":*)", "Bash(*"+d+"*)")
		}
	}
	return rules
}

// claudePiped translates "curl | sh" into rules: with any arguments of curl,
// and for both shells. A single pattern for both shells would also match shuf.
func claudePiped(from, to string) []string {
	programs := []string{to}
	if to == "sh" {
		programs = append(programs, "bash")
	}
	var rules []string
	for _, p := range programs {
		for _, pipe := range []string{"| ", "|"} {
			rules = append(rules, "Bash(*"+from+" *"+pipe+p+")", "Bash(*"+from+" *"+pipe+p+" *)")
		}
	}
	return rules
}

// claudeLastMessage returns the text of the result, unless that is an error.
func claudeLastMessage(output io.Reader) string {
	var s claudeStream
	eachLine(output, claudeLine, s.readLine)
	if s.result == nil || s.result.IsError {
		return ""
	}
	return s.result.Result
}

// claudeRead judges by the stream, never by the exit code: see claudeStream.
func claudeRead(output io.Reader, x ledger.Exit, known []Failure) Verdict {
	s := claudeStream{known: known}
	eachLine(output, claudeLine, s.readLine)
	return s.verdict(x)
}
