package hatcli

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nightporter/nightporter/internal/api"
)

// TestHookStop checks that an agent without an accepted event is stopped once,
// and in no other case.
func TestHookStop(t *testing.T) {
	missing := api.Reply{OK: true, Text: `send "it"`}
	for _, c := range []struct {
		name  string
		stdin string
		reply api.Reply
		err   error
		block string
		asked bool
	}{
		{"no event yet", `{"stop_hook_active":false,"last_assistant_message":"done"}`, missing, nil, `send "it"`, true},
		{"held back before", `{"stop_hook_active":true}`, missing, nil, "", false},
		{"event accepted", `{}`, api.Reply{OK: true, Receipt: "r1-1 build.complete"}, nil, "", true},
		{"session has ended", `{}`, api.Reply{Text: "this session has ended"}, nil, "", true},
		{"nightporter failed", `{}`, api.Reply{}, errors.New("broken"), "", true},
		{"input is no JSON", `stop`, missing, nil, "", false},
		{"no input", ``, missing, nil, "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := callHat(t, &fakeServer{reply: c.reply, err: c.err}, c.stdin, "hook", "stop")
			var answer struct{ Decision, Reason string }
			if got.out != "" {
				if err := json.Unmarshal([]byte(got.out), &answer); err != nil {
					t.Fatalf("%q: %v", got.out, err)
				}
			}
			if got.code != 0 || answer.Reason != c.block || (answer.Decision == "block") != (c.block != "") || got.errOut != "" {
				t.Errorf("%+v", got)
			}
			if c.asked {
				if d := cmp.Diff([]any{"session"}, got.asked); d != "" && c.err == nil {
					t.Error(d)
				}
			} else if len(got.asked) > 0 {
				t.Errorf("asked %v", got.asked)
			}
		})
	}
	t.Run("nightporter away", func(t *testing.T) {
		env := map[string]string{api.EnvSocket: t.TempDir() + "/nobody", api.EnvToken: "x"}
		var out strings.Builder
		code := run([]string{"hook", "stop"}, strings.NewReader("{}"), &out, io.Discard, func(k string) string { return env[k] }, 200*time.Millisecond)
		if code != 0 || out.String() != "" {
			t.Errorf("exit %d: %s", code, out.String())
		}
	})
	if got := callHat(t, &fakeServer{}, "", "hook", "start"); got.code != api.ExitUsage {
		t.Errorf("an unknown hook: %+v", got)
	}
}

// TestHookWrite: a write that nightporter has something to say about is refused with its
// words, wherever a link leads; every other one, and each that cannot be asked about, is
// permitted without a word.
func TestHookWrite(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Mkdir(filepath.Join(dir, "real"), 0o755), os.Symlink("real", filepath.Join(dir, "link"))); err != nil {
		t.Fatal(err)
	}
	stray := api.Reply{OK: true, Text: `"b.go" is not in the scope`}
	input := func(field, path string) string {
		data, err := json.Marshal(map[string]any{"hook_event_name": "PreToolUse", "tool_name": "Write", "cwd": dir, "tool_input": map[string]string{field: path, "content": "x"}})
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	for _, c := range []struct {
		name  string
		stdin string
		reply api.Reply
		err   error
		deny  string
		asked string // "" = nothing
	}{
		{"out of scope", input("file_path", dir+"/b.go"), stray, nil, stray.Text, dir + "/b.go"},
		{"a notebook", input("notebook_path", dir+"/b.ipynb"), stray, nil, stray.Text, dir + "/b.ipynb"},
		{"a path of the folder", input("file_path", "sub/new/b.go"), stray, nil, stray.Text, dir + "/sub/new/b.go"},
		{"through a link", input("file_path", dir+"/link/new/b.go"), stray, nil, stray.Text, dir + "/real/new/b.go"},
		{"in scope", input("file_path", dir+"/a.go"), api.Reply{OK: true}, nil, "", dir + "/a.go"},
		{"no file", input("command", "ls"), stray, nil, "", ""},
		{"refused", input("file_path", dir+"/b.go"), api.Reply{Text: "too many calls"}, nil, "", dir + "/b.go"},
		{"nightporter failed", input("file_path", dir+"/b.go"), api.Reply{}, errors.New("broken"), "", ""},
		{"no JSON", "write", stray, nil, "", ""},
		{"other types", `{"tool_input":{"file_path":7}}`, stray, nil, "", ""},
		{"no input", "", stray, nil, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := callHat(t, &fakeServer{reply: c.reply, err: c.err}, c.stdin, "hook", "write")
			var answer struct {
				Decision, Reason   string
				HookSpecificOutput struct{ HookEventName, PermissionDecision, PermissionDecisionReason string }
			}
			if got.out != "" {
				if err := json.Unmarshal([]byte(got.out), &answer); err != nil {
					t.Fatalf("%q: %v", got.out, err)
				}
			}
			long := answer.HookSpecificOutput
			if got.code != 0 || got.errOut != "" || answer.Reason != c.deny || long.PermissionDecisionReason != c.deny || (got.out != "") != (c.deny != "") {
				t.Errorf("%+v", got)
			}
			if c.deny != "" && (answer.Decision != "block" || long.PermissionDecision != "deny" || long.HookEventName != "PreToolUse") {
				t.Errorf("%+v", answer)
			}
			want := []any{api.Write{Path: c.asked}}
			if c.asked == "" {
				want = nil
			}
			if d := cmp.Diff(want, got.asked); d != "" && c.err == nil {
				t.Error(d)
			}
		})
	}
	t.Run("nightporter away", func(t *testing.T) {
		env := map[string]string{api.EnvSocket: t.TempDir() + "/nobody", api.EnvToken: "x"}
		var out strings.Builder
		code := run([]string{"hook", "write"}, strings.NewReader(input("file_path", "b.go")), &out, io.Discard, func(k string) string { return env[k] }, 200*time.Millisecond)
		if code != 0 || out.String() != "" {
			t.Errorf("exit %d: %s", code, out.String())
		}
	})
}
