// Package logging is the log of the state folder, with secrets taken out of
// every line, and the journal: what a daemon's log tells of committed entries.
package logging

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"regexp"
	"sync"

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

// maxLog is the size in bytes at which the log begins anew; the one before it
// is kept as nightporter.log.1.
const maxLog = 20 << 20

// File is the state folder's log.
type File struct {
	path string

	mu   sync.Mutex
	file *os.File
	size int64
}

// Open opens the log, or begins it.
func Open(path string) (*File, error) {
	l := &File{path: path}
	return l, l.open()
}

func (l *File) open() error {
	f, err := os.OpenFile(l.path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err != nil {
		return errors.Join(err, f.Close())
	}
	l.file, l.size = f, info.Size()
	return nil
}

// Write appends a line. A log that cannot begin anew goes on as it is: it must
// never be the log that stops a night.
func (l *File) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.size+int64(len(line)) > maxLog && os.Rename(l.path, l.path+".1") == nil {
		old := l.file
		if err := l.open(); err == nil {
			_ = old.Close()
		}
	}
	n, err := l.file.Write(line)
	l.size += int64(n)
	return n, err
}

// Close closes the file.
func (l *File) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.file.Close()
}
