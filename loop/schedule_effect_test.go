package loop

import (
	"slices"

	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/triage"
)

// outside continues a random piece of work under way: a session or another
// effect.
func (w *world) outside() {
	if len(w.todo) == 0 {
		return
	}
	n := 0
	if !w.kind {
		n = w.draw(len(w.todo), "effect")
	}
	w.act(w.todo[n])
}

func (w *world) remove(e ledger.Effect) {
	n := slices.IndexFunc(w.todo, func(o ledger.Effect) bool { return o.Key == e.Key && o.Body.EffectKind() == e.Body.EffectKind() })
	w.todo = slices.Delete(slices.Clone(w.todo), n, n+1)
}

// faulty lets an effect fail for a fault of the machine. It stays under way, and
// nothing may be held against anybody.
func (w *world) faulty(e ledger.Effect) {
	before := w.s
	if w.outgoing(e) && w.draw(4, "forge") > 0 {
		b := EffectBroken{Kind: e.Body.EffectKind(), Key: e.Key, Text: pick(w, "no answer within 30s", "rate limit", "the token is wrong"), Fault: pick(w, ledger.FaultForge, ledger.FaultRefused)}
		w.blameless(b.Kind, before, w.do(b, w.key("faulty")))
		return
	}
	b := EffectBroken{Kind: e.Body.EffectKind(), Key: e.Key, Text: pick(w, "index.lock: File exists", "Too many open files"), Fault: pick(w, ledger.FaultMachine, ledger.FaultMachine, ledger.FaultDisk)}
	w.blameless(b.Kind, before, w.do(b, w.key("faulty")))
}

// blameless fails if a decision on a fault of the machine ends a run by it, marks
// a task, or counts as a failure. A run that only waited for its push may end as it was
// to end.
func (w *world) blameless(what string, before State, d Decision) {
	for _, e := range d.Entries {
		blames := false
		switch b := e.Body.(type) {
		case ledger.RunEnded:
			r := before.Project.Run
			blames = (b.Reason == ledger.ReasonInternal || b.Reason == ledger.ReasonPreflight) && (r.Finishing == nil || r.Finishing.Reason != b.Reason)
		case ledger.AttemptEnded:
			blames = b.Failed
		case ledger.Redo:
			blames = b.Failed
		case ledger.TaskSet:
			blames = b.To == ledger.Blocked
		case ledger.SessionEnded:
			blames = b.Counts == ledger.CountsAsFailed
		}
		if blames {
			w.t.Fatalf("a fault of the machine at %s leads to %s", what, mustJSON(w.t, e.Body))
		}
	}
}

