package project

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/nightporter/nightporter/config"
	"github.com/nightporter/nightporter/internal/sleep"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/task"
)

// Readings are the sources of all projects as they are now: read when the daemon
// begins, and whenever they change, for looks between runs (docs/spec 3.2). The ledger
// learns of them when a run reads them. Create it with NewReadings; all methods are
// safe for concurrent use, and a nil Readings knows nothing.
type Readings struct {
	planner *Planner
	changed func() // called after each reading

	mu sync.Mutex
	of map[string]*followed
}

// followed is the source of a project.
type followed struct {
	project config.Project
	cancel  context.CancelFunc
	first   chan struct{} // closed after the first reading

	mu      sync.Mutex
	read    *loop.SourceReading // the last good one; nil = none
	trouble string              // why the last one failed
	hangs   bool                // a look has waited in vain for the first one
}

// againAfter is the pause before a source is opened or read again that failed.
const againAfter = 30 * time.Second

// NewReadings returns readings of the projects that the planner works on. changed is
// called after each.
func NewReadings(p *Planner, changed func()) *Readings {
	return &Readings{planner: p, changed: changed, of: map[string]*followed{}}
}

// Run follows the sources of the projects that are worked on, until ctx ends. changes
// returns a channel that is closed when these may be others.
func (r *Readings) Run(ctx context.Context, changes func() <-chan struct{}) {
	var all sync.WaitGroup
	defer all.Wait()
	for {
		changed := changes()
		r.followAll(ctx, &all)
		select {
		case <-ctx.Done():
			return
		case <-changed:
		}
	}
}

// followAll begins to follow the sources of projects that are worked on now, and ends
// it for all others.
func (r *Readings) followAll(ctx context.Context, all *sync.WaitGroup) {
	r.mu.Lock()
	defer r.mu.Unlock()
	working := r.planner.Working()
	for name, f := range r.of {
		if pr, ok := r.planner.Find(name); !ok || !sameSource(pr, f.project) || !slices.Contains(working, name) {
			f.cancel()
			delete(r.of, name)
			r.planner.Warn(name, AboutSource, "")
		}
	}
	for _, name := range working {
		pr, ok := r.planner.Find(name)
		if _, begun := r.of[name]; begun || !ok {
			continue
		}
		fctx, cancel := context.WithCancel(ctx)
		f := &followed{project: pr, cancel: cancel, first: make(chan struct{})}
		r.of[name] = f
		all.Go(func() { r.follow(fctx, f) })
	}
}

// Read reads the sources of a project, "" for all, once and without following them: for
// a process that answers and ends.
func (r *Readings) Read(ctx context.Context, project string) {
	for _, pr := range r.planner.Config().Projects {
		if project != "" && pr.Name != project || r.followed(pr.Name) != nil {
			continue
		}
		f := &followed{project: pr, cancel: func() {}, first: make(chan struct{})}
		r.mu.Lock()
		r.of[pr.Name] = f
		r.mu.Unlock()
		source, settings, err := r.open(pr)
		if err != nil {
			r.note(f, nil, err)
			continue
		}
		r.take(ctx, f, settings, source)
	}
}

// sameSource reports whether two settings of a project mean the same tasks.
func sameSource(a, b config.Project) bool {
	return a.Repo == b.Repo && a.Source == b.Source && a.Remote == b.Remote && a.Order == b.Order && a.CommitStatus == b.CommitStatus
}

// follow reads a source, and again after each change. A file system that hangs holds
// up this project's reading alone.
func (r *Readings) follow(ctx context.Context, f *followed) {
	for ctx.Err() == nil {
		source, settings, err := r.open(f.project)
		if err == nil {
			read := func() { r.take(ctx, f, settings, source) }
			read()
			err = source.Watch(ctx, read)
		}
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			r.note(f, nil, err)
		}
		_ = sleep.For(ctx, againAfter)
	}
}

func (r *Readings) open(pr config.Project) (task.Source, ledger.Settings, error) {
	s, err := pr.Settings(r.planner.Config(), config.Overrides{}, time.Now())
	if err != nil {
		return nil, s, err
	}
	source, err := r.planner.OpenSource(s, task.Options{CommitStatus: s.CommitStatus, BdWrite: s.BdWrite})
	return source, s, err
}

// take reads the source once. A source that cannot be read leaves the last good reading.
func (r *Readings) take(ctx context.Context, f *followed, s ledger.Settings, source task.Source) {
	before, _ := r.planner.engine.State(f.project.Name)
	snapshot, err := source.Read(ctx)
	if ctx.Err() != nil {
		return
	}
	if err != nil {
		r.note(f, nil, err)
		return
	}
	r.note(f, &loop.SourceReading{Settings: s, Snapshot: snapshot, Before: before.Project.Tasks, At: time.Now()}, nil)
}

// note keeps a reading, or why there is none.
func (r *Readings) note(f *followed, read *loop.SourceReading, err error) {
	f.mu.Lock()
	f.trouble = ""
	if read != nil {
		f.read = read
	}
	if err != nil {
		f.trouble = OneLine(err)
	}
	trouble := f.trouble
	select {
	case <-f.first:
	default:
		close(f.first)
	}
	f.mu.Unlock()
	line := ""
	if trouble != "" && f.project.Start != "auto" { // a start that is due says it
		line = "! " + f.project.Name + ": " + trouble
	}
	r.planner.Warn(f.project.Name, AboutSource, line)
	r.changed()
}

func (r *Readings) followed(project string) *followed {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.of[project]
}

// Await waits until the first reading of a project is there, or ctx ends: a look right
// after the start is to see it. "" stands for all projects. A source that hangs is waited
// for until one deadline of ctx, not again with each look.
func (r *Readings) Await(ctx context.Context, project string) {
	for _, name := range r.names(project) {
		f := r.followed(name)
		if f == nil || f.hanging() {
			continue
		}
		select {
		case <-f.first:
			continue
		case <-ctx.Done():
		}
		if !errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return // nobody waits any more
		}
		f.mu.Lock()
		f.hangs = true
		f.mu.Unlock()
	}
}

// hanging reports whether a look has waited in vain for the first reading. What is read
// after all is known without waiting.
func (f *followed) hanging() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.hangs
}

func (r *Readings) names(project string) []string {
	if r == nil || project != "" {
		return []string{project}
	}
	return r.planner.Working()
}

// Known returns a project's state with the tasks as its source has them now. It is s
// itself while a run is under way, and where the source was not read.
func (r *Readings) Known(s loop.State) loop.State {
	f := r.followed(s.Project.Name)
	if f == nil {
		return s
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.read == nil {
		return s
	}
	return loop.Known(s, *f.read, time.Now())
}

// Trouble says why a project's source could not be read the last time, "" if it could.
func (r *Readings) Trouble(project string) string {
	f := r.followed(project)
	if f == nil {
		return ""
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.trouble
}
