package loop

import (
	"slices"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
)

// limitEvery is the time between the start of a run that ended at a limit and
// the start of the next run. It makes limits bound the spending of a day, and
// keeps the start at the same hour of each night.
const limitEvery = 24 * time.Hour

// After an internal error, the next run begins after a pause that doubles with each
// in a row. What a restart or an upgrade mends should not cost the night.
const (
	shortestInternalPause = 5 * time.Minute
	longestInternalPause  = 2 * time.Hour
)

// internalPause returns the pause after that many internal errors in a row.
func internalPause(times int) time.Duration {
	wait := shortestInternalPause
	for n := 1; n < times && wait < longestInternalPause; n++ {
		wait *= 2
	}
	return min(wait, longestInternalPause)
}

// After a run that could not start, the next one begins after a pause that doubles
// with each in a row that fails for the same reason.
const (
	shortestStartPause = time.Minute
	longestStartPause  = time.Hour
)

// RetryStart returns when a run that could not start is tried again by itself: zero
// for never. What was seen to be wrong before anything was run is looked at again
// soon. A setup that failed, and a baseline that a person refused, wait a day.
func RetryStart(p Project) time.Time {
	r := p.Run
	switch {
	case r == nil || r.Ended == nil || r.Ended.Reason != ledger.ReasonPreflight:
		return time.Time{}
	case r.Base.Commit != "":
		return r.Planned.Add(limitEvery)
	}
	wait, times := shortestStartPause, 1
	if p.NotStarted != nil {
		times = p.NotStarted.Times
	}
	for n := 1; n < times && wait < longestStartPause; n++ {
		wait *= 2
	}
	return r.EndedAt.Add(min(wait, longestStartPause))
}

// Start says whether a run should begin by itself.
type Start struct {
	OK    bool
	Tasks []string  // ids of the ready ones, in document order
	Again time.Time // when to ask again; zero: time alone changes nothing
	Why   string    // reason for either answer, for the log
}

// ReadyTasks returns the ids of the tasks that a new run with these settings
// would find ready in the snapshot at a time, in document order. It changes nothing.
func ReadyTasks(s State, settings ledger.Settings, snapshot ledger.Snapshot, now time.Time) []string {
	return asRun(s, settings, snapshot, now).readyIn(snapshot)
}

func (d *decision) readyIn(snapshot ledger.Snapshot) []string {
	var ids []string
	for _, t := range d.Project.Tasks.of(setReady) {
		lacks := !isPart(t.Task) && !slices.ContainsFunc(snapshot.Tasks, func(now ledger.Task) bool { return ledger.SameID(now.ID, t.Task.ID) })
		if !lacks && d.wanted(t) && t.wish() == ledger.MarkOpen {
			ids = append(ids, t.Task.ID)
		}
	}
	for _, t := range d.Project.Tasks.All() { // a report that is asked for comes back with the first triage
		if t.Aside != "" && d.Project.asked(t) && d.wanted(t) && !slices.Contains(ids, t.Task.ID) {
			ids = append(ids, t.Task.ID)
		}
	}
	return ids
}

// asRun returns the decision of a run that takes over the snapshot. Callers
// read its state and never commit it. s stays as it is, because Apply changes
// no state in place.
func asRun(s State, settings ledger.Settings, snapshot ledger.Snapshot, now time.Time) *decision {
	d := &decision{State: s, in: Input{Project: s.Project.Name, Actor: "daemon", Time: now}}
	d.planSource(settings, reading{Snapshot: snapshot, first: true})
	return d.takenUp()
}

// takenUp takes up what is open in a run that was just planned.
func (d *decision) takenUp() *decision {
	d.settleParts()
	d.settleRepeats()
	d.settleReady()
	return d
}

// planSource plans a run that has read its source.
func (d *decision) planSource(settings ledger.Settings, read reading) {
	d.add(scope{}, ledger.RunPlanned{Run: "r0", Settings: settings})
	if !settings.Scripted() {
		d.reopenScripted() // an automatic start of the scripted agent would repeat itself for ever
	}
	d.takeSource(read)
}

