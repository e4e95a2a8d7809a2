package agent

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nightporter/nightporter/loop/agent/adapter"
	"github.com/nightporter/nightporter/loop/ledger"
)

// TestProbe: an agent gets one line and its login, and nothing of the session stays.
func TestProbe(t *testing.T) {
	h := newFixture(t, 1)
	path := filepath.Join(h.out, "codex")
	script := "#!/bin/sh\ntest \"$1\" = --version && { echo codex-cli 9; exit; }\nread -r line\n" +
		`printf '{"type":"item.completed","item":{"id":"i","type":"agent_message","text":"got: %s, key %s, %s"}}\n' "$line" "$CODEX_API_KEY" "$(ls -A | wc -l)"` + "\n" +
		`echo '{"type":"turn.completed","usage":{"input_tokens":100,"output_tokens":5}}'` + "\n"
	if err := os.WriteFile(path, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	h.runner.o.Agents["codex"] = Definition{Name: "codex", Command: []string{path}, Dir: h.out, Output: adapter.Codex}
	if x, err := h.runner.Probe(t.Context(), "codex", ""); err == nil || !strings.Contains(err.Error(), "is not logged in") {
		t.Errorf("without a login: %+v, %v", x, err)
	}
	if err := SaveLogin(h.state, "codex", map[string][]byte{"key": []byte("made-up\n")}); err != nil {
		t.Fatal(err)
	}
	before := list(t, h.state)
	x, err := h.runner.Probe(t.Context(), "codex", "")
	if err != nil || x.Reason != ledger.ExitSelf || x.Tokens != 105 || x.CostUSD != -1 || x.Said != "got: "+probePrompt+", key made-up, 0" {
		t.Errorf("%+v, %v", x, err)
	}
	if after := list(t, h.state); after != before {
		t.Errorf("the state folder had %s and has %s", before, after)
	}
}

// TestProbeGivenUp: a caller that gives up leaves no session.
func TestProbeGivenUp(t *testing.T) {
	h := newFixture(t, 1)
	h.script("touch " + filepath.Join(h.out, "begun") + "; sleep 600")
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		awaitChange(t, h.out, "the session's beginning", func() bool {
			_, err := os.Lstat(filepath.Join(h.out, "begun"))
			return err == nil
		})
		cancel()
	}()
	if x, err := h.runner.Probe(ctx, "mine", ""); err == nil {
		t.Errorf("%+v", x)
	}
	if left, err := os.ReadDir(filepath.Join(h.state, "sessions")); err != nil || len(left) > 0 {
		t.Errorf("sessions that stayed: %v, %v", left, err)
	}
}

func list(t *testing.T, dir string) string {
	t.Helper()
	var names []string
	for _, d := range []string{dir, filepath.Join(dir, "sessions"), filepath.Join(dir, "cache"), filepath.Join(dir, "caches"), filepath.Join(dir, "runs")} {
		entries, err := os.ReadDir(d)
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		for _, e := range entries {
			if n := e.Name(); n != "sessions" && n != "cache" && n != "caches" {
				names = append(names, n)
			}
		}
	}
	return strings.Join(names, " ")
}
