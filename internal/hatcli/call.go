package hatcli

import (
	"context"

	"github.com/nightporter/nightporter/internal/api"
)

// refusal is the error for a request that nightporter refused. Its text names
// the correction.
type refusal struct{ text string }

// call sends a request to the session's socket. A refusal is an error.
func (h *hat) call(path string, body any) (api.Reply, error) {
	socket, token := h.getenv(api.EnvSocket), h.getenv(api.EnvToken)
	for _, e := range [...]struct{ name, value string }{{api.EnvSocket, socket}, {api.EnvToken, token}} {
		if e.value == "" {
			return api.Reply{}, usageError{e.name + " is not set: hat works only inside a session that nightporter started", ""}
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), h.window)
	defer cancel()
	var reply api.Reply
	if err := api.Call(ctx, socket, token, path, body, &reply); err != nil {
		return api.Reply{}, err
	}
	if !reply.OK {
		text := reply.Text
		if text == "" {
			text = "no reason was given"
		}
		return api.Reply{}, refusal{text}
	}
	return reply, nil
}

func (e refusal) Error() string { return e.text }
