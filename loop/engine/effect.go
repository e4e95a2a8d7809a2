package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/nightporter/nightporter/internal/crash"
	"github.com/nightporter/nightporter/internal/sleep"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// diskRetry is the wait before something is tried again that could not be
// written.
const diskRetry = 30 * time.Second

// launch carries out one effect in a goroutine of its own and hands its
// result back as the next input.
//
// again says that an earlier process may have begun it.
func (e *Engine) launch(ctx context.Context, p ledger.PendingEffect, again bool) {
	writes := writesFile(p)
	if writes {
		e.writes.begin()
	}
	e.effects.Go(func() {
		if writes {
			defer e.writes.end()
		}
		project := strings.TrimPrefix(p.Stream, ledger.ProjectStream(""))
		for {
			crash.Point("before-effect:" + p.Kind)
			body, err := e.act(ctx, project, p, again)
			crash.Point("after-effect:" + p.Kind)
			if ctx.Err() != nil {
				return // stopping: the effect stays pending, and is taken up again
			}
			if err != nil {
				e.o.Log.Error("effect failed", "kind", p.Kind, "key", p.Key, "error", err)
				disk := e.isDisk(err)
				if disk && sleep.For(ctx, diskRetry) != nil {
					return
				}
				if disk {
					again = true
					continue
				}
				body = loop.EffectBroken{Kind: p.Kind, Key: p.Key, Task: e.blames(project, p, err), Text: err.Error()}
			}
			e.settle(ctx, project, p, body)
			return
		}
	})
}

// writesFile reports whether an effect writes into the user's own files.
func writesFile(p ledger.PendingEffect) bool {
	switch p.Kind {
	case ledger.EffectMark{}.EffectKind(), ledger.EffectProgress{}.EffectKind(), ledger.EffectRemember{}.EffectKind(), ledger.EffectKeepPlan{}.EffectKind():
		return true
	}
	return false
}

// Written waits until everything that was decided for the users' own files,
// marks and progress logs, stands in them. Without it, a run that is over
// could end the process before its last mark is made.
func (e *Engine) Written(ctx context.Context) error {
	select {
	case <-e.writes.none():
		return nil
	case <-ctx.Done():
		return fmt.Errorf("marks in the source: %w", context.Cause(ctx))
	}
}

// tally counts what is under way. The zero value is ready for use.
type tally struct {
	mu   sync.Mutex
	n    int
	zero chan struct{} // closed when n comes back to 0
}

func (t *tally) begin() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.n++; t.n == 1 {
		t.zero = make(chan struct{})
	}
}

func (t *tally) end() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.n--; t.n == 0 {
		close(t.zero)
	}
}

// none returns a channel that is closed once nothing is under way.
func (t *tally) none() <-chan struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.n == 0 {
		done := make(chan struct{})
		close(done)
		return done
	}
	return t.zero
}

// settle delivers an effect's result, again and again while it cannot be
// saved.
func (e *Engine) settle(ctx context.Context, project string, p ledger.PendingEffect, body loop.InputBody) {
	in := resultOf(project, p, body)
	for {
		_, err := e.Do(ctx, in)
		switch {
		case err == nil, errors.Is(err, ErrStopped), ctx.Err() != nil:
			return
		}
		e.o.Log.Error("result not saved", "effect", p.Kind, "key", p.Key, "error", err)
		if sleep.For(ctx, diskRetry) != nil {
			return
		}
	}
}

// resultOf is the input that an effect's result is; nil stands for none.
func resultOf(project string, p ledger.PendingEffect, body loop.InputBody) loop.Input {
	if body == nil {
		body = loop.Wake{}
	}
	return loop.Input{Key: fmt.Sprintf("effect:%d", p.ID), Project: project, Actor: "daemon", Body: body, Settles: p.ID}
}

func (e *Engine) isDisk(err error) bool { return e.o.IsDisk != nil && e.o.IsDisk(err) }

// blames is the task that an effect which cannot be carried out belongs to; ""
// where the fault is nobody's. A session that cannot be started, and a
// take-over, are their task's only where what a person or a plan wrote is why,
// as a scope that leaves nothing to write: no other session would fare better,
// and other tasks are none the worse.
func (e *Engine) blames(project string, p ledger.PendingEffect, err error) string {
	var wrong *ledger.InputError
	body, bad := p.Effect()
	if bad != nil || !errors.As(err, &wrong) {
		return taskOf(p)
	}
	s, _ := e.State(project)
	switch b := body.(type) {
	case ledger.EffectStart:
		ses, _ := s.Project.Session(b.Session)
		return ses.Task
	case ledger.EffectCapture:
		for _, t := range s.Project.Tasks.All() {
			if t.Attempt != nil && t.Attempt.Session == b.Request.Session {
				return t.Task.ID
			}
		}
	}
	return taskOf(p)
}

func taskOf(p ledger.PendingEffect) string {
	body, err := p.Effect()
	if err != nil {
		return ""
	}
	switch b := body.(type) {
	case ledger.EffectCommit:
		return b.Task
	case ledger.EffectMerge:
		return b.Task
	}
	return ""
}