func (w *world) act(e ledger.Effect) {
	if !w.kind && w.draw(12, "faulty") == 0 {
		w.faulty(e)
		return
	}
	w.result = EffectName{Kind: e.Body.EffectKind(), Key: e.Key}
	defer func() { w.result = EffectName{} }()
	c, made := e.Body.(ledger.EffectCommit)
	if made {
		_, made = w.made[mustJSON(w.t, c.Commit)]
	}
	if !w.kind && !made && w.draw(60, "broken") == 0 {
		w.remove(e)
		switch b := e.Body.(type) {
		case ledger.EffectMark, ledger.EffectProgress, ledger.EffectEnd, ledger.EffectKeepPlan, ledger.EffectKeepWaves, ledger.EffectRemember, ledger.EffectAddTasks, ledger.EffectRemoveTasks:
			w.todo = append(w.todo, e) // it is tried again, at once
		case ledger.EffectCommit:
			w.do(EffectBroken{Kind: e.Body.EffectKind(), Key: e.Key, Task: b.Task, Text: "it broke"}, w.key("broken"))
			return
		case ledger.EffectMerge:
			w.do(EffectBroken{Kind: e.Body.EffectKind(), Key: e.Key, Task: b.Task, Text: "it broke"}, w.key("broken"))
			return
		default:
			w.do(EffectBroken{Kind: e.Body.EffectKind(), Key: e.Key, Text: "it broke"}, w.key("broken"))
			return
		}
	}
	switch b := e.Body.(type) {
	case ledger.EffectPreflight:
		w.remove(e)
		if b.Begin.Upkeep != nil {
			w.deliver(w.lookAfter(b.Begin), "upkeep")
			break
		}
		p := Preflighted{Run: b.Begin.Run, Base: w.base(b.Begin.Run), Snapshot: ledger.Snapshot{Name: w.plan.Name, Path: w.plan.Path, Tasks: slices.Clone(w.plan.Tasks)}}
		if p.Base.Commit != p.Base.Head { // it goes on from the branch of the run before
			p.Base.From = b.Begin.Previous
		}
		if !w.kind && w.draw(10, "problem") == 0 {
			p.Problems = []ledger.Diagnostic{{Text: "no such file"}}
		}
		w.deliver(p, "preflight")
	case ledger.EffectStart:
		w.session(e, b)
	case ledger.EffectEnd:
		w.remove(e)
		w.asked[b.Session] = true
		w.do(Wake{}, w.key("end"))
	case ledger.EffectCapture:
		w.remove(e)
		w.deliver(w.takeover(b.Request), "taken")
	case ledger.EffectReread:
		w.remove(e)
		w.now = w.now.Add(ledger.SettleTime)
		w.do(SourceChanged{Snapshot: ledger.Snapshot{Name: w.plan.Name, Path: w.plan.Path, Tasks: slices.Clone(w.plan.Tasks)}, Before: w.s.Project.Tasks, Source: b.Source, Doubted: b.Doubted}, w.key("reread"))
	case ledger.EffectMerge:
		w.remove(e)
		r := MergeFinished{Task: b.Task, Onto: b.Merge.Onto}
		if !w.kind && w.draw(3, "conflict") == 0 {
			r.Merged.Conflicts = []string{"a.go"}
		} else {
			r.Merged.Tree = w.tree()
		}
		w.deliver(r, "laid")
	case ledger.EffectChain:
		w.remove(e)
		w.deliver(w.chain(b, func(ledger.ChainLink) string {
			if !w.kind && w.draw(5, "left out") == 0 {
				return "conflicts with the others"
			}
			return ""
		}), "chain")
	case ledger.EffectRemake:
		if !w.kind && w.remade.Branch != b.Remake.Branch && w.draw(6, "refused") == 0 {
			w.remove(e)
			w.do(RemakeFinished{Branch: b.Remake.Branch, Made: ledger.Remade{Refused: &ledger.Diagnostic{Text: "branch is gone"}}}, w.key("refused"))
			return
		}
		r := w.remake(b.Remake, func(task string) bool { return !w.kind && task != "" && w.draw(4, "needs") == 0 })
		if !w.kind && len(r.Made.Needs) == 0 && w.draw(4, "crash in remake") == 0 {
			w.s = w.folded // the branch is there, but the result is lost: the effect is repeated
			w.remade = r
			return
		}
		if len(w.remade.Branch) > 0 && w.remade.Branch == r.Branch {
			r = w.remade // the same request gives the same commits
			w.tip = r.Made.Tip
		}
		w.remade = RemakeFinished{}
		w.remove(e)
		w.deliver(r, "remade")
	case ledger.EffectCommit:
		if !w.kind && !made && w.draw(10, "somebody else commits") == 0 {
			w.remove(e)
			w.do(TipMoved{Task: b.Task, Tip: w.key("x")}, w.key("moved"))
			return
		}
		made := w.commit(b.Commit)
		if !w.kind && w.draw(4, "crash in commit") == 0 {
			w.s = w.folded // the commit exists, but its result is lost: the effect is repeated
			return
		}
		w.remove(e)
		w.deliver(CommitMade{Task: b.Task, Committed: made}, "commit")
	case ledger.EffectTriage:
		w.remove(e)
		w.deliver(SortReports(w.s, b, triage.Vocabulary{}, nil, w.now), "triage")
	case ledger.EffectMark:
		w.remove(e)
		r := MarkMade{Task: b.Task, Mark: b.Mark, Tries: b.Tries}
		n := slices.IndexFunc(w.plan.Tasks, func(t ledger.Task) bool { return ledger.SameID(t.ID, b.Task) })
		if n < 0 || !w.kind && w.draw(10, "unwritable") == 0 {
			r.Err = "no such task"
		} else if b.Claim != nil && !b.Claim.Respect.IsZero() && !w.kind && w.draw(4, "claimed") == 0 { // somebody was faster
			r.Claim = &ledger.ReportClaim{By: "anna", How: ledger.ClaimField, Since: w.now}
			w.plan.Tasks = slices.Clone(w.plan.Tasks)
			w.plan.Tasks[n] = withClaim(w.plan.Tasks[n], r.Claim)
		} else {
			w.plan.Tasks = slices.Clone(w.plan.Tasks)
			markIn(&w.plan.Tasks[n], b)
		}
		w.do(r, w.key("mark"))
	case ledger.EffectAddTasks:
		added, plan := addTo(w.plan, b.Add)
		before := w.s.Project.Tasks
		w.plan = plan
		if !w.kind && w.draw(4, "crash in add") == 0 {
			w.s = w.folded // the lines are there, but the result is lost: the effect is repeated
			return
		}
		w.remove(e)
		for n, t := range w.plan.Tasks {
			same := func(o ledger.Task) bool { return o.Title == t.Title && o.Mark == ledger.MarkOpen }
			if slices.ContainsFunc(b.Add.Tasks, same) && t.Mark == ledger.MarkOpen && slices.ContainsFunc(w.plan.Tasks[n+1:], same) {
				w.t.Fatalf("%q is twice in the source", t.Title)
			}
		}
		w.deliver(TasksWritten{ID: b.ID, Added: added, Before: before}, "add")
	case ledger.EffectRemoveTasks:
		w.plan = removeFrom(w.plan, b.Remove)
		if !w.kind && w.draw(4, "crash in remove") == 0 {
			w.s = w.folded
			return
		}
		w.remove(e)
		w.deliver(TasksTakenOut{ID: b.ID}, "remove")
	case ledger.EffectLift:
		w.lifts(e, b)
	case ledger.EffectPush:
		w.push(e, b)
	case ledger.EffectRequest:
		w.request(e, b)
	case ledger.EffectMergeRequest:
		w.merge(e, b)
	case ledger.EffectReply:
		w.reply(e, b)
	case ledger.EffectProgress, ledger.EffectKeepPlan, ledger.EffectKeepWaves, ledger.EffectRemember:
		w.remove(e)
		w.do(Wake{}, w.key("progress"))
	}
}

