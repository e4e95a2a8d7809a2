package logging

import (
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync"

	"github.com/nightporter/nightporter/internal/regexp"
)

// Handler writes JSON lines to file, and to other if that is not nil. Secrets
// are redacted in file; other has to do that itself, see Options.
func Handler(file io.Writer, other slog.Handler) slog.Handler {
	h := slog.NewJSONHandler(file, Options(slog.LevelInfo))
	if other == nil {
		return h
	}
	return slog.NewMultiHandler(h, other)
}

// secretForm matches tokens of chats, agents and forges. No code logs a token
// on purpose; this catches errors of libraries that quote an address or a line.
var secretForm = regexp.MustCompile(`\d{6,12}:[A-Za-z0-9_-]{30,}|\b(?:xox[a-z]|xapp)-[A-Za-z0-9-]{10,}|\bsk-[A-Za-z0-9_-]{16,}|\b(?:gh[pousr]_|github_pat_)[A-Za-z0-9_]{20,}`)

// Options returns the options of a handler that redacts secrets.
func Options(level slog.Level) *slog.HandlerOptions {
	return &slog.HandlerOptions{Level: level, ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		switch v := a.Value.Any().(type) {
		case string:
			a.Value = slog.StringValue(Redact(v))
		case error:
			a.Value = slog.StringValue(Redact(v.Error()))
		}
		return a
	}}
}

// hidden are the secrets that have no form to know them by.
var hidden struct {
	sync.RWMutex
	secrets []string
}

// minHidden is the length of the shortest secret that Hide takes, in bytes. A
// shorter one would be found in words that are none.
const minHidden = 8

// Hide makes Redact replace a secret wherever it occurs: a Gitea's token looks like
// a commit.
func Hide(secret string) {
	hidden.Lock()
	defer hidden.Unlock()
	if len(secret) >= minHidden && !slices.Contains(hidden.secrets, secret) {
		hidden.secrets = append(hidden.secrets, secret)
	}
}

// Redact replaces every secret that Hide was given, and every token-like part of a
// text, by [secret].
func Redact(s string) string {
	hidden.RLock()
	defer hidden.RUnlock()
	for _, secret := range hidden.secrets {
		s = strings.ReplaceAll(s, secret, redacted)
	}
	return secretForm.ReplaceAllString(s, redacted)
}

// redacted takes the place of a secret.
const redacted = "[secret]"
