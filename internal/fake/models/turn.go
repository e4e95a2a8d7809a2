package models

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Turn is one answer of the model: text, then tool calls. A turn without a
// tool call ends the agent's conversation.
type Turn struct {
	Text  string
	Tools []Tool
	Usage Usage // zero: 1000 in, 50 out
	// Fault goes wrong instead of the answer, or in the middle of it.
	Fault *Fault
	// Header is sent with the answer: what is left of a limit, for example.
	Header map[string]string
	// Before, if not nil, is called before anything is sent.
	Before func()
}

// Usage is what a turn is counted as, in tokens.
type Usage struct {
	Input      int `json:"input_tokens"`
	CacheWrite int `json:"cache_creation_input_tokens"`
	CacheRead  int `json:"cache_read_input_tokens"`
	Output     int `json:"output_tokens"`
}

// Tool is one tool call.
type Tool struct {
	Name  string
	Input any // becomes a JSON object
}

// Say is a turn of text, which ends the conversation.
func Say(text string) Turn { return Turn{Text: text} }

// Use is a turn of tool calls.
func Use(tools ...Tool) Turn { return Turn{Tools: tools} }

// Fail is a turn that goes wrong.
func Fail(f Fault) Turn { return Turn{Text: "Done.", Fault: &f} }

// WithFault is the turn with a fault before it.
func (t Turn) WithFault(f Fault) Turn {
	t.Fault = &f
	return t
}

// Bash is a shell command, as Claude Code's tool of that name takes it.
func Bash(command string) Tool {
	return Tool{"Bash", map[string]any{"command": command, "description": "run a command"}}
}

// Background is a shell command that the agent does not wait for.
func Background(command string) Tool {
	return Tool{"Bash", map[string]any{"command": command, "description": "run a server", "run_in_background": true}}
}

// Write is a new file. Claude Code refuses to overwrite one that it has not
// read: use Bash for that.
func Write(path, content string) Tool {
	return Tool{"Write", map[string]any{"file_path": path, "content": content}}
}

// Emit is the shell command that sends a session's event.
func Emit(event string, data any) Tool {
	raw, err := json.Marshal(data)
	if err != nil { // the script's own mistake; the agent is told by hat
		raw = []byte(fmt.Sprintf("%q", err.Error()))
	}
	return Bash("hat emit " + event + " --data " + quote(string(raw)))
}

// quote makes text one word for the shell.
func quote(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// Play is a script in which each session has its turns in order: the first on
// its prompt, the second on what the first one's tools brought, and so on.
// Behind the last one the model says that it is done. The function is asked
// anew at each turn and has to answer the same for the same session.
func Play(turns func(Request) []Turn) func(Request) Turn {
	return func(r Request) Turn {
		if all := turns(r); r.Step < len(all) {
			return all[r.Step]
		}
		return Say("Done.")
	}
}
