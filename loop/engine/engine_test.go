package engine_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nightporter/nightporter/guidance"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// outcome returns the exit code of the run and whether the run is settled.
func (w *world) outcome() (int, bool) {
	s := w.state()
	if !loop.Settled(s) || !s.Project.Run.Over() {
		return 0, false
	}
	return s.Project.Run.Ended.Exit, true
}

// TestRun runs two tasks through the real store and checks that there are two
// commits, in order.
func TestRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, succeeded)
		w.do(loop.StartRun{Settings: settings(), MaxSessions: 1}, "")
		synctest.Wait()
		if exit, through := w.outcome(); exit != 0 || !through {
			t.Fatalf("outcome %d, %v; run %+v", exit, through, w.state().Project.Run)
		}
		if len(w.commits) != 2 || w.commits[1].Parent != "commit of tree1" {
			t.Errorf("commits %+v", w.commits)
		}
		if !strings.HasPrefix(w.commits[0].Footers, "Nightporter-Head: project/p@") {
			t.Errorf("footers %q name no head", w.commits[0].Footers)
		}
		if want := []ledger.Marking{{Task: "Task 1", Mark: ledger.MarkDone}, {Task: "Task 2", Mark: ledger.MarkDone}}; !slices.Equal(w.marks, want) {
			t.Errorf("marks %v", w.marks)
		}
	})
}

// TestScopeThatPermitsNothing checks that a task is blocked if its scope turns
// out to permit nothing after its session, as the scope of a plan's section
// can, and that the other tasks are done.
func TestScopeThatPermitsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, succeeded)
		w.plan.Tasks[0].Scope, w.plan.Tasks[1].DependsOn = "elsewhere/", nil
		w.captureErr = func(b ledger.CaptureRequest) error {
			if b.Scope.Task == "" {
				return nil
			}
			return fmt.Errorf("take over: %w", &ledger.InputError{Diagnostics: []ledger.Diagnostic{{Text: "the scope leaves nothing to write"}}})
		}
		w.do(loop.StartRun{Settings: settings(), MaxSessions: 1}, "")
		synctest.Wait()
		var got []ledger.Status
		for _, t := range w.state().Project.Tasks.All() {
			got = append(got, t.Status)
		}
		if exit, through := w.outcome(); exit != 1 || !through || !slices.Equal(got, []ledger.Status{ledger.Blocked, ledger.Done}) {
			t.Fatalf("outcome %d, %v; tasks %v, run %+v", exit, through, got, w.state().Project.Run.Ended)
		}
	})
}

// TestPreflightLooksForTheCritic checks that the preflight checks the critic's
// agent, also if only a single task asks for a critic.
func TestPreflightLooksForTheCritic(t *testing.T) {
	for _, consensus := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, succeeded)
			w.plan.Tasks[0].Consensus = consensus
			s := settings()
			s.Hats["critic"] = ledger.Hat{Name: "critic", Agent: "other", Emits: []string{ledger.EventCritique}}
			w.do(loop.StartRun{Settings: s, MaxSessions: 1, Check: true}, "")
			synctest.Wait()
			if got := slices.Contains(w.looked, "other"); got != consensus {
				t.Errorf("consensus=%v: looked for %v", consensus, w.looked)
			}
		})
	}
}

// TestRestartAnywhere restarts the engine after every entry of a run, one entry
// a run: no session is started and no commit made twice, and the result is the
// same.
func TestRestartAnywhere(t *testing.T) {
	for n := 1; n < 60; n += 3 {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, func(w *world, l ledger.Launch) ledger.Exit {
				time.Sleep(time.Minute) // in the bubble's time, for sessions to end
				return succeeded(w, l)
			})
			w.do(loop.StartRun{Settings: settings(), MaxSessions: 1}, "")
			for {
				time.Sleep(7 * time.Second)
				synctest.Wait()
				w.mu.Lock()
				reached := len(w.entries) >= n
				w.mu.Unlock()
				if _, through := w.outcome(); reached || through {
					break
				}
			}
			w.restart()
			time.Sleep(time.Hour)
			synctest.Wait()
			if exit, through := w.outcome(); exit != 0 || !through {
				t.Fatalf("restart after %d entries: outcome %d, %v", n, exit, through)
			}
			for session, times := range w.started {
				if times != 1 {
					t.Errorf("restart after %d entries: session %s started %d times", n, session, times)
				}
			}
			if len(w.commits) != 2 {
				t.Errorf("restart after %d entries: %d commits", n, len(w.commits))
			}
		})
	}
}

