package engine_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nightporter/nightporter/guidance"
	"github.com/nightporter/nightporter/internal/scenario"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/engine"
	"github.com/nightporter/nightporter/loop/ledger"
)

// outcome returns the exit code of the run and whether the run is settled.
func (f *fixture) outcome() (int, bool) {
	s := f.state()
	if !loop.Settled(s) || !s.Project.Run.Over() {
		return 0, false
	}
	return s.Project.Run.Ended.Exit, true
}

// TestRun runs two tasks through the real store and checks that there are two
// commits, in order.
func TestRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, succeeded)
		f.do(loop.StartRun{Settings: settings(), MaxSessions: 1}, "")
		synctest.Wait()
		if exit, over := f.outcome(); exit != 0 || !over {
			t.Fatalf("outcome %d, %v; run %+v", exit, over, f.state().Project.Run)
		}
		commits := f.ports.Commits()
		if len(commits) != 2 || commits[1].Parent != "commit of tree1" {
			t.Errorf("commits %+v", commits)
		}
		if !strings.HasPrefix(commits[0].Footers, "Nightporter-Head: project/p@") {
			t.Errorf("footers %q name no head", commits[0].Footers)
		}
		if want := []ledger.Marking{{Task: "Task 1", Mark: ledger.MarkDone}, {Task: "Task 2", Mark: ledger.MarkDone}}; !slices.Equal(f.ports.Marks(), want) {
			t.Errorf("marks %v", f.ports.Marks())
		}
	})
}

// refusingFolders captures nothing within the scope of a task.
type refusingFolders struct{ engine.WorkFolders }

func (w refusingFolders) Capture(ctx context.Context, r ledger.CaptureRequest) (ledger.Capture, error) {
	if r.Scope.Task == "" {
		return w.WorkFolders.Capture(ctx, r)
	}
	return ledger.Capture{}, fmt.Errorf("capture: %w", &ledger.InputError{Diagnostics: []ledger.Diagnostic{{Text: "the scope leaves nothing to write"}}})
}

// TestScopeThatPermitsNothing checks that a task is blocked if its scope turns
// out to permit nothing after its session, as the scope of a plan's section
// can, and that the other tasks are done.
func TestScopeThatPermitsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, succeeded)
		f.ports.Plan.Tasks[0].Scope, f.ports.Plan.Tasks[1].DependsOn = "elsewhere/", nil
		f.wrap = func(p engine.Ports) engine.Ports {
			p.Place.Folders = refusingFolders{p.Place.Folders}
			return p
		}
		f.do(loop.StartRun{Settings: settings(), MaxSessions: 1}, "")
		synctest.Wait()
		var got []ledger.Status
		for _, t := range f.state().Project.Tasks.All() {
			got = append(got, t.Status)
		}
		if exit, over := f.outcome(); exit != 1 || !over || !slices.Equal(got, []ledger.Status{ledger.Blocked, ledger.Done}) {
			t.Fatalf("outcome %d, %v; tasks %v, run %+v", exit, over, got, f.state().Project.Run.Ended)
		}
	})
}

// TestPreflightLooksForTheCritic checks that the preflight checks the critic's
// agent, also if only a single task asks for a critic.
func TestPreflightChecksCritic(t *testing.T) {
	for _, consensus := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			f := newFixture(t, succeeded)
			f.ports.Plan.Tasks[0].Consensus = consensus
			s := settings()
			s.Hats["critic"] = ledger.Hat{Name: "critic", Agent: "other", Emits: []string{ledger.EventCritique}}
			f.do(loop.StartRun{Settings: s, MaxSessions: 1, Check: true}, "")
			synctest.Wait()
			if got := slices.Contains(f.ports.Checked(), "other"); got != consensus {
				t.Errorf("consensus=%v: checked %v", consensus, f.ports.Checked())
			}
		})
	}
}

