package daemon

import (
	"context"
	"errors"

	"github.com/nightporter/nightporter/internal/daemon/project"
	"github.com/nightporter/nightporter/internal/daemon/systemd"
	"github.com/nightporter/nightporter/loop/ledger"
)

// newInhibitor returns the service that keeps this machine awake while a run
// works.
func (d *Daemon) newInhibitor() *systemd.Inhibitor {
	return systemd.NewInhibitor(d.Log, systemd.Wakefulness{Needed: d.runWorks, Changes: d.Changes, Result: d.onSleepLock})
}

// runWorks reports whether a run of this process works, or waits for something
// that comes while people sleep: a limit that is over, a disk, an answer. A run
// that a person paused lets the machine sleep.
func (d *Daemon) runWorks() bool {
	if !d.Projects.Config().KeepsAwake() {
		return false
	}
	for _, name := range d.Operator.Projects() {
		s, ok := d.Operator.State(name)
		if r := s.Project.Run; ok && !r.Over() && r.State != ledger.RunPaused && d.Projects.Works(name) {
			return true
		}
	}
	return false
}

// onSleepLock tells in the status that the machine may go to sleep, if it can and
// a person can change that.
func (d *Daemon) onSleepLock(ctx context.Context, err error) {
	line := ""
	if errors.Is(err, systemd.ErrRefused) {
		if can, err := systemd.CanSleep(ctx); err == nil && can {
			line = "! this machine may go to sleep while a run works: nightporter doctor"
		}
	}
	if d.Projects.Warn("", project.AboutSleep, line) || err == nil {
		d.Changes.Ring() // the status line
	}
}
