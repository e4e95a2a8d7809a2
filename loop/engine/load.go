package engine

import (
	"time"

	"github.com/nightporter/nightporter/internal/sched"
)

// loadEvery is the time between two readings of the machine's load while it keeps a
// further lane from beginning. The kernel's average of a minute moves that slowly.
const loadEvery = 15 * time.Second

// leastLoad stands for a load of 0, which in an input means that nobody measured it.
const leastLoad = 0.001

// load returns the load of the machine for an input, 0 where the project's run has no
// limit for it. A load that cannot be read holds nothing up.
func (e *Engine) load(project string) float64 {
	r := e.projects[project].Run
	if e.o.Load == nil || r.Over() || r.Settings.MaxLoad == 0 {
		return 0
	}
	e.loadRead = e.o.Scheduler.Now()
	load, err := e.o.Load()
	if err != nil {
		e.o.Log.Warn("load of the machine", "error", err)
		return 0
	}
	return max(load, leastLoad)
}

// untilLoad returns how long it takes until the load is read again, sched.Forever if it
// holds no run.
func (e *Engine) untilLoad() time.Duration {
	for name, p := range e.projects {
		if _, _, held := p.Run.HeldByLoad(); held && e.carriesOut(name) && !e.waitsToSave(name) {
			return max(e.loadRead.Add(loadEvery).Sub(e.o.Scheduler.Now()), 0)
		}
	}
	return sched.Forever
}
