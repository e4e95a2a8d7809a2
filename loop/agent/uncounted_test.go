package agent

import (
	"bytes"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nightporter/nightporter/loop/agent/adapter"
)

// TestUncounted: a release that names its tokens otherwise gives unknown figures,
// and that is said once of an agent.
func TestUncounted(t *testing.T) {
	var log bytes.Buffer
	h := newFixture(t, 1, func(o *Options) { o.Log = slog.New(slog.NewTextHandler(&log, nil)) })
	path := filepath.Join(h.out, "codex")
	if err := os.WriteFile(path, []byte("#!/bin/sh\ncat <<'E'\n"+
		`{"type":"item.completed","item":{"id":"i","type":"agent_message","text":"Done."}}`+"\n"+
		`{"type":"turn.completed","usage":{"tokens_in":100,"tokens_out":5}}`+"\nE\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	h.runner.o.Agents["mine"] = Definition{Name: "mine", Command: []string{path}, Dir: h.out, Output: adapter.Codex}
	for n := range 2 {
		l := h.launch(fmt.Sprintf("r1-%d", n+1))
		h.start(l)
		if x := h.wait(l.Session); !x.Uncounted || x.Tokens != -1 || x.CostUSD != -1 || x.Turns != 1 || x.Text != "" || x.Failure != "" {
			t.Errorf("%+v", x)
		}
	}
	if n := strings.Count(log.String(), "does not know"); n != 1 {
		t.Errorf("said %d times:\n%s", n, log.String())
	}
}
