package agent

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nightporter/nightporter/loop/ledger"
)

// TestScreenshot takes over what a command left for a picture: the bytes of a file of
// its own, and nothing that it could point to instead.
func TestScreenshot(t *testing.T) {
	h := newFixture(t, 0)
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, script, left, text string }{
		{"file", `printf bytes > "$NIGHTPORTER_SCREENSHOT"`, "bytes", ""},
		{"red", `printf bytes > "$NIGHTPORTER_SCREENSHOT"; exit 3`, "bytes", ""},
		{"nothing", `:`, "", "it left no picture"},
		{"empty", `: > "$NIGHTPORTER_SCREENSHOT"`, "", "its picture is empty"},
		{"link", `ln -s ` + secret + ` "$NIGHTPORTER_SCREENSHOT"`, "", "no file"},
		{"link inside", `printf x > "$TMPDIR/x"; ln -s x "$NIGHTPORTER_SCREENSHOT"`, "", "no file"},
		{"second name", `printf x > "$TMPDIR/x"; ln "$TMPDIR/x" "$NIGHTPORTER_SCREENSHOT"`, "", "a link to another file"},
		{"pipe", `mkfifo "$NIGHTPORTER_SCREENSHOT"`, "", "no file"},
		{"folder", `mkdir "$NIGHTPORTER_SCREENSHOT"`, "", "no file"},
		{"device", `ln -s /dev/zero "$NIGHTPORTER_SCREENSHOT"`, "", "no file"},
		{"large", `truncate -s 21M "$NIGHTPORTER_SCREENSHOT"`, "", "larger than 20 MB"},
	} {
		t.Run(c.name, func(t *testing.T) {
			id := "r1-" + strings.ReplaceAll(c.name, " ", "-")
			l := h.launch(id)
			l.Kind, l.Agent, l.Command = ledger.KindShot, "", c.script
			h.start(l)
			x := h.wait(id)
			if c.text == "" && x.Text != "" || !strings.Contains(x.Text, c.text) {
				t.Errorf("text = %q, want %q", x.Text, c.text)
			}
			data, err := h.runner.Screenshot(id)
			if string(data) != c.left || c.left == "" && !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("left %q, %v; want %q", data, err, c.left)
			}
			if again := h.wait(id); c.left != "" && again.Text != x.Text { // a daemon that died in between waits again
				t.Errorf("the second wait says %q", again.Text)
			}
		})
	}
	l := h.launch("r1-verify")
	l.Kind, l.Agent, l.Command = ledger.KindVerify, "", `[ -z "$NIGHTPORTER_SCREENSHOT" ] && printf x > "$TMPDIR/screenshot.png"`
	h.start(l)
	if x := h.wait("r1-verify"); x.Code != 0 {
		t.Errorf("another command: exit %d", x.Code)
	}
	if _, err := h.runner.Screenshot("r1-verify"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a picture of another command: %v", err)
	}
}
