package engine

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/nightporter/nightporter/internal/fault"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// ErrNotSaved means that an input's decision could not be committed, so that it is
// not in force.
var ErrNotSaved = errors.New("not saved")

// Outage says that the ledger takes no commits for a fault of the machine or of the
// ledger's own file. The
// zero value says that it does.
type Outage struct {
	Since time.Time
	Fault ledger.Fault
	Text  string
}

// stall is a project whose inputs cannot be committed; "" is the shared state. Its
// times are the Scheduler's: nothing of it is kept, and the time of day may jump.
type stall struct {
	since, next time.Time
	kind        string // of the input
	fault       ledger.Fault
	text        string
}

// stalled records that an input could not be committed. It logs what is new, and
// tells of an outage that begins or changes.
func (e *Engine) stalled(in loop.Input, err error) {
	now := e.o.Scheduler.Now()
	s := stall{since: now, kind: in.Body.InputKind(), fault: fault.Of(err), text: err.Error()}
	before, again := e.stalls[in.Project]
	if again {
		s.since = before.since
	}
	s.next = now.Add(loop.RetryPause(s.since, now))
	e.stalls[in.Project] = s
	if !again || before.text != s.text {
		e.o.Log.Error("cannot be saved; tried again until it can", "project", in.Project, "input", s.kind, "fault", s.fault, "error", err)
	}
	if s.fault != "" && (e.outage.Fault != s.fault || e.outage.Text != s.text) {
		if e.outage.Since.IsZero() {
			e.outage.Since = e.o.Clock().Add(s.since.Sub(now))
		}
		e.outage.Fault, e.outage.Text = s.fault, s.text
		e.tellOutage()
	}
}

// committed records that the ledger took an input of a project.
func (e *Engine) committed(project, kind string) {
	if len(e.stalls) == 0 {
		return
	}
	for name, s := range e.stalls {
		// A commit shows that a fault of the machine is over for all, but not that no
		// other page of the database is damaged. What cannot be committed for another
		// reason is the input's own fault.
		if s.fault != "" && s.fault != ledger.FaultLedger || name == project && s.kind == kind {
			delete(e.stalls, name)
			// What was refused may be a Wake or a Tick, which nothing else repeats.
			e.owesTick = e.owesTick || name != project || s.kind != kind
		}
	}
	damaged := func(s stall) bool { return s.fault == ledger.FaultLedger }
	if e.outage.Since.IsZero() || slices.ContainsFunc(slices.Collect(maps.Values(e.stalls)), damaged) {
		return
	}
	e.o.Log.Info("saved again", "after", e.o.Clock().Sub(e.outage.Since).Round(time.Second).String())
	e.outage = Outage{}
	e.tellOutage()
	e.again.send("") // results wait to be committed
}

func (e *Engine) tellOutage() {
	if e.o.Outage != nil {
		e.o.Outage(e.outage)
	}
}

// waitsToSave reports whether a project's next try to commit is still to come.
func (e *Engine) waitsToSave(project string) bool {
	s, stalled := e.stalls[project]
	return stalled && e.o.Scheduler.Now().Before(s.next)
}

// probe looks whether an outage is over that no input waits for: a person's
// command was refused, and nothing else is due. It writes a snapshot, because
// only a write shows that the disk takes one.
func (e *Engine) probe(ctx context.Context) {
	at, stalled := "", false
	for name, s := range e.stalls {
		if s.fault != "" && !e.o.Scheduler.Now().Before(s.next) {
			at, stalled = name, true
		}
	}
	if !stalled {
		return
	}
	body, err := json.Marshal(loop.State{Shared: e.shared})
	if err == nil {
		err = e.o.Ledger.SaveSnapshot(ctx, ledger.SnapshotRow{Stream: ledger.SharedStream, Seq: e.heads[ledger.SharedStream], Version: loop.StateVersion, Body: body})
	}
	if err != nil {
		s := e.stalls[at]
		now := e.o.Scheduler.Now()
		s.next = now.Add(loop.RetryPause(s.since, now))
		e.stalls[at] = s
		return
	}
	e.committed(at, loop.Wake{}.InputKind())
}
