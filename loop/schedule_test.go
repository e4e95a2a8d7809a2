package loop

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/nightporter/nightporter/guidance"
	"github.com/nightporter/nightporter/loop/ledger"
)

// world simulates everything outside the core at random: agents, commands, git,
// people, the disk, and crashes of the daemon.
type world struct {
	*night
	rnd   *rand.Rand
	kind  bool            // everything succeeds from now on
	asked map[string]bool // sessions that were asked to end
	begun map[string]bool // sessions that have a process
	taken map[string]TreeCaptured

	saved []ledger.Task   // the plan that a person has in the editor while only a part of it, or an older version, is in the file; nil: the file has it
	older [][]ledger.Task // versions of the plan that can be checked out

	redTrees map[string]bool // whether the trees of batches fail
	remote   remote
	laid     map[string]MergeFinished
	remade   RemakeFinished // a branch that was made and whose result is lost
	late     []func()       // deliver a result a second time, as a crash may
	seq      int
	burst    int // agent sessions that still end at once, see session
}

// TestSchedules plays random nights. Every night must come to its end once
// everything outside the core succeeds.
func TestSchedules(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		seed := rapid.Uint64().Draw(rt, "seed")
		w := &world{night: newNight(rt), rnd: rand.New(rand.NewPCG(seed, 1)), asked: map[string]bool{}, begun: map[string]bool{}, taken: map[string]TreeCaptured{}, laid: map[string]MergeFinished{}, redTrees: map[string]bool{}}
		w.settings.OnBlocked = pick(w, ledger.OnBlockedContinue, ledger.OnBlockedStop)
		w.settings.MaxTasks = w.draw(4, "")
		w.settings.MaxIterations = pick(w, 0, 5, 500)
		w.settings.Profile = pick(w, "review", "overnight")
		w.settings.Fallback = pick(w, "", "codex")
		w.settings.Stays = w.draw(2, "") == 0
		w.settings.QuestionThen = pick(w, "", ledger.ThenContinue, ledger.ThenPause, ledger.ThenAbort)
		w.settings.Consensus, w.settings.PlanApproval = w.draw(3, "") == 0, w.draw(6, "") == 0
		w.settings.Pattern = patterns[pick(w, "plan-build-review", "plan-build-review", "single", "bug", "refactor")]
		w.settings.Pattern.MinRounds = w.draw(3, "")
		if w.draw(4, "") == 0 {
			w.settings.Until = w.now.Add(time.Duration(w.draw(40, "")) * time.Hour)
		}
		if w.draw(2, "") == 0 {
			w.settings.Setup = []ledger.Command{{Run: "npm ci"}}
		}
		if w.draw(2, "") == 0 {
			w.settings.Verify = append(w.settings.Verify, ledger.Command{Run: "lint", When: "code"})
		}
		if w.draw(2, "") == 0 {
			w.settings.Queue, w.settings.Batch = ledger.QueueBatch, w.draw(4, "")
			w.batches = true
			if w.draw(2, "") == 0 {
				w.settings.Verify = append(w.settings.Verify, ledger.Command{Run: "e2e", When: "final"})
			}
		}
		if w.draw(4, "") == 0 {
			w.settings.Proof = ledger.ProofOff
		}
		w.settings.Push = pick(w, ledger.PushNever, ledger.PushEnd, ledger.PushTask)
		w.plan = ledger.Snapshot{Name: "checkout", Path: "checkout.md"}
		for k := range 1 + w.draw(5, "") {
			task := ledger.Task{ID: fmt.Sprintf("Task %d", k+1), Title: "T", Mark: pick(w, ledger.MarkOpen, ledger.MarkOpen, ledger.MarkOpen, ledger.MarkDone, ledger.MarkBlocked, ledger.MarkManualVerify)}
			task.Consensus = w.draw(6, "") == 0
			switch w.draw(6, "") {
			case 0:
				task.Threshold = []ledger.Severity{ledger.Critical}
			case 1:
				task.Threshold = []ledger.Severity{ledger.Critical, ledger.Major, ledger.Minor, ledger.Suggestion}
			}
			if k > 0 && w.draw(2, "") == 0 {
				task.DependsOn = []string{fmt.Sprintf("Task %d", 1+w.draw(k, ""))}
			}
			w.plan.Tasks = append(w.plan.Tasks, task)
		}
		w.run()
		if w.batches && w.draw(3, "") > 0 {
			w.fill()
		}
		if w.draw(3, "") == 0 {
			w.takeOut()
		}
		if w.settings.Pushes() && w.draw(2, "") == 0 {
			w.untilRequest()
		}
		for range rapid.IntRange(1, 300).Draw(rt, "steps") {
			w.step()
		}
		w.calm()
	})
}