// TestQuestionExpires checks that a question without an answer expires at its
// time.
func TestQuestionExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := false
		w := newWorld(t, func(w *world, l ledger.Launch) ledger.Exit {
			if l.Hat == "builder" && !asked {
				asked = true
				w.emit(l.Session, ledger.EventQuestion, map[string]any{"text": "Which?", "options": []string{"this", "that"}, "choice": "that"})
				return exited(l.Session, 0)
			}
			return succeeded(w, l)
		})
		w.do(loop.StartRun{Settings: settings(), MaxSessions: 1}, "")
		synctest.Wait()
		if r := w.state().Project.Run; r.State != ledger.RunWaiting || r.Wait != ledger.WaitQuestion {
			t.Fatalf("run is %s for %s, want waiting for a question", r.State, r.Wait)
		}
		time.Sleep(29 * time.Minute)
		synctest.Wait()
		if len(w.state().Project.Questions) != 1 {
			t.Fatal("settled before its time")
		}
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		if exit, through := w.outcome(); exit != 0 || !through {
			t.Fatalf("outcome %d, %v", exit, through)
		}
		if words := w.state().Project.Tasks.At(0).Words; len(words) != 1 || !strings.Contains(words[0], "that") {
			t.Errorf("the session was told %q", words)
		}
	})
}

// TestNothingIsPlannedWithoutADaemon checks that an answer given without a
// daemon is stored and plans nothing: otherwise the ledger would have a session
// that does not run.
func TestNothingIsPlannedWithoutADaemon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := false
		w := newWorld(t, func(w *world, l ledger.Launch) ledger.Exit {
			if l.Hat == "builder" && !asked {
				asked = true
				w.emit(l.Session, ledger.EventQuestion, map[string]any{"text": "Which?", "options": []string{"this", "that"}})
				return exited(l.Session, 0)
			}
			return succeeded(w, l)
		})
		w.do(loop.StartRun{Settings: settings(), MaxSessions: 1}, "")
		synctest.Wait()
		w.stop()
		w.openTo(false)
		if a := w.do(loop.AnswerQuestion{Question: "q1", Choice: "a"}, "cli:1"); !a.OK {
			t.Fatalf("answer %+v", a)
		}
		synctest.Wait()
		if s := w.state().Project; len(s.Sessions) != 0 || len(s.Questions) != 0 {
			t.Errorf("%d sessions in flight, %d questions open", len(s.Sessions), len(s.Questions))
		}
		w.restart()
		w.do(loop.StartRun{Settings: settings(), MaxSessions: 1}, "")
		synctest.Wait()
		if exit, through := w.outcome(); exit != 0 || !through {
			t.Fatalf("outcome %d, %v", exit, through)
		}
	})
}

// TestLimitIsWaitedOut checks that a usage limit parks the agent until the time
// that it names. No session starts before that, and the session that was cut
// off does not count.
func TestLimitIsWaitedOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limited := false
		var resumed time.Time
		reset := time.Now().Add(58 * time.Minute)
		w := newWorld(t, func(w *world, l ledger.Launch) ledger.Exit {
			if l.Hat == "builder" && !limited {
				limited = true
				x := exited(l.Session, 1)
				x.Failure, x.Until, x.Text = ledger.FailureLimit, reset, "You've hit your limit"
				return x
			}
			if resumed.IsZero() && l.Hat != "" {
				resumed = time.Now()
			}
			return succeeded(w, l)
		})
		w.do(loop.StartRun{Settings: settings(), MaxSessions: 1}, "")
		synctest.Wait()
		if r := w.state().Project.Run; r.State != ledger.RunWaiting || r.Wait != ledger.WaitLimit || !r.Until.Equal(reset) {
			t.Fatalf("run is %s for %s until %s", r.State, r.Wait, r.Until)
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		if exit, through := w.outcome(); exit != 0 || !through {
			t.Fatalf("outcome %d, %v", exit, through)
		}
		if resumed.Before(reset) {
			t.Errorf("a session was started at %s, before %s", resumed, reset)
		}
		if failed := w.state().Project.Tasks.At(0).Attempts; failed != 1 {
			t.Errorf("%d attempts, want 1: a limit counts as nothing", failed)
		}
	})
}

