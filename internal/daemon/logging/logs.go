// Package logging is the log of the state folder, with secrets taken out of
// every line, and the journal: what a daemon's log tells of committed entries.
package logging

import (
	"context"
	"io"
	"log/slog"
	"regexp"
	"sync"

	"gopkg.in/natefinch/lumberjack.v2"

	"github.com/nightporter/nightporter/internal/service"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
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

// Journal logs entries as they are committed. Add never blocks: the engine must
// not wait for a journal that is slow to read.
type Journal struct {
	service.Base
	log *slog.Logger

	mu    sync.Mutex
	queue []journalled
	bell  service.Broadcast
}

type journalled struct {
	project string
	entry   ledger.Entry
}

// maxJournal bounds what waits for a journal that nobody reads; the ledger has
// all of it.
const maxJournal = 1000

// NewJournal makes a journal that writes to log once it is started.
func NewJournal(log *slog.Logger) *Journal { return &Journal{log: log} }

// Start begins to write what was added before, and is added from now on.
func (j *Journal) Start(context.Context) error {
	if err := j.Begin(); err != nil {
		return err
	}
	j.Go(j.run)
	return nil
}

// Add notes a committed entry; before is the state that it was decided in.
func (j *Journal) Add(before loop.State, e ledger.Entry) {
	j.mu.Lock()
	if len(j.queue) < maxJournal {
		j.queue = append(j.queue, journalled{before.Project.Name, e})
	}
	j.mu.Unlock()
	j.bell.Ring()
}

// run logs until ctx ends.
func (j *Journal) run(ctx context.Context) {
	for {
		rung := j.bell.Next()
		j.mu.Lock()
		queue := j.queue
		j.queue = nil
		j.mu.Unlock()
		for _, x := range queue {
			logEntry(j.log, x.project, x.entry)
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
func logEntry(log *slog.Logger, project string, e ledger.Entry) {
	at := log.With("project", project, "run", e.Run)
	switch b := e.Body.(type) {
	case ledger.RunStarted:
		at.Info("run started", "tasks", b.Tasks)
	case ledger.RunEnded:
		at.Info("run ended", "reason", b.Reason, "exit", b.Exit, "done", b.Done, "total", b.Total, "text", b.Text)
	case ledger.PreflightFailed:
		for _, f := range b.Problems {
			at.Warn("preflight", "problem", f.String())
		}
	case ledger.SessionPlanned:
		if b.Kind == ledger.KindAgent {
			at.Info("session", "session", e.Session, "task", e.Task, "hat", b.Hat, "agent", b.Agent)
		}
	case ledger.SessionEnded:
		if b.Kind == ledger.KindAgent {
			at.Info("session ended", "session", e.Session, "task", e.Task, "end", b.End, "counts", b.Counts, "took", b.Exit.Took().Round(1e9).String(), "text", b.Text)
		}
	case ledger.TaskCommitted:
		at.Info("task committed", "task", e.Task, "commit", b.Commit)
	case ledger.QuestionAsked:
		at.Info("question", "question", b.Question.ID, "kind", b.Question.Kind, "task", e.Task)
	case ledger.AgentParked:
		log.Warn("agent parked", "agent", b.Agent, "until", b.Until, "text", b.Text)
	case ledger.AgentUnusable:
		log.Warn("agent cannot be used", "agent", b.Agent, "text", b.Text)
	case ledger.InputPoisoned:
		at.Error("fault in nightporter", "input", b.Kind, "error", b.Error)
	}
}

// maxLog is the size in megabytes at which the log begins anew. The one before
// it is kept beside it, with the time in its name.
const maxLog = 20

// Open opens the state folder's log, or begins it. Lines are appended whole.
func Open(path string) (io.WriteCloser, error) {
	l := &lumberjack.Logger{Filename: path, MaxSize: maxLog, MaxBackups: 1, LocalTime: true}
	_, err := l.Write(nil) // it opens the file by its first write: a folder that cannot be written is to be known now
	return l, err
}