// fill lets everything succeed until a batch is under way. By chance alone few
// nights come so far.
func (w *world) fill() {
	w.kind = true
	for range 300 {
		r := w.s.Project.Run
		if r.Over() || r.Batch != nil || len(w.todo) == 0 {
			break
		}
		w.outside()
	}
	w.kind = false
}

// takeOut lets everything succeed until some tasks are committed, and takes one out
// of the branch. By chance alone few nights come so far.
func (w *world) takeOut() {
	w.kind = true
	commits := 1 + w.draw(3, "")
	for range 600 {
		r := w.s.Project.Run
		if r.Over() || len(r.Made) >= commits {
			break
		}
		if len(w.todo) > 0 {
			w.outside()
		} else if qs := w.s.Project.Questions; len(qs) > 0 {
			w.settle(qs[0])
		} else {
			w.pass()
		}
	}
	w.kind = false
	w.remakes()
}

// remakes sends a random command about the run's branch, and answers its question.
func (w *world) remakes() {
	some := w.anyTask()
	if r := w.s.Project.Run; r != nil && len(r.Made) > 0 && w.draw(4, "") > 0 {
		if made := r.Made[w.draw(len(r.Made), "")]; made.Task != "" {
			some = made.Task
		}
	}
	switch w.draw(4, "") {
	case 0:
		w.person(KeepTasks{pick(w, nil, []string{some}, []string{some, w.anyTask()})})
	case 1:
		w.person(RedoTask{Task: some, Words: pick(w, "", "use the table")})
	default:
		w.person(RevertTasks{[]string{some}})
	}
	for _, q := range w.s.Project.Questions {
		if q.Kind == ledger.AskRemake && w.draw(4, "") > 0 {
			w.person(AnswerQuestion{Question: q.ID, Choice: pick(w, "drop", "drop", "cancel")})
		}
	}
}

func (w *world) key(s string) string { w.seq++; return fmt.Sprintf("%s:%d", s, w.seq) }

func (w *world) person(b InputBody) ledger.Answer { return w.do(b, w.key("person")).Answer }

func (w *world) run() { w.person(StartRun{Settings: w.settings, MaxSessions: 1}) }

// draw returns a uniform random number below n. Numbers from rapid are not
// uniform: it prefers small ones.
func (w *world) draw(n int, _ string) int { return w.rnd.IntN(n) }

func pick[T any](w *world, of ...T) T { return of[w.rnd.IntN(len(of))] }

func (w *world) step() {
	switch w.draw(24, "step") {
	case 0:
		w.people()
	case 6:
		w.save()
	case 5:
		w.crowd()
	case 7, 8:
		w.forge()
	case 1:
		w.pass()
	case 2:
		w.edit()
	case 3:
		w.crash()
	case 4:
		w.talk()
	default:
		w.outside()
	}
}

// crash restarts the core from the ledger. A result that was delivered before
// may be delivered again, and must change nothing.
func (w *world) crash() {
	w.s = w.folded
	if len(w.late) > 0 {
		w.late[w.draw(len(w.late), "late")]()
	}
}

