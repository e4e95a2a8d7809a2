//go:build e2e

package daemon_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nightporter/nightporter/internal/daemon/daemontest"
	"github.com/nightporter/nightporter/internal/fake/telegram"
)

// TestRealTranscriber speaks with espeak-ng and listens with pocketsphinx, by the script
// of docs/operating.md. What pocketsphinx makes of a synthetic voice is poor: that words
// arrive is all that is asked.
func TestRealTranscriber(t *testing.T) {
	for _, program := range []string{"espeak-ng", "sox", "pocketsphinx_continuous"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("%s is not installed: apt-get install espeak-ng sox pocketsphinx pocketsphinx-en-us", program)
		}
	}
	page, err := os.ReadFile("../../docs/operating.md")
	if err != nil {
		t.Fatal(err)
	}
	_, script, _ := strings.Cut(string(page), "pocketsphinx of Debian")
	_, script, _ = strings.Cut(script, "```sh\n")
	script, _, found := strings.Cut(script, "```")
	if !found {
		t.Fatal("docs/operating.md has no script")
	}
	dir := daemontest.ShortDir(t)
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, "words.sh")
	if err := os.WriteFile(program, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	spoken := filepath.Join(dir, "spoken.wav")
	if out, err := exec.Command("espeak-ng", "-s", "130", "-w", spoken, "keep the old function names").CombinedOutput(); err != nil {
		t.Fatalf("espeak-ng: %v\n%s", err, out)
	}
	data, err := os.ReadFile(spoken)
	if err != nil {
		t.Fatal(err)
	}
	w := daemontest.New(t)
	cfg := w.Projects.Config()
	cfg.Transcribe = []string{"sh", program}
	for n := range cfg.Projects {
		cfg.Projects[n].Read = append(cfg.Projects[n].Read, dir)
	}
	chats := w.Hub.Connect(time.Time{})
	if err := chats.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer chats.Stop()
	w.Telegram.Post(telegram.UserMessage{From: telegram.User{ID: 1, Name: "Mira"}, Chat: 1, Attachment: "audio", Seconds: 3, File: telegram.File{Data: data, Type: "audio/x-wav"}})
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	c, err := w.Telegram.WaitFor(ctx, 1, func(c telegram.Chat) bool {
		_, done := c.Find(func(m telegram.Message) bool {
			return m.Bot && (strings.Contains(m.Text, "v1 heard") || strings.Contains(m.Text, "v1 not queued"))
		})
		return done
	})
	if err != nil {
		t.Fatal(err)
	}
	s, _ := w.Engine.State("shop")
	i, ok := s.Project.Guidance.Get("g1")
	if !ok || len(strings.Fields(i.Text)) == 0 {
		t.Fatalf("no words: %s", c.Last().Text)
	}
	t.Logf("heard %q", i.Text)
}
