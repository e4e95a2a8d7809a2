package task

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestRecogniseNoText: of a file that is no text, and of a folder, the reason is told.
func TestRecogniseNoText(t *testing.T) {
	repo := t.TempDir()
	for name, text := range map[string]string{"nul.md": "- [ ] a\n- [ ] b\x00\n", "latin.md": "- [ ] a\n\n- [ ] \xe9t\xe9\n", "wide.md": "\xff\xfe-\x00", "words.md": "Words.\n"} {
		if err := os.WriteFile(filepath.Join(repo, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(repo, "plans"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"nul.md": "nul.md:2  a NUL byte", "latin.md": "latin.md:3  is not UTF-8", "wide.md": "wide.md:1  is UTF-16", "plans": "plans  is a folder without a list of tasks",
		"words.md": "words.md  is no list of tasks",
	} {
		if _, _, err := Resolve(t.Context(), repo, KindAuto, name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}
