package loop

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/nightporter/nightporter/guidance"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/payload"
	"github.com/nightporter/nightporter/loop/people"
)

// world simulates everything outside the core at random: agents, commands, git,
// people, the disk, and crashes of the daemon.
type world struct {
	*night
	rnd   *rand.Rand
	kind  bool            // everything succeeds from now on
	asked map[string]bool // sessions that were asked to end
	taken map[string]TreeCaptured

	redTrees map[string]bool // whether the trees of batches fail
	laid     map[string]MergeFinished
	late     []func() // deliver a result a second time, as a crash may
	seq      int
}

// TestSchedules plays random nights. Every night must come to its end once
// everything outside the core succeeds.
func TestSchedules(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		seed := rapid.Uint64().Draw(rt, "seed")
		w := &world{night: newNight(rt), rnd: rand.New(rand.NewPCG(seed, 1)), asked: map[string]bool{}, taken: map[string]TreeCaptured{}, laid: map[string]MergeFinished{}, redTrees: map[string]bool{}}
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

func (w *world) key(s string) string { w.seq++; return fmt.Sprintf("%s:%d", s, w.seq) }

func (w *world) person(b InputBody) ledger.Answer { return w.do(b, w.key("person")).Answer }

func (w *world) run() { w.person(StartRun{Settings: w.settings, MaxSessions: 1}) }

// draw returns a uniform random number below n. Numbers from rapid are not
// uniform: it prefers small ones.
func (w *world) draw(n int, _ string) int { return w.rnd.IntN(n) }

func pick[T any](w *world, of ...T) T { return of[w.rnd.IntN(len(of))] }

func (w *world) step() {
	switch w.draw(21, "step") {
	case 0:
		w.people()
	case 5:
		w.crowd()
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

func (w *world) people() {
	switch w.draw(18, "person") {
	case 0:
		w.person(Pause{Now: w.draw(2, "now") == 0})
	case 1, 2:
		w.person(Resume{})
	case 3:
		w.person(Stop{Now: w.draw(2, "now") == 0, Signal: pick(w, "", "SIGINT", "SIGTERM")})
	case 4:
		w.person(RetryTask{w.anyTask()})
	case 5:
		w.person(SkipTask{w.anyTask()})
	case 6:
		w.person(NextTask{w.anyTask()})
	case 7:
		w.person(StartRun{Settings: w.settings, MaxSessions: 1, New: w.draw(4, "new") == 0, Check: w.draw(8, "check") == 0})
	case 8, 9:
		w.answer()
	case 10, 11, 12:
		w.answer()
	case 13:
		w.person(OfferRun{Settings: w.settings, MaxSessions: 1, Tasks: len(w.plan.Tasks)})
	case 15:
		w.person(RedoPlan{Task: w.anyTask(), Words: pick(w, "", "smaller")})
	case 16:
		b := HatsChanged{Pattern: patterns[pick(w, "plan-build-review", "single", "bug", "refactor")], Hats: w.hats()}
		switch w.draw(4, "broken hats") {
		case 0:
			b = HatsChanged{Err: "hats/x.toml:3: unknown key"}
		case 1: // changed on disk, but only the next start reads it
			w.settings.Pattern, w.settings.Hats = b.Pattern, b.Hats
			return
		default:
			w.settings.Pattern, w.settings.Hats = b.Pattern, b.Hats
		}
		w.do(b, "")
	case 14:
		w.person(Late{Line: "/x", Do: pick(w, ledger.DeferPause, ledger.DeferPauseNow, ledger.DeferResume, ledger.DeferStop, ledger.DeferStopNow), Sent: w.now.Add(-3 * time.Hour)})
	default:
		w.run()
	}
}

// crowd sends a random input from people's chats: it is recorded in the shared
// stream and changes no project.
func (w *world) crowd() {
	w.who, w.role = pick(w, "", "mira", "ana", "eve"), pick(w, "", "", ledger.RoleSteer, ledger.RoleAdmin)
	defer func() { w.who, w.role = "", "" }()
	hash := pick(w, "h1", "h2")
	b := pick[InputBody](w,
		people.OfferPairing{Hash: hash, Role: pick(w, ledger.RoleView, ledger.RoleSteer, ledger.RoleAdmin, "owner")},
		people.TryPairing{Hash: hash}, people.Remove{ID: "telegram:mira"}, people.MeetStranger{Why: "not paired"},
		people.SetQuiet{Chat: "telegram:ana", Hours: pick[ledger.Hours](w, "22:00-07:00", "off", "default", "22-7")},
		people.RefuseCommand{Command: "stop", For: "shop"}, people.CameBack{Off: w.now.Add(-time.Hour)},
		people.DigestDue{Day: w.now.Format(time.DateOnly), At: w.now}, people.WeekDigestDue{Week: "2026-W47", At: w.now},
	)
	for _, e := range w.do(b, w.key("crowd")).Entries {
		if e.Stream != ledger.SharedStream {
			w.t.Fatalf("%s records %s in %s", b.InputKind(), e.Body.EntryType(), e.Stream)
		}
	}
}

// hats returns the hats of all patterns, sometimes without a hat that no
// pattern has a route to.
func (w *world) hats() map[string]ledger.Hat {
	hats := maps.Clone(testSettings().Hats)
	if w.draw(3, "") == 0 {
		delete(hats, pick(w, "critic", "architect", "writer"))
	}
	return hats
}

// answer answers one open question at random, also with an invalid answer.
func (w *world) answer() {
	if old := w.s.Project.Answered; len(old) > 0 && w.draw(4, "late") == 0 { // undo or answer a question that is settled
		w.person(AnswerQuestion{Question: old[len(old)-1].ID, Choice: pick(w, "undo", "undo", "a", "retry"), Words: pick(w, "", "use the other one")})
		return
	}
	qs := w.s.Project.Questions
	if len(qs) == 0 {
		return
	}
	q := qs[w.draw(len(qs), "question")]
	verbs := append(q.Verbs(), "nonsense", "")
	w.person(AnswerQuestion{Question: q.ID, Choice: verbs[w.draw(len(verbs), "choice")], Words: pick(w, "", "use the other one")})
}

// talk sends a random command about guidance.
func (w *world) talk() {
	items := w.s.Project.Guidance.Items
	id := "g1"
	if len(items) > 0 {
		id = items[w.draw(len(items), "item")].ID
	}
	switch w.draw(8, "talk") {
	case 0:
		w.person(DropGuidance{id})
	case 1:
		w.person(KeepGuidance{id})
	case 2:
		w.person(EditGuidance{id, "other words"})
	case 3:
		w.person(Now{pick(w, "", "stop that")})
	default:
		text := pick(w, "keep the names", "@fixer be brief", "@planner think", "@reviewer look at it", "#1 only this one", "!sticky no new dependencies", "!sticky @builder tabs", "@nobody hello", "#99 hello", "")
		w.person(Guide{text})
	}
}

// edit changes the source at random: people edit, stash and tick.
func (w *world) edit() {
	if w.s.Project.Run.Over() || w.s.Project.Run.State == ledger.RunPlanning {
		return
	}
	tasks := slices.Clone(w.plan.Tasks)
	switch k := w.draw(8, "edit"); k {
	case 0:
		tasks = append(tasks, ledger.Task{ID: w.key("Task 1"), Title: "New", Mark: ledger.MarkOpen})
	case 1, 2, 3, 4:
		if len(tasks) == 0 {
			return
		}
		n := w.draw(len(tasks), "line")
		switch k {
		case 1:
			tasks[n].Body = fmt.Sprintf("edit %d", len(w.keys))
		case 2:
			tasks = slices.Delete(tasks, n, n+1)
		case 3:
			tasks[n].Mark = pick(w, ledger.MarkOpen, ledger.MarkDone, ledger.MarkBlocked, ledger.MarkManualVerify)
		case 4:
			slices.Reverse(tasks)
		}
	case 5: // a stash unticks all
		for n := range tasks {
			tasks[n].Mark = ledger.MarkOpen
		}
	case 6:
		w.do(SourceChanged{Err: "checkout.md:3  broken"}, "")
		return
	}
	w.plan.Tasks = tasks
	w.do(SourceChanged{Snapshot: ledger.Snapshot{Name: w.plan.Name, Path: w.plan.Path, Tasks: slices.Clone(tasks)}, Read: w.now}, "")
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

func (w *world) act(e ledger.Effect) {
	c, made := e.Body.(ledger.EffectCommit)
	if made {
		_, made = w.made[mustJSON(w.t, c.Commit)]
	}
	if !w.kind && !made && w.draw(60, "broken") == 0 {
		w.remove(e)
		switch b := e.Body.(type) {
		case ledger.EffectMark, ledger.EffectProgress, ledger.EffectEnd, ledger.EffectKeepPlan, ledger.EffectRemember:
			w.todo = append(w.todo, e)
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
	ses, ok := w.s.Project.Session(b.Session)
	if !ok {
		w.t.Fatalf("session %s is not in flight", b.Session)
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
			switch w.draw(9, "command") {
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
			}
		}
		if w.kind && ses.Planned.Kind == ledger.KindRepro && w.repro(ses) {
			x.Code = 1
		}
		w.outcome[b.Session] = x
		w.remove(e)
		w.deliver(SessionExited{x}, "exit")
		return
	}
	if ses.Event == nil && !w.asked[b.Session] && (w.kind || w.draw(5, "emit") > 0) {
		w.emitAny(ses)
		if !w.kind {
			return
		}
	}
	if !w.kind {
		switch w.draw(14, "exit") {
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
		}
	}
	w.remove(e)
	w.deliver(SessionExited{x}, "exit")
}

// repro reports whether the session runs the reproducer's command.
func (w *world) repro(ses Session) bool { return ses.Planned.Command == "go test -run TestBug" }

// sections returns random sections of a plan. A section may depend on an
// earlier one.
func (w *world) sections() []map[string]any {
	var list []map[string]any
	for n := range 1 + w.draw(4, "sections") {
		s := map[string]any{"id": string(rune('a' + n)), "title": "Section", "files": []string{"a.go"}}
		switch w.draw(4, "needs") {
		case 0, 1:
			s["depends_on"] = []string{}
		case 2:
			if n > 0 {
				s["depends_on"] = []string{string(rune('a' + w.draw(n, "needs")))}
			}
		}
		list = append(list, s)
	}
	if !w.kind && w.draw(3, "left out") == 0 { // and what needed it
		gone := list[w.draw(len(list), "left out")]["id"]
		list = slices.DeleteFunc(list, func(s map[string]any) bool { return s["id"] == gone })
		for _, s := range list {
			s["depends_on"] = []string{}
		}
	}
	return list
}

// critique returns a random verdict on the plan of a task.
func (w *world) critique(task string) map[string]any {
	data := map[string]any{"verdict": payload.VerdictOkay, "sections": []any{}}
	t, _ := w.s.Project.Find(task)
	if w.kind || w.draw(2, "verdict") == 0 || t.Attempt == nil {
		return data
	}
	data["verdict"], data["objections"] = payload.VerdictReject, []string{"it misses the point"}
	var list []map[string]any
	for _, s := range payload.Sections(t.Attempt.Plan) {
		j := map[string]any{"id": s.ID, "verdict": payload.VerdictOkay}
		if w.draw(2, "section") == 0 {
			j = map[string]any{"id": s.ID, "verdict": payload.VerdictReject, "objections": []string{"no test"}}
		}
		list = append(list, j)
	}
	if list != nil {
		data["sections"] = list
	}
	return data
}

// emitAny emits a random event: one that the hat may emit, or another.
func (w *world) emitAny(ses Session) {
	typ := w.s.Project.Run.Settings.Hats[ses.Planned.Hat].Emits[0]
	data := map[string]any{"summary": "did it", "steps": []string{"one"}, "files_modified": []string{"a.go"}, "issues": []ledger.Issue{}, "resolved": []string{}}
	switch typ {
	case ledger.EventPlan:
		t, _ := w.s.Project.Find(ses.Task)
		stands := t.Attempt != nil && t.Attempt.Consensus != nil && len(t.Attempt.Consensus.Approved) > 0 // then the rest of the plan has to be in sections too
		if w.draw(2, "in parts") == 0 || w.kind && stands {
			data["sections"] = w.sections()
		}
	case ledger.EventCritique:
		data = w.critique(ses.Task)
	case ledger.EventAdvice:
		data["advice"] = "smaller steps"
	case ledger.EventRepro:
		data = map[string]any{"command": "go test -run TestBug", "root_cause": "off by one", "affected_files": []string{}, "strategy": "count from 0"}
	case "verification.passed":
		ok := w.kind || w.draw(3, "checks") > 0
		if !ok {
			typ = ledger.EventFailed
		}
		data = map[string]any{"checks": []map[string]any{{"criterion": "It works", "ok": ok, "how": "ran it"}}}
	}
	if !w.kind && w.draw(4, "remember") == 0 {
		w.do(Remember{Session: ses.ID, Kind: ledger.MemoryNote, Text: pick(w, "tests need a port", "", string(make([]byte, maxMemory+1)))}, w.key("memory"))
	}
	if !w.kind {
		switch w.draw(9, "event") {
		case 0:
			data["no_change"] = "it is there already"
		case 1:
			data["manual_verify"] = "look at the page"
		case 2:
			typ, data = ledger.EventQuestion, map[string]any{"text": "which?", "options": []string{"this", "that"}}
			if w.draw(2, "choice") == 0 {
				data["choice"] = "that"
			}
		case 3:
			typ, data = ledger.EventBlocked, map[string]any{"reason": "no key", "tried": "all", "needs": "a key"}
		case 4:
			typ = "nonsense"
		case 5:
			data = map[string]any{"summary": 5}
		}
		if w.draw(3, "issues") == 0 {
			data["issues"] = []ledger.Issue{{Severity: ledger.Major, File: "a.go", Rule: pick(w, "r1", "r2", "r3"), Text: "wrong"}}
		}
	}
	var reports []map[string]any
	for _, id := range ses.Planned.Guidance.Shown {
		if !w.kind && w.draw(3, "judged") == 0 {
			reports = append(reports, map[string]any{"id": id, pick(w, "done", "set_aside"): true, "note": "so"})
		}
	}
	for _, id := range ses.Planned.Guidance.Bound {
		if w.kind || w.draw(2, "report") == 0 {
			reports = append(reports, map[string]any{"id": id, "done": true, "note": "so"})
		}
	}
	if reports != nil {
		data["guidance"] = reports
	}
	raw, err := json.Marshal(data)
	if err != nil {
		w.t.Fatalf("%v", err)
	}
	key := w.key("emit")
	first := w.do(Emit{Session: ses.ID, Type: typ, Data: raw}, key).Answer
	if again := w.do(Emit{Session: ses.ID, Type: typ, Data: raw}, key).Answer; again != first {
		w.t.Fatalf("the same emit is answered %v, then %v", first, again)
	}
	if w.kind && !first.OK && !ses.Cut {
		w.t.Fatalf("a good event is refused: %v", first)
	}
	if first.OK {
		other := w.do(Emit{Session: ses.ID, Type: ledger.EventBlocked, Data: raw}, w.key("emit")).Answer
		if typ != ledger.EventBlocked && other.OK {
			w.t.Fatalf("a second event is accepted")
		}
	}
}

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
	choice := map[ledger.QuestionKind]string{ledger.AskBlocked: "retry", ledger.AskManual: "pass", ledger.AskBaseline: "go", ledger.AskReview: "resume", ledger.AskUnticked: "keep", ledger.AskSkip: "wait", ledger.AskNow: "queue", ledger.AskAgent: "a", ledger.AskStart: "cancel", ledger.AskLate: "no", ledger.AskPlan: "approve", ledger.AskAllow: "deny", ledger.AskSecret: "harmless", ledger.AskChecks: "allow"}[q.Kind]
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
	for _, i := range w.s.Project.Guidance.Items {
		if i.State == guidance.Injected {
			w.t.Fatalf("%s is still in use when all is over: %s", i.ID, mustJSON(w.t, i))
		}
	}
	if len(w.s.Shared.Leases) > 0 || len(w.s.Project.Sessions) > 0 {
		w.t.Fatalf("something is left in flight: %s", w.dump())
	}
}
