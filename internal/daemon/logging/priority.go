package logging

import (
	"bytes"
	"context"
	"io"
	"log/slog"
)

// PriorityWriter returns a writer that marks each line with the priority of a
// level, in the form that systemd's journal takes off again (sd-daemon(3)). Each
// Write must end with a whole line.
func PriorityWriter(w io.Writer, level slog.Level) io.Writer {
	mark := "<7>" // debug
	switch {
	case level >= slog.LevelError:
		mark = "<3>"
	case level >= slog.LevelWarn:
		mark = "<4>"
	case level >= slog.LevelInfo:
		mark = "<6>"
	}
	return priorityWriter{w, mark}
}

type priorityWriter struct {
	w    io.Writer
	mark string
}

func (p priorityWriter) Write(b []byte) (int, error) {
	var out bytes.Buffer
	for line := range bytes.Lines(b) {
		out.WriteString(p.mark)
		out.Write(line)
	}
	if _, err := p.w.Write(out.Bytes()); err != nil {
		return 0, err
	}
	return len(b), nil
}

// JournalHandler returns a handler that writes JSON lines for systemd's journal,
// each with the priority of its level.
func JournalHandler(w io.Writer, level slog.Level) slog.Handler {
	h := journalHandler{}
	for n, l := range journalLevels {
		h[n] = slog.NewJSONHandler(PriorityWriter(w, l), Options(level))
	}
	return h
}

// journalLevels are the levels with a priority of their own.
var journalLevels = [...]slog.Level{slog.LevelDebug, slog.LevelInfo, slog.LevelWarn, slog.LevelError}

// journalHandler has a handler for each of journalLevels.
type journalHandler [len(journalLevels)]slog.Handler

// of returns the handler of a level.
func (h journalHandler) of(level slog.Level) slog.Handler {
	n := len(h) - 1
	for n > 0 && journalLevels[n] > level {
		n--
	}
	return h[n]
}

func (h journalHandler) Enabled(ctx context.Context, level slog.Level) bool {
	return h.of(level).Enabled(ctx, level)
}

func (h journalHandler) Handle(ctx context.Context, r slog.Record) error {
	return h.of(r.Level).Handle(ctx, r)
}

func (h journalHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	for n := range h {
		h[n] = h[n].WithAttrs(attrs)
	}
	return h
}

func (h journalHandler) WithGroup(name string) slog.Handler {
	for n := range h {
		h[n] = h[n].WithGroup(name)
	}
	return h
}