// TestFallbackCannotTakeOver: a night does not fail to start because an agent that may
// never be needed is not there; it is told, and one that a hat names still refuses it.
func TestFallbackCannotTakeOver(t *testing.T) {
	for missing, starts := range map[string]bool{"other": true, "claude": false} {
		synctest.Test(t, func(t *testing.T) {
			f := newFixture(t, succeeded)
			f.ports.Missing = map[string]error{missing: &ledger.InputError{Diagnostics: []ledger.Diagnostic{{Text: "it is not logged in", Remedy: "nightporter login " + missing}}}}
			s := settings()
			s.Agent = "claude"
			s.Fallbacks = map[string][]string{"claude": {"other"}}
			f.do(loop.StartRun{Settings: s, MaxSessions: 1}, "")
			synctest.Wait()
			exit, over := f.outcome()
			if started := over && exit == 0; started != starts {
				t.Errorf("without %s: started %v, outcome %d; %+v", missing, started, exit, f.state().Project.Run.Ended)
			}
			told := false
			err := f.ledger.Records(t.Context(), ledger.ProjectStream("p"), 0, func(r ledger.Record) error {
				told = told || r.Type == (ledger.PreflightDone{}).EntryType() && strings.Contains(string(r.Body), "other cannot take over when another agent waits: it is not logged in")
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			if told != starts {
				t.Errorf("without %s: told %v", missing, told)
			}
		})
	}
}

// TestPreflightNamesUnready: the run begins without an agent that a person could choose
// later, and knows that it cannot be used now.
func TestPreflightNamesUnready(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, succeeded)
		f.ports.Missing = map[string]error{"other": &ledger.InputError{Diagnostics: []ledger.Diagnostic{{Text: "it is not logged in"}}}}
		s := settings()
		s.Others = []string{"mine", "other"}
		f.do(loop.StartRun{Settings: s, MaxSessions: 1}, "")
		synctest.Wait()
		if exit, over := f.outcome(); !over || exit != 0 || !slices.Equal(f.state().Project.Run.Base.Unready, []string{"other"}) {
			t.Errorf("outcome %d, over %v, not ready: %q", exit, over, f.state().Project.Run.Base.Unready)
		}
	})
}

// TestPreflightRefusesUnproved starts runs of a pattern without a review: they need
// a verification command, or the owner's word that none is needed.
func TestPreflightRefusesUnproved(t *testing.T) {
	alone := settings()
	alone.Pattern = ledger.Pattern{Name: "single", Start: "builder", Routes: []ledger.Route{{From: "builder", On: "build.complete", To: ledger.Converged}}}
	for _, c := range []struct {
		name   string
		change func(*ledger.Settings)
		exit   int
	}{
		{"no command", func(s *ledger.Settings) { s.Verify = nil }, 3},
		{"a command for the final check", func(s *ledger.Settings) { s.Verify = []ledger.Command{{Run: "test", When: "final"}} }, 0},
		{"allowed", func(s *ledger.Settings) { s.Verify, s.AllowUnproved = nil, true }, 0},
		{"a command", func(*ledger.Settings) {}, 0},
		{"a review", func(s *ledger.Settings) { s.Verify, s.Pattern = nil, settings().Pattern }, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			f := newFixture(t, succeeded)
			s := alone
			c.change(&s)
			f.do(loop.StartRun{Settings: s, MaxSessions: 1, Check: true}, "")
			time.Sleep(time.Hour)
			synctest.Wait()
			r, over, err := f.ledger.LastRecord(t.Context(), ledger.ProjectStream(s.Project), 1<<40, ledger.RunEnded{}.EntryType())
			if err != nil || !over { // a check leaves no run in the state
				t.Fatalf("%s: it has not ended: %v", c.name, err)
			}
			e, err := r.Entry()
			if b, is := e.Body.(ledger.RunEnded); err != nil || !is || b.Exit != c.exit {
				t.Errorf("%s: %+v, want exit %d: %v", c.name, b, c.exit, err)
			}
			if started := f.ports.Started(); c.exit == 3 && len(started) > 0 {
				t.Errorf("%s: started %v", c.name, started)
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
			f := newFixture(t, func(f *fixture, l ledger.Launch) ledger.Exit {
				time.Sleep(time.Minute) // in the bubble's time, for sessions to end
				return succeeded(f, l)
			})
			f.do(loop.StartRun{Settings: settings(), MaxSessions: 1}, "")
			for {
				time.Sleep(7 * time.Second)
				synctest.Wait()
				f.mu.Lock()
				reached := f.entries >= n
				f.mu.Unlock()
				if _, over := f.outcome(); reached || over {
					break
				}
			}
			f.restart()
			time.Sleep(time.Hour)
			synctest.Wait()
			if exit, over := f.outcome(); exit != 0 || !over {
				t.Fatalf("restart after %d entries: outcome %d, %v", n, exit, over)
			}
			for session, times := range f.ports.Started() {
				if times != 1 {
					t.Errorf("restart after %d entries: session %s started %d times", n, session, times)
				}
			}
			if commits := f.ports.Commits(); len(commits) != 2 {
				t.Errorf("restart after %d entries: %d commits", n, len(commits))
			}
		})
	}
}

