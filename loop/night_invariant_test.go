package loop

import (
	"fmt"
	"slices"

	"github.com/nightporter/nightporter/guidance"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/payload"
)

// check checks the invariants of a decision and of the state after it.
func (n *night) check(old State, d Decision) {
	n.t.Helper()
	fail := func(format string, args ...any) {
		n.t.Helper()
		n.t.Fatalf("after %s: %s\n%s", n.last.Body.InputKind(), fmt.Sprintf(format, args...), n.dump())
	}
	p := n.s.Project
	agents := map[string]bool{}
	for _, s := range p.Sessions {
		if s.Planned.Kind == ledger.KindAgent {
			agents[s.ID] = true
		}
	}
	if lanes := p.Run.Lanes(); len(agents) > lanes {
		fail("%d agents at once in %d lanes", len(agents), lanes)
	}
	n.checkLanes(fail)
	for _, l := range n.s.Shared.Leases {
		if !agents[l.Session] {
			fail("a lease for %s, which is not in flight", l.Session)
		}
		delete(agents, l.Session)
	}
	if len(agents) > 0 {
		fail("no lease for %v", agents)
	}
	status := map[string]ledger.Status{}
	for _, t := range old.Project.Tasks.All() {
		status[ledger.FoldID(t.Task.ID)] = t.Status
	}
	s := old
	tip := ""
	if s.Project.Run != nil {
		tip = s.Project.Run.Tip
	}
	var batch *TaskBatch // the last one
	n.lacks(old)
	for _, e := range d.Entries {
		n.vanished(fail, s, e)
		if r := s.Project.Run; r != nil && r.Batch != nil {
			batch = r.Batch
		}
		work := func() *Attempt {
			if t, ok := s.Project.Find(e.Task); ok {
				return t.Attempt
			}
			return nil
		}()
		switch b := e.Body.(type) {
		case ledger.TaskReplanned:
			if t, _ := s.Project.Find(e.Task); t.Replanned > 0 || s.Project.Run.Settings.ReplanAfter == 0 || t.Task.Own {
				fail("%s is planned anew after %d failed attempts, and was after %d", e.Task, b.Failed, t.Replanned)
			}
		case ledger.AttemptEnded:
			if t, _ := s.Project.Find(e.Task); b.Failed && t.Failed >= ledger.MaxAttempts && t.Replanned == 0 {
				fail("%s has an attempt after %d failed ones", e.Task, t.Failed)
			}
		case ledger.IDIssued:
			if b.N != s.Shared.Issued[b.Kind]+1 {
				fail("number %s%d after %d", b.Kind, b.N, s.Shared.Issued[b.Kind])
			}
		case ledger.GuidanceQueued:
			n.queued++
		case ledger.QuestionAsked:
			if c := b.Question.Threshold; c != nil {
				if slices.Contains(n.asked, c.ThresholdChange) {
					fail("asked a second time about %+v", c.ThresholdChange)
				}
				n.asked = append(n.asked, c.ThresholdChange)
			}
		case ledger.ThresholdSet:
			if kind := n.last.Body.InputKind(); kind != "answer" && kind != "reset_threshold" || b.Threshold != nil && !slices.Contains(b.Threshold, ledger.Critical) {
				fail("the threshold %v is set by %s", b.Threshold, kind)
			}
		case ledger.SessionPlanned:
			if n.planned[e.Session] {
				fail("session %s is planned twice", e.Session)
			}
			n.planned[e.Session] = true
			n.bounded(fail, s, b)
			for _, o := range s.Project.Sessions {
				own := s.Project.inOwnRoom(o) || s.Project.inOwnRoom(Session{Task: e.Task, Planned: b})
				both := b.Kind != ledger.KindAgent && o.Planned.Kind != ledger.KindAgent && !own
				if s.Project.Run.Lanes() == 1 || both || ledger.SameID(o.Task, e.Task) || s.Project.Run.State == ledger.RunPlanning {
					fail("session %s is planned while %s is in flight", e.Session, o.ID)
				}
			}
			n.bound(fail, s, e, b)
		case ledger.Verified:
			for _, res := range b.Results {
				x, ok := n.outcome[res.Session]
				if !ok || res.OK != (x.Code == 0 && x.Reason == ledger.ExitSelf) {
					fail("%s is recorded as ok=%v, and it ended %+v", res.Session, res.OK, x)
				}
			}
			if b.Kind == ledger.KindBatch && e.Task != "" {
				n.blamed(fail, batch, e)
			}
		case ledger.PreflightDone:
			if tip = b.Base.Commit; b.Base.Upkeep != nil {
				n.tip = tip
			}
		case ledger.TipFound:
			tip, n.tip = b.Commit, b.Commit
			n.parents[b.Commit] = s.Project.Run.Tip
		case ledger.BranchRemade:
			tip = b.Tip
		case ledger.TaskCommitted:
			if b.Parent != tip {
				fail("commit %s on %s, and the tip is %s", b.Commit, b.Parent, tip)
			}
			if b.Tree == s.Project.Run.TipTree {
				fail("commit %s has the tree of its parent", b.Commit)
			}
			tip = b.Commit
			if len(n.settings.Verify) > 0 && (work == nil || work.Verified == nil || !work.Verified.OK || work.Verified.Tree != b.Tree) {
				fail("commit of tree %s, which no green verification is about", b.Tree)
			}
			n.batched(fail, s, e, b)
		case ledger.TaskSet:
			was, known := status[ledger.FoldID(e.Task)]
			if known && was != b.From {
				fail("%s goes from %s, and it was %s", e.Task, b.From, was)
			}
			status[ledger.FoldID(e.Task)] = b.To
			merged := func() bool { t, ok := n.s.Project.Find(e.Task); return ok && t.Task.Joins && b.To == ledger.Withdrawn } // it goes with its task
			if b.From == ledger.Done && !merged() && b.Why != whyScripted && b.Returned == nil && !b.Again && !slices.Contains([]string{"retry", "redo", "answer", "branch_remade"}, n.last.Body.InputKind()) {
				fail("%s was done and is taken up again by %s", e.Task, n.last.Body.InputKind())
			}
			if b.Returned != nil && b.Returned.Times > ledger.MaxReturned {
				fail("%s was sent back %d times", e.Task, b.Returned.Times)
			}
			if b.To == ledger.Done && b.From == ledger.Active && b.Why == "" {
				t, _ := s.Project.Find(e.Task)
				if t.Attempt == nil || t.Attempt.Tree != t.Attempt.Start && (t.Commit != tip || tip == "") {
					fail("%s is done and not committed", e.Task)
				}
				if settings := s.Project.Run.Settings.For(t.Task); t.Attempt.Tree == t.Attempt.Start && !t.Attempt.judged(settings) && !settings.ReadsOnly() {
					fail("%s is done without a change, and nobody judged that", e.Task)
				}
			}
		}
		n.reverted(fail, s, e)
		n.red(fail, s, e, work)
		was, _ := s.Project.Find(e.Task)
		up := s.Project.Run
		s = Apply(s, e)
		if _, ended := e.Body.(ledger.RunEnded); ended && up != nil && (up.Check || up.Aside()) { // the last run is back
			if tip = ""; s.Project.Run != nil {
				tip = s.Project.Run.Tip
			}
			n.tip = tip
			_, n.tipRed = s.Project.RedTip()
		}
		if b, is := e.Body.(ledger.RunPlanned); is && (b.Check || b.Upkeep != nil || b.Idea != "") {
			tip = ""
		}
		if is, _ := s.Project.Find(e.Task); was.Queued() && !is.Queued() {
			switch b := e.Body.(type) {
			case ledger.Commitment, ledger.AttemptEnded, ledger.StageSet, ledger.TreeMerged, ledger.Routed:
			case ledger.TaskSet:
				if b.To == ledger.Ready && !b.Fresh {
					fail("%s loses its place in the queue by %s", e.Task, e.Body.EntryType())
				}
			default:
				fail("%s loses its place in the queue by %s", e.Task, e.Body.EntryType())
			}
		}
	}
	if p.Run != nil && p.Run.Base.Commit != "" && p.Run.Tip != tip {
		fail("tip %s, want %s", p.Run.Tip, tip)
	}
	n.checkGuidance(fail)
	n.checkParts(fail, d)
	n.checkStuck(fail)
}

