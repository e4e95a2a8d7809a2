package models

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// Request is a request for a turn, with the conversation so far.
type Request struct {
	Session     string // the agent's id of the conversation, "" = none
	Step        int    // number of answers in the conversation: 0 for the first turn
	Try         int    // number of earlier requests for the same turn
	Auxiliary   bool   // a request without tools, for a title or a quota; the script does not see it
	CountTokens bool   // a request to count tokens only

	Model    string
	Stream   bool
	System   string
	Tools    []string // names of the offered tools
	Messages []Message
	Header   http.Header // of the HTTP request, including the key
	Bytes    int         // size of the body
}

// Message is one message of a conversation.
type Message struct {
	Role  string // user or assistant
	Parts []Part
}

// Part is one content block of a message.
type Part struct {
	Type  string // text, tool_use, tool_result, …
	Text  string // content of a text or of a tool's result
	Name  string // name of the tool
	Error bool   // the tool failed
}

// Text returns all text of the message.
func (m Message) Text() string {
	var b strings.Builder
	for _, p := range m.Parts {
		if p.Type == "text" {
			b.WriteString(p.Text + "\n")
		}
	}
	return b.String()
}

// Results returns the results of the last turn's tool calls, in order.
func (r Request) Results() []Part {
	var out []Part
	for i := len(r.Messages) - 1; i >= 0 && r.Messages[i].Role == "user"; i-- {
		for _, p := range r.Messages[i].Parts {
			if p.Type == "tool_result" {
				out = append(out, p)
			}
		}
	}
	return out
}

// Contains reports whether the agent sent text anywhere: in its prompt, a tool's
// result or a hook's message.
func (r Request) Contains(text string) bool {
	for _, m := range r.Messages {
		if m.Role != "user" {
			continue
		}
		for _, p := range m.Parts {
			if strings.Contains(p.Text, text) {
				return true
			}
		}
	}
	return false
}

// Prompt returns the text that started the conversation. Agents add blocks of
// their own: Prompt returns nightporter's block if it recognizes one, else the
// last block.
func (r Request) Prompt() string {
	text := ""
	for _, m := range r.Messages {
		if m.Role != "user" {
			break
		}
		for _, p := range m.Parts {
			if p.Type != "text" {
				continue
			}
			if strings.Contains(p.Text, howToEnd) {
				return p.Text
			}
			if !strings.HasPrefix(p.Text, "<system-reminder>") {
				text = p.Text
			}
		}
	}
	return text
}

// add adds parts to the conversation. Those of one role that follow one another are
// one message.
func (r *Request) add(role string, p ...Part) {
	n := len(r.Messages) - 1
	if n < 0 || r.Messages[n].Role != role {
		r.Messages = append(r.Messages, Message{Role: role})
		n++
		if role == "assistant" {
			r.Step++
		}
	}
	r.Messages[n].Parts = append(r.Messages[n].Parts, p...)
}

// parse decodes the body of a request.
func parse(body []byte, hr *http.Request) (Request, error) {
	header := hr.Header
	var in struct {
		Model    string          `json:"model"`
		Stream   bool            `json:"stream"`
		System   json.RawMessage `json:"system"`
		Tools    []struct{ Name string }
		Messages []struct {
			Role    string
			Content json.RawMessage
		}
		Metadata struct {
			UserID string `json:"user_id"`
		}
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return Request{}, fmt.Errorf("the request is no JSON: %w", err)
	}
	r := Request{Model: in.Model, Stream: in.Stream, Header: header, Bytes: len(body), Session: header.Get("X-Claude-Code-Session-Id")}
	if r.Session == "" {
		r.Session = in.Metadata.UserID
	}
	for _, p := range parts(in.System) {
		r.System += p.Text + "\n"
	}
	for _, t := range in.Tools {
		r.Tools = append(r.Tools, t.Name)
	}
	for _, m := range in.Messages {
		r.Messages = append(r.Messages, Message{Role: m.Role, Parts: parts(m.Content)})
		if m.Role == "assistant" {
			r.Step++
		}
	}
	r.Auxiliary = len(r.Tools) == 0
	return r, nil
}

// parts decodes content, which is a string or a list of blocks.
func parts(raw json.RawMessage) []Part {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return []Part{{Type: "text", Text: text}}
	}
	var blocks []struct {
		Type    string          `json:"type"`
		Text    string          `json:"text"`
		Name    string          `json:"name"`
		Content json.RawMessage `json:"content"`
		IsError bool            `json:"is_error"`
	}
	if json.Unmarshal(raw, &blocks) != nil {
		return nil
	}
	var out []Part
	for _, b := range blocks {
		p := Part{Type: b.Type, Text: b.Text, Name: b.Name, Error: b.IsError}
		for _, inner := range parts(b.Content) {
			p.Text += inner.Text
		}
		out = append(out, p)
	}
	return out
}
