package loop

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/nightporter/nightporter/loop/ledger"
)

// world simulates everything outside the core at random: agents, commands, git,
// people, the disk, and crashes of the daemon.
type world struct {
	*night
	rnd    *rand.Rand
	kind   bool            // everything succeeds from now on
	phases bool            // tasks have phases
	bugs   bool            // tasks are bug reports
	asked  map[string]bool // sessions that were asked to end
	begun  map[string]bool // sessions that have a process
	taken  map[string]TreeCaptured

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
		w.trusts = seed%3 != 0 // holding that decisions are pure and fold to their state takes ten times as long as the night
		w.settings.OnBlocked = pick(w, ledger.OnBlockedContinue, ledger.OnBlockedStop)
		w.settings.MaxTasks = w.draw(4, "")
		w.settings.MaxIterations = pick(w, 0, 5, 500)
		w.settings.Profile = pick(w, "review", "overnight")
		w.settings.Fallback = pick(w, "", "codex")
		w.settings.Stays = w.draw(2, "") == 0
		w.settings.QuestionThen = pick(w, "", ledger.ThenContinue, ledger.ThenPause, ledger.ThenAbort)
		w.settings.Consensus, w.settings.PlanApproval = w.draw(3, "") == 0, w.draw(6, "") == 0
		w.settings.ReplanAfter = w.draw(1+ledger.MaxAttempts, "")
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
		w.settings.Order = pick(w, "", ledger.OrderDocument, ledger.OrderScore)
		w.settings.MarksWorking, w.settings.CountsTries = w.draw(2, "") == 1, w.draw(2, "") == 1
		w.phases = w.draw(2, "") == 0
		w.settings.Push = pick(w, ledger.PushNever, ledger.PushEnd, ledger.PushTask)
		w.settings.Requests.PerTask = w.draw(3, "a request a task") == 0
		w.settings.Requests.Apart = w.settings.Requests.PerTask && w.draw(2, "apart") == 0
		w.settings.Parallel = pick(w, 0, 0, 2, 3, 5)
		w.settings.MaxLoad = pick(w, 0, 0, 2.5)
		if w.draw(4, "an account") == 0 {
			w.accounts = []string{"claude"}
		}
		if w.settings.Parallel > 1 && w.draw(2, "own rooms") == 0 {
			for n := range w.settings.Verify {
				w.settings.Verify[n].Parallel = true
			}
		}
		w.plan = ledger.Snapshot{Name: "checkout", Path: "checkout.md"}
		for k := range 1 + w.draw(5, "") {
			task := ledger.Task{ID: fmt.Sprintf("Task %d", k+1), Title: "T", Mark: pick(w, ledger.MarkOpen, ledger.MarkOpen, ledger.MarkOpen, ledger.MarkDone, ledger.MarkBlocked, ledger.MarkManualVerify)}
			task.Consensus = w.draw(6, "") == 0
			task.Verifier = w.draw(6, "") == 0
			switch w.draw(6, "") {
			case 0:
				task.Threshold = []ledger.Severity{ledger.Critical}
			case 1:
				task.Threshold = []ledger.Severity{ledger.Critical, ledger.Major, ledger.Minor, ledger.Suggestion}
			}
			if k > 0 && w.draw(2, "") == 0 {
				task.DependsOn = []string{fmt.Sprintf("Task %d", 1+w.draw(k, ""))}
			}
			if w.draw(6, "") == 0 {
				task.Repeat = &ledger.Repeat{Cooldown: time.Duration(w.draw(4, "")) * 10 * time.Minute}
			}
			w.moreOf(&task)
			w.scopeOf(&task)
			w.plan.Tasks = append(w.plan.Tasks, task)
		}
		if w.draw(4, "an inbox") == 0 {
			w.openInbox()
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

// moreOf gives a task fields that few sources have.
func (w *world) moreOf(t *ledger.Task) {
	if w.settings.Order != ledger.OrderScore {
		return
	}
	t.Priority, t.Complexity = w.draw(5, ""), w.draw(11, "")
	if w.phases && w.draw(2, "") == 0 {
		t.Phase = len(w.plan.Tasks) / 2 // never below that of a task before, which it may need
	}
}

// scopeOf says where a task writes, for nights with lanes.
func (w *world) scopeOf(t *ledger.Task) {
	if w.settings.Parallel < 2 {
		return
	}
	t.Scope = pick(w, "", "`src/a`", "`src/b`", "`src/c/**`", "`src/{a,b}/x.go`", "`go.mod`", "auth")
	if w.draw(4, "") == 0 {
		t.Labels = []string{"P"}
	}
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

func (w *world) run() {
	w.person(StartRun{Settings: w.settings, MaxSessions: max(w.settings.Parallel-w.draw(2, ""), 1)})
}

// draw returns a uniform random number below n. Numbers from rapid are not
// uniform: it prefers small ones.
func (w *world) draw(n int, _ string) int { return w.rnd.IntN(n) }

func pick[T any](w *world, of ...T) T { return of[w.rnd.IntN(len(of))] }

func (w *world) step() {
	w.reports()
	w.load = pick(w, 0.5, 1, 4)
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
		if r, asked := b.(RequestFinished); asked && w.s.Project.Requests.Branch(r.Run).Asking == r.Print {
			return // the same is asked for again, as after a revert and back
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