// TestSameKeySameAnswer checks that a repeated key gets the first answer, also
// from another engine on the same ledger.
func TestSameKeySameAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, succeeded)
		w.do(loop.StartRun{Settings: settings(), MaxSessions: 1}, "")
		synctest.Wait()
		first := w.do(loop.Guide{Text: "Wrap it"}, "tg:1")
		if again := w.do(loop.Guide{Text: "Wrap it"}, "tg:1"); again != first {
			t.Errorf("again %+v, first %+v", again, first)
		}
		w.restart()
		if again := w.do(loop.Guide{Text: "Wrap it"}, "tg:1"); again != first {
			t.Errorf("after a restart %+v, first %+v", again, first)
		}
		if n := len(w.state().Project.Guidance.Items); n != 1 {
			t.Errorf("%d items, want 1", n)
		}
	})
}

// TestGuidanceReachesOneSession checks that guidance sent while the builder
// works is bound once, to the next session that writes, even if the engine
// restarts in between.
func TestGuidanceReachesOneSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var prompts []string
		w := newWorld(t, func(w *world, l ledger.Launch) ledger.Exit {
			if l.Hat == "builder" {
				prompts = append(prompts, l.Session+"\n"+l.Prompt)
			}
			time.Sleep(time.Minute)
			if l.Hat == "builder" && l.Session != "r1-1" {
				w.mu.Lock()
				w.tree++
				w.mu.Unlock()
				w.emit(l.Session, "build.complete", map[string]any{
					"summary": "built", "files_modified": []string{"f"},
					"guidance": []any{map[string]any{"id": "g1", "done": true, "note": "wrapped"}},
				})
				return exited(l.Session, 0)
			}
			return succeeded(w, l)
		})
		w.do(loop.StartRun{Settings: settings(), MaxSessions: 1}, "")
		time.Sleep(90 * time.Second) // the baseline took the first minute
		synctest.Wait()
		w.do(loop.Guide{Text: "Wrap the old till"}, "tg:7")
		w.restart()
		time.Sleep(time.Hour)
		synctest.Wait()
		with := 0
		for _, p := range prompts {
			if strings.Contains(p, "Wrap the old till") {
				with++
			}
		}
		if with != 1 {
			t.Errorf("%d of %d builder prompts have it, want 1:\n%s", with, len(prompts), strings.Join(prompts, "\n---\n"))
		}
		if i, _ := w.state().Project.Guidance.Get("g1"); i.State != guidance.Addressed || i.Note != "wrapped" {
			t.Errorf("it ended as %s, %q", i.State, i.Note)
		}
	})
}

// TestPoisonedInput checks that a decision that panics poisons its own input
// only.
func TestPoisonedInput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, succeeded)
		w.do(loop.StartRun{Settings: settings(), MaxSessions: 1}, "")
		synctest.Wait()
		a := w.do(poison{}, "tg:9")
		if a.OK || a.Code != "fault" {
			t.Errorf("answer %+v", a)
		}
		if again := w.do(poison{}, "tg:9"); again != a {
			t.Errorf("again %+v", again)
		}
		if a := w.do(loop.Guide{Text: "still here"}, "tg:10"); !a.OK {
			t.Errorf("after it: %+v", a)
		}
	})
}

// TestUntold checks that a decision whose messages cannot be composed is
// carried out, that people are told so, and that the following decisions are
// told normally.
func TestUntold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		broken := true
		var told []string
		w := newWorld(t, succeeded)
		w.stop()
		w.compose = func(_ loop.State, d loop.Decision, _ loop.Input) []ledger.Outgoing {
			for _, e := range d.Entries {
				if _, is := e.Body.(ledger.GuidanceQueued); is && broken {
					panic("a nil pointer")
				}
				told = append(told, e.Body.EntryType())
			}
			return nil
		}
		w.open()
		a := w.do(loop.Guide{Text: "told to nobody"}, "tg:9")
		if !a.OK || !slices.Equal(told, []string{"id.issued", "input.poisoned"}) {
			t.Errorf("answer %+v, told %v", a, told)
		}
		if again := w.do(loop.Guide{Text: "told to nobody"}, "tg:9"); again != a {
			t.Errorf("again %+v", again)
		}
		broken = false
		w.do(loop.Guide{Text: "told to all"}, "tg:10")
		if len(w.state().Project.Guidance.Waiting()) != 2 || !slices.Contains(told, "guidance.queued") {
			t.Errorf("%+v, told %v", w.state().Project.Guidance, told)
		}
	})
}

// poison is an input that makes Decide panic, because its embedded interface is
// nil.
type poison struct{ loop.InputBody }

func (poison) InputKind() string { return "poison" }
