package logging

import (
	"context"
	"log/slog"
	"sync"

	"github.com/nightporter/nightporter/internal/service"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// Journal logs entries as they are committed. Create it with NewJournal.
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

// maxJournal limits the queue of a journal whose log is slow. Further entries
// are dropped: the ledger has them.
const maxJournal = 1000

// NewJournal returns a journal that writes to log once it is started.
func NewJournal(log *slog.Logger) *Journal { return &Journal{log: log} }

// Start begins to write queued and new entries.
func (j *Journal) Start(context.Context) error {
	if err := j.Begin(); err != nil {
		return err
	}
	j.Go(j.run)
	return nil
}

// Add queues a committed entry; before is the state in which it was decided. It
// never blocks, because the engine calls it.
func (j *Journal) Add(before loop.State, e ledger.Entry) {
	j.mu.Lock()
	if len(j.queue) < maxJournal {
		j.queue = append(j.queue, journalled{before.Project.Name, e})
	}
	j.mu.Unlock()
	j.bell.Ring()
}

// run logs queued entries until ctx ends.
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

// logEntry logs the types of entries that an administrator needs to see without
// opening the ledger.
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
