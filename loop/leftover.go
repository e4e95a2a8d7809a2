package loop

import (
	"maps"
	"slices"

	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/request"
)

// A run can end before all its fixes are pushed: the remote is away, or a person stops
// it at once. The next run that goes on from its branch pushes them with its own, once
// its tip is verified (docs/decisions/0024). A run that begins from HEAD leaves them,
// because its tip does not have them.

// Leftover is a fix of an earlier run whose branch the remote lacks, or has as it is not
// to be any more.
type Leftover struct {
	MadeCommit
	ID   string `json:"id"`   // of its branch: r14-b37
	Name string `json:"name"` // of its branch
	Of   string `json:"of"`   // the run that made it
}

// leftoversKept limits the leftovers of a source that the state keeps, the newest last.
const leftoversKept = 200

// branch returns the leftover's branch on the remote, as it begins.
func (l Leftover) branch() request.Branch {
	return request.Branch{Run: l.ID, Name: l.Name, Of: l.Of, Task: l.Task}
}

// pushed reports whether the remote has what it is to have of a fix.
func (p Project) pushed(m MadeCommit, branch string) bool {
	b := p.Requests.Branch(branch)
	switch {
	case b.Pushed == "":
		return m.Out || m.Empty
	case b.Lift == nil:
		return true
	}
	return b.Lift.Back == m.Out && b.Pushed == b.Lift.Tip
}

// Unpushed returns the fixes of the last run's branch that the remote lacks, those of
// earlier runs first. It returns none for a run that does not push, or pushes one branch
// for all.
func (p Project) Unpushed() (all []Leftover) {
	r := p.Run
	if r == nil || r.Base.Commit == "" || r.Scripted > 0 || r.Check || !r.Settings.Pushes() || !p.apart(r) {
		return nil
	}
	for m, b := range p.fixBranches() {
		if !p.pushed(m, b.Run) {
			all = append(all, Leftover{m, b.Run, b.Name, b.Of})
		}
	}
	return all
}

// cutOff returns the ids of the tasks whose fixes are not pushed because a person stops
// the run at once: those that would have to be lifted or verified first.
func (d *decision) cutOff() (tasks []string) {
	if !d.run().StopNow {
		return nil
	}
	for _, l := range d.Project.Unpushed() {
		b := d.Project.Requests.Branch(l.ID)
		ready := b.Lift != nil && !b.Lift.UnderWay && b.Lift.Commit == l.tip() && b.Lift.Passed
		if b.Pushed == "" && b.Pushing == "" && !ready {
			tasks = append(tasks, l.Task)
		}
	}
	return tasks
}

// WasCutOff reports whether the last run was stopped at once before its fixes were
// pushed, and some still are not: the next run pushes them, also where no task is ready.
func (p Project) WasCutOff() bool {
	r := p.Run
	if r == nil || r.Ended == nil || len(r.Ended.Unpushed) == 0 {
		return false
	}
	return slices.ContainsFunc(p.Unpushed(), func(l Leftover) bool { return slices.Contains(r.Ended.Unpushed, l.Task) })
}

// gaveUp reports whether the push of a fix broke, which is not begun again.
func (p Project) gaveUp(l Leftover) bool {
	b := p.Requests.Branch(l.ID)
	return b.GivenUp != "" && b.Lift != nil && b.GivenUp == b.Lift.Tip
}

// leave returns the project with what its last run did not push, before another one
// takes its place.
func (p Project) leave() Project {
	r := p.Run
	if r == nil || r.Aside() || r.Check || r.Base.Commit == "" || r.Scripted > 0 { // nothing goes on from its branch
		return p
	}
	source, left := r.Settings.Source.String(), slices.DeleteFunc(p.Unpushed(), p.gaveUp)
	left = left[max(0, len(left)-leftoversKept):]
	if len(left) == 0 && len(p.Leftovers[source]) == 0 {
		return p
	}
	p.Leftovers = maps.Clone(p.Leftovers)
	delete(p.Leftovers, source)
	if len(left) > 0 {
		p.Leftovers = with(p.Leftovers, source, left)
	}
	return p
}

// leftovers returns the fixes of earlier runs that the last run pushes with its own.
func (p Project) leftovers() []Leftover {
	r := p.Run
	if r == nil || r.Aside() || r.Check || r.Base.From == "" {
		return nil
	}
	left := p.Leftovers[r.Settings.Source.String()]
	if len(left) == 0 || !p.apart(r) {
		return nil
	}
	return left
}

// publishedRuns returns the runs whose branches the last run pushes: its own, and those
// of leftovers.
func (p Project) publishedRuns() []string {
	runs := []string{p.Run.ID}
	for _, l := range p.leftovers() {
		if !slices.Contains(runs, l.Of) {
			runs = append(runs, l.Of)
		}
	}
	return runs
}

// PublishedBranches returns the branches of the last run's tasks, and those of the
// leftovers of earlier runs that it pushes, the leftovers first. It needs a run.
func (p Project) PublishedBranches() (all []request.Branch) {
	for _, l := range p.leftovers() {
		if b := p.Requests.Branch(l.ID); b.Name != "" {
			all = append(all, b)
		}
	}
	return append(all, p.Requests.Stack(p.Run.ID)...)
}

// FirstBranch returns the branch of the last run that can be merged next, as
// request.State.First does; where the run pushed none of its own, one of an earlier run
// whose leftovers it pushes. It needs a run.
func (p Project) FirstBranch() request.Branch {
	first := p.Requests.First(p.Run.ID)
	for _, run := range p.publishedRuns() {
		if b := p.Requests.First(run); first.Pushed == "" && b.Pushed != "" {
			first = b
		}
	}
	return first
}

// BusyBranch returns the first branch that the last run pushes for which an effect is
// being carried out, and whether there is one. It needs a run.
func (p Project) BusyBranch() (request.Branch, bool) {
	for _, run := range p.publishedRuns() {
		if b, busy := p.Requests.Busy(run); busy {
			return b, true
		}
	}
	return request.Branch{}, false
}

// publishing reports whether an effect for a branch that the run pushes is being carried
// out and does not fail.
func (p Project) publishing() bool {
	return slices.ContainsFunc(p.publishedRuns(), func(run string) bool {
		b, busy := p.Requests.Busy(run)
		kind, key, _ := b.UnderWay()
		_, fails := p.FailingEffect(kind, key)
		return busy && !fails
	})
}

// leftoverVerified folds the verification of a tip into the leftover that it is the
// commit of, as Run.tipVerified does.
func (p Project) leftoverVerified(v ledger.Verified) Project {
	if v.Kind != ledger.KindFinal {
		return p
	}
	all := p.leftovers()
	n := slices.IndexFunc(all, func(l Leftover) bool { return l.tip() == v.Tree })
	if n < 0 {
		return p
	}
	all = slices.Clone(all)
	all[n].Red = firstRedRun(v.Results)
	p.Leftovers = with(p.Leftovers, p.Run.Settings.Source.String(), all)
	return p
}

// firstRedRun returns the first command that failed, "" for none.
func firstRedRun(results []ledger.Result) string {
	if red := redResults(results); len(red) > 0 {
		return red[0].Run
	}
	return ""
}
