package loop

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/request"
)

// Open requests are kept green (docs/spec 9.4). What one needs is answered by a small
// run that works on the request's own branch and on tasks of nightporter's own alone.
// It stands in the place of the project's last run while it is at work, and gives that
// back: what people say of the last run, and what starts by itself, is about the runs
// of the source. Which needs there are is in request.Branch.Needs.

// upkeepNext returns the request to work on next, what it needs, and the time from
// which on that is answered; zero = no request needs anything.
func upkeepNext(p Project) (of request.Branch, need request.Need, from time.Time) {
	r := p.Run
	if !r.idle() || r == nil || !r.Settings.Stays || !r.Settings.Pushes() || r.isLast() || p.busy() || p.Queued != nil {
		return of, need, from
	}
	if slices.ContainsFunc(p.Questions, func(q ledger.Question) bool { return q.Kind == ledger.AskStart }) {
		return of, need, from // somebody is being asked whether to start a run
	}
	if r.Ended == nil {
		return of, need, from
	}
	for _, b := range WatchedRequests(p) {
		for _, n := range b.Needs() {
			at := n.From
			if at.IsZero() {
				at = b.Seen.At
			}
			if from.IsZero() || at.Before(from) {
				of, need, from = b, n, at
			}
		}
	}
	return of, need, from
}

// keepRequests begins what follows on the end of a run: one that was queued, else one
// for a request that needs something. It records a request that is left to a person.
func (d *decision) keepRequests() {
	r := d.run()
	if r == nil || !r.idle() || d.in.Idle || d.Project.busy() {
		return
	}
	if b := d.Project.Requests.Branch(r.ID); b.IsOpen() && b.Pushed == r.Tip && b.Written != b.Pushed {
		d.ask(r.ID) // what was done for the request has changed its branch
	}
	if q := d.Project.Queued; q != nil {
		answer := d.answer
		d.startRun(StartRun{Settings: q.Settings, Check: q.Check, New: q.Fresh})
		if _, asked := d.in.Body.(StartRun); !asked {
			d.answer = answer
		}
		return
	}
	if !r.Settings.Stays {
		return
	}
	for _, b := range WatchedRequests(d.Project) {
		if b.IsLeft() && b.Upkeep.Left != b.Seen.HeadCommit {
			d.add(scope{}, ledger.RequestLeft{Run: b.Run, Number: b.Request.Number, Head: b.Seen.HeadCommit, Rounds: b.Upkeep.Mended, Failed: b.Seen.Failed})
		}
	}
	if of, need, from := upkeepNext(d.Project); !from.IsZero() && !d.in.Time.Before(from) {
		d.startUpkeep(of, need.Reason)
	}
}

// startUpkeep plans a run that answers what a request needs. Its settings are those of
// the last run, without what was meant for that alone.
func (d *decision) startUpkeep(of request.Branch, reason ledger.UpkeepReason) {
	s := d.run().upcoming()
	s.Until, s.From, s.Only, s.MaxTasks, s.OnBlocked = time.Time{}, "", "", 0, ledger.OnBlockedContinue
	id := d.nextID("r")
	now := ledger.Upkeep{Run: of.Run, Number: of.Request.Number, Reason: reason, Head: of.Seen.HeadCommit, Into: of.Seen.BaseCommit, Failed: of.Seen.Failed}
	d.closeOwn() // else questions about tasks of the last run's own stay open that nobody can answer
	d.add(scope{}, ledger.RunPlanned{Run: id, Settings: s, Upkeep: &now})
	d.effect(id, ledger.EffectPreflight{Begin: ledger.Begin{Run: id, Upkeep: &ledger.BeginUpkeep{
		Number: of.Request.Number, Branch: of.Name, Into: of.Seen.Base, Merge: reason == ledger.UpkeepBase, Had: of.Had(),
	}}})
}

// upkeepPreflighted goes on after the preflight of a run that keeps a request green:
// it looked at the request and fetched its branch. What is needed no more ends the run.
func (d *decision) upkeepPreflighted(b Preflighted) {
	r := d.run()
	if b.Request == nil {
		d.end(ledger.RunEnded{Reason: ledger.ReasonInternal, Text: "the request was not looked at"})
		return
	}
	v, u := *b.Request, ledger.BaseUpkeep{}
	if b.Base.Upkeep != nil {
		u = *b.Base.Upkeep
	}
	d.requestLooked(RequestLooked{Run: r.Upkeep.Run, Now: d.Project.Requests.Branch(r.Upkeep.Run).StandingOf(v), Tag: v.Tag})
	of := d.Project.Requests.Branch(r.Upkeep.Run)
	name := fmt.Sprintf("PR %d", r.Upkeep.Number)
	switch {
	case !of.IsOpen():
		d.endUpkeep("%s is %s", name, of.Request.State)
		return
	case of.Seen != nil && of.Seen.OwnUnknown:
		d.endUpkeep("the forge knows no account that may write by the address of the author of %s: nothing of it is run", name)
		return
	case of.Seen == nil || of.Seen.Strangers > 0:
		d.endUpkeep("%s has commits of people who may not write to the repository: nothing of it is run", name)
		return
	case u.Head != v.Request.HeadCommit:
		d.endUpkeep("somebody pushes to %s", name)
		return
	}
	var own []ledger.Task
	switch r.Upkeep.Reason {
	case ledger.UpkeepBase:
		if len(u.Conflicts) > 0 {
			own = append(own, request.MergeTask(name, of.Request.Base, u.Conflicts))
		}
	case ledger.UpkeepChecks:
		if t, ok := request.ChecksTask(name, v.Checks); ok {
			own = append(own, t)
		}
	case ledger.UpkeepComments:
		if items := d.Project.Commented(r.Upkeep.Run); len(items) > 0 {
			own = append(own, request.CommentsTask(name, items))
		}
	}
	d.add(scope{}, ledger.PreflightDone{Base: b.Base, Warnings: d.Project.untold(b.Warnings)})
	if len(own) == 0 && b.Base.Commit == u.Head { // the base was taken in, or the checks pass by now
		d.endUpkeep("%s needs nothing", name)
		return
	}
	if len(own) > 0 {
		d.addOwn(own...)
	}
	// With a conflict the start is what the remote has. Whether that is red is found out
	// if the merge is.
	if c := newCheck(r.Settings, ledger.KindBaseline, b.Base.Tree, true, d.startCommands()); len(c.Commands) > 0 && len(u.Conflicts) == 0 {
		d.add(scope{}, c)
		return
	}
	d.begin(ledger.RunStarted{})
}