// repeat arranges that a result is delivered a second time under another key:
// the core has to notice by itself that it has it.
func (w *world) repeat(b InputBody) {
	w.late = append(w.late, func() {
		run := w.s.Project.Run
		if _, planning := b.(Preflighted); planning && run.State == ledger.RunPlanning {
			return // a Preflighted for another run with the same id, which cannot happen outside this test
		}
		if d := w.do(b, w.key("late")); len(d.Entries)+len(d.Effects) > 0 {
			w.t.Fatalf("%s a second time gives %s", b.InputKind(), mustJSON(w.t, d.Entries))
		}
	})
}

func (w *world) deliver(b InputBody, key string) {
	w.do(b, w.key(key))
	w.repeat(b)
}

// pass moves the clock, to the time when something is due or by a random time,
// and sends a Tick.
func (w *world) pass() {
	due := Due(w.s)
	if !due.IsZero() && w.draw(3, "to due") > 0 {
		if due.After(w.now) {
			w.now = due
		}
	} else {
		w.now = w.now.Add(time.Duration(w.draw(7200, "seconds")) * time.Second)
	}
	w.do(Tick{}, "")
}

func (w *world) anyTask() string {
	ts := w.s.Project.Tasks
	if ts.Len() == 0 {
		return "Task 1"
	}
	return ts.At(w.draw(ts.Len(), "task")).Task.ID
}

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
	if w.outgoing(e) && w.draw(4, "forge") > 0 {
		b := EffectBroken{Kind: e.Body.EffectKind(), Key: e.Key, Text: pick(w, "no answer within 30s", "rate limit", "the token is wrong"), Fault: pick(w, ledger.FaultForge, ledger.FaultRefused)}
		w.blameless(b.Kind, w.do(b, w.key("faulty")))
		return
	}
	b := EffectBroken{Kind: e.Body.EffectKind(), Key: e.Key, Text: pick(w, "index.lock: File exists", "Too many open files"), Fault: pick(w, ledger.FaultMachine, ledger.FaultMachine, ledger.FaultDisk)}
	w.blameless(b.Kind, w.do(b, w.key("faulty")))
}

