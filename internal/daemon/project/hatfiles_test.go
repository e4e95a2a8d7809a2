package project

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nightporter/nightporter/config"
	"github.com/nightporter/nightporter/loop/engine"
	"github.com/nightporter/nightporter/loop/ledger"
)

// TestHatFiles checks that hats and patterns are read again after a change,
// also in a new folder, and only from trusted folders.
func TestHatFiles(t *testing.T) {
	dir, repo := t.TempDir(), t.TempDir()
	write := func(path, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		// As editors do it: a reader never sees half a file.
		if err := os.WriteFile(path+"~", []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(path+"~", path); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(dir, "nightporter.toml")
	if out, err := exec.Command("git", "init", "-q", repo).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	write(file, "[[project]]\nname = \"shop\"\nrepo = \""+repo+"\"\nsource = \"plan:p.md\"\n")
	cfg, err := config.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	files := &hatFiles{catalog: NewCatalog(dir, cfg, nil, engine.Place{}), project: "shop", repo: repo}
	settings, err := cfg.Projects[0].Settings(cfg, config.Overrides{}, time.Now())
	if err != nil {
		t.Fatal(err)
	}

	ctx, cancel := context.WithCancel(t.Context())
	changes, ended := make(chan struct{}, 10), make(chan error, 1)
	armed := make(chan struct{})
	files.armed = func() { close(armed) }
	go func() { ended <- files.Watch(ctx, func() { changes <- struct{}{} }) }()
	<-armed

	builder := func(prompt string) string {
		return "[hat]\nname = \"builder\"\nprompt = \"" + prompt + "\"\n[hat.context]\nwrite_allowed = [\"**\"]\n[hat.exit]\nemit_event = \"build.complete\"\npayload = [\"summary\", \"files_modified\"]\n"
	}
	write(filepath.Join(dir, "hats", "builder.toml"), builder("Mine."))
	<-changes
	_, hats, err := files.Read(settings)
	if err != nil || hats["builder"].Prompt != "Mine." || hats["builder"].Shipped {
		t.Errorf("read %+v, %v", hats["builder"], err)
	}
	write(filepath.Join(dir, "hats", "builder.toml"), builder("Mine.")+"[hat.oops]\n")
	<-changes
	if _, _, err := files.Read(settings); err == nil || !strings.Contains(err.Error(), "builder.toml:") {
		t.Errorf("a broken hat: %v", err)
	}
	if err := os.Remove(filepath.Join(dir, "hats", "builder.toml")); err != nil {
		t.Fatal(err)
	}
	<-changes
	if _, hats, err := files.Read(settings); err != nil || !hats["builder"].Shipped {
		t.Errorf("the built-in one is back: %+v, %v", hats["builder"], err)
	}
	// A session's own repository is not trusted.
	write(filepath.Join(repo, ".nightporter", "hats", "builder.toml"), builder("Theirs."))
	if _, hats, err := files.Read(settings); err != nil || hats["builder"].Prompt == "Theirs." {
		t.Errorf("from the repository: %+v, %v", hats["builder"], err)
	}
	// The agent and the pattern that a run was started with stay.
	settings.Agent, settings.Pattern = "codex", ledger.Pattern{Name: "single"}
	if pattern, _, err := files.Read(settings); err != nil || pattern.Name != "single" {
		t.Errorf("pattern %q, %v", pattern.Name, err)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
