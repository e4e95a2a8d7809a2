package loop

import (
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
)

// With max_load no further lane begins a session while the load average of the machine
// is at that number or above, as make -l starts no further job (docs/spec 4.5). A run
// with nothing under way is not held: on a machine that is always busy it would never
// get anywhere.

// loadLag is the time after which the average of a minute shows most of what a session
// adds. Until then each counts as one: else all lanes would begin before the first one
// shows.
const loadLag = time.Minute

// load returns the load of the machine with what it does not show yet, 0 if nobody
// measures it.
func (d *decision) load() float64 {
	if d.in.Load == 0 {
		return 0
	}
	load := d.in.Load
	for _, s := range d.Project.Sessions {
		if s.Planned.Kind == ledger.KindAgent && d.in.Time.Sub(s.At) < loadLag {
			load++
		}
	}
	return load
}

// holdsForLoad reports whether the load keeps another session from beginning beside what
// is under way. The run remembers it until the next session begins.
func (d *decision) holdsForLoad() bool {
	most := d.run().Settings.MaxLoad
	d.loaded = most > 0 && d.Project.busy() && d.load() >= most
	return d.loaded
}

// noteLoad records whether further lanes are held by the load, where that changed.
func (d *decision) noteLoad() {
	switch r := d.run(); {
	case d.loaded && r.Loaded == nil:
		d.add(scope{}, ledger.LoadHeld{Load: d.load(), Max: r.Settings.MaxLoad})
	case !d.loaded && r.Loaded != nil:
		d.add(scope{}, ledger.LoadHeld{})
	}
}

// HeldByLoad returns the load of the machine that keeps further lanes of the run from
// beginning a session, as it was when it began to, and max_load. held is false if it
// keeps none.
func (r *Run) HeldByLoad() (load, most float64, held bool) {
	if r.Over() || r.Loaded == nil {
		return 0, 0, false
	}
	return r.Loaded.Load, r.Loaded.Max, true
}
