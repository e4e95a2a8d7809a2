package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/nightporter/nightporter/internal/crash"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// Options are what an engine works with.
type Options struct {
	Ledger Ledger
	Runner Runner
	Agents Agents
	Door   Door
	// Ports opens a project's adapters for the settings of its run. What a
	// person has to mend is a *ledger.InputError.
	Ports func(ctx context.Context, s ledger.Settings) (Ports, error)
	// Observe is called for every committed entry, in order, from the
	// engine's goroutine: it must not block. May be nil.
	Observe func(before, after loop.State, e ledger.Entry)
	// Compose says what people are told of a decision; it is committed with it.
	// It is called from the engine's goroutine with the state before, and must
	// not block. May be nil.
	Compose func(before loop.State, d loop.Decision, in loop.Input) []ledger.Outgoing
	// Sent is called with the chats that a commit has left something new for,
	// also from Say's goroutine. It must not block. May be nil.
	Sent func(chats []string)
	// FreeDisk returns the free bytes where state is kept; nil: not looked at.
	FreeDisk func() (uint64, error)
	// IsDisk reports whether an error means that nothing can be written.
	IsDisk func(error) bool
	Clock  func() time.Time // nil: time.Now
	Log    *slog.Logger
}

// Engine runs projects.
type Engine struct {
	o        Options
	inputs   chan call
	stopping chan struct{}
	effects  sync.WaitGroup
	works    func(project string) bool // set once, by Run
	writes   tally                     // of the users' own files
	heads    map[string]int64          // last entry of each stream; Run's goroutine only
	saved    map[string]int64          // last entry of each stream's last snapshot
	unsaved  int                       // entries since the last snapshots

	mu       sync.RWMutex // guards what other goroutines read; only Run's goroutine writes
	house    loop.Shared
	projects map[string]loop.Project
	ports    map[string]Ports
	watches  map[string]context.CancelFunc
}

// call is one input on its way to the goroutine that owns the state.
type call struct {
	in    loop.Input
	with  With
	reply chan result
}

type result struct {
	answer loop.Answer
	err    error
}

// ErrStopped means that the engine has ended and took nothing.
var ErrStopped = errors.New("nightporter is stopping")

// Open folds the ledger. Nothing is carried out before Run.
func Open(ctx context.Context, o Options, streams []string) (*Engine, error) {
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	e := &Engine{
		o: o, inputs: make(chan call), stopping: make(chan struct{}),
		projects: map[string]loop.Project{}, ports: map[string]Ports{}, watches: map[string]context.CancelFunc{},
		heads: map[string]int64{}, saved: map[string]int64{},
	}
	if err := e.foldAll(ctx, slices.Concat([]string{ledger.SharedStream}, streams)); err != nil {
		return nil, err
	}
	return e, nil
}

// State returns a project's state as of the last commit. It is safe for use
// from any goroutine, and is never changed afterwards.
func (e *Engine) State(project string) (loop.State, bool) {
	e.mu.RLock()
	defer e.mu.RUnlock()
	p, ok := e.projects[project]
	return loop.State{Shared: e.house, Project: p}, ok
}

// Shared returns what projects share, as of the last commit.
func (e *Engine) Shared() loop.Shared {
	e.mu.RLock()
	defer e.mu.RUnlock()
	return e.house
}

