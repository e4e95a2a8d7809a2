package adapter

import (
	"cmp"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
)

// Passage is a part of what a session said or did, in the order of its output. It
// is foreign text, and can have several lines.
type Passage struct {
	Action bool // a tool call in one line, with its result; otherwise words
	Text   string
}

// Transcript returns what complete lines of an agent's output tell of its session:
// the model's words, its tool calls with their results, and lines that are no
// events, which are joined into one passage. Events are those of the programs with a
// row; those without news for a person are left out. Paths below the work
// folder dir are shortened.
func Transcript(lines []string, dir string) []Passage {
	t := transcript{dir: dir, calls: map[string]int{}}
	for _, line := range lines {
		if e, isEvent := parseEvent(line); isEvent {
			t.event(e)
		} else if !strings.HasPrefix(line, "[nightporter: ") {
			t.line(line)
		}
	}
	return t.out
}

// PlainTranscript returns output that is readable as it is.
func PlainTranscript(lines []string) []Passage {
	var t transcript
	for _, line := range lines {
		t.line(line)
	}
	return t.out
}

// transcript collects passages.
type transcript struct {
	dir   string
	out   []Passage
	calls map[string]int // index in out, by the id of a tool call
	lines bool           // the last passage consists of lines that are no events
	part  bool           // the last passage is a part of a message, and more may follow
}

func (t *transcript) line(text string) {
	if t.lines {
		t.out[len(t.out)-1].Text += "\n" + text
		return
	}
	t.out, t.lines, t.part = append(t.out, Passage{Text: text}), true, false
}

func (t *transcript) words(text string) {
	if text = strings.TrimSpace(text); text != "" {
		t.out, t.lines, t.part = append(t.out, Passage{Text: text}), false, false
	}
}

// wordsPart adds a part of a message, as Gemini CLI has them.
func (t *transcript) wordsPart(text string) {
	if t.part {
		t.out[len(t.out)-1].Text += text
	} else if strings.TrimSpace(text) != "" {
		t.words(text)
		t.part = true
	}
}

func (t *transcript) call(id, text string) {
	if id != "" {
		t.calls[id] = len(t.out)
	}
	t.out, t.lines, t.part = append(t.out, Passage{Action: true, Text: text}), false, false
}

// result adds its result to a call. The call may be older than the output at hand.
func (t *transcript) result(id, text string) {
	if n, known := t.calls[id]; known && text != "" {
		t.out[n].Text += "   " + text
		delete(t.calls, id)
	}
}

// streamEvent holds the fields of an event that are shown to people.
type streamEvent struct {
	Type    string `json:"type"`
	Message struct {
		Content []claudePart `json:"content"`

		Role  string `json:"role"` // these are pi's
		Of    string `json:"toolCallId"`
		Error bool   `json:"isError"`
		Fault string `json:"errorMessage"`
	} `json:"message"` // Claude Code, Qwen Code and pi
	Item codexItem `json:"item"`
	Part struct {
		Text  string `json:"text"`
		Tool  string `json:"tool"`
		State struct {
			Status string       `json:"status"`
			Input  opencodeCall `json:"input"`
			Output string       `json:"output"`
			Error  string       `json:"error"`
		} `json:"state"`
	} `json:"part"` // opencode
	Error struct {
		Message string `json:"message"` // Codex
		Data    struct {
			Message string `json:"message"` // opencode
		} `json:"data"`
	} `json:"error"`

	Role    string      `json:"role"` // these are Gemini CLI's
	Content string      `json:"content"`
	Tool    string      `json:"tool_name"`
	ToolID  string      `json:"tool_id"`
	Params  claudeInput `json:"parameters"`
	Status  string      `json:"status"`
	Output  string      `json:"output"`

	Data struct {
		Content string      `json:"content"`
		Message string      `json:"message"`
		ToolID  string      `json:"toolCallId"`
		Tool    string      `json:"toolName"`
		Args    claudeInput `json:"arguments"`
		Success bool        `json:"success"`
		Result  struct {
			Content string `json:"content"`
		} `json:"result"`
		Error struct {
			Message string `json:"message"`
		} `json:"error"`
	} `json:"data"` // Copilot CLI
}

type codexItem struct {
	ID      string `json:"id"`
	Type    string `json:"type"`
	Text    string `json:"text"`
	Message string `json:"message"`
	Command string `json:"command"`
	Output  string `json:"aggregated_output"`
	Exit    *int   `json:"exit_code"`
	Tool    string `json:"tool"`
	Query   string `json:"query"`
	Changes []struct {
		Path string `json:"path"`
	} `json:"changes"`
}

type opencodeCall struct {
	Command     string `json:"command"`
	File        string `json:"filePath"`
	Pattern     string `json:"pattern"`
	Path        string `json:"path"`
	URL         string `json:"url"`
	Description string `json:"description"`
}

// eventTypes are the types of events, or what they begin with up to a dot.
var eventTypes = []string{
	"system", "assistant", "user", "result", "rate_limit_event", "stream_event", "tool_progress", // Claude Code
	"thread", "turn", "item", // Codex
	"step_start", "step_finish", "tool_use", "text", "reasoning", // opencode
	"init", "message", "tool_result", // Gemini CLI
	"session", "model", "tool", "hook", "subagent", "abort", // Copilot CLI
	"agent_start", "agent_end", "turn_start", "turn_end", "message_start", "message_update", "message_end", "tool_execution_start", // pi
	"tool_execution_update", "tool_execution_end", "auto_retry_start", "auto_retry_end", "compaction_start", "compaction_end", "queue_update",
	"error",
}

