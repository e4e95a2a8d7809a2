package agent

import (
	"strings"
	"testing"

	"github.com/nightporter/nightporter/loop/ledger"
)

func TestMissingHat(t *testing.T) {
	for in, want := range map[string]string{
		"bash: line 1: hat: command not found\n":                                       "bash: line 1: hat: command not found",
		"sh: 1: hat: not found":                                                        "sh: 1: hat: not found",
		"zsh:1: command not found: hat\n":                                              "zsh:1: command not found: hat",
		"fish: Unknown command: hat\n":                                                 "Unknown command: hat",
		`{"output":"ok\n/bin/bash: line 3: hat: command not found\n"}` + "\n":          "bash: line 3: hat: command not found",
		"bash: line 1: chat: command not found\nhat emit build.complete\nno hat found": "",
		strings.Repeat("x", 200_000) + " hat\n":                                        "",
	} {
		if got, err := missingHat(strings.NewReader(in)); got != want || err != nil {
			t.Errorf("missingHat(%.80q) = %q, %v; want %q", in, got, err, want)
		}
	}
}

// TestSilentForHat: a session that replaces its PATH ends with the reason, and one
// that called hat is not explained by a line that it printed.
func TestSilentForHat(t *testing.T) {
	h := newFixture(t, 0)
	x := h.run("r1-1", `PATH=/usr/bin:/bin; hat emit build.complete; echo "I could not report."; exit 0`)
	if want := `its shell did not find hat ("sh: 2: hat: not found")`; x.Reason != ledger.ExitSelf || !strings.HasPrefix(x.Text, want) {
		t.Errorf("text = %q, want %q", x.Text, want)
	}
	h.script(`until [ -e go ]; do sleep 0.01; done; echo "hat: command not found"`)
	l := h.launch("r1-3")
	l.Cache.Name = "r1-3" // another session of the project runs at the same time
	h.start(l)
	h.runner.Touch("r1-3")
	h.run("r1-4", `: >go`)
	if x := h.wait("r1-3"); x.Text != "" {
		t.Errorf("a session that called hat: %q", x.Text)
	}
}
