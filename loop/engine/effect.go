package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/nightporter/nightporter/internal/crash"
	"github.com/nightporter/nightporter/internal/fault"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// launch carries out one effect in a new goroutine and sends its result as the
// next input. again says that an earlier process may have begun the effect.
func (e *Engine) launch(ctx context.Context, p ledger.PendingEffect, again bool) {
	written := func() {}
	if writesFile(p) {
		e.writes.add()
		written = sync.OnceFunc(e.writes.done)
	}
	e.spawn(func() {
		defer written()
		project := strings.TrimPrefix(p.Stream, ledger.ProjectStream(""))
		failing := failing{engine: e, project: project, effect: p}
		for {
			crash.Point("before-effect:" + p.Kind)
			body, err := e.act(ctx, project, p, again)
			crash.Point("after-effect:" + p.Kind)
			if ctx.Err() != nil {
				return // stopping: the effect stays pending for the next start
			}
			if is := fault.Of(err); is != "" {
				written() // it may take all night, and stays pending
				if failing.wait(ctx, is, err) {
					again = true
					continue
				}
				if ctx.Err() != nil {
					return
				}
			}
			if err != nil {
				e.o.Log.Error("effect failed", "kind", p.Kind, "key", p.Key, "error", err)
				body = loop.EffectBroken{Kind: p.Kind, Key: p.Key, Task: e.taskToBlame(project, p, err), Text: inOneLine(err)}
			}
			e.deliverResult(ctx, project, p, body)
			return
		}
	})
}

// writesFile reports whether an effect writes into people's own files.
func writesFile(p ledger.PendingEffect) bool {
	switch p.Kind {
	case ledger.EffectMark{}.EffectKind(), ledger.EffectProgress{}.EffectKind(), ledger.EffectRemember{}.EffectKind(), ledger.EffectKeepPlan{}.EffectKind(), ledger.EffectKeepWaves{}.EffectKind():
		return true
	}
	return standsAlone(p)
}

// Written waits until all decided changes to people's own files, such as marks
// and progress logs, are written. Without it, `run` could exit before the last
// mark is made.
func (e *Engine) Written(ctx context.Context) error {
	select {
	case <-e.writes.idle():
		return nil
	case <-ctx.Done():
		return fmt.Errorf("marks in the source: %w", context.Cause(ctx))
	}
}

// deliverResult sends an effect's result to the core, and repeats that until it
// is committed. What was read of the source may be another text by then, so that is
// read again.
func (e *Engine) deliverResult(ctx context.Context, project string, p ledger.PendingEffect, body loop.InputBody) {
	in := resultOf(project, p, body)
	tried, committed := false, false
	defer func() { e.settlePicture(project, body, committed) }()
	e.untilSaved(ctx, project, func() error {
		if read, is := in.Body.(loop.SourceChanged); is && tried {
			if ports, ok := e.portsOf(project); ok {
				fresh, err := e.rereadSource(ctx, project, ports.Source, read)
				if err != nil {
					return err
				}
				in.Body = fresh
			}
		}
		tried = true
		_, err := e.Do(ctx, in)
		committed = err == nil
		return err
	})
}

// untilSaved calls send until it succeeds, with growing pauses. It returns early
// when the engine stops.
func (e *Engine) untilSaved(ctx context.Context, project string, send func() error) {
	since := e.o.Clock()
	for {
		again := e.again.next(project)
		err := send()
		switch {
		case err == nil, errors.Is(err, ErrStopped), ctx.Err() != nil:
			return
		}
		if e.o.Scheduler.Wait(ctx, loop.RetryPause(since, e.o.Clock()), again) != nil {
			return
		}
	}
}

// resultOf returns the input that carries an effect's result. For a nil body it
// is a Wake.
func resultOf(project string, p ledger.PendingEffect, body loop.InputBody) loop.Input {
	if body == nil {
		body = loop.Wake{}
	}
	return loop.Input{Key: fmt.Sprintf("effect:%d", p.ID), Project: project, Actor: "daemon", Body: body, Settles: p.ID, Result: loop.EffectName{Kind: p.Kind, Key: p.Key}}
}

