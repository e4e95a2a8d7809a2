package hatcli

import (
	"cmp"
	"encoding/json"
	"io"
	"path/filepath"
	"time"
)

// Times for which a hook waits for nightporter: before the end of a session long enough for
// a restart, before each write short for the agent that waits.
const (
	hookWindow  = 5 * time.Second
	writeWindow = 2 * time.Second
)

// maxHook limits the input read by a hook, in bytes. The input contains the
// agent's last message, or a whole file.
const maxHook = 16 << 20

// hook implements hat hook stop and hat hook write, which an agent's program calls before a
// session ends and before a tool writes a file. The model never calls it.
//
// Any fault permits what the agent wants: the core decides the meaning of what a session
// leaves, and a hook without an answer must not block the agent.
func (h *hat) hook(args []string) error {
	if len(args) != 1 || args[0] != "stop" && args[0] != "write" {
		return usageError{"hook: only stop and write are known; agents' programs call them, with their JSON on standard input", ""}
	}
	data, err := io.ReadAll(io.LimitReader(h.stdin, maxHook))
	if err != nil {
		return nil //nolint:nilerr // input that cannot be read must not hold the agent
	}
	answer := h.hookStop
	if args[0] == "write" {
		answer = h.hookWrite
	}
	text, err := json.Marshal(answer(data))
	if err != nil || string(text) == "null" {
		return nil //nolint:nilerr // a hook that cannot answer must not hold the agent
	}
	printLine(h.stdout, string(text))
	return nil
}

// hookStop stops the agent from ending, once, if no event was accepted yet: the second
// attempt succeeds. nil lets it end.
func (h *hat) hookStop(data []byte) any {
	var in struct {
		Active bool `json:"stop_hook_active"` // the agent was stopped before
	}
	if json.Unmarshal(data, &in) != nil || in.Active {
		return nil
	}
	h.client.Window = min(h.client.Window, hookWindow)
	reason, err := h.client.Unsent(h.ctx)
	if err != nil || reason == "" {
		return nil
	}
	return map[string]string{"decision": "block", "reason": reason}
}

// hookWrite refuses a change of a file that would be undone after the session, once for
// each file. nil permits it.
func (h *hat) hookWrite(data []byte) any {
	var in struct {
		Dir   string `json:"cwd"`
		Input struct {
			File     string `json:"file_path"`
			Notebook string `json:"notebook_path"`
		} `json:"tool_input"`
	}
	if json.Unmarshal(data, &in) != nil {
		return nil
	}
	path := cmp.Or(in.Input.File, in.Input.Notebook)
	if path == "" {
		return nil
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(in.Dir, path)
	}
	h.client.Window = min(h.client.Window, writeWindow)
	reason, err := h.client.Stray(h.ctx, realPath(path))
	if err != nil || reason == "" {
		return nil
	}
	// Claude Code and Qwen Code take the long form, Gemini CLI the short one.
	return map[string]any{
		"decision": "block", "reason": reason,
		"hookSpecificOutput": map[string]string{"hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": reason},
	}
}

// realPath resolves symbolic links in the existing part of a path: a file counts where it
// lands.
func realPath(path string) string {
	path = filepath.Clean(path)
	if p, err := filepath.EvalSymlinks(path); err == nil {
		return p
	}
	if parent := filepath.Dir(path); parent != path {
		return filepath.Join(realPath(parent), filepath.Base(path))
	}
	return path
}
