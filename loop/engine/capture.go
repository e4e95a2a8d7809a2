package engine

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// captureGrace is how long a capture may still take once a person stopped the run
// at once. An ordinary one is done by then, and its session's work is kept.
const captureGrace = time.Second

// errCaptureStopped is why the context of a capture ended before the engine's.
var errCaptureStopped = errors.New("the run was stopped at once")

// captures holds the captures in progress, so that a person who stops a run need not
// wait for one of a session that left very many files.
type captures struct {
	mu   sync.Mutex
	stop map[string]map[string]func() // ends one after captureGrace; by project and session
}

// capture carries out an EffectCapture.
func (e *Engine) capture(ctx context.Context, project string, ports Ports, q ledger.CaptureRequest) (loop.InputBody, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	e.captures.mu.Lock()
	if e.captures.stop == nil {
		e.captures.stop = map[string]map[string]func(){}
	}
	if e.captures.stop[project] == nil {
		e.captures.stop[project] = map[string]func(){}
	}
	e.captures.stop[project][q.Session] = sync.OnceFunc(func() {
		e.spawn(func() {
			if e.o.Scheduler.Wait(ctx, captureGrace, nil) == nil {
				cancel(errCaptureStopped)
			}
		})
	})
	e.captures.mu.Unlock()
	defer func() {
		e.captures.mu.Lock()
		delete(e.captures.stop[project], q.Session)
		e.captures.mu.Unlock()
	}()
	if s, _ := e.State(project); stopsCapture(s) {
		e.stopCapture(project)
	}
	taken, err := ports.Place.Folders.Capture(ctx, q)
	if errors.Is(err, errCaptureStopped) {
		return loop.TreeCaptured{Session: q.Session, Ref: q.Ref, Stopped: true}, nil
	}
	return loop.TreeCaptured{Session: q.Session, Taken: taken, Ref: q.Ref}, err
}

// stopCapture ends the project's captures in progress after captureGrace.
func (e *Engine) stopCapture(project string) {
	e.captures.mu.Lock()
	defer e.captures.mu.Unlock()
	for _, stop := range e.captures.stop[project] {
		stop()
	}
}

// stopsCapture reports whether the run is stopped at once by a person. A signal
// ends the process instead, and the next one carries the capture out.
func stopsCapture(s loop.State) bool {
	r := s.Project.Run
	return r != nil && r.State == ledger.RunStopping && r.StopNow && r.Signal == ""
}
