package adapter

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/nightporter/nightporter/loop/ledger"
)

// Codex is the name of OpenAI's Codex, as an agent and as an output format.
const Codex = "codex"

// codex is the row of Codex. It runs headless, with one conversation per session.
var codex = Agent{
	Name:        Codex,
	Origin:      FromPath,
	Program:     "codex",
	Install:     "npm i -g @openai/codex",
	Measured:    Measured{"0.169.0", "2026-11-27"},
	Command:     codexArgs,
	StopHook:    &StopHook{codexStopHook},
	MCP:         codexMCP,
	Read:        codexRead,
	LastMessage: codexLastMessage,
	Tail:        passageTail,
	Idle:        IdleWaits,
	Circle:      NoCircle,
	Spent:       NoSpent, // figures come with the end
	Reports:     "tokens, but no cost",
	Cost:        CostUnknown,
	Guesses:     NoGuess,
	Kinds:       KindsReported,
	Login:       &codexLogin,
	Vars:        NoVars, // everything is set on the command line
	Home:        NoHome,
	Untrusted:   NoHome,
	Settings:    NoSettings,
	Secrets:     []string{".codex"},
	Failures:    codexFailures,
}

// codexFailures are phrases of Codex itself.
var codexFailures = []Failure{
	{ledger.FailureAuth, phrase(`your (access token|authentication session) could not be refreshed\b`)},
	{ledger.FailureAuth, phrase(`to use codex with your chatgpt plan, upgrade`)},
	{ledger.FailureAuth, word(`\bmodel is not supported when using codex\b`)},
	{ledger.FailureAuth, word("^missing environment variable: `")},
	{ledger.FailureLimit, phrase(`(you['’]re|your workspace is) out of credits` + endOfClause)},
	{ledger.FailureNetwork, word(`^selected model is at capacity\b|\bwe['’]re currently experiencing high demand\b`)},
	{ledger.FailureNetwork, word(`\bstream disconnected before completion\b|\berror sending request for url\b`)},
}

// codexSettings are settings of every session, each for a reason:
//
//   - A login shell would take hat and the wrappers off PATH.
//   - Updates and statistics are not asked for.
//   - Apps and plugins are those of the person's account: mail, files, calendars.
//     With a copied login a session could use them all.
//   - Commands get hat's variables, whatever their names contain, and no login.
var codexSettings = []string{
	"allow_login_shell=false",
	"check_for_update_on_startup=false",
	"analytics.enabled=false",
	"features.apps=false",
	"features.plugins=false",
	"shell_environment_policy.ignore_default_excludes=true",
	`shell_environment_policy.exclude=["CODEX_API_KEY","CODEX_ACCESS_TOKEN"]`,
}

// codexArgs passes the prompt on standard input. The program's own sandbox is
// off: the boundary confines the session, and a sandbox within it could not start.
// A configured command that calls exec itself keeps its own options, and gets the
// stream, the model and the effort.
func codexArgs(c Call) ([]string, bool, error) {
	if c.Prompt != "" && c.Prompt != PromptStdin {
		return nil, false, c.problem(fmt.Sprintf("prompt = %q does not go with output = %q, whose prompt is on standard input", c.Prompt, c.Output),
			fmt.Sprintf("take prompt out of [agents.%s]", c.Agent))
	}
	var args []string
	own := slices.Contains(c.Args, "exec")
	if !own {
		args = append(args, "exec", "--skip-git-repo-check", "--sandbox", "danger-full-access")
		for _, s := range codexSettings {
			args = append(args, "-c", s)
		}
	}
	if !slices.Contains(c.Args, "--json") {
		args = append(args, "--json")
	}
	if c.Launch.Model != "" {
		args = append(args, "--model", c.Launch.Model)
	}
	if c.Launch.Effort != "" {
		args = append(args, "-c", "model_reasoning_effort="+strconv.Quote(c.Launch.Effort))
	}
	if !slices.Contains(c.Args, "-") {
		args = append(args, "-")
	}
	return args, true, nil
}

// codexMCP names the server in a setting. The program gives a server no variables
// but those that are named.
func codexMCP(hat string) ([]string, error) {
	server := fmt.Sprintf(`mcp_servers.nightporter={command=%s,args=["mcp"],env_vars=["HAT_SOCKET","HAT_TOKEN","HAT_TASK"]}`, strconv.Quote(hat))
	return []string{"-c", server}, nil
}

// codexStopHook names the hook in a setting, and in another that it is trusted: the
// program runs no hook that a person has not looked at. Hooks of a repository stay
// untrusted.
func codexStopHook(c Call) ([]string, error) {
	command := shellWord(c.Hat) + " hook stop"
	hash, err := codexHookHash(command)
	if err != nil {
		return nil, fmt.Errorf("stop hook of Codex: %w", err)
	}
	return []string{
		"-c", fmt.Sprintf(`hooks.Stop=[{hooks=[{type="command",command=%s,timeout=%d}]}]`, strconv.Quote(command), codexHookSeconds),
		"-c", fmt.Sprintf(`hooks.state={"/<session-flags>/config.toml:stop:0:0"={trusted_hash=%q}}`, hash),
	}, nil
}

// codexHookSeconds is the time that the program gives the hook.
const codexHookSeconds = 30

// codexHookHash returns the hash by which the program knows a stop hook again: that of
// its JSON, with the keys in order.
func codexHookHash(command string) (string, error) {
	var text bytes.Buffer
	form := json.NewEncoder(&text)
	form.SetEscapeHTML(false)
	hook := map[string]any{"async": false, "command": command, "timeout": codexHookSeconds, "type": "command"}
	if err := form.Encode(map[string]any{"event_name": "stop", "hooks": []any{hook}}); err != nil {
		return "", err
	}
	return fmt.Sprintf("sha256:%x", sha256.Sum256(bytes.TrimSpace(text.Bytes()))), nil
}

// codexOwnModels reports whether the arguments of a command choose a provider of
// their own, or a model on this machine: then OpenAI's login is not needed.
func codexOwnModels(args []string) bool {
	return slices.ContainsFunc(args, func(a string) bool {
		return a == "--oss" || a == "-p" || strings.HasPrefix(a, "--profile") || strings.HasPrefix(strings.TrimPrefix(a, "--config="), "model_provider=")
	})
}

// codexLastMessage returns the last message of a conversation that ended well.
func codexLastMessage(output io.Reader) string {
	var s codexStream
	eachLine(output, longestLine, s.readLine)
	if s.usage == nil {
		return ""
	}
	return s.said
}

// codexRead judges by the stream, never by the exit code: see codexStream.
func codexRead(output io.Reader, x ledger.Exit, known []Failure) Verdict {
	s := codexStream{eventStream: eventStream{known: known}}
	eachLine(output, longestLine, s.readLine)
	return s.result(x)
}