// taskToBlame returns the id of the task that caused an effect to fail, or "".
// A failed session start or capture is its task's fault only for an InputError,
// such as a scope that permits no file: then another session would fail too,
// and other tasks are not affected.
func (e *Engine) taskToBlame(project string, p ledger.PendingEffect, err error) string {
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

// act carries out one effect and returns its result, or nil for an effect
// without one.
func (e *Engine) act(ctx context.Context, project string, p ledger.PendingEffect, again bool) (loop.InputBody, error) {
	body, err := p.Effect()
	if err != nil {
		return nil, err
	}
	switch b := body.(type) {
	case ledger.EffectAddTasks:
		return e.addTasks(ctx, project, b)
	case ledger.EffectRemoveTasks:
		return e.removeTasks(ctx, project, b)
	case ledger.EffectTranscribe:
		return e.transcribe(ctx, b)
	case ledger.EffectErase:
		return nil, e.erase(b.Hashes)
	}
	ports, ok := e.portsOf(project)
	if !ok {
		return nil, fmt.Errorf("project %s could not be opened", project)
	}
	switch b := body.(type) {
	case ledger.EffectPreflight:
		return e.preflight(ctx, project, b.Begin, ports)
	case ledger.EffectStart:
		b.Restore = b.Restore || again // a crash may have left changes in the folder
		return e.runSession(ctx, project, ports, b)
	case ledger.EffectEnd:
		s, _ := e.State(project)
		if _, inFlight := s.Project.Session(b.Session); !inFlight && !ports.Place.Runner.Known(b.Session) {
			return nil, nil // it ended without having begun
		}
		return nil, ports.Place.Runner.End(ctx, b.Session, b.Grace)
	case ledger.EffectAnswerHost:
		return nil, ports.Place.Runner.AnswerHost(b.Session, b.Answer)
	case ledger.EffectReread:
		if err := e.o.Scheduler.Wait(ctx, ledger.SettleTime, nil); err != nil {
			return nil, err
		}
		return e.rereadSource(ctx, project, ports.Source, loop.SourceChanged{Source: b.Source, Doubted: b.Doubted})
	case ledger.EffectCapture:
		b.Request.Scope.Never = ports.Source.Owned()
		return e.capture(ctx, project, ports, b.Request)
	case ledger.EffectMerge:
		merged, err := ports.Repository.Merge(ctx, b.Merge)
		return loop.MergeFinished{Task: b.Task, Onto: b.Merge.Onto, OntoTree: b.Merge.OntoTree, Merged: merged}, err
	case ledger.EffectChain:
		return chain(ctx, ports.Repository, b)
	case ledger.EffectRemake:
		made, err := ports.Repository.Remake(ctx, b.Remake)
		return loop.RemakeFinished{Branch: b.Remake.Branch, Made: made}, err
	case ledger.EffectCommit:
		// The head as of this decision, not the current one: a repetition after
		// a crash makes the same commit.
		b.Commit.Footers = fmt.Sprintf("Nightporter-Head: %s@%d:%x\n", p.Stream, p.Seq, p.Head) + b.Commit.Footers
		files, err := e.stampFiles(ctx, ports, b)
		if err != nil {
			return nil, err
		}
		made, err := ports.Repository.Commit(ctx, b.Commit, files)
		var moved *ledger.BranchMoved
		if errors.As(err, &moved) && moved.Ahead {
			return loop.TipMoved{Task: b.Task, Tip: moved.Have, Tree: moved.Tree}, nil
		}
		if err == nil {
			err = ports.Place.Rooms.KeepLayer(ctx, b.Commit.Tree)
		}
		return loop.CommitMade{Task: b.Task, Committed: made}, err
	case ledger.EffectLift:
		return lift(ctx, ports, b)
	case ledger.EffectPush:
		return push(ctx, ports, b)
	case ledger.EffectRequest:
		return e.request(ctx, ports, b)
	case ledger.EffectMergeRequest:
		return e.mergeRequest(ctx, project, ports, b, e.o.Clock().Sub(p.Time) > mergeTime)
	case ledger.EffectReply:
		s, _ := e.State(project)
		return reply(ctx, ports, s.Project.Requests.Branch(b.Run), b)
	case ledger.EffectMark:
		if e.isOtherPlan(project, b.Source) {
			return nil, nil // written when a run of that plan comes
		}
		result := loop.MarkMade{Task: b.Task, Mark: b.Mark, Source: b.Source}
		err := ports.Source.Mark(ctx, []ledger.Marking{{Task: b.Task, Mark: b.Mark, Tries: b.Tries, Claim: b.Claim}})
		if fault.Of(err) != "" {
			return nil, err
		}
		if claimed := (*ledger.ClaimedError)(nil); errors.As(err, &claimed) {
			result.Claim = &claimed.Claim
			return result, nil
		}
		if result.Tries = b.Tries; err != nil { // people are told; the run goes on
			result.Err, result.Tries = err.Error(), nil
		}
		return result, nil
	case ledger.EffectProgress:
		if e.isOtherPlan(project, b.Source) {
			return nil, nil
		}
		err := ports.Source.Log(ctx, b.Progress)
		if err != nil && fault.Of(err) == "" {
			return loop.MarkMade{Task: b.Progress.Task, Err: err.Error(), Source: b.Source}, nil //nolint:nilerr // people are told; the run goes on
		}
		return nil, err
	case ledger.EffectRemember:
		return nil, e.writeNotebook(project, ports, func(n Notebook) error { return n.Keep(ctx, b.Memory) })
	case ledger.EffectTriage:
		return e.sortReports(ctx, project, ports, b)
	case ledger.EffectKeepWaves:
		return nil, e.keepWaves(ctx, project, ports, b)
	case ledger.EffectKeepPlan:
		return nil, e.writeNotebook(project, ports, func(n Notebook) error { return n.KeepPlan(ctx, b.Plan) })
	}
	return nil, fmt.Errorf("effect %s is not carried out by this engine", p.Kind)
}

// isOtherPlan reports whether an effect is for another source than that of the
// project's present run, as after a crash and a start with another plan. Their
// tasks may have the same ids.
func (e *Engine) isOtherPlan(project, source string) bool {
	s, _ := e.State(project)
	return source != "" && source != s.Project.Source
}

// writeNotebook writes into the project's notebooks. It logs a failure and goes
// on, because the ledger has the content too. Only a fault of the machine is an
// error.
func (e *Engine) writeNotebook(project string, ports Ports, write func(Notebook) error) error {
	if ports.Notebook == nil {
		return nil
	}
	err := write(ports.Notebook)
	if err == nil || fault.Of(err) != "" {
		return err
	}
	e.o.Log.Warn("not noted in .ralph", "project", project, "error", err)
	return nil
}

// stampFiles returns the source files with the marks and the progress entry that
// travel in a commit.
func (e *Engine) stampFiles(ctx context.Context, ports Ports, b ledger.EffectCommit) (map[string][]byte, error) {
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

// inOneLine returns an error as it is told where it has one line. A remedy follows its
// problem in a line of its own elsewhere.
func inOneLine(err error) string { return strings.ReplaceAll(err.Error(), "\n    ", ": ") }
