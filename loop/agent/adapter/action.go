package adapter

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
)

// Action is one tool call of a session, in the few words that are shown while it
// works. The zero value is an unknown action. All fields are foreign text.
type Action struct {
	// Verb says what is done to a path: "edits". It is "" for a command.
	Verb string
	// Words are the command's program and its first argument, or a path. An
	// option and what follows it are left out: it may carry a password that no
	// rule recognises.
	Words []string
	// From is the beginning of the text that Words were taken from: a rule for
	// secrets needs what stands around one.
	From string
}

// String returns the action in one line: "npm test", "edits cart/total.go".
func (a Action) String() string {
	return strings.TrimSpace(a.Verb + " " + strings.Join(a.Words, " "))
}

// maxFrom limits Action.From, and the command lines that are parsed, in bytes.
const maxFrom = 4 << 10

// LastAction returns the last tool call in complete lines of output that are
// events of a program with a row. It returns the zero Action for output
// without one, and for a call that it cannot tell in words. Paths below the work
// folder dir are shortened.
func LastAction(lines []string, dir string) Action {
	for _, line := range slices.Backward(lines) {
		if !strings.HasPrefix(line, "{") {
			continue
		}
		var e actionEvent
		var wrongType *json.UnmarshalTypeError
		if err := json.Unmarshal([]byte(line), &e); err != nil && !errors.As(err, &wrongType) {
			continue
		}
		if a, isCall := e.action(dir); isCall {
			return a
		}
	}
	return Action{}
}

// actionEvent holds the fields of an event that tell a tool call.
type actionEvent struct {
	Type    string `json:"type"`
	Message struct {
		Content []toolCall `json:"content"`
	} `json:"message"` // Claude Code
	Item struct {
		Type    string `json:"type"`
		Command string `json:"command"`
		Changes []struct {
			Path string `json:"path"`
		} `json:"changes"`
		Tool string `json:"tool"`
	} `json:"item"` // Codex
	Part struct {
		Tool  string `json:"tool"`
		State struct {
			Input toolInput `json:"input"`
		} `json:"state"`
	} `json:"part"` // opencode

	Tool   string    `json:"tool_name"`
	Params toolInput `json:"parameters"` // Gemini CLI
	Data   struct {
		Tool string    `json:"toolName"`
		Args toolInput `json:"arguments"`
	} `json:"data"` // Copilot CLI
}

type toolCall struct {
	Type  string    `json:"type"`
	Name  string    `json:"name"`
	Input toolInput `json:"input"`
	Args  toolInput `json:"arguments"` // pi's name of Input
}

// toolInput holds the arguments of a tool that can be shown: a command or a path,
// under the names that the programs give them.
type toolInput struct {
	Command  string `json:"command"`
	File     string `json:"file_path"`
	Notebook string `json:"notebook_path"`
	OpenFile string `json:"filePath"`
	Path     string `json:"path"`
}

// action returns the tool call of an event, and whether it is one.
func (e actionEvent) action(dir string) (Action, bool) {
	switch e.Type {
	case "assistant":
		for _, c := range slices.Backward(e.Message.Content) {
			if c.Type == "tool_use" && !isBookkeeping(c.Name) {
				return toolAction(c.Name, c.Input, dir), true
			}
		}
	case "message_end":
		for _, c := range slices.Backward(e.Message.Content) {
			if c.Type == "toolCall" {
				return toolAction(c.Name, c.Args, dir), true
			}
		}
	case "tool.execution_start":
		if e.Data.Tool != "" && !isBookkeeping(e.Data.Tool) {
			return toolAction(e.Data.Tool, e.Data.Args, dir), true
		}
	case "tool_use":
		if e.Tool != "" && !isBookkeeping(e.Tool) {
			return toolAction(e.Tool, e.Params, dir), true
		}
		if e.Part.Tool != "" && !isBookkeeping(e.Part.Tool) {
			return toolAction(e.Part.Tool, e.Part.State.Input, dir), true
		}
	case "item.started", "item.completed":
		switch e.Item.Type {
		case "command_execution":
			return commandAction(e.Item.Command, dir), true
		case "file_change":
			if len(e.Item.Changes) == 0 {
				return Action{}, true
			}
			return pathAction("edits", e.Item.Changes[len(e.Item.Changes)-1].Path, dir), true
		case "mcp_tool_call":
			return toolAction(e.Item.Tool, toolInput{}, dir), true
		case "web_search":
			return toolAction(e.Item.Type, toolInput{}, dir), true
		}
	}
	return Action{}, false
}

// isBookkeeping reports whether a tool only keeps the agent's own list of steps, or its
// title.
func isBookkeeping(tool string) bool {
	return slices.Contains([]string{"todowrite", "todo_write", "write_todos", "report_intent", "update_topic"}, strings.ToLower(tool))
}

// toolVerbs says what a tool does, by its name in lower case, of any of the programs.
var toolVerbs = map[string]string{
	"edit": "edits", "multiedit": "edits", "write": "edits", "notebookedit": "edits", "patch": "edits", "apply_patch": "edits",
	"write_file": "edits", "replace": "edits", "create": "edits", "str_replace": "edits",
	"read_file": "reads", "view": "reads", "list_directory": "lists", "find": "searches", "grep_search": "searches",
	"web_fetch": "reads the web", "google_web_search": "searches the web", "invoke_agent": "has a subagent at work",
	"read": "reads", "ls": "lists", "list": "lists", "glob": "searches", "grep": "searches",
	"webfetch": "reads the web", "websearch": "searches the web", "web_search": "searches the web",
	"task": "has a subagent at work", "agent": "has a subagent at work",
}

func toolAction(name string, in toolInput, dir string) Action {
	if in.Command != "" {
		return commandAction(in.Command, dir)
	}
	verb, known := toolVerbs[strings.ToLower(name)]
	if !known {
		if name == "" {
			return Action{}
		}
		return pathAction("uses", name, "")
	}
	for _, path := range []string{in.File, in.Notebook, in.OpenFile, in.Path} {
		if path != "" {
			return pathAction(verb, path, dir)
		}
	}
	return Action{Verb: verb}
}

func pathAction(verb, path, dir string) Action {
	if len(path) > maxFrom {
		return Action{}
	}
	return Action{Verb: verb, Words: []string{relativeTo(dir, path)}, From: path}
}

// commandAction returns a shell's command line as an action.
func commandAction(command, dir string) Action {
	return Action{Words: commandWords(command, dir), From: command[:min(len(command), maxFrom)]}
}
