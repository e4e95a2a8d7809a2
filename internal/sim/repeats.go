package main

import (
	"math/rand/v2"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
)

// recurring is a task of the plan that comes back after it is done.
type recurring struct {
	id       string
	cooldown time.Duration

	status   ledger.Status // as the ledger says
	done     time.Time     // its last end, by the ledger's clock
	run      string        // the run in which that was
	reopened bool          // since then a person saved a text in which it is open
}

// drawRepeats decides whether tasks of this night's plans come back: from a stream of
// its own, as drawSites.
func (w *world) drawRepeats() {
	if of := w.opt.repeats; of > 0 {
		if own := rand.New(rand.NewPCG(w.seed, 0x7265)); own.Uint64N(of) == 0 {
			w.repeats = own
		}
	}
}

// cooldowns are long and short for a night. One of days lets the night's other runs have
// nothing to do.
var cooldowns = []time.Duration{0, 5 * time.Minute, time.Hour, 3 * time.Hour, 12 * time.Hour, 72 * time.Hour}

// drawRecurring chooses the tasks of a new plan that come back, one at least.
func (w *site) drawRecurring() {
	w.recurring = map[string]*recurring{}
	if w.repeats == nil {
		return
	}
	snapshot, err := w.plan.form.Parse(planPath, w.plan.text)
	if err != nil {
		w.fail("world", "the plan does not parse: %v", err)
	}
	for n := range snapshot.Tasks {
		if id := snapshot.Tasks[n].ID; n == 0 || w.repeats.IntN(3) == 0 {
			r := &recurring{id: id, cooldown: cooldowns[w.repeats.IntN(len(cooldowns))]}
			w.recurring[ledger.FoldID(id)] = r
			w.tell("night", "%s comes back %s after it is done", id, r.cooldown)
		}
	}
}

// recur makes the reading of a plan that of a source which has recurring tasks.
func (w *site) recur(snapshot ledger.Snapshot) ledger.Snapshot {
	for n := range snapshot.Tasks {
		t := &snapshot.Tasks[n]
		if r := w.recurring[ledger.FoldID(t.ID)]; r != nil {
			t.Repeat = &ledger.Repeat{Cooldown: r.cooldown, Precondition: "Something has changed."}
		}
	}
	return snapshot
}

// reopens sees each text that a person saves over another: a done task that is open in it
// and was not before is one that they want done again.
func (w *site) reopens(before, now []byte) {
	if len(w.recurring) == 0 {
		return
	}
	_, was := w.opens(before)
	_, is := w.opens(now)
	for id, r := range w.recurring {
		if r.status == ledger.Done && is[id] && !was[id] {
			r.reopened = true
		}
	}
}

// recurs sees each status of a task. One that is done comes back when its cooldown is
// over, or because a person opened it in the plan.
func (a *audit) recurs(e ledger.Entry, b ledger.TaskSet) {
	w := a.w
	r := w.recurring[ledger.FoldID(e.Task)]
	if r == nil {
		return
	}
	if b.From == ledger.Done && b.Again {
		w.count(taskReturns)
		if due := r.done.Add(r.cooldown); e.Time.Before(due) && !r.reopened {
			w.fail("no recurring task before its cooldown", "%s was done at %s, and comes back %s later: %s", r.id, r.done.In(w.zone), e.Time.Sub(r.done), b.Why)
		}
	}
	if r.status = b.To; b.To == ledger.Done {
		r.done, r.run, r.reopened = e.Time, e.Run, false
	}
}

// restsDone holds that nobody works at a recurring task that is done.
func (a *audit) restsDone(e ledger.Entry, b ledger.SessionPlanned) {
	if b.Kind != ledger.KindAgent {
		return
	}
	a.agents[e.Run]++
	if r := a.w.recurring[ledger.FoldID(e.Task)]; r != nil && r.status == ledger.Done {
		a.w.fail("an idle night costs nothing", "%s is for %s, which is done and did not come back", e.Session, r.id)
	}
}

// noneLost holds that a run which has done all leaves no task behind that was done before
// it and whose cooldown was over when it began to finish.
func (a *audit) noneLost(e ledger.Entry) {
	w := a.w
	resting, last := false, e.Time
	if !a.finishingAt.IsZero() {
		last = a.finishingAt
	}
	for _, r := range w.recurring {
		resting = resting || r.status == ledger.Done
		if r.status == ledger.Done && r.run != e.Run && r.done.Before(a.startedAt) && !last.Before(r.done.Add(r.cooldown)) && w.planStands() {
			w.fail("no recurring task is lost", "%s ends as all done, and %s is due since %s", e.Run, r.id, r.done.Add(r.cooldown).In(w.zone))
		}
	}
	if resting && a.agents[e.Run] == 0 {
		w.count(runIdle)
	}
}

// recurringHold holds that in the end each recurring task of the plan is known as one.
func (a *audit) recurringHold() {
	w := a.w
	all, _ := w.opens(w.plan.meant)
	s, _ := w.state()
	for id, r := range w.recurring {
		if t, known := s.Project.Find(r.id); all[id] && (!known || t.Task.Repeat == nil || t.Task.Repeat.Cooldown != r.cooldown) {
			w.fail("no recurring task is lost", "the night is over, and %s is not known as one that comes back", r.id)
		}
	}
}
