package agent

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/nightporter/nightporter/loop/agent/adapter"
)

// TestAgentFiles: a session finds the files of its agent's row, as its own; what is
// there already stays.
func TestAgentFiles(t *testing.T) {
	h := newFixture(t, 1)
	path := filepath.Join(h.out, "opencode")
	script := "#!/bin/sh\nset -e\ncd ~/.config/opencode\ntest -d node_modules\ngrep -q @opencode-ai/plugin package-lock.json\ntouch node_modules/x\nmv package-lock.json new\n"
	if err := os.WriteFile(path, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	h.runner.o.Agents["mine"] = Definition{Name: "mine", Command: []string{path}, Dir: h.out, Output: adapter.Opencode}
	h.start(h.launch("r1-1"))
	if x := h.wait("r1-1"); x.Code != 0 {
		t.Errorf("%+v", x)
	}
	home, kept := t.TempDir(), filepath.Join(".config", "opencode", "package-lock.json")
	if err := os.MkdirAll(filepath.Join(home, filepath.Dir(kept)), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(home, kept), []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := h.runner.addAgentFiles(home, adapter.Find(adapter.Opencode)); err != nil {
		t.Fatal(err)
	}
	if data, err := os.ReadFile(filepath.Join(home, kept)); string(data) != "mine" || err != nil {
		t.Errorf("%s, %v", data, err)
	}
	// A link does not lead out of HOME.
	home = t.TempDir()
	if err := os.Symlink(t.TempDir(), filepath.Join(home, ".config")); err != nil {
		t.Fatal(err)
	}
	if err := h.runner.addAgentFiles(home, adapter.Find(adapter.Opencode)); err == nil {
		t.Error("it followed a link")
	}
}
