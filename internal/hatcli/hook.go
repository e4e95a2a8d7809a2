package hatcli

import (
	"encoding/json"
	"io"
	"time"

	"github.com/nightporter/nightporter/internal/api"
)

// hookWindow is how long a hook waits for nightporter: long enough for a
// restart, short for an agent that is held up by it.
const hookWindow = 5 * time.Second

// maxHook is the most of a hook's input that is read, in bytes: the agent's
// last message is in it.
const maxHook = 16 << 20

// hook is what an agent's program calls by itself, never its model.
//
// `hat hook stop` is asked when the agent wants to end (SPEC 11). Where no
// event was accepted yet it says so, once: an agent that wants to end again
// may. Whatever goes wrong lets it end: what a session without an event counts
// as is decided elsewhere, and a hook that cannot ask must not hold it.
func (h *hat) hook(args []string) error {
	if len(args) != 1 || args[0] != "stop" {
		return usageError{"hook: only stop is known; agents' programs call it, with their JSON on standard input", ""}
	}
	var in struct {
		Active bool `json:"stop_hook_active"` // it was held back before
	}
	data, err := io.ReadAll(io.LimitReader(h.stdin, maxHook))
	if err != nil || json.Unmarshal(data, &in) != nil || in.Active {
		return nil //nolint:nilerr // what is not understood holds nobody back
	}
	h.window = min(h.window, hookWindow)
	reply, err := h.call(api.PathSession, api.Empty{})
	if err != nil || reply.Receipt != "" || reply.Text == "" {
		return nil //nolint:nilerr // see above
	}
	answer, err := json.Marshal(map[string]string{"decision": "block", "reason": reply.Text})
	if err != nil {
		return nil //nolint:nilerr // see above
	}
	say(h.stdout, string(answer))
	return nil
}
