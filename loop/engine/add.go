package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/nightporter/nightporter/internal/fault"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// standsAlone reports whether an effect needs none of a run's adapters: it writes new
// tasks into a source, or takes them out, and names the place of the source itself; or it
// is about files that people sent.
func standsAlone(p ledger.PendingEffect) bool {
	switch p.Kind {
	case ledger.EffectAddTasks{}.EffectKind(), ledger.EffectRemoveTasks{}.EffectKind(), ledger.EffectErase{}.EffectKind(), ledger.EffectTranscribe{}.EffectKind():
		return true
	}
	return false
}

// addTasks carries out an EffectAddTasks.
func (e *Engine) addTasks(ctx context.Context, project string, b ledger.EffectAddTasks) (loop.InputBody, error) {
	s, _ := e.State(project)
	result := loop.TasksWritten{ID: b.ID, Before: s.Project.Tasks}
	source, err := e.adder(project, b.Repo, b.Source)
	if err == nil {
		result.Added, err = source.AddOnce(ctx, b.Add)
	}
	if fault.Of(err) != "" || ctx.Err() != nil {
		return nil, err
	}
	if err != nil {
		result.Err, result.Remedy = forPeople(err)
	}
	return result, nil
}

// removeTasks carries out an EffectRemoveTasks.
func (e *Engine) removeTasks(ctx context.Context, project string, b ledger.EffectRemoveTasks) (loop.InputBody, error) {
	result := loop.TasksTakenOut{ID: b.ID}
	source, err := e.adder(project, b.Repo, b.Source)
	if err == nil {
		err = source.RemoveAdded(ctx, b.Remove)
	}
	if fault.Of(err) != "" || ctx.Err() != nil {
		return nil, err
	}
	if err != nil {
		result.Err, _ = forPeople(err)
	}
	return result, nil
}

// adder returns the adder of the source at a place. The one that the project's adapters have open
// knows what it has just written, and need not wait for the file to come to rest.
func (e *Engine) adder(project, repo string, at ledger.SourceRef) (Adder, error) {
	s, _ := e.State(project)
	ports, open := e.portsOf(project)
	if r := s.Project.Run; open && ports.Adder != nil && r != nil && r.Settings.Repo == repo && r.Settings.Source == at {
		return ports.Adder, nil
	}
	if e.o.Adder == nil {
		return nil, fmt.Errorf("%s cannot take tasks: write the task into it yourself", at.Path)
	}
	return e.o.Adder(repo, at)
}

// forPeople returns an error's text, and its remedy if it has one.
func forPeople(err error) (text, remedy string) {
	input := (*ledger.InputError)(nil)
	if errors.As(err, &input) && len(input.Diagnostics) > 0 {
		d := input.Diagnostics[0]
		remedy, d.Remedy = d.Remedy, ""
		return (&ledger.InputError{Diagnostics: []ledger.Diagnostic{d}}).Error(), remedy
	}
	return err.Error(), ""
}
