package logging

import (
	"io"
	"log/slog"
	"regexp"
)

// Handler writes JSON lines to the state folder's log, and to other where that
// is not nil.
func Handler(file io.Writer, other slog.Handler) slog.Handler {
	h := slog.NewJSONHandler(file, Options(slog.LevelInfo))
	if other == nil {
		return h
	}
	return slog.NewMultiHandler(h, other)
}

// secretForm is what tokens of chats, agents and forges look like. No token is
// ever logged on purpose; this is for errors of others that quote an address
// or a line.
var secretForm = regexp.MustCompile(`\d{6,12}:[A-Za-z0-9_-]{30,}|\b(?:xox[a-z]|xapp)-[A-Za-z0-9-]{10,}|\bsk-[A-Za-z0-9_-]{16,}|\b(?:gh[pousr]_|github_pat_)[A-Za-z0-9_]{20,}`)

// Options are those of a handler that shows no secrets.
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

// Redact takes what looks like a token out of a text.
func Redact(s string) string { return secretForm.ReplaceAllString(s, "[secret]") }
