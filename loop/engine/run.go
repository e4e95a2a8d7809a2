package engine

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	"github.com/nightporter/nightporter/internal/crash"
	"github.com/nightporter/nightporter/internal/fault"
	"github.com/nightporter/nightporter/internal/sched"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// Run handles inputs until ctx ends, and carries out effects for the projects
// for which works returns true. For other projects, and with a nil works, it
// only answers commands: it plans, starts and recovers nothing. A command
// without a daemon runs the engine that way, and `run` does so for every
// project but its own.
func (e *Engine) Run(ctx context.Context, works func(project string) bool) error {
	if works == nil {
		works = func(string) bool { return false }
	}
	e.carriesOut = works
	ctx, cancel := context.WithCancel(ctx)
	defer func() {
		cancel()
		e.calls.close()
		_ = e.o.Scheduler.Wait(context.Background(), sched.Forever, e.effects.idle()) // that context never ends
		e.saveSnapshots(e.unsavedStates())
	}()
	e.clock.start(e.o.Clock(), e.o.Scheduler.Now())
	if err := e.recover(ctx); ctx.Err() == nil && err != nil {
		return err
	}
	for {
		if err := e.o.Scheduler.Wait(ctx, nextLook(e.untilDue()), e.calls.arrived); err != nil {
			return nil //nolint:nilerr // the end of ctx is no error
		}
		e.noteJump(ctx)
		if c, waits := e.calls.take(); waits {
			c.answer, c.err = c.do(ctx)
			close(c.done)
			continue
		}
		if e.untilDue() == 0 {
			e.tick(ctx)
		}
	}
}

// spawn runs f in a goroutine that Run waits for before it returns.
func (e *Engine) spawn(f func()) {
	e.effects.add()
	e.o.Scheduler.Go(func() {
		defer e.effects.done()
		f()
	})
}

// recover opens the adapters of projects with an unfinished run or pending
// effects, carries out every effect without a result, and lets unfinished runs go
// on.
func (e *Engine) recover(ctx context.Context) error {
	pending, err := e.pendingEffects(ctx)
	if err != nil {
		return fmt.Errorf("take up: %w", err)
	}
	for _, name := range e.Projects() {
		r := e.projects[name].Run
		left := pendingOf(pending, name)
		if e.carriesOut(name) {
			left = slices.DeleteFunc(left, func(p ledger.PendingEffect) bool {
				if standsAlone(p) {
					e.launch(ctx, p, true)
				}
				return standsAlone(p)
			})
		}
		resting := r.Over() && (r == nil || r.Remake == nil)
		if !e.carriesOut(name) || r == nil || (resting && len(left) == 0 && len(loop.WatchedRequests(e.projects[name])) == 0) {
			continue
		}
		if err := e.openPorts(ctx, r.Settings); err != nil {
			// The effects stay pending rather than fail the run: the next start
			// carries them out.
			e.o.Log.Error("project cannot be taken up", "project", name, "error", err)
			continue
		}
		if ports, open := e.portsOf(name); open && !resting {
			e.lookForLines(ctx, name, ports.Source)
		}
		for _, p := range left {
			e.launch(ctx, p, true)
		}
		if resting {
			e.startLooks(ctx, name, false)
			continue
		}
		// The process before may have died after a decision about what projects
		// share, and before it woke this one.
		if _, err := e.handle(ctx, loop.Input{Project: name, Actor: "daemon", Body: loop.Wake{}}, nil); err != nil {
			e.o.Log.Error("wake", "project", name, "error", err)
		}
		// A Wake that decides nothing commits nothing: what is under way is followed all
		// the same.
		e.startWatches(ctx, name)
		e.startLooks(ctx, name, false)
	}
	return nil
}

// pendingEffects reads the effects without a result. A ledger that cannot be read
// for a fault of the machine is read again, with growing pauses: no input can be
// decided before that.
func (e *Engine) pendingEffects(ctx context.Context) ([]ledger.PendingEffect, error) {
	since, wake := e.o.Clock(), loop.Input{Body: loop.Wake{}}
	for {
		pending, err := e.o.Ledger.Pending(ctx)
		if fault.Of(err) == "" {
			e.committed("", wake.Body.InputKind())
			return pending, err
		}
		e.stalled(wake, err)
		if err := e.o.Scheduler.Wait(ctx, loop.RetryPause(since, e.o.Clock()), nil); err != nil {
			return nil, err
		}
	}
}

func pendingOf(all []ledger.PendingEffect, project string) []ledger.PendingEffect {
	return slices.DeleteFunc(slices.Clone(all), func(p ledger.PendingEffect) bool { return p.Stream != ledger.ProjectStream(project) })
}