// blameless fails if a decision on a fault of the machine ends a run by it, marks
// a task, or counts as a failure.
func (w *world) blameless(what string, d Decision) {
	for _, e := range d.Entries {
		blames := false
		switch b := e.Body.(type) {
		case ledger.RunEnded:
			blames = b.Reason == ledger.ReasonInternal || b.Reason == ledger.ReasonPreflight
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
		case ledger.EffectMark, ledger.EffectProgress, ledger.EffectEnd, ledger.EffectKeepPlan, ledger.EffectRemember:
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
	case ledger.EffectMark:
		w.remove(e)
		r := MarkMade{Task: b.Task, Mark: b.Mark}
		n := slices.IndexFunc(w.plan.Tasks, func(t ledger.Task) bool { return ledger.SameID(t.ID, b.Task) })
		if n < 0 || !w.kind && w.draw(10, "unwritable") == 0 {
			r.Err = "no such task"
		} else {
			w.plan.Tasks = slices.Clone(w.plan.Tasks)
			w.plan.Tasks[n].Mark = b.Mark
		}
		w.do(r, w.key("mark"))
	case ledger.EffectPush:
		w.push(e, b)
	case ledger.EffectRequest:
		w.request(e, b)
	case ledger.EffectMergeRequest:
		w.merge(e, b)
	case ledger.EffectProgress, ledger.EffectKeepPlan, ledger.EffectRemember:
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

// session continues a session: it emits an event, or exits.
func (w *world) session(e ledger.Effect, b ledger.EffectStart) {
	result := w.result
	w.result = EffectName{} // an event is none
	ses, ok := w.s.Project.Session(b.Session)
	if !ok {
		w.t.Fatalf("session %s is not in flight", b.Session)
	}
	if ses.Cut && !w.begun[b.Session] { // it never gets a process
		w.remove(e)
		w.result = result
		w.deliver(SessionExited{ledger.Exit{Session: b.Session, Reason: ledger.ExitAsked, Code: -1, Turns: -1, Tokens: -1, Started: w.now, Ended: w.now, NotBegun: true}}, "exit")
		return
	}
	if w.begun[b.Session] = true; !w.kind && w.draw(4, "prepared") == 0 {
		return // it has a process, and nothing else has happened yet
	}
	x := ledger.Exit{Session: b.Session, Reason: ledger.ExitSelf, Turns: 3, Tokens: 1000, CostUSD: 0.25, Started: w.now, Ended: w.now.Add(time.Minute)}
	if ses.Planned.Kind != ledger.KindAgent {
		if tree := ses.Planned.Tree; !w.kind && w.s.Project.Run.Batch != nil {
			if _, drawn := w.redTrees[tree]; !drawn {
				w.redTrees[tree] = w.draw(2, "red tree") == 0
			}
			if w.redTrees[tree] {
				x.Code, x.Failures = 1, failing(pick(w, "TestA", "TestA", "TestA TestB", "unknown"))
			}
		}
		if !w.kind && (w.s.Project.Run.Batch == nil || w.draw(3, "") == 0) {
			switch w.draw(10, "command") {
			case 0, 1:
				x.Code, x.Failures = 1, failing(pick(w, "TestA", "TestA", "TestA TestB", "TestB", "TestA TestB TestC", "unknown"))
			case 2:
				x.Reason = ledger.ExitDisk
			case 3:
				x.Reason = ledger.ExitLost
			case 4:
				x.Reason = ledger.ExitAbandoned
			case 5:
				x.Reason = ledger.ExitWall
			case 6:
				x.Reason, x.Code, x.Fault = ledger.ExitNotStarted, -1, ledger.FaultMachine
			}
		}
		if w.kind && ses.Planned.Kind == ledger.KindRepro && w.repro(ses) {
			x.Code = 1
		}
		w.outcome[b.Session] = x
		w.remove(e)
		w.result = result
		w.exit(x)
		return
	}
	if ses.Event == nil && !w.asked[b.Session] && (w.kind || w.draw(5, "emit") > 0) {
		w.emitAny(ses)
		if !w.kind {
			return
		}
	}
	if !w.kind {
		switch w.draw(16, "exit") {
		case 0:
			x.Reason = ledger.ExitLost
		case 1:
			x.Failure, x.Until = ledger.FailureLimit, w.now.Add(time.Duration(w.draw(100, "limit")-20)*time.Minute)
		case 2:
			x.Failure = ledger.FailureAuth
		case 3:
			x.Failure = ledger.FailureNetwork
		case 4:
			x.Reason = ledger.ExitDisk
		case 5:
			x.Reason = ledger.ExitMemory
		case 6:
			x.Reason = ledger.ExitStall
		case 7:
			x.Code = 127
		case 8:
			x.Reason = ledger.ExitAbandoned
		case 9:
			if ses.Event == nil {
				x.Reason, x.Code, x.Fault = ledger.ExitNotStarted, -1, ledger.FaultMachine
			}
		case 10:
			w.burst = 1 + w.draw(8, "burst")
		}
		if ses.Event == nil && w.burst > 0 { // a provider that refuses every session for a while
			w.burst--
			x.Code, x.Turns, x.Ended = 1, -1, w.now.Add(2*time.Second)
			x.Reason, x.Failure, x.Until, x.Tail = ledger.ExitSelf, "", time.Time{}, "it refuses"
			if w.draw(3, "wording") == 0 {
				x.Failure, x.Until = ledger.FailureNetwork, w.now.Add(time.Duration(w.draw(60, "pause"))*time.Minute)
			}
		}
	}
	w.remove(e)
	w.result = result
	w.exit(x)
}

// exit delivers a session's end. One that the machine could not start blames
// nobody.
func (w *world) exit(x ledger.Exit) {
	d := w.do(SessionExited{x}, w.key("exit"))
	if x.Fault != "" {
		w.blameless("the start of a session", d)
	}
	w.repeat(SessionExited{x})
}

// repro reports whether the session runs the reproducer's command.
func (w *world) repro(ses Session) bool { return ses.Planned.Command == "go test -run TestBug" }

// calm lets everything succeed and answers all questions, until all work is
// done.
func (w *world) calm() {
	w.kind = true
	for range 600 {
		if len(w.todo) > 0 {
			w.outside()
			continue
		}
		r := w.s.Project.Run
		if r.Over() {
			if w.finished() {
				w.ended()
				if m := r.Remake; m != nil || w.unsaid != "" {
					w.t.Fatalf("a branch that was made again is neither verified nor said not to be: %+v %s\n%s", m, w.unsaid, w.dump())
				}
				return
			}
			if qs := w.s.Project.Questions; len(qs) > 0 {
				w.settle(qs[0])
				continue
			}
			w.settings.OnBlocked, w.settings.MaxTasks, w.settings.Until = ledger.OnBlockedContinue, 0, time.Time{}
			w.run()
			continue
		}
		if qs := w.s.Project.Questions; len(qs) > 0 {
			w.settle(qs[0])
			continue
		}
		due := Due(w.s)
		switch {
		case r.State == ledger.RunPaused, r.State == ledger.RunStopping:
			w.person(Resume{})
		case due.IsZero():
			w.t.Fatalf("nothing goes on: %s", w.dump())
		default:
			if due.After(w.now) {
				w.now = due
			}
			w.do(Tick{}, "")
		}
	}
	w.t.Fatalf("no end in sight: %s", w.dump())
}

func (w *world) settle(q ledger.Question) {
	choice := map[ledger.QuestionKind]string{ledger.AskBlocked: "retry", ledger.AskManual: "pass", ledger.AskBaseline: "go", ledger.AskReview: "resume", ledger.AskUnticked: "keep", ledger.AskSkip: "wait", ledger.AskNow: "queue", ledger.AskAgent: "a", ledger.AskStart: "cancel", ledger.AskLate: "no", ledger.AskPlan: "approve", ledger.AskAllow: "deny", ledger.AskSecret: "harmless", ledger.AskNewFiles: "ignore", ledger.AskRemake: "drop", ledger.AskChecks: "allow", ledger.AskMerge: "cancel"}[q.Kind]
	words := ""
	if q.Kind == ledger.AskAgent && len(q.Options) == 0 {
		choice, words = "", "this"
	}
	if a := w.person(AnswerQuestion{Question: q.ID, Choice: choice, Words: words}); !a.OK {
		w.t.Fatalf("%s %s is refused: %v", q.ID, choice, a)
	}
}

func (w *world) finished() bool {
	for _, t := range w.s.Project.Tasks.All() {
		if of, ok := w.s.Project.Find(t.Task.Parent); ok && t.Task.Parent != "" && of.Rest != nil {
			continue // the part waits for the line of its task
		}
		if t.Status != ledger.Done && t.Status != ledger.Skipped && t.Status != ledger.Withdrawn && !w.hopeless(*t, 0) {
			return false
		}
	}
	return true
}

// hopeless reports whether a task can never start because a task that it
// depends on was skipped, withdrawn or never existed.
func (w *world) hopeless(t TaskState, depth int) bool {
	if depth > 50 || t.Status != ledger.Pending {
		return false
	}
	for _, id := range slices.Concat(t.Task.DependsOn, t.Parts) {
		dep, ok := w.s.Project.Find(id)
		if !ok || dep.Status == ledger.Skipped || dep.Status == ledger.Withdrawn || w.hopeless(dep, depth+1) {
			return true
		}
	}
	return false
}

func (w *world) ended() {
	w.sent()
	w.merging()
	w.bounded()
	for _, i := range w.s.Project.Guidance.Items {
		if i.State == guidance.Injected && !w.s.Project.Rests(i) {
			w.t.Fatalf("%s is still in use when all is over: %s", i.ID, mustJSON(w.t, i))
		}
	}
	if len(w.s.Project.Failing) > 0 {
		w.t.Fatalf("the fault is over, and still fails: %s", mustJSON(w.t, w.s.Project.Failing))
	}
	if len(w.s.Shared.Leases) > 0 || len(w.s.Project.Sessions) > 0 {
		w.t.Fatalf("something is left in flight: %s", w.dump())
	}
}