// act carries out one effect and returns its result; nil where there is none.
func (e *Engine) act(ctx context.Context, project string, p ledger.PendingEffect, again bool) (loop.InputBody, error) {
	body, err := p.Effect()
	if err != nil {
		return nil, err
	}
	ports, ok := e.port(project)
	if !ok {
		return nil, fmt.Errorf("project %s could not be opened", project)
	}
	switch b := body.(type) {
	case ledger.EffectPreflight:
		return e.preflight(ctx, project, b.Begin, ports)
	case ledger.EffectStart:
		b.Restore = b.Restore || again // nobody knows what a crash left in the folder
		return e.session(ctx, project, ports, b)
	case ledger.EffectEnd:
		return nil, e.o.Runner.End(ctx, b.Session, b.Grace)
	case ledger.EffectCapture:
		b.Request.Scope.Never = ports.Source.Owned()
		taken, err := ports.Workspace.Capture(ctx, b.Request)
		return loop.TreeCaptured{Session: b.Request.Session, Taken: taken, Ref: b.Request.Ref}, err
	case ledger.EffectMerge:
		merged, err := ports.Workspace.Merge(ctx, b.Merge)
		return loop.MergeFinished{Task: b.Task, Onto: b.Merge.Onto, Merged: merged}, err
	case ledger.EffectCommit:
		// The head of the ledger as of this decision: the same after a crash.
		b.Commit.Footers = fmt.Sprintf("Nightporter-Head: %s@%d:%x\n", p.Stream, p.Seq, p.Head) + b.Commit.Footers
		files, err := e.stamp(ctx, ports, b)
		if err != nil {
			return nil, err
		}
		made, err := ports.Workspace.Commit(ctx, b.Commit, files)
		var moved *ledger.BranchMoved
		if errors.As(err, &moved) && moved.Ahead {
			return loop.TipMoved{Task: b.Task, Tip: moved.Have}, nil
		}
		return loop.CommitMade{Task: b.Task, Committed: made}, err
	case ledger.EffectMark:
		result := loop.MarkMade{Task: b.Task, Mark: b.Mark}
		if err := ports.Source.Mark(ctx, []ledger.Marking{{Task: b.Task, Mark: b.Mark}}); err != nil {
			result.Err = err.Error()
		}
		return result, nil
	case ledger.EffectProgress:
		if err := ports.Source.Log(ctx, b.Progress); err != nil {
			return loop.MarkMade{Task: b.Progress.Task, Err: err.Error()}, nil //nolint:nilerr // it is told, and holds nothing up
		}
		return nil, nil
	case ledger.EffectRemember:
		return nil, e.note(project, ports, func(n Notebook) error { return n.Keep(ctx, b.Memory) })
	case ledger.EffectKeepPlan:
		return nil, e.note(project, ports, func(n Notebook) error { return n.KeepPlan(ctx, b.Plan) })
	}
	return nil, fmt.Errorf("effect %s is not carried out by this engine", p.Kind)
}

// note writes into the project's notebooks. What cannot be written there is
// logged and holds nothing up: the ledger has it. Only a full disk is waited
// for, as everywhere.
func (e *Engine) note(project string, ports Ports, write func(Notebook) error) error {
	if ports.Notebook == nil {
		return nil
	}
	err := write(ports.Notebook)
	if err == nil || e.isDisk(err) {
		return err
	}
	e.o.Log.Warn("not noted in .ralph", "project", project, "error", err)
	return nil
}

// stamp makes the files that carry marks and progress in a commit.
func (e *Engine) stamp(ctx context.Context, ports Ports, b ledger.EffectCommit) (map[string][]byte, error) {
	s, ok := ports.Source.(Stamper)
	if !ok || b.Progress == nil {
		return nil, nil
	}
	files, err := s.Stamp(func(path string) ([]byte, error) { return ports.Files.Read(ctx, b.Commit.Tree, path) }, b.Marks, *b.Progress)
	if err != nil {
		return nil, fmt.Errorf("marks for the commit: %w", err)
	}
	return files, nil
}

// followHats reads hats and pattern again whenever somebody changed them, and
// once at the beginning: they may have been changed while nobody looked.
func (e *Engine) followHats(ctx context.Context, project string, files HatFiles) {
	look := func() {
		s, ok := e.State(project)
		if !ok || s.Project.Run.Over() {
			return
		}
		pattern, hats, err := files.Read(s.Project.Run.Settings)
		body := loop.HatsChanged{Pattern: pattern, Hats: hats}
		if err != nil {
			body = loop.HatsChanged{Err: err.Error()}
		}
		if _, err := e.Do(ctx, loop.Input{Project: project, Actor: "daemon", Body: body}); err != nil && ctx.Err() == nil {
			e.o.Log.Error("hats", "project", project, "error", err)
		}
	}
	look()
	if err := files.Watch(ctx, look); err != nil && ctx.Err() == nil {
		e.o.Log.Warn("hats are not watched", "project", project, "error", err)
	}
}

// follow reads the source again whenever somebody changed it.
func (e *Engine) follow(ctx context.Context, project string, source Source) {
	err := source.Watch(ctx, func() {
		began := e.o.Clock()
		snapshot, err := source.Read(ctx)
		body := loop.SourceChanged{Snapshot: snapshot, Read: began}
		if err != nil {
			body = loop.SourceChanged{Err: err.Error(), Read: began}
		}
		if _, err := e.Do(ctx, loop.Input{Project: project, Actor: "daemon", Body: body}); err != nil && ctx.Err() == nil {
			e.o.Log.Error("source change", "project", project, "error", err)
		}
	})
	if err != nil && ctx.Err() == nil {
		e.o.Log.Warn("source is not watched", "project", project, "error", err)
	}
}
