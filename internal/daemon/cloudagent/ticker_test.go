package cloudagent

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nightporter/nightporter/config"
	"github.com/nightporter/nightporter/internal/daemon/project"
	"github.com/nightporter/nightporter/internal/fake/github"
	"github.com/nightporter/nightporter/internal/service"
)

// TestTicker makes steps as often as the configuration says, and warns of what
// needs a person until it does not.
func TestTicker(t *testing.T) {
	hub := github.New()
	defer hub.Close()
	dir := t.TempDir()
	repo := filepath.Join(dir, "shop")
	for file, text := range map[string]string{
		"shop/plan.md": "- [ ] **Task 1: Count the guests**\n", "github.token": hub.Token,
		"nightporter.toml": fmt.Sprintf("[[project]]\nname = \"shop\"\nrepo = \"shop\"\nsource = \"plan:plan.md\"\ncloud = { every = \"15m\", api = %q }\n[[project]]\nname = \"blog\"\nrepo = \"shop\"\nsource = \"plan:plan.md\"\n", hub.URL),
	} {
		file = filepath.Join(dir, filepath.FromSlash(file))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{{"init", "--quiet"}, {"remote", "add", "origin", "git@github.com:acme/shop.git"}} {
		if out, err := exec.CommandContext(t.Context(), "git", append([]string{"-C", repo}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v", out, err)
		}
	}
	cfg, err := config.Load(filepath.Join(dir, "nightporter.toml"))
	if err != nil {
		t.Fatal(err)
	}
	var warnings project.Warnings
	ticker := &Ticker{Config: func() *config.Config { return cfg }, Warn: warnings.Warn, Changes: new(service.Broadcast), Log: slog.New(slog.DiscardHandler)}
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	steps := func(after time.Duration) (calls int) {
		t.Helper()
		now = now.Add(after)
		ticker.steps(t.Context(), now)
		return len(hub.Calls())
	}
	if steps(0) == 0 || len(hub.Issues()) != 1 {
		t.Fatal("no issue")
	}
	if n := steps(14 * time.Minute); n != 0 {
		t.Errorf("%d calls before the step was due", n)
	}
	if n := steps(time.Minute); n == 0 {
		t.Error("no step when it was due")
	}
	n := hub.AgentStarts(hub.Issues()[0].Number, "Copilot", false)
	hub.AgentEnds(n, true, false)
	hub.Run(hub.Head(n), "build", "completed", "success", "")
	steps(15 * time.Minute)
	steps(15 * time.Minute)
	if got := strings.Join(warnings.WarningsOf("shop"), "\n"); !strings.Contains(got, "yours to merge") || !strings.Contains(got, "/pull/1") {
		t.Errorf("warnings %q", got)
	}
	hub.Fail(github.Fault{Status: 403, Header: http.Header{"Retry-After": {"86400"}}})
	steps(15 * time.Minute)
	if got := warnings.WarningsOf("shop"); len(got) != 1 {
		t.Errorf("warnings %q", got)
	}
	ticker.next["shop"] = now
	hub.MergeBy(n)
	steps(15 * time.Minute)
	if got := warnings.WarningsOf("shop"); len(got) != 0 {
		t.Errorf("warnings %q", got)
	}
	hub.Revoke()
	steps(15 * time.Minute)
	steps(15 * time.Minute)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	ticker.Run(ctx)
}