// checkLanes checks that tasks in hand work in lanes of their own and are not in each
// other's way, and that at most one of them is on its way into the branch.
func (n *night) checkLanes(fail func(string, ...any)) {
	p := n.s.Project
	inHand, landing := p.inLanes(), 0
	d := &decision{State: n.s}
	for k, t := range inHand {
		if w := t.Attempt; w.Converged && w.Stage != ledger.StageTurn {
			landing++
		}
		for _, o := range inHand[:k] {
			if t.Attempt.Lane == o.Attempt.Lane {
				fail("%s and %s are both in lane %d", o.Task.ID, t.Task.ID, t.Attempt.Lane)
			}
			if !bodyChanged(t.Attempt.Of, t.Task) && !bodyChanged(o.Attempt.Of, o.Task) && d.meet(&t, &o) {
				fail("%s (%s) and %s (%s) are both in hand", o.Task.ID, o.Task.Scope, t.Task.ID, t.Task.Scope)
			}
		}
	}
	if landing > 1 {
		fail("%d changes are on their way into the branch", landing)
	}
}

// bounded checks that a session begins beside others only if the load of the machine and
// the account of its agent allow it. Its lease is in the state already.
func (n *night) bounded(fail func(string, ...any), s State, b ledger.SessionPlanned) {
	r, used := s.Project.Run, 0
	for _, l := range s.Shared.Leases {
		if l.Agent == b.Agent {
			used++
		}
	}
	if b.Kind != ledger.KindAgent || r.Lanes() == 1 {
		return
	}
	if most := r.sessionsOf(b.Agent); most > 0 && used > most {
		fail("%d sessions of %s, which may have %d", used, b.Agent, most)
	}
	if most := r.Settings.MaxLoad; most > 0 && n.last.Load >= most && s.Project.busy() {
		fail("a session begins at a load of %g, and max_load is %g", n.last.Load, most)
	}
}