// untilDue returns how long it takes until a project needs a Tick; sched.Forever if
// nothing is due.
func (e *Engine) untilDue() time.Duration {
	if e.owesTick {
		return 0
	}
	wait := sched.Forever
	now := e.o.Clock()
	if due := loop.Due(loop.State{Shared: e.shared}); !due.IsZero() && !e.waitsToSave("") {
		wait = min(wait, max(due.Sub(now), 0))
	}
	wait = min(wait, e.untilLoad())
	for _, s := range e.stalls {
		wait = min(wait, max(s.next.Sub(e.o.Scheduler.Now()), 0))
	}
	for name, p := range e.projects {
		if !e.carriesOut(name) || e.waitsToSave(name) {
			continue
		}
		if due := loop.Due(loop.State{Shared: e.shared, Project: p}); !due.IsZero() {
			wait = min(wait, max(due.Sub(now), 0))
		}
	}
	return wait
}

func (e *Engine) tick(ctx context.Context) {
	e.owesTick = false
	if due := loop.Due(loop.State{Shared: e.shared}); !due.IsZero() && !e.o.Clock().Before(due) && !e.waitsToSave("") {
		_, err := e.handle(ctx, loop.Input{Actor: "daemon", Body: loop.Tick{}}, nil)
		e.logFailure("tick", "", err)
	}
	for _, name := range e.Projects() {
		if !e.carriesOut(name) || e.waitsToSave(name) {
			continue
		}
		_, err := e.handle(ctx, loop.Input{Project: name, Actor: "daemon", Body: loop.Tick{}}, nil)
		e.logFailure("tick", name, err)
	}
	e.probe(ctx)
}

// logFailure logs an error of an input of the engine's own. What could not be
// saved is in the log already, once.
func (e *Engine) logFailure(what, project string, err error) {
	if err != nil && !errors.Is(err, ErrNotSaved) {
		e.o.Log.Error(what, "project", project, "error", err)
	}
}

// handle processes one input: decide, commit, fold, launch the effects. An error
// means that nothing was committed.
func (e *Engine) handle(ctx context.Context, in loop.Input, with With) (ledger.Answer, error) {
	if err := e.Unread(in.Project); err != nil {
		return ledger.Answer{}, fmt.Errorf("the ledger of %s cannot be read: %w", in.Project, err)
	}
	work := in.Project != "" && e.carriesOut(in.Project)
	if start, ok := in.Body.(loop.StartRun); ok && e.sameRepo(start.Settings) {
		if err := e.reopenPorts(ctx, start.Settings); err != nil {
			return ledger.Answer{}, err
		}
		var err error
		if in.Body, err = e.refreshSource(ctx, start); err != nil {
			return ledger.Answer{}, err
		}
	}
	in.Time, in.Same = e.now(in.Project)
	in.Idle, in.Load = !work, e.load(in.Project)
	before := loop.State{Shared: e.shared, Project: e.projects[in.Project]}
	if before.Project.Name == "" {
		before.Project.Name = in.Project
	}
	d := e.decide(before, in)
	if len(d.Entries) == 0 && len(d.Effects) == 0 && in.Settles == 0 && in.Key == "" {
		e.tryAgain(in)
		return d.Answer, nil
	}
	if err := e.openForNewRun(ctx, before, in, d); err != nil {
		return ledger.Answer{}, err
	}
	told, d := e.composeMessages(before, in, d)
	batch, err := e.batchOf(in, d)
	if err == nil {
		err = e.nameSharedHead(ctx, in, &batch)
	}
	if err != nil {
		e.stalled(in, err)
		return ledger.Answer{}, fmt.Errorf("%w: %w", ErrNotSaved, err)
	}
	if with != nil {
		batch.Messages, batch.Cursor = with(d.Answer)
	}
	batch.Messages = append(batch.Messages, told...)
	crash.Point("before-commit:" + in.Body.InputKind())
	crash.Point("before-commit")
	receipt, err := e.o.Ledger.Commit(ctx, batch)
	if err != nil {
		e.stalled(in, err)
		return ledger.Answer{}, fmt.Errorf("%w: %w", ErrNotSaved, err)
	}
	crash.Point("after-commit:" + in.Body.InputKind())
	crash.Point("after-commit")
	if receipt.Repeated {
		var answer ledger.Answer
		if err := json.Unmarshal(receipt.Answer, &answer); err != nil {
			return answer, fmt.Errorf("stored answer of %s: %w", in.Key, err)
		}
		return answer, nil
	}
	e.publish(in.Project, d.State, receipt.Records)
	e.committed(in.Project, in.Body.InputKind())
	e.tryAgain(in)
	if !stopsCapture(before) && stopsCapture(d.State) {
		e.stopCapture(in.Project)
	}
	e.preparing.cutOff(d.Entries)
	if e.o.Sent != nil && len(receipt.Chats) > 0 { // delivery may read the state after this decision
		e.o.Sent(receipt.Chats)
	}
	if e.unsaved += len(receipt.Records); e.unsaved >= snapshotEvery {
		rows := e.unsavedStates()
		e.spawn(func() { e.saveSnapshots(rows) })
	}
	if e.o.Observe != nil {
		s := before
		for n, entry := range d.Entries {
			e.o.Observe(s, d.After[n], entry)
			s = d.After[n]
		}
	}
	if !work {
		e.runUrgentEffects(ctx, in.Project, receipt.Effects)
		return d.Answer, nil
	}
	if err := e.openForEffects(ctx, d.State.Project, receipt.Effects); err != nil {
		// They stay pending rather than fail: the next start carries them out.
		e.o.Log.Error("project cannot be taken up", "project", in.Project, "error", err)
		return d.Answer, nil
	}
	for _, p := range receipt.Effects {
		e.launch(ctx, p, false)
	}
	e.startWatches(ctx, in.Project)
	e.startLooks(ctx, in.Project, slices.ContainsFunc(d.Entries, isPush))
	e.maintain(ctx, in.Project, d)
	e.wakeOthers(ctx, in, d)
	return d.Answer, nil
}

