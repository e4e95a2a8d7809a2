package logging

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"
)

// TestHide checks that a secret without a form of its own reaches no log line.
func TestHide(t *testing.T) {
	const token = "0123456789abcdef0123456789abcdef01234567"
	const commit = "fedcba9876543210fedcba9876543210fedcba98"
	Hide(token)
	Hide(token)
	Hide("short")
	var out bytes.Buffer
	log := slog.New(Handler(&out, nil))
	log.Info("call", "url", "https://x:"+token+"@h/", "error", errors.New("it said "+token), "commit", commit, "word", "short")
	if got := out.String(); strings.Contains(got, token) || strings.Count(got, redacted) != 2 || !strings.Contains(got, commit) || !strings.Contains(got, "short") {
		t.Error(got)
	}
}
