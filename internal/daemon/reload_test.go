package daemon_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nightporter/nightporter/config"
	"github.com/nightporter/nightporter/internal/daemon/daemontest"
)

// TestReload checks that an invalid configuration leaves the old one in force
// with a warning, and that a valid one takes effect except for unfinished runs.
func TestReload(t *testing.T) {
	cfg := daemontest.Config(t, "manual")
	p, _ := daemontest.Open(t, cfg)
	text, err := os.ReadFile(cfg.File)
	if err != nil {
		t.Fatal(err)
	}
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(cfg.File, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		p.Reload(t.Context())
	}
	write(string(text) + "protectd = [\"main\"]\n")
	if got := strings.Join(p.Projects.WarningsOf("shop"), "\n"); got != "! settings not reloaded: line 10" || p.Projects.Config() != cfg {
		t.Errorf("remarks %q", got)
	}
	if m, err := p.Figures(t.Context()); err != nil || !strings.Contains(string(m), "\nnightporter_config_reload_failed 1") {
		t.Errorf("metrics: %v", err)
	}
	write(strings.Replace(string(text), "manual", "99 22 * * *", 1))
	if got := strings.Join(p.Projects.WarningsOf(""), "\n"); !strings.Contains(got, "settings not reloaded") {
		t.Errorf("remarks %q", got)
	}
	write(strings.ReplaceAll(strings.Replace(string(text), `name = "shop"`, `name = "market"`, 1), "manual", "0 22 * * *"))
	if p.Projects.Works("shop") || !p.Projects.Works("market") || len(p.Projects.WarningsOf("")) > 0 {
		t.Errorf("works on %v, remarks %q", p.Projects.Working(), p.Projects.WarningsOf(""))
	}
	// Chats use the settings from the start of the process.
	token := filepath.Join(filepath.Dir(cfg.File), "token")
	if err := os.WriteFile(token, []byte("1:x"), 0o600); err != nil {
		t.Fatal(err)
	}
	write(string(text) + "[telegram]\ntoken_file = \"token\"\n")
	if got := strings.Join(p.Projects.WarningsOf(""), "\n"); got != "! the new [telegram] takes effect when nightporter is started again" {
		t.Errorf("remarks %q", got)
	}
	write(string(text))
	if got := p.Projects.WarningsOf(""); len(got) > 0 {
		t.Errorf("remarks %q", got)
	}
	write(strings.ReplaceAll(strings.Replace(string(text), `name = "shop"`, `name = "market"`, 1), "manual", "0 22 * * *"))
	// In the ledger, the old name belongs to another repository.
	if _, err := p.Projects.Resolve("shop", config.Overrides{}); err == nil || !strings.Contains(err.Error(), "no project") {
		t.Errorf("resolve: %v", err)
	}
}