// Startable decides whether `start = "auto"` begins a run now (docs/spec 16).
// It must not start the same run again and again. After a run that ended by
// itself, a task has to be ready that this run did not leave undone. After a
// run that ended at a limit, the next one begins a day after that run was planned;
// after one that could not start, or an internal error, some minutes after its end,
// and later for each in a row. changed is when the source, or what a start needs,
// was last seen to change. A change after a failed start allows another try at once.
func Startable(s State, settings ledger.Settings, snapshot ledger.Snapshot, now, changed time.Time) Start {
	r := s.Project.Run
	if !r.Over() {
		return Start{Why: r.ID + " is under way"}
	}
	if slices.ContainsFunc(s.Project.Questions, func(q ledger.Question) bool { return q.Kind == ledger.AskStart }) {
		return Start{Why: "somebody is being asked whether to start"}
	}
	d := asRun(s, settings, snapshot, now)
	out := Start{Tasks: d.readyIn(snapshot)}
	switch {
	case len(out.Tasks) == 0:
		out.Why, out.Again = "nothing is ready", nextStart(d.Project.Tasks, now)
	case r == nil, r.Check, !r.Settings.Stays, r.Settings.Source != settings.Source:
		// The last run was not started automatically, so this start cannot
		// repeat it endlessly.
		out.OK, out.Why = true, "tasks are ready"
	case waitsADay(r.Ended.Reason):
		out.Again = r.Planned.Add(limitEvery)
		switch r.Ended.Reason {
		case ledger.ReasonInternal:
			out.Again = r.EndedAt.Add(internalPause(s.Project.Internal))
		case ledger.ReasonPreflight:
			out.Again = RetryStart(s.Project)
		}
		failed := r.Ended.Reason == ledger.ReasonPreflight || r.Ended.Reason == ledger.ReasonInternal
		if out.OK = !now.Before(out.Again) || failed && changed.After(r.EndedAt); out.OK {
			out.Again, out.Why = time.Time{}, "tasks are ready"
		} else {
			out.Why = "the last run ended: " + string(r.Ended.Reason)
		}
	case anyNew(s, snapshot, out.Tasks, now):
		out.OK, out.Why = true, "something new is ready"
	default:
		out.Why, out.Again = "the last run left these standing: "+string(r.Ended.Reason), nextStart(s.Project.Tasks, now)
	}
	return out
}

// waitsADay reports whether another try makes sense only after some time, or
// once a person has acted.
func waitsADay(reason ledger.Reason) bool {
	switch reason {
	case ledger.ReasonUntil, ledger.ReasonIterations, ledger.ReasonBudget, ledger.ReasonPreflight, ledger.ReasonInternal:
		return true
	}
	return false
}

// startsAgain returns the time from which a done task that repeats is a reason for a
// start, or the zero time for any other task. One without a cooldown is ready as soon as
// it is done: it is a reason once a day.
func (t *TaskState) startsAgain() time.Time {
	at := t.Again()
	if !at.IsZero() && t.Task.Repeat.Cooldown == 0 {
		at = at.Add(limitEvery)
	}
	return at
}

// nextStart returns when the next task is a reason for a start that is none now, or the
// zero time.
func nextStart(tasks TaskList, now time.Time) (next time.Time) {
	for _, t := range tasks.of(setRepeats) {
		if at := t.startsAgain(); at.After(now) && (next.IsZero() || at.Before(next)) {
			next = at
		}
	}
	return next
}

// anyNew reports whether one of the ready tasks was not ready, or had a
// different text, when the last run ended.
func anyNew(s State, snapshot ledger.Snapshot, ready []string, now time.Time) bool {
	for _, id := range ready {
		old, known := s.Project.Find(id)
		if known && now.Before(old.startsAgain()) {
			continue
		}
		if !known || old.Status != ledger.Ready {
			return true
		}
		for _, now := range snapshot.Tasks {
			if ledger.SameID(now.ID, id) && old.edited(now) {
				return true
			}
		}
	}
	return false
}

// WorksOn is an input that concerns all projects, with an empty Project.
// Projects lists all projects that this process works on from now on. The slots
// of all other projects become free: this process does not wait for their
// sessions, and the supervisors of the sessions end them.
type WorksOn struct{ Projects []string }

// InputKind returns "works_on".
func (WorksOn) InputKind() string { return "works_on" }

func (d *decision) worksOn(b WorksOn) {
	for _, l := range d.Shared.Leases {
		if !slices.Contains(b.Projects, l.Project) {
			d.addShared(freed(l))
		}
	}
}