// reverted checks that a task which was taken out of the branch is not committed
// again by itself.
func (n *night) reverted(fail func(string, ...any), s State, e ledger.Entry) {
	switch b := e.Body.(type) {
	case ledger.BranchRemade:
		n.unsaid = b.Tip
		for _, id := range b.Wish.Drop {
			n.out[ledger.FoldID(id)] = true
		}
		for _, id := range b.Wish.Back {
			delete(n.out, ledger.FoldID(id))
		}
	case ledger.TaskSet:
		// By a person's word, or in their file: a recurring task that they ticked, and whose
		// next round comes or which they opened again.
		t, _ := s.Project.Find(e.Task)
		ticked := b.To == ledger.Done && b.Why == "ticked in the source" && t.Task.Repeat != nil
		if ticked || b.Fresh && (b.By != "" || b.Why == "open again in the source") {
			delete(n.out, ledger.FoldID(e.Task))
		}
	case ledger.TaskCommitted:
		n.unsaid = ""
		if n.out[ledger.FoldID(e.Task)] {
			fail("%s was reverted and is committed again, and nobody asked for it", e.Task)
		}
	case ledger.Verified:
		if b.Tree == n.unsaid {
			n.unsaid = ""
		}
	case ledger.RemakeEnded:
		if b.Made {
			n.unsaid = ""
		}
	case ledger.RunPlanned:
		n.unsaid = ""
	}
}

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
		none := b.Reason == ledger.ReasonUpkeep && b.Branch == "" // it had no branch yet: the red tip is of another
		if b.Exit == 0 && !none && (n.tipRed || n.under || len(exemptFor(s.Project.Run, "")) > 0) {
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
		if t.joinedBy(n.s.Project.Tasks) {
			fail("%s is done by its parts, and the changes of some are in no commit", e.Task)
		}
		for _, s := range payload.Sections(t.Plan) {
			part := t.PartOf(s.ID)
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
		if i, _ := p.Guidance.Get(id); count > 1 && !i.Sticky {
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
		case ledger.EffectMark, ledger.EffectProgress, ledger.EffectEnd, ledger.EffectKeepPlan, ledger.EffectKeepWaves, ledger.EffectRemember, ledger.EffectAddTasks, ledger.EffectRemoveTasks:
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
	case r.State == ledger.RunWaiting && n.s.Project.asksBudget(): // a person decides, however late
	case (r.State == ledger.RunWaiting || isFaultWait(r.Wait)) && !due.IsZero():
	default:
		fail("run is %s (%s), and nothing will happen", r.State, r.Wait)
	}
}

// batched checks what is committed in a batch: the trees of its chain, in order,
// as part of a prefix that passed as one.
func (n *night) batched(fail func(string, ...any), s State, e ledger.Entry, b ledger.TaskCommitted) {
	batch := s.Project.Run.Batch
	if t, ok := s.Project.Find(e.Task); batch == nil || !ok {
		if ok && n.batches && !t.Task.Own {
			fail("%s is committed out of a batch", e.Task)
		}
		return
	}
	if link := batch.Links[batch.Made]; link.Task != e.Task || link.Tree != b.Tree {
		fail("%s is committed with tree %s, and the batch has %v there", e.Task, b.Tree, link)
	}
	for _, link := range batch.Links[batch.Made:] {
		for _, v := range batch.Checked {
			if v.Tree == link.Tree && v.OK {
				return
			}
		}
	}
	fail("%s is committed with tree %s, and no prefix with it passed", e.Task, b.Tree)
}

// blamed checks that a task goes back only for a change that fails on top of what
// passed: the links before its own, or the tip.
func (n *night) blamed(fail func(string, ...any), batch *TaskBatch, e ledger.Entry) {
	if batch == nil {
		fail("%s goes back, and there is no batch", e.Task)
	}
	at := slices.IndexFunc(batch.Links, func(l ledger.BatchLink) bool { return l.Task == e.Task })
	switch {
	case at < 0:
		fail("%s goes back, and is in no batch", e.Task)
	case at == 0 && batch.AtTip == nil:
		fail("%s goes back, and the tip was not looked at", e.Task)
	case at > 0 && (batch.result(at) == nil || !batch.result(at).OK):
		fail("%s goes back, and what is before it did not pass", e.Task)
	}
}
