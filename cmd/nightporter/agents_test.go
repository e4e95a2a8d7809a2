package main

import (
	"strings"
	"testing"
)

// TestAgentsUnanswered: a program that was too slow to say its version is shown as there,
// with an unknown release, and not as broken.
func TestAgentsUnanswered(t *testing.T) {
	for unanswered, want := range map[bool]string{true: "! codex", false: "✗ codex"} {
		var out strings.Builder
		a := agentJSON{Name: "codex", Installed: true, Reports: "tokens", Problem: "/bin/codex did not answer --version within 30s", unanswered: unanswered}
		if err := printAgents(&out, []agentJSON{a}, false); err != nil || !strings.HasPrefix(out.String(), want) || strings.Contains(out.String(), "its release is unknown, because /bin/codex did not answer") != unanswered {
			t.Errorf("unanswered %v: %v\n%s", unanswered, err, out.String())
		}
	}
}