// decide calls the core. If the core panics, it returns a decision that records
// the input as poisoned, so that the same input cannot stop the daemon again.
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
		d.Answer = ledger.Answer{Code: ledger.CodeFault, Text: "a fault in nightporter; it is kept in the ledger, all else goes on"}
	}()
	return loop.Decide(s, in)
}

func (e *Engine) batchOf(in loop.Input, d loop.Decision) (ledger.Batch, error) {
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

// nameSharedHead puts a SharedHead entry before the entries of a batch that
// makes a commit or ends a run: the commit, or the digest, then names a head
// that stands above it. The fold does not use that entry.
func (e *Engine) nameSharedHead(ctx context.Context, in loop.Input, b *ledger.Batch) error {
	commits := slices.ContainsFunc(b.Effects, func(p ledger.PendingEffect) bool { return p.Kind == ledger.EffectCommit{}.EffectKind() })
	ends := slices.ContainsFunc(b.Records, func(r ledger.Record) bool { return r.Type == ledger.RunEnded{}.EntryType() })
	if !commits && !ends {
		return nil
	}
	seq, hash, err := e.o.Ledger.Head(ctx, ledger.SharedStream)
	if err != nil || seq == 0 {
		return err
	}
	r, err := ledger.Entry{
		Stream: ledger.ProjectStream(in.Project), Time: in.Time, Run: runOf(b.Records), Actor: "daemon", Cause: in.Key,
		Body: ledger.SharedHead{Seq: seq, Hash: hex.EncodeToString(hash)},
	}.Record()
	b.Records = slices.Insert(b.Records, 0, r)
	return err
}

// runOf returns the run of the first record that has one.
func runOf(records []ledger.Record) string {
	for _, r := range records {
		if r.Run != "" {
			return r.Run
		}
	}
	return ""
}

// wakeOthers sends Wake to the other projects when a decision may have released
// something shared, such as a lease.
func (e *Engine) wakeOthers(ctx context.Context, in loop.Input, d loop.Decision) {
	if _, wake := in.Body.(loop.Wake); wake {
		return
	}
	if !slices.ContainsFunc(d.Entries, func(e ledger.Entry) bool { return e.Stream == ledger.SharedStream }) {
		return
	}
	for _, name := range e.Projects() {
		if name != in.Project && e.carriesOut(name) && !e.projects[name].Run.Over() {
			_, err := e.handle(ctx, loop.Input{Project: name, Actor: "daemon", Body: loop.Wake{}}, nil)
			e.logFailure("wake", name, err)
		}
	}
}

func (e *Engine) publish(project string, s loop.State, records []ledger.Record) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, r := range records {
		e.heads[r.Stream] = r.Seq
	}
	e.shared = s.Shared
	if project != "" {
		e.projects[project] = s.Project
	}
}

// now returns the time of an input in the project's zone, and how many inputs right
// before it had the same time.
func (e *Engine) now(project string) (now time.Time, same int) {
	now = e.o.Clock()
	if !now.Equal(e.at) {
		e.at, e.same = now, 0
	} else {
		e.same++
	}
	if p, ok := e.portsOf(project); ok && p.Zone != nil {
		now = now.In(p.Zone)
	}
	return now, e.same
}

