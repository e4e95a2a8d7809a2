package loop

import (
	"strings"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
)

// SourceReading is a reading of a project's source while no run works on it.
type SourceReading struct {
	Settings ledger.Settings // of the run that would start now
	Snapshot ledger.Snapshot
	Before   TaskList  // the tasks as they were known when it began
	At       time.Time // when it was read
}

// Known returns the state with the tasks as the source has them, for looks between
// runs: the ledger learns of the source when a run reads it. Tasks and their statuses
// are those with which a run would begin now; all else stays as it is. While a run is
// under way the ledger's own tasks stand, because it follows the source then. They also
// stand after a run on bug reports that are not the project's source: what became of
// the reports, and the commands that bring one back, are about them until another run
// begins. Known records nothing, and s stays as it is.
func Known(s State, r SourceReading, now time.Time) State {
	run := s.Project.Run
	begins := !run.Over() && run.State == ledger.RunPlanning && run.Base.Commit == "" && !run.Aside()
	if !run.Over() && !begins || !begins && s.Project.hasReports() && s.Project.Source != r.Settings.Source.String() {
		return s
	}
	d := &decision{State: s, in: Input{Project: s.Project.Name, Actor: "daemon", Time: r.At}}
	d.planSource(r.Settings, reading{Snapshot: r.Snapshot, before: r.Before, first: true})
	if d.in.Time = now; now.Sub(r.At) >= ledger.SettleTime { // what it lacks has stayed away (docs/spec 3.2)
		d.takeSource(reading{Snapshot: r.Snapshot, before: r.Before, doubted: now})
	}
	d.settleRepeats()
	d.settleReady()
	d.settleMarks()
	s.Project.Tasks, s.Project.Source = d.Project.Tasks, d.Project.Source
	if run != nil {
		shown := *run
		shown.Name = r.Snapshot.Name
		s.Project.Run = &shown
	}
	return s
}

// settleMarks gives the ready tasks that the source marks as none for agents the status
// that a run would give them at once.
func (d *decision) settleMarks() {
	for _, t := range d.Project.Tasks.of(setReady) {
		switch t.wish() {
		case ledger.MarkBlocked:
			d.setTask(t.Task.ID, ledger.Blocked, "marked (blocked) in "+d.run().Settings.Source.Path)
		case ledger.MarkManualVerify:
			d.setTask(t.Task.ID, ledger.ManualVerify, "")
		}
	}
}

// hasReports reports whether the project's tasks are those of an inbox of bug reports.
func (p Project) hasReports() bool { return strings.HasPrefix(p.Source, ledger.SourceBugs+":") }