// Projects returns the names of all projects, sorted.
func (e *Engine) Projects() []string {
	e.mu.RLock()
	defer e.mu.RUnlock()
	names := make([]string, 0, len(e.projects))
	for name := range e.projects {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Do hands an input to the core and returns what its sender is told, after
// what was decided is committed. An error means that nothing was decided; the
// same input may be sent again.
func (e *Engine) Do(ctx context.Context, in loop.Input) (loop.Answer, error) {
	return e.DoWith(ctx, in, nil)
}

// Run takes inputs until ctx ends, and carries out effects for the projects
// that works reports true for. For the others, and with a nil works for all, it
// only answers: nothing is planned, started or taken up. That is what a command
// does that found no daemon (DESIGN 4), and what `run` does for every project
// but its own.
func (e *Engine) Run(ctx context.Context, works func(project string) bool) error {
	if works == nil {
		works = func(string) bool { return false }
	}
	e.works = works
	ctx, cancel := context.WithCancel(ctx)
	defer func() {
		cancel()
		close(e.stopping)
		e.effects.Wait()
		e.save(e.changed())
	}()
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	if err := e.recover(ctx); ctx.Err() == nil && err != nil {
		return err
	}
	for {
		timer.Reset(e.untilDue())
		select {
		case <-ctx.Done():
			return nil
		case c := <-e.inputs:
			answer, err := e.handle(ctx, c.in, c.with)
			c.reply <- result{answer, err}
		case <-timer.C:
			e.tick(ctx)
		}
	}
}

// recover opens the adapters of projects with an unfinished run, or with
// something left to carry out, and carries out every effect that has no result.
func (e *Engine) recover(ctx context.Context) error {
	pending, err := e.o.Ledger.Pending(ctx)
	if err != nil {
		return fmt.Errorf("take up: %w", err)
	}
	for _, name := range e.Projects() {
		r := e.projects[name].Run
		left := pendingOf(pending, name)
		if !e.works(name) || r == nil || (r.Over() && len(left) == 0) {
			continue
		}
		if err := e.open(ctx, r.Settings); err != nil {
			// Its effects stay pending: they are no failures of its run, and are
			// taken up when somebody starts it again.
			e.o.Log.Error("project cannot be taken up", "project", name, "error", err)
			continue
		}
		for _, p := range left {
			e.launch(ctx, p, true)
		}
	}
	return nil
}

func pendingOf(all []ledger.PendingEffect, project string) []ledger.PendingEffect {
	return slices.DeleteFunc(slices.Clone(all), func(p ledger.PendingEffect) bool { return p.Stream != ledger.ProjectStream(project) })
}

// reopen makes a project's adapters for a run that is about to start, and
// takes up what could not be before.
func (e *Engine) reopen(ctx context.Context, s ledger.Settings) error {
	_, before := e.port(s.Project)
	if err := e.open(ctx, s); err != nil || before || !e.works(s.Project) {
		return err
	}
	pending, err := e.o.Ledger.Pending(ctx)
	if err != nil {
		return fmt.Errorf("take up: %w", err)
	}
	for _, p := range pendingOf(pending, s.Project) {
		e.launch(ctx, p, true)
	}
	return nil
}

// sameRepo reports whether settings are about the repository that the project is
// known for; the core refuses others.
func (e *Engine) sameRepo(s ledger.Settings) bool {
	run := e.projects[s.Project].Run
	return run == nil || run.Settings.Repo == s.Repo
}

// refreshSource adds to a start what people wrote into the source while nobody
// looked: a run that is resumed must not go on from an old plan, nor from one
// that does not parse.
func (e *Engine) refreshSource(ctx context.Context, start loop.StartRun) (loop.StartRun, error) {
	run := e.projects[start.Settings.Project].Run
	if run.Over() || start.New || run.State == ledger.RunPlanning || run.Settings.Source != start.Settings.Source {
		return start, nil // preflight will read it
	}
	ports, _ := e.port(start.Settings.Project)
	snapshot, err := ports.Source.Read(ctx)
	if err != nil {
		return start, fmt.Errorf("read the source: %w", err)
	}
	start.Snapshot = &snapshot
	return start, nil
}

// runFileEffects carries out what an answer means for the user's own file, where no
// daemon is there to do it. Everything else waits for the next run.
func (e *Engine) runFileEffects(ctx context.Context, project string, effects []ledger.PendingEffect) {
	for _, p := range effects {
		if !writesFile(p) {
			continue
		}
		if err := e.writeNow(ctx, project, p); err != nil { // it stays pending
			e.o.Log.Error("effect failed", "kind", p.Kind, "key", p.Key, "error", err)
		}
	}
}

func (e *Engine) writeNow(ctx context.Context, project string, p ledger.PendingEffect) error {
	if _, opened := e.port(project); !opened {
		if err := e.open(ctx, e.projects[project].Run.Settings); err != nil {
			return err
		}
	}
	body, err := e.act(ctx, project, p, false)
	if err != nil {
		return err
	}
	_, err = e.handle(ctx, resultOf(project, p, body), nil)
	return err
}

// open makes a project's adapters for the settings of a run.
func (e *Engine) open(ctx context.Context, s ledger.Settings) error {
	ports, err := e.o.Ports(ctx, s)
	if err != nil {
		return err
	}
	e.mu.Lock()
	e.ports[s.Project] = ports
	e.mu.Unlock()
	return nil
}

func (e *Engine) port(project string) (Ports, bool) {
	e.mu.RLock()
	defer e.mu.RUnlock()
	p, ok := e.ports[project]
	return p, ok
}

// untilDue is how long nothing has to happen by itself.
func (e *Engine) untilDue() time.Duration {
	const idle = 24 * time.Hour
	wait := idle
	now := e.o.Clock()
	if due := loop.Due(loop.State{Shared: e.house}); !due.IsZero() {
		wait = min(wait, max(due.Sub(now), 0))
	}
	for name, p := range e.projects {
		if !e.works(name) {
			continue
		}
		if due := loop.Due(loop.State{Shared: e.house, Project: p}); !due.IsZero() {
			wait = min(wait, max(due.Sub(now), 0))
		}
	}
	return wait
}

func (e *Engine) tick(ctx context.Context) {
	if due := loop.Due(loop.State{Shared: e.house}); !due.IsZero() && !e.o.Clock().Before(due) {
		if _, err := e.handle(ctx, loop.Input{Actor: "daemon", Body: loop.Tick{}}, nil); err != nil {
			e.o.Log.Error("tick", "error", err)
		}
	}
	for _, name := range e.Projects() {
		if !e.works(name) {
			continue
		}
		if _, err := e.handle(ctx, loop.Input{Project: name, Actor: "daemon", Body: loop.Tick{}}, nil); err != nil {
			e.o.Log.Error("tick", "project", name, "error", err)
		}
	}
}

// handle is DESIGN 2 in one place: decide, commit, apply, act.
func (e *Engine) handle(ctx context.Context, in loop.Input, with With) (loop.Answer, error) {
	work := in.Project != "" && e.works(in.Project)
	if start, ok := in.Body.(loop.StartRun); ok && e.sameRepo(start.Settings) {
		if err := e.reopen(ctx, start.Settings); err != nil {
			return loop.Answer{}, err
		}
		var err error
		if in.Body, err = e.refreshSource(ctx, start); err != nil {
			return loop.Answer{}, err
		}
	}
	in.Time, in.Idle = e.now(in.Project), !work
	before := loop.State{Shared: e.house, Project: e.projects[in.Project]}
	if before.Project.Name == "" {
		before.Project.Name = in.Project
	}
	d := e.decide(before, in)
	if len(d.Entries) == 0 && len(d.Effects) == 0 && in.Settles == 0 && in.Key == "" {
		return d.Answer, nil
	}
	if err := e.openForNewRun(ctx, before, in, d); err != nil {
		return loop.Answer{}, err
	}
	told, d := e.composeMessages(before, in, d)
	batch, err := e.batch(in, d)
	if err != nil {
		return loop.Answer{}, err
	}
	if with != nil {
		batch.Messages, batch.Cursor = with(d.Answer)
	}
	batch.Messages = append(batch.Messages, told...)
	crash.Point("before-commit:" + in.Body.InputKind())
	crash.Point("before-commit")
	receipt, err := e.o.Ledger.Commit(ctx, batch)
	if err != nil {
		return loop.Answer{}, fmt.Errorf("not saved: %w", err)
	}
	crash.Point("after-commit:" + in.Body.InputKind())
	crash.Point("after-commit")
	if receipt.Repeated {
		var answer loop.Answer
		if err := json.Unmarshal(receipt.Answer, &answer); err != nil {
			return answer, fmt.Errorf("stored answer of %s: %w", in.Key, err)
		}
		return answer, nil
	}
	e.publish(in.Project, d.State)
	if e.o.Sent != nil && len(receipt.Chats) > 0 { // who delivers asks for the state that it was said in
		e.o.Sent(receipt.Chats)
	}
	for _, r := range receipt.Records {
		e.heads[r.Stream] = r.Seq
	}
	if e.unsaved += len(receipt.Records); e.unsaved >= snapshotEvery {
		rows := e.changed()
		e.effects.Go(func() { e.save(rows) })
	}
	if e.o.Observe != nil {
		s := before
		for n, entry := range d.Entries {
			e.o.Observe(s, d.After[n], entry)
			s = d.After[n]
		}
	}
	if !work {
		e.runFileEffects(ctx, in.Project, receipt.Effects)
		return d.Answer, nil
	}
	for _, p := range receipt.Effects {
		e.launch(ctx, p, false)
	}
	e.watch(ctx, in.Project)
	e.wake(ctx, in, d)
	return d.Answer, nil
}

func (e *Engine) now(project string) time.Time {
	now := e.o.Clock()
	if p, ok := e.port(project); ok && p.Zone != nil {
		return now.In(p.Zone)
	}
	return now
}

func (e *Engine) publish(project string, s loop.State) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.house = s.Shared
	if project != "" {
		e.projects[project] = s.Project
	}
}

// openForNewRun opens the adapters of a run that something else than StartRun has
// begun: the answer to an offer, a task that was made ready again.
func (e *Engine) openForNewRun(ctx context.Context, before loop.State, in loop.Input, d loop.Decision) error {
	run := d.State.Project.Run
	if _, start := in.Body.(loop.StartRun); start || run == nil || (before.Project.Run != nil && before.Project.Run.ID == run.ID) {
		return nil
	}
	return e.reopen(ctx, run.Settings)
}

// decide calls the core. A decision that fails inside poisons its input: it
// is recorded, and everything else goes on (DESIGN 2).
func (e *Engine) decide(s loop.State, in loop.Input) (d loop.Decision) {
	defer func() {
		fault := recover()
		if fault == nil {
			return
		}
		e.o.Log.Error("decision failed", "input", in.Key, "kind", in.Body.InputKind(), "fault", fault, "stack", string(debug.Stack()))
		entry := ledger.Entry{
			Stream: ledger.ProjectStream(in.Project), Time: in.Time, Actor: "daemon", Cause: in.Key,
			Body: ledger.InputPoisoned{Key: in.Key, Kind: in.Body.InputKind(), Error: fmt.Sprint(fault)},
		}
		d = loop.Decided(s, entry)
		d.Answer = loop.Answer{Code: ledger.CodeFault, Text: "a fault in nightporter; it is kept in the ledger, all else goes on"}
	}()
	return loop.Decide(s, in)
}

func (e *Engine) batch(in loop.Input, d loop.Decision) (ledger.Batch, error) {
	b := ledger.Batch{Key: in.Key, Time: in.Time}
	if in.Settles != 0 {
		b.Settles = []int64{in.Settles}
	}
	for _, entry := range d.Entries {
		r, err := entry.Record()
		if err != nil {
			return b, err
		}
		b.Records = append(b.Records, r)
	}
	for _, effect := range d.Effects {
		p, err := effect.Pending()
		if err != nil {
			return b, err
		}
		p.Time = in.Time
		b.Effects = append(b.Effects, p)
	}
	answer, err := json.Marshal(d.Answer)
	if err != nil {
		return b, fmt.Errorf("encode answer: %w", err)
	}
	b.Answer = answer
	return b, nil
}

// wake tells the other projects that something in the house may have become
// free.
func (e *Engine) wake(ctx context.Context, in loop.Input, d loop.Decision) {
	if _, wake := in.Body.(loop.Wake); wake {
		return
	}
	if !slices.ContainsFunc(d.Entries, func(e ledger.Entry) bool { return e.Stream == ledger.SharedStream }) {
		return
	}
	for _, name := range e.Projects() {
		if name != in.Project && e.works(name) && !e.projects[name].Run.Over() {
			if _, err := e.handle(ctx, loop.Input{Project: name, Actor: "daemon", Body: loop.Wake{}}, nil); err != nil {
				e.o.Log.Error("wake", "project", name, "error", err)
			}
		}
	}
}

// watch follows the source of a project whose run is under way.
func (e *Engine) watch(ctx context.Context, project string) {
	over := e.projects[project].Run.Over()
	cancel, watched := e.watches[project]
	switch {
	case over && watched:
		cancel()
		delete(e.watches, project)
	case !over && !watched:
		ports, ok := e.port(project)
		if !ok || e.projects[project].Run.State == ledger.RunPlanning {
			return
		}
		wctx, cancel := context.WithCancel(ctx)
		e.watches[project] = cancel
		e.effects.Go(func() { e.follow(wctx, project, ports.Source) })
		if ports.Hats != nil {
			e.effects.Go(func() { e.followHats(wctx, project, ports.Hats) })
		}
	}
}
