package main

import (
	"time"

	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// longestDelay is how long something may stay due, or an effect without a try, while
// the ledger takes commits: the longest pause after a failure, and the minute within
// which the engine looks at the clock.
const longestDelay = loop.LongestPause + time.Minute

// liveness is what the audit of one project remembers of what waits. Its times are
// the scheduler's.
type liveness struct {
	dueSince time.Time // when something was first seen due; zero: nothing is
	calls    int       // of ports, under way
	called   time.Time // when the last one began or ended
}

// begin notes that the daemon calls a port of the project. The caller calls end
// when it returns.
func (w *site) begin() (end func()) {
	w.waits.calls++
	w.waits.called = w.s.now
	return func() {
		w.waits.calls--
		w.waits.called = w.s.now
	}
}

// idle is called when nothing can run and the clock is about to move.
func (w *world) idle() {
	if w.daemon == nil || w.diskFails() || !w.diskTried() {
		for _, p := range w.sites { // a daemon that starts or could not commit has its time anew
			p.waits.dueSince, p.waits.called = time.Time{}, w.s.now
		}
		w.stuckSince = time.Time{}
		return
	}
	stuck, busy := "", false
	for _, p := range w.sites {
		s, ok := p.state()
		if !ok {
			return
		}
		p.due(s)
		switch r := s.Project.Run; {
		case r.Over():
		case len(s.Project.Sessions) > 0 || !loop.Due(s).IsZero() || r.State == ledger.RunPaused || len(s.Project.Questions) > 0:
			busy = true
		default:
			stuck = p.name
		}
	}
	if stuck == "" || busy {
		w.stuckSince = time.Time{}
	} else if pending, err := w.store.Pending(background); err == nil && len(pending) == 0 {
		switch late := w.s.now.Sub(w.stuckSince); {
		case w.stuckSince.IsZero():
			w.stuckSince = w.s.now // what could not be committed is tried again
		case late > longestDelay:
			w.fail("liveness", "for %s nothing is under way in %s, nothing is due and nobody is asked\n%s", late, stuck, w.dump())
		}
	}
	for _, p := range w.sites {
		p.tried()
	}
}

// tried holds that no effect of the project is without a try for longer than
// longestDelay.
func (w *site) tried() {
	late := w.s.now.Sub(w.waits.called)
	if w.waits.calls > 0 || late <= longestDelay {
		return
	}
	w.waits.called = w.s.now // looks at the ledger no sooner than after that time again
	pending, err := w.store.Pending(background)
	if err != nil {
		return
	}
	for _, e := range pending {
		if e.Stream == ledger.ProjectStream(w.name) {
			w.fail("liveness", "%s %s waits, and nothing was tried in %s for %s\n%s", e.Kind, e.Key, w.name, late, w.dump())
		}
	}
}

// due holds that nothing of the project stays due for longer than longestDelay.
func (w *site) due(s loop.State) {
	due := loop.Due(s)
	switch late := w.s.now.Sub(w.waits.dueSince); {
	case due.IsZero() || due.After(w.wall()):
		w.waits.dueSince = time.Time{}
	case w.waits.dueSince.IsZero():
		w.waits.dueSince = w.s.now
	case late > longestDelay:
		w.fail("liveness", "something in %s has been due for %s, since %s\n%s", w.name, late, due.In(w.zone), w.dump())
	}
}