func (w *world) takeover(b ledger.CaptureRequest) TreeCaptured {
	r := TreeCaptured{Session: b.Session, Ref: b.Ref, Taken: ledger.Capture{Tree: b.Input}}
	if w.kind || w.draw(4, "unchanged") > 0 {
		r.Taken.Tree = w.tree()
		r.Taken.Files = []ledger.FileChange{{Path: pick(w, "a.go", "README.md"), Added: 3, Removed: -1}}
	}
	if !w.kind {
		if b.Proof.Asked() {
			r.Taken.Proof = w.proofFacts()
		}
		switch w.draw(8, "taken") {
		case 0:
			r.Taken.Outside = []string{"other.go"}
		case 1:
			r.Taken.Refused = []ledger.Diagnostic{{Text: "a device"}}
		case 2:
			r.Taken.Lock = true
		case 3:
			found := ledger.SecretFound{Path: "a.go", Line: 1, Rule: "private-key", Print: pick(w, "f1", "f2")}
			if slices.Contains(b.Cleared, found.Print) {
				break
			}
			r.Taken.Secrets = []ledger.SecretFound{found}
			if !b.Hold {
				r.Taken.Tree, r.Taken.Files = b.Input, nil
			}
		}
	}
	return r
}

// proofFacts draws what a tree changed of what proves it.
func (w *world) proofFacts() *ledger.ProofFacts {
	f := &ledger.ProofFacts{}
	switch w.draw(8, "proof") {
	case 0:
		f.Summary, f.Guard = "1 test changed", w.tree()
		f.Changes = []ledger.CheckChange{{Path: "a_test.go", Kind: "test", Action: "changed"}}
	case 1:
		f.Unguarded = "a check cannot be laid over it"
	case 2:
		f.OnStart = w.tree()
	case 3:
		f.NewCode = true
	}
	return f
}
