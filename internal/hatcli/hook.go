package hatcli

import (
	"encoding/json"
	"io"
	"time"

	"github.com/nightporter/nightporter/internal/api"
)

// hookWindow is how long a hook waits for nightporter: long enough for a
// restart, and short for the agent that waits.
const hookWindow = 5 * time.Second

// maxHook limits the input read by a hook, in bytes. The input contains the
// agent's last message.
const maxHook = 16 << 20

// hook is called by an agent's program, never by its model.
//
// An agent's program calls `hat hook stop` when the agent wants to end. If no
// event was accepted yet, hook says so, once: the second attempt to end
// succeeds. Any fault lets the agent end: the core decides what a session
// without an event means, and a hook that cannot ask must not block it.
func (h *hat) hook(args []string) error {
	if len(args) != 1 || args[0] != "stop" {
		return usageError{"hook: only stop is known; agents' programs call it, with their JSON on standard input", ""}
	}
	var in struct {
		Active bool `json:"stop_hook_active"` // the agent was stopped before
	}
	data, err := io.ReadAll(io.LimitReader(h.stdin, maxHook))
	if err != nil || json.Unmarshal(data, &in) != nil || in.Active {
		return nil //nolint:nilerr // input that cannot be read must not hold the agent
	}
	h.window = min(h.window, hookWindow)
	reply, err := h.call(api.PathSession, api.Empty{})
	if err != nil || reply.Receipt != "" || reply.Text == "" {
		return nil //nolint:nilerr // a hook that cannot ask must not hold the agent
	}
	answer, err := json.Marshal(map[string]string{"decision": "block", "reason": reply.Text})
	if err != nil {
		return nil //nolint:nilerr // a hook that cannot ask must not hold the agent
	}
	printLine(h.stdout, string(answer))
	return nil
}
