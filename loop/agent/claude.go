package agent

import (
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/nightporter/nightporter/internal/guard"
	"github.com/nightporter/nightporter/loop/ledger"
)

// Claude is the name of the built-in agent that is Claude Code, and of its
// form of output.
const Claude = "claude"

// BuiltIn are the agents that need no [agents.X]: what the configuration says
// of them is laid over these.
func BuiltIn() map[string]Definition {
	return map[string]Definition{
		Claude: {Name: Claude, Command: []string{"claude"}, Dir: "/", Output: Claude},
	}
}

// claude runs Claude Code headless, one conversation a session (SPEC 10).
type claude struct{}

// claudeVars are its variables. A line of env_file wins over each.
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

// claudeUseless are tools that make no sense in a session of ours, and lose
// work: a folder of its own inside the work folder, and what comes after the
// session's end. They are not offered to the model, so nothing is refused.
var claudeUseless = []string{"EnterWorktree", "CronCreate", "ScheduleWakeup"}

// Vars are the variables that the program gets.
func (claude) Vars() []string { return claudeVars }

// Login is where the program looks for its login.
func (claude) Login() loginForm { return claudeLogin }

// Program is the program's name.
func (claude) Program() string { return "claude" }

// Install is how the program is installed.
func (claude) Install() string { return "npm i -g @anthropic-ai/claude-code" }

// Command gives the prompt on standard input: one argument holds 128 kB at
// most. The permission mode asks nobody, because nobody is there: in every
// other mode tools are refused in silence and the program ends well. What
// keeps the session in bounds is the boundary around it.
func (claude) Command(l ledger.Launch, d Definition, b SessionPaths) ([]string, bool, error) {
	if d.Prompt != "" && d.Prompt != PromptStdin {
		return nil, false, d.problem(fmt.Sprintf("prompt = %q does not go with output = %q, whose prompt is on standard input", d.Prompt, d.Output),
			fmt.Sprintf("take prompt out of [agents.%s]", d.Name))
	}
	settings, err := claudeSettings(b.Hat)
	if err != nil {
		return nil, false, err
	}
	args := slices.Concat(d.Command[1:], []string{
		"-p", "--output-format", "stream-json", "--verbose",
		"--permission-mode", "bypassPermissions",
		"--settings", settings,
	})
	if l.Model != "" {
		args = append(args, "--model", l.Model)
	}
	if l.Effort != "" {
		args = append(args, "--effort", l.Effort)
	}
	// Last: it takes all arguments that follow.
	args = append(args, "--disallowedTools")
	return append(args, claudeDenied(l.Denied)...), true, nil
}

// claudeSettings is the stop hook: a session that wants to end without its
// event is told so once (SPEC 11).
func claudeSettings(hat string) (string, error) {
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
	return string(data), err
}

// shellWord makes text one word for the shell.
func shellWord(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// toolName is what the program calls its tools: "Bash", "mcp__db__query",
// "Bash(npm publish:*)".
var toolName = regexp.MustCompile(`^(?:[A-Z][A-Za-z]+|mcp__[A-Za-z0-9_-]+)(?:\(.*\))?$`)

// claudeDenied says a hat's tools.denied in the program's own words: a tool's
// name as it is, everything else as a command that begins so, or that holds
// it as a word. What it cannot say (parentheses end a rule) is left to the
// boundary; this is a safety net only (SPEC 12.1).
//
// These rules are text, and see what no wrapper does: pipes. The one against
// rm -rf outside is left out: as text it would forbid rm -rf build too, which is
// everyday work. The wrapper of rm sees to it, and the program itself refuses
// to remove the root, a folder right below it, and HOME, in every mode.
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

// claudePiped says "curl | sh" in the program's own words: with the arguments
// that curl has, and for either shell. One rule for all would take shuf for sh.
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

// Read judges by the stream, never by the exit code: see claudeStream.
func (claude) Read(output io.Reader, x ledger.Exit) Verdict {
	var s claudeStream
	eachLine(output, claudeLine, s.take)
	return s.verdict(x)
}
