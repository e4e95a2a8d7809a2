package verb

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/nightporter/nightporter/internal/api"
)

// SessionEnded ends the answer to an accepted event.
const SessionEnded = "This session has ended with it. Stop now: no further commands, edits or messages."

// Emit sends the session's one event. Its data are a JSON object (Object); none are
// an event without fields.
func (c Client) Emit(ctx context.Context, typ string, data json.RawMessage) (string, error) {
	if typ == "" {
		return "", InvalidError{"emit: which event?"}
	}
	if data == nil {
		data = json.RawMessage("{}")
	}
	reply, err := c.call(ctx, api.PathEmit, api.Emit{Type: typ, Data: data})
	if err != nil {
		return "", err
	}
	text := "Accepted " + typ + ": " + reply.Receipt + "\n"
	if reply.Text != "" {
		text += reply.Text + "\n"
	}
	return text + SessionEnded, nil
}

// Question is the payload of question.asked.
type Question struct {
	Text    string   `json:"text"`
	Options []string `json:"options"`
	Choice  string   `json:"choice,omitempty"`
}

// Ask ends the session with a question.
func (c Client) Ask(ctx context.Context, q Question) (string, error) {
	switch {
	case q.Text == "":
		return "", InvalidError{"ask: what is the question?"}
	case slices.Contains(q.Options, ""):
		return "", InvalidError{"ask: an option is empty"}
	case q.Choice != "" && len(q.Options) > 0 && !slices.Contains(q.Options, q.Choice):
		return "", InvalidError{fmt.Sprintf("ask: the choice %q is none of the options", q.Choice)}
	}
	q.Options = append([]string{}, q.Options...) // [], not null
	data, err := json.Marshal(q)
	if err != nil {
		return "", fmt.Errorf("ask: %w", err)
	}
	return c.Emit(ctx, "question.asked", data)
}

// Stray returns why a change of a file would be undone after the session, the first time
// that it is asked about that file; else "".
func (c Client) Stray(ctx context.Context, path string) (string, error) {
	reply, err := c.call(ctx, api.PathWrite, api.Write{Path: path})
	return reply.Text, err
}

// Unsent returns how to send the session's event, "" after it was accepted.
func (c Client) Unsent(ctx context.Context) (string, error) {
	reply, err := c.call(ctx, api.PathSession, api.Empty{})
	if err != nil || reply.Receipt != "" {
		return "", err
	}
	return reply.Text, nil
}
