package main

import (
	"context"
	"io"
	"log/slog"
	"os"
	"regexp"
	"sync"

	"golang.org/x/term"
	"gopkg.in/natefinch/lumberjack.v2"

	"github.com/nightporter/nightporter/loop"
)

// logHandler writes JSON lines to the state folder's log, and to other where
// that is not nil.
func logHandler(file io.Writer, other slog.Handler) slog.Handler {
	h := slog.NewJSONHandler(file, logOptions(slog.LevelInfo))
	if other == nil {
		return h
	}
	return slog.NewMultiHandler(h, other)
}

// stderrLog is the log on standard error: JSON lines for a journal, and only
// what is wrong, in words, for a person at a terminal.
func stderrLog() slog.Handler {
	if term.IsTerminal(int(os.Stderr.Fd())) {
		return slog.NewTextHandler(os.Stderr, logOptions(slog.LevelWarn))
	}
	return slog.NewJSONHandler(os.Stderr, logOptions(slog.LevelInfo))
}

// secretForm is what tokens of chats, agents and forges look like. No token is
// ever logged on purpose; this is for errors of others that quote an address
// or a line (SPEC 6.6).
var secretForm = regexp.MustCompile(`\d{6,12}:[A-Za-z0-9_-]{30,}|\b(?:xox[a-z]|xapp)-[A-Za-z0-9-]{10,}|\bsk-[A-Za-z0-9_-]{16,}|\b(?:gh[pousr]_|github_pat_)[A-Za-z0-9_]{20,}`)

func logOptions(level slog.Level) *slog.HandlerOptions {
	return &slog.HandlerOptions{Level: level, ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		switch v := a.Value.Any().(type) {
		case string:
			a.Value = slog.StringValue(redact(v))
		case error:
			a.Value = slog.StringValue(redact(v.Error()))
		}
		return a
	}}
}

func redact(s string) string { return secretForm.ReplaceAllString(s, "[secret]") }

// journal logs entries as they are committed. It never blocks who adds them:
// the engine must not wait for a journal that is slow to read.
type journal struct {
	mu    sync.Mutex
	queue []journalled
	bell  broadcast
}

type journalled struct {
	project string
	entry   loop.Entry
}

// maxJournal bounds what waits for a journal that nobody reads; the ledger has
// all of it.
const maxJournal = 1000

func (j *journal) add(before, _ loop.State, e loop.Entry) {
	j.mu.Lock()
	if len(j.queue) < maxJournal {
		j.queue = append(j.queue, journalled{before.Project.Name, e})
	}
	j.mu.Unlock()
	j.bell.ring()
}

// run logs until ctx ends.
func (j *journal) run(ctx context.Context, log *slog.Logger) {
	for {
		rung := j.bell.next()
		j.mu.Lock()
		queue := j.queue
		j.queue = nil
		j.mu.Unlock()
		for _, x := range queue {
			logEntry(log, x.project, x.entry)
		}
		select {
		case <-rung:
		case <-ctx.Done():
			return
		}
	}
}

// logEntry logs what the journal of a daemon should tell by itself. All else
// is in the ledger.
func logEntry(log *slog.Logger, project string, e loop.Entry) {
	at := log.With("project", project, "run", e.Run)
	switch b := e.Body.(type) {
	case loop.RunStarted:
		at.Info("run started", "tasks", b.Tasks)
	case loop.RunEnded:
		at.Info("run ended", "reason", b.Reason, "exit", b.Exit, "done", b.Done, "total", b.Total, "text", b.Text)
	case loop.PreflightFailed:
		for _, f := range b.Problems {
			at.Warn("preflight", "problem", f.String())
		}
	case loop.SessionPlanned:
		if b.Kind == loop.KindAgent {
			at.Info("session", "session", e.Session, "task", e.Task, "hat", b.Hat, "agent", b.Agent)
		}
	case loop.SessionEnded:
		if b.Kind == loop.KindAgent {
			at.Info("session ended", "session", e.Session, "task", e.Task, "end", b.End, "counts", b.Counts, "took", b.Exit.Took().Round(1e9).String(), "text", b.Text)
		}
	case loop.TaskCommitted:
		at.Info("task committed", "task", e.Task, "commit", b.Commit)
	case loop.QuestionAsked:
		at.Info("question", "question", b.Question.ID, "kind", b.Question.Kind, "task", e.Task)
	case loop.AgentParked:
		log.Warn("agent parked", "agent", b.Agent, "until", b.Until, "text", b.Text)
	case loop.AgentUnusable:
		log.Warn("agent cannot be used", "agent", b.Agent, "text", b.Text)
	case loop.InputPoisoned:
		at.Error("fault in nightporter", "input", b.Kind, "error", b.Error)
	}
}

// maxLog is the size in megabytes at which the log begins anew. The one before
// it is kept beside it, with the time in its name.
const maxLog = 20

// openLog opens the state folder's log. Lines are appended whole.
func openLog(path string) (io.WriteCloser, error) {
	l := &lumberjack.Logger{Filename: path, MaxSize: maxLog, MaxBackups: 1, LocalTime: true}
	_, err := l.Write(nil) // it opens the file by its first write: a folder that cannot be written is to be known now
	return l, err
}
