package agent

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
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
	if err := h.runner.addAgentFiles(home, adapter.Find(adapter.Opencode), false); err != nil {
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
	if err := h.runner.addAgentFiles(home, adapter.Find(adapter.Opencode), false); err == nil {
		t.Error("it followed a link")
	}
}

// TestRepositorySettings: at level 3 a session on a repository that is not trusted does not
// see the folder with settings for its agent's program, however it is called; below that
// level the folder is named to people. The program's own files of an untrusted repository
// are there.
func TestRepositorySettings(t *testing.T) {
	for _, c := range []struct {
		name    string
		agent   string
		trusted bool
		link    bool
		sees    string
	}{
		{"not trusted", adapter.Gemini, false, false, ""},
		{"a link", adapter.Gemini, false, true, ""},
		{"trusted", adapter.Gemini, true, false, "settings.json"},
		{"of another program", adapter.Claude, false, false, "settings.json"},
		{"files of HOME", adapter.Qwen, false, false, "settings.json trustedFolders.json"},
		{"files of HOME, trusted", adapter.Qwen, true, false, "settings.json"},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := newFixture(t, 3)
			h.script("{ ls -A .gemini; cd ~/.qwen 2>/dev/null && ls trusted*; } >seen.txt || :")
			d := h.runner.o.Agents["mine"]
			d.Output = c.agent
			h.runner.o.Agents["mine"], h.runner.o.Projects = d, map[string]Grant{"shop": {TrustsRepo: c.trusted}}
			folder := filepath.Join(h.work, ".gemini")
			if c.link {
				folder = filepath.Join(h.work, "conf")
				if err := os.Symlink("conf", filepath.Join(h.work, ".gemini")); err != nil {
					t.Fatal(err)
				}
			}
			if err := errors.Join(os.Mkdir(folder, 0o755), os.WriteFile(filepath.Join(folder, "settings.json"), []byte("{}"), 0o644)); err != nil {
				t.Fatal(err)
			}
			h.start(h.launch("r1-1"))
			x := h.wait("r1-1")
			seen, err := os.ReadFile(filepath.Join(h.work, "seen.txt"))
			if got := strings.Join(strings.Fields(string(seen)), " "); got != c.sees || x.Code != 0 || err != nil {
				t.Errorf("it sees %q, want %q: %+v, %v", got, c.sees, x, err)
			}
			if _, err := os.Stat(filepath.Join(folder, "settings.json")); err != nil {
				t.Error(err)
			}
		})
	}
	for level, want := range map[int]string{1: "[.gemini]", 3: "[]"} {
		h := newFixture(t, level)
		h.runner.o.Agents["mine"] = Definition{Name: "mine", Output: adapter.Gemini}
		if got := fmt.Sprint(h.runner.ReadsRepository("shop", "mine")); got != want {
			t.Errorf("level %d: %s, want %s", level, got, want)
		}
	}
}