// reopenPorts opens a project's adapters for a run that is about to start, and
// launches the effects that waited for them.
func (e *Engine) reopenPorts(ctx context.Context, s ledger.Settings) error {
	var waiting []ledger.PendingEffect
	if _, open := e.portsOf(s.Project); !open && e.carriesOut(s.Project) {
		pending, err := e.o.Ledger.Pending(ctx)
		if err != nil {
			return fmt.Errorf("take up: %w", err)
		}
		waiting = slices.DeleteFunc(pendingOf(pending, s.Project), standsAlone) // they wait for nothing
	}
	if err := e.openPorts(ctx, s); err != nil {
		return err
	}
	for _, p := range waiting {
		e.launch(ctx, p, true)
	}
	return nil
}

// runUrgentEffects carries out the effects of an answer that do not wait for the
// next run if no daemon is there to do so: changes of people's own files, the end of
// sessions, which outlive a daemon, and a branch that is made again.
func (e *Engine) runUrgentEffects(ctx context.Context, project string, effects []ledger.PendingEffect) {
	for _, p := range effects {
		if !writesFile(p) && p.Kind != (ledger.EffectEnd{}).EffectKind() && p.Kind != (ledger.EffectRemake{}).EffectKind() {
			continue
		}
		if err := e.runEffect(ctx, project, p); err != nil { // the effect stays pending
			e.o.Log.Error("effect failed", "kind", p.Kind, "key", p.Key, "error", err)
		}
	}
}

func (e *Engine) runEffect(ctx context.Context, project string, p ledger.PendingEffect) error {
	if _, opened := e.portsOf(project); !opened && !standsAlone(p) {
		if err := e.openPorts(ctx, e.projects[project].Run.Settings); err != nil {
			return err
		}
	}
	crash.Point("before-effect:" + p.Kind)
	body, err := e.act(ctx, project, p, false)
	crash.Point("after-effect:" + p.Kind)
	if err != nil {
		return err
	}
	_, err = e.handle(ctx, resultOf(project, p, body), nil)
	return err
}

// openForEffects opens the adapters of a project that nothing has been done for since
// the process began: its last run is over, and a person takes a task out of it.
func (e *Engine) openForEffects(ctx context.Context, p loop.Project, effects []ledger.PendingEffect) error {
	if _, open := e.portsOf(p.Name); open || p.Run == nil || !slices.ContainsFunc(effects, func(p ledger.PendingEffect) bool { return !standsAlone(p) }) {
		return nil
	}
	return e.openPorts(ctx, p.Run.Settings)
}

// openForNewRun opens the adapters for a run that an input other than StartRun
// began: the answer to an offer, or a retried task.
func (e *Engine) openForNewRun(ctx context.Context, before loop.State, in loop.Input, d loop.Decision) error {
	run := d.State.Project.Run
	if _, start := in.Body.(loop.StartRun); start || run.Over() || (before.Project.Run != nil && before.Project.Run.ID == run.ID) {
		return nil
	}
	return e.reopenPorts(ctx, run.Settings)
}

// composeMessages returns the messages about a decision, and the decision to
// commit. If composing panics, the decision stands with an additional
// InputPoisoned entry, and people are told about it. Without that, the input
// would stop the daemon again after each start.
func (e *Engine) composeMessages(before loop.State, in loop.Input, d loop.Decision) ([]ledger.Outgoing, loop.Decision) {
	if e.o.Compose == nil || len(d.Entries) == 0 {
		return nil, d
	}
	out, fault := e.compose(before, d, in)
	if fault == nil {
		return out, d
	}
	entry := ledger.Entry{
		Stream: ledger.ProjectStream(in.Project), Time: in.Time, Actor: "daemon", Cause: in.Key,
		Body: ledger.InputPoisoned{Key: in.Key, Kind: in.Body.InputKind(), Error: fmt.Sprint(fault), Done: true},
	}
	out, _ = e.compose(d.State, loop.Decided(d.State, entry), in) // if this fails too, only the ledger records the fault
	d.Add(entry)
	return out, d
}

// compose calls Options.Compose and recovers from a panic.
func (e *Engine) compose(before loop.State, d loop.Decision, in loop.Input) (out []ledger.Outgoing, fault any) {
	defer func() {
		if fault = recover(); fault != nil {
			e.o.Log.Error("a decision cannot be told", "input", in.Key, "kind", in.Body.InputKind(), "fault", fault, "stack", string(debug.Stack()))
		}
	}()
	return e.o.Compose(before, d, in), nil
}
