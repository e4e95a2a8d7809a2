package operator

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/config"
	"github.com/nightporter/nightporter/internal/daemon/project"
	"github.com/nightporter/nightporter/loop/ledger"
)

var (
	_ bot.SourceReader = (*Service)(nil)
	_ bot.Writes       = (*Service)(nil)
)

// ReadSource reads the source that a run of the project would begin with now: that of
// the configuration, or of its last run where it is not configured.
func (svc *Service) ReadSource(ctx context.Context, name string) (bot.SourceReading, error) {
	s, err := svc.settings(name)
	if err != nil {
		return bot.SourceReading{}, err
	}
	read, closed, err := svc.o.Projects.ReadSource(ctx, s)
	if errors.As(err, new(*ledger.InputError)) {
		return bot.SourceReading{Repo: s.Repo, Source: s.Source}, nil // a list without a task cannot be read, and takes one
	}
	if err != nil {
		return bot.SourceReading{}, err
	}
	return bot.SourceReading{Repo: s.Repo, Source: s.Source, Tasks: read.Tasks, Closed: closed}, nil
}

// ReadInbox reads the bug reports of the project: its source where that has some, else
// the only inbox of its repository.
func (svc *Service) ReadInbox(ctx context.Context, name string) (bot.SourceReading, error) {
	s, err := svc.settings(name)
	if err != nil {
		return bot.SourceReading{}, err
	}
	if s.Source, err = project.Inbox(s); err != nil {
		return bot.SourceReading{}, err
	}
	read, closed, err := svc.o.Projects.ReadSource(ctx, s)
	if err != nil {
		return bot.SourceReading{}, err
	}
	return bot.SourceReading{Repo: s.Repo, Source: s.Source, Tasks: read.Tasks, Closed: closed}, nil
}

// settings returns the settings that a run of the project would have now: those of the
// configuration, or of its last run where it is not configured.
func (svc *Service) settings(name string) (ledger.Settings, error) {
	cfg := svc.o.Projects.Config()
	if pr, ok := svc.o.Projects.Find(name); ok {
		s, err := pr.Settings(cfg, config.Overrides{}, time.Now())
		return s, asInput(err)
	}
	if state, _ := svc.o.Engine.State(name); state.Project.Run != nil {
		return state.Project.Run.Settings, nil
	}
	return ledger.Settings{}, &ledger.InputError{Diagnostics: []ledger.Diagnostic{{
		File: cfg.File, Text: fmt.Sprintf("there is no project %q in the configuration", name), Remedy: "Add a [[project]] with that name.",
	}}}
}

// Written waits until all that was decided about people's files is written.
func (svc *Service) Written(ctx context.Context) error { return svc.o.Engine.Written(ctx) }
