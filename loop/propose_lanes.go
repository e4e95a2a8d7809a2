package loop

import (
	"cmp"
	"time"

	"github.com/nightporter/nightporter/loop/history"
	"github.com/nightporter/nightporter/loop/ledger"
)

// When several lanes are proposed (docs/spec 4.5), and how many.
const (
	leastBeside   = 10  // tasks that can be worked on beside one another
	mostBeside    = 100 // ready tasks that are compared
	proposedLanes = 4
	leastSaving   = 0.15 // of the time with one lane
)

// OfferedLanes returns what several lanes would bring a run that would begin with these
// settings and the source as it was just read. It returns nil if the run has several, if
// too few tasks are independent, or if it would not be much faster. most is the number of
// sessions that the configuration allows at a time, 0 for any.
func OfferedLanes(s State, settings ledger.Settings, snapshot ledger.Snapshot, most int, now time.Time, others ...history.History) *ledger.LanesProposal {
	var accounts []string
	if s.Project.Run != nil {
		accounts = s.Project.Run.Base.OneSession
	}
	d := asRun(s, settings, snapshot, now)
	r := *d.run()
	r.Base.OneSession = accounts // as they were found last
	d.Project.Run = &r
	return ProposedLanes(d.State, most, now, others...)
}

// ProposedLanes is OfferedLanes for the run that has just begun.
func ProposedLanes(s State, most int, now time.Time, others ...history.History) *ledger.LanesProposal {
	r := s.Project.Run
	if r.Over() || r.Lanes() > 1 || r.InWaves() || r.Aside() || r.Check || r.Settings.Scripted() || r.Settings.Only != "" {
		return nil
	}
	if tasks := r.Settings.MaxTasks; tasks > 0 && tasks < leastBeside {
		return nil // it pauses before
	}
	d := &decision{State: s, in: Input{Project: s.Project.Name, Time: now}}
	p := ledger.LanesProposal{Parallel: proposedLanes, Tasks: d.countBeside()}
	if most > 0 {
		p.Parallel = min(p.Parallel, most)
	}
	for _, h := range r.Settings.Hats {
		if n := r.sessionsOf(cmp.Or(h.Agent, r.Settings.Agent)); n > 0 {
			p.Parallel = min(p.Parallel, n)
		}
	}
	if p.Parallel < 2 || p.Tasks < leastBeside {
		return nil
	}
	one, known := d.takes(1, others)
	several, _ := d.takes(p.Parallel, others)
	if !known {
		return &p
	}
	if float64(one-several) < leastSaving*float64(one) {
		return nil
	}
	p.One, p.Several = ledger.Duration(one), ledger.Duration(several)
	return &p
}

// countBeside returns how many ready tasks can be worked on beside one another: no two of
// them meet.
func (d *decision) countBeside() int {
	var tasks []ledger.Task
	var areas [][]string
	scanned := 0
	for _, t := range d.Project.Tasks.All() {
		if t.Status != ledger.Ready || !d.outlooked(t) || d.alone(t) {
			continue
		}
		if scanned++; scanned > mostBeside {
			break
		}
		area := areaOf(t)
		meets := false
		for n := range tasks {
			meets = meets || !areasApart(t.Task, tasks[n], area, areas[n])
		}
		if !meets {
			tasks, areas = append(tasks, t.Task), append(areas, area)
		}
	}
	return len(tasks)
}

// takes returns how long the run probably takes with so many lanes, if neither the clock
// nor a budget ends it. It reports false if that would be a rough guess.
func (d *decision) takes(lanes int, others []history.History) (time.Duration, bool) {
	s := d.State
	r := *s.Project.Run
	r.Settings.Parallel, r.Settings.Until, r.Settings.Budget = lanes, time.Time{}, ledger.Budget{}
	s.Project.Run, s.Shared.Purse.Day = &r, ledger.DayBudget{}
	o := OutlookOf(s, d.in.Time, others...)
	return o.By.Sub(d.in.Time), o.Basis != history.FromPrior
}

// startParallel starts the offered run with the proposed number of lanes. It holds for
// this run alone.
func (d *decision) startParallel(s ledger.Settings, lanes int) ledger.Settings {
	s.Parallel = lanes
	d.setShared(max(d.Shared.MaxSessions, lanes), d.Shared.Purse.Day)
	return s
}
