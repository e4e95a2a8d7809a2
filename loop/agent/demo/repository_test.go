package demo

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// sampleHead is the hash of the sample's last commit, which is the same on
// every machine. A change of the sample changes it.
const sampleHead = "670780b698d4789c88f1dfe460c2dc16ea31268b"

func TestWriteRepository(t *testing.T) {
	// These user settings would change hashes, run hooks or ask for a key.
	home := t.TempDir()
	config := "[core]\n\tautocrlf = true\n\thooksPath = " + home + "\n[commit]\n\tgpgSign = true\n[init]\n\tdefaultBranch = trunk\n[user]\n\tname = Somebody\n\temail = s@example\n[i18n]\n\tcommitEncoding = ISO-8859-1\n"
	for name, text := range map[string]string{".gitconfig": config, "pre-commit": "#!/bin/sh\nexit 1\n"} {
		if err := os.WriteFile(filepath.Join(home, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("HOME", home)
	t.Setenv("GIT_DIR", filepath.Join(home, "elsewhere"))
	t.Setenv("GIT_DEFAULT_HASH", "sha256")
	dir := filepath.Join(t.TempDir(), "not", "there yet", Name)
	if err := WriteRepository(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"GIT_DIR", "GIT_DEFAULT_HASH"} {
		if err := os.Unsetenv(name); err != nil { // t.Setenv above restores it afterwards
			t.Fatal(err)
		}
	}
	for _, tt := range []struct{ want, args string }{
		{sampleHead, "rev-parse HEAD"},
		{"main", "symbolic-ref --short HEAD"},
		{"", "status --porcelain --ignored"},
		{"2", "rev-list --count HEAD"},
		{ownerName + " <" + ownerEmail + ">", "log -1 --format=%an_<%ae>"},
		{ownerEmail, "config --local user.email"},
		{Plan, "ls-files -- " + Plan},
	} {
		got := strings.ReplaceAll(output(t, dir, "git", strings.Fields(tt.args)...), "_", " ")
		if got != tt.want {
			t.Errorf("git %s: %q, not %q", tt.args, got, tt.want)
		}
	}
	if got := output(t, dir, Verify); got != "ok 4 tests" {
		t.Errorf("%s: %q", Verify, got)
	}
	if left, err := os.ReadDir(filepath.Dir(dir)); err != nil || len(left) != 1 {
		t.Errorf("beside it: %v %v", left, err)
	}
}

func TestWriteRepositoryTaken(t *testing.T) {
	dir := filepath.Join(t.TempDir(), Name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := WriteRepository(t.Context(), dir); err != nil { // an empty folder is accepted
		t.Fatal(err)
	}
	ownFile := filepath.Join(dir, "README.md")
	if err := os.WriteFile(ownFile, []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := WriteRepository(t.Context(), dir); !errors.Is(err, ErrExists) {
		t.Errorf("error %v, not ErrExists", err)
	}
	if data, err := os.ReadFile(ownFile); err != nil || string(data) != "mine" {
		t.Errorf("what was there is now %q %v", data, err)
	}
}

func TestWriteRepositoryLeavesNothing(t *testing.T) {
	parent := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := WriteRepository(ctx, filepath.Join(parent, Name)); err == nil {
		t.Error("no error where it was cancelled")
	}
	if left, err := os.ReadDir(parent); err != nil || len(left) != 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}
