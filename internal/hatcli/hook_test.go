package hatcli

import (
	"encoding/json"
	"errors"
	"io"
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
