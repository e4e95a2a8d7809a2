package acceptance

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestREADME: the README's chats are equal to recorded ones.
func TestREADME(t *testing.T) {
	read := func(path string) string {
		t.Helper()
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	recorded := read(filepath.Join("testdata", "telegram-scenes.txt")) + read(filepath.Join("testdata", "telegram-night.txt"))
	readme := read(filepath.Join("..", "..", "..", "README.md"))
	bubbles := 0
	for n, block := range strings.Split(readme, "```") {
		if n%2 == 0 || !strings.Contains(block, "\n── ") {
			continue
		}
		for _, b := range strings.Split(strings.Trim(block, "\n"), "\n\n") {
			bubbles++
			if !strings.Contains(recorded, "\n"+b+"\n") {
				t.Errorf("the README shows what was never recorded:\n%s", b)
			}
		}
	}
	if bubbles < 3 {
		t.Errorf("the README shows %d messages, fewer than there were", bubbles)
	}
	for _, name := range []string{"chat.svg", "digest-dark.png", "digest-light.png"} {
		if !strings.Contains(readme, "docs/pictures/"+name) {
			t.Errorf("the README does not show %s, which is kept for it", name)
		}
	}
	if at := strings.Index(readme, "go run ./cmd/nightporter demo"); at < 0 || at > strings.Index(readme, "## ") {
		t.Error("the README's two commands do not stand on top")
	}
}
