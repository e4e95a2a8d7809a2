package hatcli

import (
	"encoding/json"
	"io"
	"time"
)

// hookWindow is how long a hook waits for nightporter: long enough for a
// restart, and short for the agent that waits.
const hookWindow = 5 * time.Second

// maxHook limits the input read by a hook, in bytes. The input contains the
// agent's last message.
const maxHook = 16 << 20

// hook implements hat hook stop, which an agent's program calls when the agent
// wants to end. The model never calls it.
//
// If no event was accepted yet, hook stops the agent from ending, once: the
// second attempt succeeds. Any fault permits the end, because the core decides
// the meaning of a session without an event, and a hook without an answer must
// not block the agent.
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
	h.client.Window = min(h.client.Window, hookWindow)
	reason, err := h.client.Unsent(h.ctx)
	if err != nil || reason == "" {
		return nil //nolint:nilerr // a hook that cannot ask must not hold the agent
	}
	answer, err := json.Marshal(map[string]string{"decision": "block", "reason": reason})
	if err != nil {
		return nil //nolint:nilerr // a hook that cannot ask must not hold the agent
	}
	printLine(h.stdout, string(answer))
	return nil
}
