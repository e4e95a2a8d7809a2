package adapter

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"strings"
)

// claudeMessage holds the fields of a stream's line that are shown to people. A
// field of an unexpected type is ignored.
type claudeMessage struct {
	Type    string `json:"type"`
	Message struct {
		Content []claudePart `json:"content"`
	} `json:"message"`
}

// claudePart is a text, a tool call or its result.
type claudePart struct {
	Type    string          `json:"type"`
	Text    string          `json:"text"`
	ID      string          `json:"id"`
	Name    string          `json:"name"`
	Input   claudeInput     `json:"input"`
	Of      string          `json:"tool_use_id"`
	Content json.RawMessage `json:"content"` // a string or a list of parts
	Error   bool            `json:"is_error"`

	Args claudeInput `json:"arguments"` // pi's name of Input
}

// claudeInput holds the arguments of a tool that can be shown.
type claudeInput struct {
	Command     string `json:"command"`
	File        string `json:"file_path"`
	Notebook    string `json:"notebook_path"`
	Pattern     string `json:"pattern"`
	Path        string `json:"path"`
	Query       string `json:"query"`
	URL         string `json:"url"`
	Description string `json:"description"`
}

// claudeTail returns the model's texts and tool calls: "Edit order/adapter.go",
// "go test ./order/...   ok 1.9 s". Lines of standard error stay as they are.
func claudeTail(lines []string, dir string, most int) []string {
	results := map[string]string{} // results of calls, which come earlier in the stream
	var out []string               // newest first
	for _, line := range slices.Backward(lines) {
		if len(out) >= most {
			break
		}
		if !strings.HasPrefix(line, "{") {
			if !strings.HasPrefix(line, "[nightporter: ") {
				out = append(out, line)
			}
			continue
		}
		var e claudeMessage
		var wrongType *json.UnmarshalTypeError
		if err := json.Unmarshal([]byte(line), &e); err != nil && !errors.As(err, &wrongType) {
			continue
		}
		for _, p := range slices.Backward(e.Message.Content) {
			switch {
			case e.Type == "user" && p.Type == "tool_result":
				results[p.Of] = p.result()
			case e.Type == "assistant" && p.Type == "tool_use":
				out = append(out, p.call(dir, results[p.ID]))
			case e.Type == "assistant" && p.Type == "text" && strings.TrimSpace(p.Text) != "":
				out = append(out, firstLine(p.Text))
			}
		}
	}
	out = out[:min(len(out), most)]
	slices.Reverse(out)
	return out
}

// call renders a tool call with its result.
func (p claudePart) call(dir, result string) string {
	in := p.Input
	text := p.Name
	switch {
	case in.Command != "":
		text = firstLine(in.Command)
	case in.File != "" || in.Notebook != "":
		text += " " + relativeTo(dir, in.File+in.Notebook)
	default:
		for _, what := range []string{in.Pattern, in.Query, in.URL, relativeTo(dir, in.Path), in.Description} {
			if what != "" {
				text += " " + firstLine(what)
				break
			}
		}
	}
	if result != "" && (in.Command != "" || strings.HasPrefix(result, failedMark)) {
		text += "   " + result
	}
	return text
}

const failedMark = "✗ failed: "

// result returns the most informative line of a tool's result: the first one of
// a failure, else the last one, where tests and builds print their summary.
func (p claudePart) result() string {
	var text string
	if json.Unmarshal(p.Content, &text) != nil {
		var parts []claudePart
		_ = json.Unmarshal(p.Content, &parts) // an unreadable result gives no text
		for _, part := range parts {
			text += part.Text + "\n"
		}
	}
	if p.Error {
		return failedMark + firstLine(text)
	}
	return lastLine(text)
}

// lastLine returns the last line of a text with single spaces.
func lastLine(text string) string {
	text = strings.TrimSpace(text)
	return strings.Join(strings.Fields(text[strings.LastIndexByte(text, '\n')+1:]), " ")
}

// firstLine returns the first line of a text, followed by "…" if there are
// more.
func firstLine(text string) string {
	first, rest, _ := strings.Cut(strings.TrimSpace(text), "\n")
	if rest != "" {
		first += " …"
	}
	return first
}

// relativeTo makes a path relative to the work folder if it lies below it.
func relativeTo(dir, path string) string {
	if rest, ok := strings.CutPrefix(path, dir+string(filepath.Separator)); ok && dir != "" {
		return rest
	}
	return path
}