// TestQuestionExpires checks that a question without an answer expires at its
// time.
func TestQuestionExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := false
		f := newFixture(t, func(f *fixture, l ledger.Launch) ledger.Exit {
			if l.Hat == "builder" && !asked {
				asked = true
				f.emit(l.Session, ledger.EventQuestion, map[string]any{"text": "Which?", "options": []string{"this", "that"}, "choice": "that"})
				return scenario.Exited(l.Session, 0)
			}
			return succeeded(f, l)
		})
		f.do(loop.StartRun{Settings: settings(), MaxSessions: 1}, "")
		synctest.Wait()
		if r := f.state().Project.Run; r.State != ledger.RunWaiting || r.Wait != ledger.WaitQuestion {
			t.Fatalf("run is %s for %s, want waiting for a question", r.State, r.Wait)
		}
		time.Sleep(29 * time.Minute)
		synctest.Wait()
		if len(f.state().Project.Questions) != 1 {
			t.Fatal("settled before its time")
		}
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		if exit, over := f.outcome(); exit != 0 || !over {
			t.Fatalf("outcome %d, %v", exit, over)
		}
		if words := f.state().Project.Tasks.At(0).Words; len(words) != 1 || !strings.Contains(words[0], "that") {
			t.Errorf("the session was told %q", words)
		}
	})
}

// TestNothingIsPlannedWithoutADaemon checks that an answer given without a
// daemon is stored and plans nothing: otherwise the ledger would have a session
// that does not run.
func TestAnswerWithoutDaemonPlansNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := false
		f := newFixture(t, func(f *fixture, l ledger.Launch) ledger.Exit {
			if l.Hat == "builder" && !asked {
				asked = true
				f.emit(l.Session, ledger.EventQuestion, map[string]any{"text": "Which?", "options": []string{"this", "that"}})
				return scenario.Exited(l.Session, 0)
			}
			return succeeded(f, l)
		})
		f.do(loop.StartRun{Settings: settings(), MaxSessions: 1}, "")
		synctest.Wait()
		f.stop()
		f.open(false)
		if a := f.do(loop.AnswerQuestion{Question: "q1", Choice: "a"}, "cli:1"); !a.OK {
			t.Fatalf("answer %+v", a)
		}
		synctest.Wait()
		if s := f.state().Project; len(s.Sessions) != 0 || len(s.Questions) != 0 {
			t.Errorf("%d sessions in flight, %d questions open", len(s.Sessions), len(s.Questions))
		}
		f.restart()
		f.do(loop.StartRun{Settings: settings(), MaxSessions: 1}, "")
		synctest.Wait()
		if exit, over := f.outcome(); exit != 0 || !over {
			t.Fatalf("outcome %d, %v", exit, over)
		}
	})
}

// TestLimitIsWaitedOut checks that a usage limit parks the agent until the time
// that it names. No session starts before that, and the session that was cut
// off does not count.
func TestUsageLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limited := false
		var resumed time.Time
		reset := time.Now().Add(58 * time.Minute)
		f := newFixture(t, func(f *fixture, l ledger.Launch) ledger.Exit {
			if l.Hat == "builder" && !limited {
				limited = true
				x := scenario.Exited(l.Session, 1)
				x.Failure, x.Until, x.Text = ledger.FailureLimit, reset, "You've hit your limit"
				return x
			}
			if resumed.IsZero() && l.Hat != "" {
				resumed = time.Now()
			}
			return succeeded(f, l)
		})
		f.do(loop.StartRun{Settings: settings(), MaxSessions: 1}, "")
		synctest.Wait()
		if r := f.state().Project.Run; r.State != ledger.RunWaiting || r.Wait != ledger.WaitLimit || !r.Until.Equal(reset) {
			t.Fatalf("run is %s for %s until %s", r.State, r.Wait, r.Until)
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		if exit, over := f.outcome(); exit != 0 || !over {
			t.Fatalf("outcome %d, %v", exit, over)
		}
		if resumed.Before(reset) {
			t.Errorf("a session was started at %s, before %s", resumed, reset)
		}
		if failed := f.state().Project.Tasks.At(0).Attempts; failed != 1 {
			t.Errorf("%d attempts, want 1: a limit counts as nothing", failed)
		}
	})
}

