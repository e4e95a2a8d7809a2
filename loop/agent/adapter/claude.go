package adapter

import (
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/nightporter/nightporter/internal/guard"
	"github.com/nightporter/nightporter/loop/ledger"
)

// Claude is the name of Claude Code, as an agent and as a form of output.
const Claude = "claude"

// claude is the row of Claude Code, which runs headless, one conversation a
// session.
var claude = Agent{
	Name:     Claude,
	Origin:   FromPath,
	Program:  "claude",
	Install:  "npm i -g @anthropic-ai/claude-code",
	Command:  claudeArgs,
	StopHook: claudeStopHook,
	Read:     claudeRead,
	Tail:     claudeTail,
	Login:    &claudeLogin,
	Vars:     claudeVars,
	Secrets:  []string{".claude", ".claude.json"},
	Failures: claudeFailures,
}

// claudeFailures are phrases of Claude Code. "/login" is its own command.
var claudeFailures = []Failure{
	{ledger.FailureAuth, phrase(`not logged in\b.*/login|please run /login`)},
	{ledger.FailureAuth, phrase(`credit balance is too low`)},
	{ledger.FailureAuth, phrase(`oauth token (has expired|(has been )?revoked)`)},
	{ledger.FailureAuth, phrase(`organization (does not have access to claude|has been disabled)`)},
	{ledger.FailureAuth, phrase(`api error:? 40[13]\b`)},
	{ledger.FailureAuth, phrase(`there['’]s an issue with the selected model`)},
	{ledger.FailureLimit, phrase(`\b(usage|session|weekly|daily|monthly|5-hour) limit reached`)},
	{ledger.FailureLimit, phrase(`\bout of extra usage\b`)},
	{ledger.FailureLimit, phrase(`your usage allocation has been disabled`)},
	{ledger.FailureLimit, phrase(`api error:? (request rejected \()?429\b`)},
	{ledger.FailureNetwork, phrase(`api error:? 5\d\d\b`)},
	{ledger.FailureNetwork, phrase(`api error:? \(?connection (error|reset|refused|dropped)`)},
	{ledger.FailureNetwork, phrase(`request timed out\. if the api is slow`)},
}

// claudeVars are the variables of its sessions.
//
// Retries are few because nightporter waits better: it tells the person, uses
// another agent, and holds no session open meanwhile. The time-out counts to
// the first byte of an answer; three of them are the whole time in which a
// server that hangs is noticed. (Within an answer the program has a shorter
// one of its own, and tries again too.)
//
// IS_SANDBOX is not among them: root is refused the permission mode below
// without it, and no session is ever root.
var claudeVars = []string{
	"CLAUDE_CODE_MAX_RETRIES=2",
	"API_TIMEOUT_MS=300000",
	"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
	"DISABLE_AUTOUPDATER=1",
	"DISABLE_TELEMETRY=1",
	"DISABLE_ERROR_REPORTING=1",
}

// claudeUseless are tools that lose work in a session of nightporter's: one
// makes a folder of its own inside the work folder, the others plan work for
// after the session's end. Claude Code does not offer them to the model, so no
// call of them has to be refused.
var claudeUseless = []string{"EnterWorktree", "CronCreate", "ScheduleWakeup"}

// claudeArgs passes the prompt on standard input: one argument holds 128 kB at
// most. The permission mode asks nobody, because nobody is there: in every
// other mode the program refuses tools in silence and exits with 0. What keeps
// the session in bounds is the boundary around it.
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
	// Last: it takes all arguments that follow.
	args = append(args, "--disallowedTools")
	return append(args, claudeDenied(c.Launch.Denied)...), true, nil
}

// claudeStopHook gives the stop hook as settings on the command line: a
// session's HOME has none of its own.
func claudeStopHook(hat string) ([]string, error) {
	type hook struct {
		Type    string `json:"type"`
		Command string `json:"command"`
		Timeout int    `json:"timeout"` // seconds
	}
	type matcher struct {
		Hooks []hook `json:"hooks"`
	}
	stop := []matcher{{Hooks: []hook{{Type: "command", Command: shellWord(hat) + " hook stop", Timeout: 30}}}}
	// The repository's settings count too, and could switch off all hooks.
	data, err := json.Marshal(map[string]any{"hooks": map[string]any{"Stop": stop}, "disableAllHooks": false})
	if err != nil {
		return nil, fmt.Errorf("stop hook of Claude Code: %w", err)
	}
	return []string{"--settings", string(data)}, nil
}

// shellWord quotes text as one word of a shell's command.
func shellWord(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// toolName matches the program's names of tools: "Bash", "mcp__db__query",
// "Bash(npm publish:*)".
var toolName = regexp.MustCompile(`^(?:[A-Z][A-Za-z]+|mcp__[A-Za-z0-9_-]+)(?:\(.*\))?$`)

// claudeDenied translates a hat's tools.denied into the program's rules: a
// tool's name stays as it is; anything else denies the commands that begin with
// it or hold it as a word. What no rule can say (parentheses end one) is left
// to the boundary: these rules are a safety net only.
//
// Rules match text, and so they see pipes, which no wrapper does. The one
// against rm -rf outside is left out: as text it would forbid rm -rf build too,
// which is everyday work. The wrapper of rm covers it, and the program itself
// refuses to remove the root, a folder right below it, and HOME, in every mode.
func claudeDenied(denied []string) []string {
	rules := claudeUseless[:len(claudeUseless):len(claudeUseless)]
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

// claudePiped translates "curl | sh": with the arguments that curl has, and for
// either shell. One rule for all would take shuf for sh.
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

// claudeRead judges by the stream, never by the exit code: see claudeStream.
func claudeRead(output io.Reader, x ledger.Exit, known []Failure) Verdict {
	s := claudeStream{known: known}
	eachLine(output, claudeLine, s.take)
	return s.verdict(x)
}
