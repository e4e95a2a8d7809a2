package loop

import (
	"slices"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
)

// limitEvery is how often a limit is one limit: a run that ended at one is
// followed by the next a day after it began, so that limits bound what is
// spent in a day and a night keeps its hour.
const limitEvery = 24 * time.Hour

// Start is whether a run shall begin by itself, and why, or why not.
type Start struct {
	OK    bool
	Tasks []string  // ready ones, in document order
	Again time.Time // when time alone may change the answer; zero: only something that happens
	Why   string    // for the log
}

// ReadyTasks lists the tasks that a new run with these settings would find
// ready in the snapshot, in document order. Nothing is changed.
func ReadyTasks(s State, settings ledger.Settings, snapshot ledger.Snapshot) []string {
	d := asRun(s, settings, snapshot)
	var ids []string
	for _, t := range d.Project.Tasks.of(setReady) {
		if d.wanted(t) && t.wish() == ledger.MarkOpen {
			ids = append(ids, t.Task.ID)
		}
	}
	return ids
}

// asRun is the decision of a run that takes the snapshot over. It is thrown
// away: Apply changes no state that it was given.
func asRun(s State, settings ledger.Settings, snapshot ledger.Snapshot) *decision {
	d := &decision{State: s, in: Input{Project: s.Project.Name, Actor: "daemon"}}
	d.add(scope{}, ledger.RunPlanned{Run: "r0", Settings: settings})
	d.takeSource(snapshot, time.Time{})
	d.settleReady()
	return d
}

// Startable decides whether `start = "auto"` begins a run now (docs/spec 16). It
// never restarts in a circle: after a run that nightporter itself carried to
// an end, something has to be ready that this run did not leave standing; a
// run that ended at a limit, or that could not start, is followed by another a
// day after it began. changed is when the source was last seen to change; a
// person who edits it after a failed start wants another try.
func Startable(s State, settings ledger.Settings, snapshot ledger.Snapshot, now, changed time.Time) Start {
	r := s.Project.Run
	if !r.Over() {
		return Start{Why: r.ID + " is under way"}
	}
	if slices.ContainsFunc(s.Project.Questions, func(q ledger.Question) bool { return q.Kind == ledger.AskStart }) {
		return Start{Why: "somebody is being asked whether to start"}
	}
	out := Start{Tasks: ReadyTasks(s, settings, snapshot)}
	switch {
	case len(out.Tasks) == 0:
		out.Why = "nothing is ready"
	case r == nil, r.Check, !r.Settings.Stays, r.Settings.Source != settings.Source:
		// Whoever ended that run, it was not the one that starts by itself.
		out.OK, out.Why = true, "tasks are ready"
	case waitsADay(r.Ended.Reason):
		out.Again = r.Planned.Add(limitEvery)
		failed := r.Ended.Reason == ledger.ReasonPreflight || r.Ended.Reason == ledger.ReasonInternal
		if out.OK = !now.Before(out.Again) || failed && changed.After(r.EndedAt); out.OK {
			out.Again, out.Why = time.Time{}, "tasks are ready"
		} else {
			out.Why = "the last run ended: " + string(r.Ended.Reason)
		}
	case anyNew(s, snapshot, out.Tasks):
		out.OK, out.Why = true, "something new is ready"
	default:
		out.Why = "the last run left these standing: " + string(r.Ended.Reason)
	}
	return out
}

// waitsADay reports whether only time, or a person, makes another try sensible.
func waitsADay(reason ledger.Reason) bool {
	switch reason {
	case ledger.ReasonUntil, ledger.ReasonIterations, ledger.ReasonBudget, ledger.ReasonPreflight, ledger.ReasonInternal:
		return true
	}
	return false
}

// anyNew reports whether one of the ready tasks was not ready, or was another
// one, when the last run ended.
func anyNew(s State, snapshot ledger.Snapshot, ready []string) bool {
	for _, id := range ready {
		old, known := s.Project.Find(id)
		if !known || old.Status != ledger.Ready {
			return true
		}
		for _, now := range snapshot.Tasks {
			if ledger.SameID(now.ID, id) && bodyChanged(old.Task, now) {
				return true
			}
		}
	}
	return false
}

// WorksOn is an input of the house, with an empty Project: the projects that
// this process works on from now on. The slots of the others are free: what
// they had in flight is nobody's any more, and their supervisors end it.
type WorksOn struct{ Projects []string }

// InputKind is "works_on".
func (WorksOn) InputKind() string { return "works_on" }

func (d *decision) worksOn(b WorksOn) {
	for _, l := range d.Shared.Leases {
		if !slices.Contains(b.Projects, l.Project) {
			d.addShared(ledger.LeaseReleased{Session: l.Session})
		}
	}
}
