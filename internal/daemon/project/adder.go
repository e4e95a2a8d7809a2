package project

import (
	"context"
	"sync"

	"github.com/nightporter/nightporter/loop/engine"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/task"
)

// Adders opens sources for new tasks alone, and keeps them: a source that has just
// written its file need not wait for it to come to rest.
type Adders struct {
	Sources *Sources

	opened sync.Map
}

// Open opens the source of a repository. Mistakes in its path or kind are a
// *ledger.InputError.
func (a *Adders) Open(repo string, source ledger.SourceRef) (engine.Adder, error) {
	key := repo + "\x00" + source.String()
	if s, ok := a.opened.Load(key); ok {
		return s.(adder), nil
	}
	s, err := a.Sources.Open("", repo, "", source, task.Options{})
	if err != nil {
		return nil, err
	}
	a.opened.Store(key, adder{s})
	return adder{s}, nil
}

// adder implements engine.Adder.
type adder struct{ source task.Source }

func (a adder) AddOnce(ctx context.Context, b ledger.AddTasks) (ledger.AddedTasks, error) {
	return task.AddOnce(ctx, a.source, b)
}

func (a adder) RemoveAdded(ctx context.Context, r ledger.RemoveTasks) error {
	return task.RemoveAdded(ctx, a.source, r)
}

// Inbox returns the source of bug reports of a project with these settings: its own,
// or the only inbox of its repository.
func Inbox(s ledger.Settings) (ledger.SourceRef, error) {
	if s.InWaves() {
		return s.Source, nil
	}
	path, err := task.Inbox(s.Repo)
	return ledger.SourceRef{Kind: task.KindBugs, Path: path, Foreign: true}, err
}

// ReadSource reads the source of these settings. What a person has to repair is a
// *ledger.InputError. closed says why no task can be added to it, nil if one can.
func (c *Catalog) ReadSource(ctx context.Context, s ledger.Settings) (read ledger.Snapshot, closed *ledger.Diagnostic, err error) {
	source, err := c.OpenSource(s, task.Options{})
	if err != nil {
		return ledger.Snapshot{}, nil, err
	}
	if err := task.TakesTasks(source); err != nil {
		closed = &ledger.Diagnostic{File: s.Source.Path, Text: "no task can be added to this source", Remedy: "Add the tasks yourself, or name a source that takes tasks, such as plan:checkout.md"}
	}
	read, err = source.Read(ctx)
	return read, closed, err
}
