package loop

import (
	"strings"
	"testing"

	"github.com/nightporter/nightporter/loop/ledger"
)

func TestLacksBrowser(t *testing.T) {
	page := &ledger.Screenshot{Run: "serve", URL: "http://127.0.0.1:3000/"}
	for name, c := range map[string]struct {
		set   *ledger.Screenshot
		has   string
		lacks bool
	}{
		"no pictures": {nil, "", false}, "a command": {&ledger.Screenshot{Command: "make"}, "", false},
		"none": {page, "", true}, "another browser": {page, "firefox", true}, "Chromium": {page, "chromium-browser", false}, "Chrome": {page, "google-chrome", false},
	} {
		f, lacks := LacksBrowser(ledger.Settings{Screenshot: c.set}, func(program string) bool { return program == c.has })
		if lacks != c.lacks || lacks != (f.Text != "") {
			t.Errorf("%s: %v, %q", name, lacks, f.Text)
		}
	}
}

// TestShotScript checks that what a person wrote stays one word of the script.
func TestShotScript(t *testing.T) {
	c := shotCommand(ledger.Screenshot{Run: "echo 'it' \"$URL\" RUN SECONDS; exit", URL: "http://localhost:1/?a='b'&c=$(id)"})
	lines := strings.SplitN(c.Run, "\n", 3)
	if want := "url='http://localhost:1/?a='\\''b'\\''&c=$(id)' run='echo '\\''it'\\'' \"$URL\" RUN SECONDS; exit'"; lines[1] != want {
		t.Errorf("%s\nwant %s", lines[1], want)
	}
	if strings.Contains(lines[2], "SECONDS") || strings.Contains(lines[2], "BROWSERS") || c.Timeout <= ledger.DefaultScreenshotWait {
		t.Errorf("%s, %v", c.Run, c.Timeout)
	}
	if own := shotCommand(ledger.Screenshot{Command: "make", Wait: 5}); own.Run != "make" || own.Timeout != 5 {
		t.Errorf("the project's own command: %+v", own)
	}
}
