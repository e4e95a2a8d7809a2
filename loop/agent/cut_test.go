package agent

import (
	"strings"
	"testing"
)

// TestCutLines checks that the place where a long line is cut has no half of a word:
// half of a secret has not the form by which it is taken out.
func TestCutLines(t *testing.T) {
	token := "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a" // no token of anybody
	line := strings.Repeat("a b ", 10) + token + strings.Repeat(" c d", 10)
	for most := len("…"); most <= len(line); most++ {
		for name, got := range map[string]string{"start": lineStart(line, most), "end": lineEnd(line, most)} {
			if len(got) > most || strings.Contains(got, token[:1]) && !strings.Contains(got, token) {
				t.Errorf("%s, %d: %q", name, most, got)
			}
		}
	}
	if got := lineStart("short", 10) + lineEnd("short", 10); got != "shortshort" {
		t.Error(got)
	}
	var o output
	o.remember([]byte(token + " " + strings.Repeat("c ", lastSize/2-2)))
	if got := o.lastLines(); strings.Contains(got, token[len(token)-1:]+" ") {
		t.Errorf("%.60q", got)
	}
}