// merging reports whether a task merges the base of the request that the run keeps
// green. A nil Run merges nothing.
func (r *Run) merging(t TaskState) bool {
	return r != nil && r.Base.Upkeep != nil && len(r.Base.Upkeep.Conflicts) > 0 && t.Task.Own && t.Task.ID == request.MergeTaskID
}

// merged reports whether that task is committed.
func (r *Run) merged() bool {
	return slices.ContainsFunc(r.Made, func(m MadeCommit) bool { return m.Task == request.MergeTaskID && !m.Out })
}

// addOwn adds tasks of nightporter's own to the run, in front of the others. One with
// the id of a task that is there takes its place.
func (d *decision) addOwn(tasks ...ledger.Task) {
	r := d.run()
	name := r.Name
	if d.Project.Aside != nil && name == "" {
		name = d.Project.Aside.Name
	}
	d.add(scope{}, ledger.SourceRead{Name: name, Path: r.Settings.Source.Path, Order: d.order(), Own: tasks})
}

// endUpkeep ends a run that keeps a request green, before anything was done.
func (d *decision) endUpkeep(format string, args ...any) {
	d.end(ledger.RunEnded{Reason: ledger.ReasonUpkeep, Text: fmt.Sprintf(format, args...)})
}

// yield ends a run that keeps a request green, in favour of one that a person or the
// schedule wants. A session in flight ends first.
func (d *decision) yield(b StartRun) {
	r := d.run()
	d.add(scope{}, ledger.RunQueued{Settings: b.Settings, Check: b.Check, Fresh: b.New})
	d.answer = ledger.Answer{OK: true, Code: ledger.CodePlanned, Text: fmt.Sprintf("%s %s; the run starts when that has ended", r.ID, r.asideDoes())}
	switch {
	case r.State == ledger.RunPlanning:
		d.cutAll("a run was started")
		d.end(ledger.RunEnded{Reason: ledger.ReasonReplaced, Text: "a run was started"})
	case r.State != ledger.RunStopping && r.Finishing == nil:
		d.add(scope{}, ledger.RunStateSet{State: ledger.RunStopping})
	}
}

// asideDoes says what a run that works on no task of the source does.
func (r *Run) asideDoes() string {
	if r.Idea != "" {
		return "plans " + r.Idea
	}
	return fmt.Sprintf("looks after PR %d", r.Upkeep.Number)
}

// lookedAfter returns the project after the end of a run that kept a request green or
// planned an idea: with its last run again, and without the tasks of that one. If it
// worked on the last run's own branch, the last run has what was done.
func (p Project) lookedAfter() Project {
	up := p.Run
	if key := p.tipKey(); key != p.Source { // it is verified anew next time
		p.RedTips, p.Green = maps.Clone(p.RedTips), maps.Clone(p.Green)
		delete(p.RedTips, key)
		delete(p.Green, key)
	}
	p.Tasks = p.Tasks.without(func(t *TaskState) bool { return t.Task.Own })
	if p.Aside == nil {
		if up.Idea != "" { // there was no run of the source yet
			p.Run = nil
		}
		return p
	}
	last := *p.Aside
	p.Run, p.Aside = &last, nil
	if last.LastEvent.Before(up.LastEvent) {
		last.LastEvent = up.LastEvent
	}
	if up.Idea != "" || last.Base.Branch != up.Base.Branch || up.Base.Commit == "" {
		return p
	}
	if up.Base.Commit != last.Tip {
		last.Made = append(slices.Clip(last.Made), MadeCommit{Commit: up.Base.Commit, Since: last.Tip})
	}
	last.Made = append(slices.Clip(last.Made), up.Made...)
	last.Tip, last.TipTree, last.TipTests = up.Tip, up.TipTree, up.TipTests
	if up.Final != nil {
		last.Final, last.FinalTip = up.Final, up.FinalTip
	}
	return p
}
