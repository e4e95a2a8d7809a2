package models

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Turn is one answer of the model: text, then tool calls. A turn without tool
// calls ends the conversation.
type Turn struct {
	Text  string
	Tools []Tool
	Usage Usage // usage that the answer reports; zero: 1000 tokens in, 50 out
	// Model is the model that the answer is from by its own word; "" is the one that
	// was asked. Only Anthropic's dialect has it.
	Model string
	// Fault, if not nil, replaces the answer or breaks it off.
	Fault *Fault
	// Header is sent with the answer, for example to report how much of a limit
	// is left.
	Header map[string]string
	// Before, if not nil, is called before anything is sent. It may block.
	Before func()
}

// Usage is the number of tokens that a turn reports.
type Usage struct {
	Input      int `json:"input_tokens"`
	CacheWrite int `json:"cache_creation_input_tokens"`
	CacheRead  int `json:"cache_read_input_tokens"`
	Output     int `json:"output_tokens"`
}

// Tool is one tool call.
type Tool struct {
	Name  string
	Input any // encoded as a JSON object
}

// Say returns a turn of text, which ends the conversation.
func Say(text string) Turn { return Turn{Text: text} }

// Use returns a turn of tool calls.
func Use(tools ...Tool) Turn { return Turn{Tools: tools} }

// Fail returns a turn with a fault.
func Fail(f Fault) Turn { return Turn{Text: "Done.", Fault: &f} }

// WithFault returns the turn preceded by a fault.
func (t Turn) WithFault(f Fault) Turn {
	t.Fault = &f
	return t
}

// Bash returns a shell command as a call of Claude Code's tool.
func Bash(command string) Tool {
	return Tool{"Bash", map[string]any{"command": command, "description": "run a command"}}
}

// Background returns a shell command that the agent does not wait for.
func Background(command string) Tool {
	return Tool{"Bash", map[string]any{"command": command, "description": "run a server", "run_in_background": true}}
}

// Write returns a call that creates a file. Claude Code refuses to overwrite a
// file that it has not read; use Bash for that.
func Write(path, content string) Tool {
	return Tool{"Write", map[string]any{"file_path": path, "content": content}}
}

// Emit returns the shell command that sends a session's event.
func Emit(event string, data any) Tool {
	raw, err := json.Marshal(data)
	if err != nil { // a mistake in the test's script, which hat reports to the agent
		raw = []byte(fmt.Sprintf("%q", err.Error()))
	}
	return Bash("hat emit " + event + " --data " + quote(string(raw)))
}

// quote quotes text as one shell word.
func quote(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// Play returns a script that gives each session its turns in order: the first
// answers the prompt, the second the results of the first turn's tools, and so
// on. After the last turn the model says "Done.". turns is called for each turn
// and must return the same for the same session.
func Play(turns func(Request) []Turn) func(Request) Turn {
	return func(r Request) Turn {
		if all := turns(r); r.Step < len(all) {
			return all[r.Step]
		}
		return Say("Done.")
	}
}