// parseEvent reads a line as an event. A field of an unexpected type is ignored.
func parseEvent(line string) (e streamEvent, isEvent bool) {
	if !strings.HasPrefix(line, "{") {
		return e, false
	}
	var wrongType *json.UnmarshalTypeError
	if err := json.Unmarshal([]byte(line), &e); err != nil && !errors.As(err, &wrongType) {
		return e, false
	}
	kind, _, _ := strings.Cut(e.Type, ".")
	return e, slices.Contains(eventTypes, kind)
}

func (t *transcript) event(e streamEvent) {
	switch e.Type {
	case "assistant", "user":
		for _, p := range e.Message.Content {
			switch {
			case e.Type == "user" && p.Type == "tool_result":
				t.result(p.Of, p.result())
			case e.Type == "assistant" && p.Type == "tool_use":
				t.call(p.ID, p.call(t.dir, ""))
			case e.Type == "assistant" && p.Type == "text":
				t.words(p.Text)
			}
		}
	case "item.started", "item.completed":
		t.item(e.Item, e.Type == "item.completed")
	case "turn.failed", "error":
		t.words(cmp.Or(e.Error.Message, e.Error.Data.Message))
	case "text":
		t.words(e.Part.Text)
	case "message":
		if e.Role == "assistant" {
			t.wordsPart(e.Content)
		}
	case "tool_result":
		t.result(e.ToolID, foreignResult(e.Output, e.Status == "error"))
	case "message_end":
		t.piMessage(e)
	case "assistant.message":
		t.words(e.Data.Content)
	case "tool.execution_start":
		if !isBookkeeping(e.Data.Tool) {
			t.call(e.Data.ToolID, claudePart{Name: e.Data.Tool, Input: e.Data.Args}.call(t.dir, ""))
		}
	case "tool.execution_complete":
		t.result(e.Data.ToolID, foreignResult(cmp.Or(e.Data.Result.Content, e.Data.Error.Message), !e.Data.Success))
	case "session.error":
		t.words(e.Data.Message)
	case "tool_use":
		if e.Tool != "" {
			t.call(e.ToolID, claudePart{Name: e.Tool, Input: e.Params}.call(t.dir, ""))
			return
		}
		in := e.Part.State.Input
		p := claudePart{ID: "opencode", Name: e.Part.Tool, Error: e.Part.State.Status == "error"}
		p.Input.Command, p.Input.File, p.Input.Pattern = in.Command, in.File, in.Pattern
		p.Input.Path, p.Input.URL, p.Input.Description = in.Path, in.URL, in.Description
		said := e.Part.State.Output
		if p.Error {
			said = e.Part.State.Error
		}
		p.Content, _ = json.Marshal(said) // a string always has a JSON form
		t.call("", p.call(t.dir, p.result()))
	}
}

// foreignResult renders a tool's result, as claudePart.result does.
func foreignResult(text string, failed bool) string {
	if failed {
		return failedMark + firstLine(text)
	}
	return lastLine(text)
}

// piMessage adds a message of pi: the model's words and calls, or a call's result.
func (t *transcript) piMessage(e streamEvent) {
	text := ""
	for _, p := range e.Message.Content {
		text += p.Text + "\n"
		switch {
		case e.Message.Role != "assistant":
		case p.Type == "text":
			t.words(p.Text)
		case p.Type == "toolCall":
			p.Input = p.Args
			t.call(p.ID, p.call(t.dir, ""))
		}
	}
	switch e.Message.Role {
	case "toolResult":
		t.result(e.Message.Of, foreignResult(text, e.Message.Error))
	case "assistant":
		t.words(e.Message.Fault)
	}
}

// item adds an item of Codex. Commands and tools are reported when they start and
// again when they are over.
func (t *transcript) item(i codexItem, over bool) {
	switch i.Type {
	case "agent_message":
		t.words(i.Text)
	case "error":
		t.words(i.Message)
	case "command_execution":
		t.codexCall(i, over, firstLine(codexScript(i.Command)))
		if !over {
			return
		}
		said := lastLine(i.Output)
		if i.Exit != nil && *i.Exit != 0 {
			said = strings.TrimSpace(failedMark + "exit " + strconv.Itoa(*i.Exit) + "  " + said)
		}
		t.result(i.ID, said)
	case "file_change":
		if !over || len(i.Changes) == 0 {
			return
		}
		text := "edits"
		for _, c := range i.Changes {
			text += " " + relativeTo(t.dir, c.Path)
		}
		t.call("", text)
	case "mcp_tool_call":
		t.codexCall(i, over, i.Tool)
	case "web_search":
		t.codexCall(i, over, "web search "+firstLine(i.Query))
	}
}

// codexCall adds a call when it starts, or when it is over if its start is older
// than the output at hand.
func (t *transcript) codexCall(i codexItem, over bool, text string) {
	if _, known := t.calls[i.ID]; !known || !over {
		t.call(i.ID, text)
	}
}

// codexScript returns the script of a command line "bash -c SCRIPT", else the line.
func codexScript(command string) string {
	if script, is := shellScript(mainCommand(command)); is {
		return script
	}
	return command
}
