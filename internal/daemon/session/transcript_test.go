package session

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestRedacted: an output that grows line by line, in a window that moves, never shows
// a secret, a part of a key included, and loses nothing else.
func TestRedacted(t *testing.T) {
	token := "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a" // no token of anybody
	var lines []string
	for n := range 300 {
		lines = append(lines, fmt.Sprintf("=== RUN TestRefund/%d", n))
		switch n {
		case 40:
			lines = append(lines, "remote: https://x:"+token+"@example.com")
		case 100:
			lines = append(lines, "-----BEGIN RSA PRIVATE KEY-----")
			for k := range 60 {
				lines = append(lines, fmt.Sprintf("MIIE%058dkey", k))
			}
			lines = append(lines, "-----END RSA PRIVATE KEY-----")
		}
	}
	var r redacted
	const window = 120 // more than the key has
	for n := range lines {
		seen := lines[max(n+1-window, 0) : n+1]
		got := r.text(strings.Join(seen, "\n"))
		if strings.Contains(got, token) || strings.Contains(got, "MIIE") && slices.ContainsFunc(seen, func(l string) bool { return strings.Contains(l, "PRIVATE KEY") }) {
			t.Fatalf("after line %d:\n%s", n, got)
		}
		for _, line := range seen {
			if strings.HasPrefix(line, "===") && !strings.Contains(got, line) && !strings.Contains(got, "private-key]") {
				t.Fatalf("after line %d, %q is lost:\n%s", n, line, got)
			}
		}
	}
	for n := range lines { // windows that have neither end of the key
		seen := lines[max(n+1-20, 0) : n+1]
		if got := r.text(strings.Join(seen, "\n")); strings.Contains(got, "MIIE") {
			t.Fatalf("in a short window, after line %d:\n%s", n, got)
		}
		tail := redactTail(slices.Clone(seen))
		if got := strings.Join(tail, "\n"); strings.Contains(got, "MIIE") || strings.Contains(got, token) {
			t.Fatalf("in an output's end, after line %d:\n%s", n, got)
		}
	}
	if len(r.now) > maxRedacted {
		t.Errorf("%d texts", len(r.now))
	}
}

// TestParts: parts together are the text, and a line more changes the last one only.
func TestParts(t *testing.T) {
	var text string
	for n := range 500 {
		before := parts(text)
		text = strings.TrimPrefix(text+fmt.Sprintf("\nline %d", n), "\n")
		after := parts(text)
		if strings.Join(after, "\n") != text {
			t.Fatalf("after line %d: %q", n, after)
		}
		if n > 0 && !slices.Equal(before[:len(before)-1], after[:len(before)-1]) {
			t.Fatalf("after line %d other parts changed", n)
		}
	}
	if n := len(parts(text)); n < 10 || n > 50 {
		t.Errorf("%d parts", n)
	}
}
