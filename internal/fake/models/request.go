package models

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// Request is one request for a turn, with the conversation so far.
type Request struct {
	Session     string // the agent's own id of the conversation; "" where it gives none
	Step        int    // answers of the model so far: 0 for the first turn
	Try         int    // how often this turn was asked for before
	Auxiliary   bool   // no tools are offered: a title, a quota; the script does not see it
	CountTokens bool   // only the tokens are to be counted

	Model    string
	Stream   bool
	System   string
	Tools    []string // names of the tools on offer
	Messages []Message
	Header   http.Header // of the HTTP request, with the key
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
	Text  string // of a text or a tool's result
	Name  string // of a tool
	Error bool   // of a tool's result
}

// Text is all text of the message.
func (m Message) Text() string {
	var b strings.Builder
	for _, p := range m.Parts {
		if p.Type == "text" {
			b.WriteString(p.Text + "\n")
		}
	}
	return b.String()
}

// Results are the results of the last turn's tool calls, in order.
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

// Contains reports whether the text stands anywhere in what the agent sent: its
// prompt, tool results, what a hook said.
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

// Prompt is the text that the conversation began with. Agents put blocks of
// their own around it; the block that is nightporter's is taken where there
// is one, else the last one.
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

// parse reads the body of a request.
func parse(body []byte, header http.Header) (Request, error) {
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

// parts reads content, which is a text or a list of blocks.
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
