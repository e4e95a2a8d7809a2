package loop

import (
	"slices"

	"github.com/nightporter/nightporter/guidance"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/payload"
)

// red checks that nothing red passes for green: a red result counts unless what
// fails is exempt for its task, a commit says what fails in it, and no run ends
// with 0 while its tip is red or something exempt failed.
func (n *night) red(fail func(string, ...any), s State, e ledger.Entry, work *Attempt) {
	switch b := e.Body.(type) {
	case ledger.Verified:
		red := false
		for _, res := range b.Results {
			red = red || !res.OK
			if res.OK || b.Kind != ledger.KindVerify && b.Kind != ledger.KindFinal {
				continue
			}
			exempt := slices.ContainsFunc(s.Project.Run.Exempt, func(x ledger.Exemption) bool {
				if x.Run != res.Run || x.Task != "" && !ledger.SameID(x.Task, e.Task) || x.Failures == nil || res.Failures == nil {
					return false
				}
				return !slices.ContainsFunc(res.Failures.Failed, func(f ledger.Failure) bool { return !slices.Contains(x.Failures.Failed, f) })
			})
			if res.Advisory && !exempt {
				fail("%s fails by %v, which is not exempt for %q: %v", res.Run, res.Failures, e.Task, s.Project.Run.Exempt)
			}
			if b.OK && !res.Advisory {
				fail("%s is red, and its check is green", res.Run)
			}
		}
		if b.Kind == ledger.KindFinal || b.Kind == ledger.KindBaseline && !red {
			n.tipRed = red
		}
	case ledger.TaskCommitted:
		if work != nil && work.Verified != nil && slices.ContainsFunc(work.Verified.Results, func(r ledger.Result) bool { return !r.OK }) && len(b.Exempt) == 0 {
			fail("%s is committed, and does not say what fails", e.Task)
		}
		n.under = n.under || len(b.Exempt) > 0
	case ledger.RunPlanned:
		n.under = false
	case ledger.RunEnded:
		if b.Exit == 0 && (n.tipRed || n.under || len(exemptFor(s.Project.Run, "")) > 0) {
			fail("ends with 0: tip red %v, tasks with exempt failures %v, exempt %v", n.tipRed, n.under, s.Project.Run.Exempt)
		}
	}
}

// checkParts checks that a part is open only while its task's plan is in force,
// and that a task done by its parts has all sections of its plan done.
func (n *night) checkParts(fail func(string, ...any), d Decision) {
	for _, t := range n.s.Project.Tasks.All() {
		if t.Task.Parent == "" || t.Status == ledger.Done || t.Status == ledger.Skipped || t.Status == ledger.Withdrawn || t.committing() {
			continue
		}
		of, ok := n.s.Project.Find(t.Task.Parent)
		switch {
		case !ok:
			fail("%s is %s, and %s is not there", t.Task.ID, t.Status, t.Task.Parent)
		case of.Rest != nil: // the part waits for the line of its task
		case of.Status == ledger.Done || of.Status == ledger.Skipped || of.Status == ledger.Withdrawn:
			fail("%s is %s, and its task is %s", t.Task.ID, t.Status, of.Status)
		case !slices.Contains(of.Parts, t.Task.ID):
			fail("%s is %s, and is no part of the plan in force: %v", t.Task.ID, t.Status, of.Parts)
		}
	}
	for _, e := range d.Entries {
		if b, ok := e.Body.(ledger.TaskSet); !ok || b.To != ledger.Done || b.Why != "its parts are done" {
			continue
		}
		t, _ := n.s.Project.Find(e.Task)
		for _, s := range payload.Sections(t.Plan) {
			part := t.partOf(s.ID)
			if p, ok := n.s.Project.Find(part); !ok || p.Status != ledger.Done && part != "" {
				fail("%s is done by its parts, and its section %s is not", e.Task, s.ID)
			}
		}
	}
}

// bound checks the guidance that is bound to a newly planned session.
func (n *night) bound(fail func(string, ...any), s State, e ledger.Entry, b ledger.SessionPlanned) {
	if b.Kind != ledger.KindAgent {
		return
	}
	at := map[bool]int{true: -1, false: -1} // last position of an item that the task held already (true), and of a new one (false)
	for _, id := range b.Guidance.Bound {
		where := slices.IndexFunc(s.Project.Guidance.Items, func(o guidance.Item) bool { return o.ID == id })
		if where < 0 || s.Project.Guidance.Items[where].Over() {
			fail("%s is bound to %s, and it is over or not there", id, e.Session)
		}
		i := s.Project.Guidance.Items[where]
		held := i.Bound != "" && !i.Sticky
		if where < at[held] {
			fail("%s goes along out of order: %v", id, b.Guidance.Bound)
		}
		at[held] = where
	}
}

func (n *night) checkGuidance(fail func(string, ...any)) {
	p := n.s.Project
	live := map[string]int{}
	for _, s := range p.Sessions {
		for _, id := range s.Planned.Guidance.Bound {
			live[id]++
		}
	}
	for id, count := range live {
		if count > 1 {
			fail("%s is bound to %d live sessions", id, count)
		}
	}
	if n.queued != len(p.Guidance.Items) {
		fail("%d directives were queued, %d are there", n.queued, len(p.Guidance.Items))
	}
	for _, i := range p.Guidance.Items {
		if i.State != guidance.Injected || i.Sticky {
			continue
		}
		t, ok := p.Find(i.Bound)
		if !ok && i.Bound != ledger.FoldID(BaselineTaskID) && i.Bound != ledger.FoldID(RepairTaskID) || ok && (t.Status == ledger.Done || t.Status == ledger.Skipped || t.Status == ledger.Withdrawn && t.Rest == nil) {
			fail("%s is in use by %q, which is over", i.ID, i.Bound)
		}
	}
}

// checkStuck fails if the run can only wait forever: no effect is under way,
// nothing is due, and no person is asked.
func (n *night) checkStuck(fail func(string, ...any)) {
	r := n.s.Project.Run
	due := Due(n.s)
	if _, ok := n.last.Body.(Tick); ok && !due.IsZero() && !due.After(n.now) {
		fail("due at %s, which a tick at %s changed nothing about", due, n.now)
	}
	for _, s := range n.s.Project.Sessions {
		if !slices.ContainsFunc(n.todo, func(e ledger.Effect) bool { b, ok := e.Body.(ledger.EffectStart); return ok && b.Session == s.ID }) {
			fail("session %s is in flight and nobody waits for it", s.ID)
		}
	}
	if r.Over() {
		return
	}
	for _, e := range n.todo {
		switch e.Body.(type) {
		case ledger.EffectMark, ledger.EffectProgress, ledger.EffectEnd, ledger.EffectKeepPlan, ledger.EffectRemember:
		default:
			return // its result will come
		}
	}
	if n.s.Project.busy() {
		fail("busy, and nothing is under way")
	}
	switch {
	case r.State == ledger.RunPaused:
	case r.State == ledger.RunStopping && r.StopNow && r.Signal != "":
	case r.State == ledger.RunPlanning && r.Red != nil:
	case (r.State == ledger.RunWaiting || isFaultWait(r.Wait)) && !due.IsZero():
	default:
		fail("run is %s (%s), and nothing will happen", r.State, r.Wait)
	}
}