// TestSameKeySameAnswer checks that a repeated key gets the first answer, also
// from another engine on the same ledger.
func TestSameKeySameAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, succeeded)
		f.do(loop.StartRun{Settings: settings(), MaxSessions: 1}, "")
		synctest.Wait()
		first := f.do(loop.Guide{Text: "Wrap it"}, "tg:1")
		if again := f.do(loop.Guide{Text: "Wrap it"}, "tg:1"); again != first {
			t.Errorf("again %+v, first %+v", again, first)
		}
		f.restart()
		if again := f.do(loop.Guide{Text: "Wrap it"}, "tg:1"); again != first {
			t.Errorf("after a restart %+v, first %+v", again, first)
		}
		if n := len(f.state().Project.Guidance.Items); n != 1 {
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
		f := newFixture(t, func(f *fixture, l ledger.Launch) ledger.Exit {
			if l.Hat == "builder" {
				prompts = append(prompts, l.Session+"\n"+l.Prompt)
			}
			time.Sleep(time.Minute)
			if l.Hat == "builder" && l.Session != "r1-1" {
				f.ports.Write(ledger.FileChange{Path: "f", Added: 1})
				f.emit(l.Session, "build.complete", map[string]any{
					"summary": "built", "files_modified": []string{"f"},
					"guidance": []any{map[string]any{"id": "g1", "done": true, "note": "wrapped"}},
				})
				return scenario.Exited(l.Session, 0)
			}
			return succeeded(f, l)
		})
		f.do(loop.StartRun{Settings: settings(), MaxSessions: 1}, "")
		time.Sleep(90 * time.Second) // the baseline took the first minute
		synctest.Wait()
		f.do(loop.Guide{Text: "Wrap the old till"}, "tg:7")
		f.restart()
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
		if i, _ := f.state().Project.Guidance.Get("g1"); i.State != guidance.Addressed || i.Note != "wrapped" {
			t.Errorf("it ended as %s, %q", i.State, i.Note)
		}
	})
}

// TestPoisonedInput checks that a decision that panics poisons its own input
// only.
func TestPoisonedInput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, succeeded)
		f.do(loop.StartRun{Settings: settings(), MaxSessions: 1}, "")
		synctest.Wait()
		a := f.do(poison{}, "tg:9")
		if a.OK || a.Code != "fault" {
			t.Errorf("answer %+v", a)
		}
		if again := f.do(poison{}, "tg:9"); again != a {
			t.Errorf("again %+v", again)
		}
		if a := f.do(loop.Guide{Text: "still here"}, "tg:10"); !a.OK {
			t.Errorf("after it: %+v", a)
		}
	})
}

// TestUntold checks that a decision whose messages cannot be composed is
// carried out, that people are told so, and that the following decisions are
// told normally.
func TestComposePanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		broken := true
		var told []string
		f := newFixture(t, succeeded)
		f.stop()
		f.compose = func(_ loop.State, d loop.Decision, _ loop.Input) []ledger.Outgoing {
			for _, e := range d.Entries {
				if _, is := e.Body.(ledger.GuidanceQueued); is && broken {
					panic("a nil pointer")
				}
				told = append(told, e.Body.EntryType())
			}
			return nil
		}
		f.open(true)
		a := f.do(loop.Guide{Text: "told to nobody"}, "tg:9")
		if !a.OK || !slices.Equal(told, []string{"id.issued", "input.poisoned"}) {
			t.Errorf("answer %+v, told %v", a, told)
		}
		if again := f.do(loop.Guide{Text: "told to nobody"}, "tg:9"); again != a {
			t.Errorf("again %+v", again)
		}
		broken = false
		f.do(loop.Guide{Text: "told to all"}, "tg:10")
		if len(f.state().Project.Guidance.Waiting()) != 2 || !slices.Contains(told, "guidance.queued") {
			t.Errorf("%+v, told %v", f.state().Project.Guidance, told)
		}
	})
}

// poison is an input that makes Decide panic, because its embedded interface is
// nil.
type poison struct{ loop.InputBody }

func (poison) InputKind() string { return "poison" }

// TestCrashBeforeWake kills the daemon between the decision that an agent can be
// used again, which all projects share, and the wake of the project that waits for
// that agent. Nothing is due any more: the next start has to wake it.
func TestCrashBeforeWake(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limited := false
		f := newFixture(t, func(f *fixture, l ledger.Launch) ledger.Exit {
			if l.Kind == ledger.KindAgent && !limited {
				limited = true
				x := scenario.Exited(l.Session, 1)
				x.Failure, x.Until = ledger.FailureLimit, time.Now().Add(time.Hour)
				return x
			}
			return succeeded(f, l)
		})
		f.do(loop.StartRun{Settings: settings(), MaxSessions: 1}, "")
		synctest.Wait()
		if r := f.state().Project.Run; r.Wait != ledger.WaitLimit {
			t.Fatalf("the run does not wait for the limit: %+v", r)
		}
		f.stop()
		usable, err := ledger.Entry{Stream: ledger.SharedStream, Time: time.Now(), Actor: "daemon", Body: ledger.AgentUsable{Agent: "a"}}.Record()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.ledger.Commit(t.Context(), ledger.Batch{Time: time.Now(), Records: []ledger.Record{usable}}); err != nil {
			t.Fatal(err)
		}
		f.open(true)
		synctest.Wait()
		if exit, over := f.outcome(); exit != 0 || !over {
			t.Fatalf("outcome %d, %v; run %+v", exit, over, f.state().Project.Run)
		}
	})
}
