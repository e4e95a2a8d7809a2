package termlog_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/bot/termlog"
	"github.com/nightporter/nightporter/guidance"
	"github.com/nightporter/nightporter/internal/golden"
	"github.com/nightporter/nightporter/internal/scenario"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// entry folds an entry without a decision of the core.
func (s *fixture) entry(task, session string, body ledger.Body) {
	e := ledger.Entry{Stream: ledger.ProjectStream("shop"), Time: s.Now, Run: "r1", Task: task, Session: session, Attempt: "a1", Actor: "daemon", Body: body}
	switch body.(type) {
	case ledger.AgentParked, ledger.AgentUnusable, ledger.AgentUsable:
		e.Stream = ledger.SharedStream
	}
	s.Night.Entry(e)
}

func (s *fixture) signal(now bool, name string) {
	s.Do(loop.Input{Key: "signal " + name, Actor: "console", Body: loop.Stop{Now: now, Signal: name}})
}

// begin starts a run of two tasks and continues until stop returns true.
func (s *fixture) begin(set ledger.Settings, stop func() bool) {
	s.Start(set, s.Base("r1"), scenario.Task(1, "Extract price rules"), scenario.Task(2, "Refund flow", "Task 1"))
	s.Until(func() bool { return bot.Doing(s.State) != "" })
	s.begun = s.out.Len()
	s.Until(stop)
}

// changed is the word of a task that deleted a test and weakened a script.
func changed(allowed string) ledger.Proof {
	return ledger.Proof{Word: ledger.ChangedChecks, Allowed: allowed, Reason: "the test compared with the old interface", Changes: []ledger.CheckChange{
		{Path: "order/refund_test.go", Kind: "test", Action: "deleted"}, {Path: "ci/test.sh", Kind: "script", Action: "changed", Removed: 4}}}
}

// situations are what an ordinary night does not contain, by intent.
var situations = map[string]func(s *fixture){
	"words of proof": func(s *fixture) {
		s.Night.Proof = map[string]ledger.Proof{"Task 1": {Word: ledger.Proved}, "Task 2": changed("")}
		s.begin(s.Settings(), nil)
		s.entry("Task 2", "", ledger.TaskProved{Proof: changed("Mira")})
	},
	"a request that is not taken whole": func(s *fixture) {
		s.begin(s.Settings(), func() bool { return bot.Doing(s.State) == "#1 builder" })
		s.entry("", "", ledger.BranchPushed{Run: "r1", Branch: "nightporter/shop/r1", Commit: "c1", Forge: ledger.ForgeGitHub})
		s.entry("", "", ledger.RequestOpened{Run: "r1", Request: ledger.Request{
			Number: 48, URL: "https://forge.test/48", State: ledger.RequestOpen, Base: "main", Missed: []string{"label night: Not Found", "reviewer ana: Reviews may only be requested from collaborators."},
		}})
	},
	"asks about changed checks": func(s *fixture) {
		s.begin(s.Settings(), func() bool { return bot.Doing(s.State) == "#1 builder" })
		q := changed("")
		s.entry("Task 1", "", ledger.QuestionAsked{Question: ledger.Question{ID: "q1", Kind: ledger.AskChecks, Task: "Task 1", Title: "Extract price rules", Proof: &q, Asked: s.Now,
			Text: "1 test deleted, test.sh −4. The old ones do not pass."}})
	},
	"preflight finds mistakes": func(s *fixture) {
		set := s.Settings()
		s.Do(loop.Input{Key: "run", Actor: "console", Body: loop.StartRun{Settings: set}})
		s.Do(loop.Input{Key: "preflight", Body: loop.Preflighted{Problems: []ledger.Diagnostic{
			{File: "checkout.md", Line: 41, Text: "Task 7 depends on Task 70, which this plan lacks", Remedy: "Mend line 41, or add the task."},
			{Text: `agent "claude" is not on PATH`, Remedy: "npm i -g @anthropic-ai/claude-code"},
		}}})
	},
	"check without a run": func(s *fixture) {
		base := s.Base("r1")
		base.Notes = []ledger.Diagnostic{{File: "checkout.md", Line: 9, Text: "scope \"the order pages\" is prose: no path in it", Remedy: "Name folders or files, as in `order/**`."}}
		s.Do(loop.Input{Key: "run", Actor: "console", Body: loop.StartRun{Settings: s.Settings(), Check: true}})
		s.Do(loop.Input{Key: "preflight", Body: loop.Preflighted{Base: base, Snapshot: ledger.Snapshot{Name: "checkout", Tasks: []ledger.Task{scenario.Task(1, "One")}}}})
		s.Until(nil)
	},
	"taken up again after the limit of tasks": func(s *fixture) { // paused after one task, and taken up again
		set := s.Settings()
		set.MaxTasks, set.Profile = 1, "review"
		s.begin(set, nil)
		s.Leave(s.State, 2)
		s.Now = s.Now.Add(9 * time.Hour)
		s.Do(loop.Input{Key: "again", Actor: "console", Body: loop.StartRun{Settings: set}})
		s.Until(nil)
	},
	"Ctrl-C twice, then taken up again": func(s *fixture) { // Ctrl-C twice, and taken up again
		s.begin(s.Settings(), func() bool { return bot.Doing(s.State) == "#1 builder" })
		s.signal(false, "SIGINT")
		s.signal(true, "SIGINT")
		s.Until(func() bool { return loop.Settled(s.State) })
		s.Leave(s.State, 130)
		s.Do(loop.Input{Key: "again", Actor: "console", Body: loop.StartRun{Settings: s.Settings()}})
		s.Until(nil)
	},
	"stopped by a command": func(s *fixture) {
		s.Type = func(line string) { s.typed(line, "") }
		s.Acts["Task 1 builder"] = []scenario.Act{{Type: "build.complete", Data: `{"summary":"x","files_modified":["f0.go"]}`, Took: time.Minute, Cost: -1, Files: fileStats(1, 1, 0), Typed: []string{"/stop"}}}
		s.begin(s.Settings(), nil)
		s.typed("/pause", "")
	},
	"agent logged out": func(s *fixture) {
		x := ledger.Exit{Reason: ledger.ExitSelf, Code: 1, CostUSD: -1, Turns: -1, Failure: ledger.FailureAuth, Text: "Invalid API key · Please run /login"}
		s.Acts["Task 1 planner"] = []scenario.Act{{Took: time.Second, Cost: -1, Exit: &x}}
		s.begin(s.Settings(), nil)
	},
	"network fails twice": func(s *fixture) {
		x := ledger.Exit{Reason: ledger.ExitSelf, Code: 1, CostUSD: -1, Turns: 2, Failure: ledger.FailureNetwork, Text: "connection reset"}
		s.Acts["Task 1 planner"] = []scenario.Act{{Took: time.Second, Cost: -1, Exit: &x}, {Took: time.Second, Cost: -1, Exit: &x}}
		s.begin(s.Settings(), func() bool { return bot.Doing(s.State) == "#1 builder" })
	},
	"baseline red": func(s *fixture) {
		s.Acts[""] = nil
		set := s.Settings()
		set.Verify = []ledger.Command{{Run: "go vet ./..."}, {Run: "go test ./..."}}
		s.Do(loop.Input{Key: "run", Actor: "console", Body: loop.StartRun{Settings: set}})
		s.Do(loop.Input{Key: "preflight", Body: loop.Preflighted{Base: s.Base("r1"), Snapshot: ledger.Snapshot{Name: "checkout", Tasks: []ledger.Task{scenario.Task(1, "One")}}}})
		for n := range 3 { // vet passes, and the tests fail twice
			x := ledger.Exit{Session: "r1-c" + string(rune('1'+n)), Reason: ledger.ExitSelf, Started: s.Now, Ended: s.Now.Add(time.Second), CostUSD: -1}
			if n > 0 {
				x.Code, x.Tail = 1, "FAILED tests/test_sum.py::test_sum - assert 1 == 2\n"
			}
			s.Do(loop.Input{Body: loop.SessionExited{Exit: x}})
		}
		s.Now = s.Now.Add(15 * time.Minute)
		s.Do(loop.Input{Body: loop.Tick{}})
	},
	"baseline red, fixed first": func(s *fixture) { // a red baseline that is mended first
		set := s.Settings()
		set.Verify = []ledger.Command{{Run: "go vet ./..."}, {Run: "go test ./..."}}
		s.Do(loop.Input{Key: "run", Actor: "console", Body: loop.StartRun{Settings: set}})
		s.Do(loop.Input{Key: "preflight", Body: loop.Preflighted{Base: s.Base("r1"), Snapshot: ledger.Snapshot{Name: "checkout", Tasks: []ledger.Task{scenario.Task(1, "One")}}}})
		for n := range 4 { // both are red twice
			x := ledger.Exit{Session: "r1-c" + string(rune('1'+n)), Reason: ledger.ExitSelf, Code: 1, Tail: "boom", Started: s.Now, Ended: s.Now.Add(time.Second), CostUSD: -1}
			s.Do(loop.Input{Body: loop.SessionExited{Exit: x}})
		}
		s.typed("q1 fix", "")
	},
	"more questions than fit": func(s *fixture) { // from the shell: more questions than fit, flags, a limit
		set := s.Settings()
		set.Operator = "--state '/srv/np  state' --config /etc/np.toml"
		for _, n := range []int{1, 4} {
			s.Acts[fmt.Sprintf("Task %d planner", n)] = []scenario.Act{{Type: "task.blocked", Data: `{"reason":"two things","tried":"x","needs":"y"}`, Took: time.Minute, Cost: -1}}
		}
		s.Acts["Task 2 planner"] = []scenario.Act{act("question.asked", `{"text":"Which?","options":["this","that"]}`, time.Minute)}
		limit := ledger.Exit{Reason: ledger.ExitSelf, Code: 1, CostUSD: -1, Turns: 2, Failure: ledger.FailureLimit, Text: "limit reached"}
		s.Acts["Task 3 builder"] = []scenario.Act{{Took: time.Minute, Cost: -1, Exit: &limit}}
		look := scenario.Task(5, "Look at it")
		look.Mark = ledger.MarkManualVerify
		s.Start(set, s.Base("r1"), scenario.Task(1, "One"), scenario.Task(2, "Two"), scenario.Task(3, "Three"), scenario.Task(4, "Four"), look)
		s.Until(func() bool { return s.State.Project.Run.State == ledger.RunWaiting })
		s.typed("/status", "")
		s.Leave(s.State, 130)
		s.Until(nil)
	},
	"sessions that do not count": func(s *fixture) { // every way in which a session does not count as done
		nothing := build("all done", time.Minute, nil)
		out := build("did it elsewhere", time.Minute, nil)
		out.Out = []string{"vendor/x.go"}
		stall := scenario.Act{Took: 15 * time.Minute, Cost: -1, Exit: &ledger.Exit{Reason: ledger.ExitStall, Code: -1, Signal: "SIGKILL", CostUSD: -1, Turns: -1}}
		lost := scenario.Act{Took: time.Minute, Cost: -1, Exit: &ledger.Exit{Reason: ledger.ExitLost, Code: -1, CostUSD: -1, Turns: -1}}
		s.Acts["Task 1 builder"] = []scenario.Act{nothing, out, build("ok", time.Minute, fileStats(1, 1, 1))}
		s.Acts["Task 1 reviewer"] = []scenario.Act{stall, lost}
		s.Acts["Task 2 builder"] = []scenario.Act{{Type: "task.blocked", Data: `{"reason":"the plan says two things","tried":"by line","needs":"which of them"}`, Took: time.Minute, Cost: -1}}
		set := s.Settings()
		set.OnBlocked = ledger.OnBlockedStop
		s.begin(set, nil)
	},
	"agent asks": func(s *fixture) {
		ask := act("question.asked", `{"text":"May an address be a PO box? The carriers differ.","options":["Yes, letters only","No, and say so on the address form before anybody pays"]}`, time.Minute)
		next := ask
		next.Data = strings.Replace(ask.Data, "May an", "So may an", 1) // the same question would be answered unasked
		s.Acts["Task 1 planner"] = []scenario.Act{ask, next}
		s.begin(s.Settings(), func() bool { return len(s.State.Project.Questions) == 1 })
		s.typed("q1", "")
		s.typed("q1 a man should look at the carriers first", "")
		s.Until(func() bool { return len(s.State.Project.Questions) == 1 })
		s.Now = s.Now.Add(30 * time.Minute)
		s.Do(loop.Input{Body: loop.Tick{}})
		s.typed("q1 retry", "")
		s.typed("q2 b", "")
		s.Until(nil)
	},
	"to verify by hand": func(s *fixture) {
		a := build("page", time.Minute, fileStats(1, 1, 0))
		a.Data = `{"summary":"page","files_modified":["f0.go"],"manual_verify":"Open /pay on a phone"}`
		s.Acts["Task 1 builder"] = []scenario.Act{a}
		s.begin(s.Settings(), nil)
		s.typed("/approve", "")
		s.typed("/approve", "")
		s.typed("/task 2", "")
	},
	"guidance": func(s *fixture) {
		s.begin(s.Settings(), func() bool { return bot.Doing(s.State) == "#1 builder" })
		for _, line := range []string{"Use pkg/money everywhere", "/guidance !sticky No new dependencies", "/guidance @fixer Keep it small", "/queue", "/now Keep the old names", "q1 rerun", "g9 keep", "g1 frob", "/guidance", "/drop", "note: two words"} {
			s.typed(line, "")
		}
		s.entry("", "", ledger.GuidanceExpired{ID: "g3", Why: "no fixer session in r1"})
		s.typed("g3 keep", "")
		s.entry("", "", ledger.GuidanceChanged{ID: "g3", Text: "Keep it\nvery small"})
		x := ledger.Exit{Session: "r1-2", Reason: ledger.ExitAsked, Code: -1, CostUSD: -1, Turns: -1, Started: s.Now, Ended: s.Now}
		s.Do(loop.Input{Key: "exit:r1-2", Body: loop.SessionExited{Exit: x}})
		aside := build("x", time.Minute, fileStats(1, 1, 0))
		aside.Data = `{"summary":"x","files_modified":["f0.go"],"guidance":[{"id":"g1","set_aside":true,"note":"No pkg/money in this repository"},{"id":"g2","done":true},{"id":"g4","done":"kept them"}]}`
		s.Acts["Task 1 builder"] = []scenario.Act{aside}
		s.Until(nil)
	},
	"guidance after a lost session": func(s *fixture) { // a session is lost, and the next one gets its words
		plan := act("plan.complete", `{"summary":"p","steps":["one"]}`, time.Minute)
		plan.Typed = []string{"/guidance Wrap it"}
		lost := scenario.Act{Took: time.Minute, Cost: -1, Exit: &ledger.Exit{Reason: ledger.ExitLost, Code: -1, CostUSD: -1, Turns: -1}}
		done := build("x", time.Minute, fileStats(1, 1, 0))
		done.Data = `{"summary":"x","files_modified":["f0.go"],"guidance":[{"id":"g1","done":true,"note":"wrapped"}]}`
		s.Acts["Task 1 planner"], s.Acts["Task 1 builder"] = []scenario.Act{plan}, []scenario.Act{lost, done}
		s.begin(s.Settings(), nil)
	},
	"branch tip red": func(s *fixture) {
		s.Tip = "--- FAIL: TestWhole (0.01s)\nFAIL"
		s.begin(s.Settings(), nil)
	},
	"faults and waits": func(s *fixture) {
		set := s.Settings()
		set.Fallback = "codex"
		s.begin(set, func() bool { return bot.Doing(s.State) == "#1 builder" })
		s.entry("", "", ledger.AgentParked{Agent: "claude", Until: s.Now.Add(5 * time.Hour), Why: ledger.FailureLimit})
		s.entry("", "", ledger.InputPoisoned{Key: "k", Kind: "emit", Error: "index out of range"})
		s.entry("", "", ledger.EffectFailed{Kind: "progress", Key: "k", Text: "checkout.progress.md: permission denied"})
		locked := ledger.EffectFailed{Kind: "commit", Key: "k", Text: "git update-ref: fatal: Unable to create 'r1.lock': File exists.", Fault: ledger.FaultMachine, Since: s.Now}
		s.entry("", "", locked)
		locked.Told = true
		s.entry("", "", locked)
		s.entry("", "", ledger.EffectRecovered{Kind: "commit", Key: "k"})
		s.entry("Task 1", "", ledger.SourceMarked{Mark: ledger.MarkDone, Error: "checkout.md: read-only file system"})
		s.entry("Task 1", "", ledger.SourceMarked{Error: "log to checkout.progress.md: is a directory"})
		s.entry("Task 1", "r1-2", ledger.EventRefused{Type: "build.complete", Why: "guidance not reported", Owed: []string{"g1"}})
		s.entry("", "", ledger.RunStateSet{State: ledger.RunWaiting, Wait: ledger.WaitDisk, Until: s.Now.Add(time.Minute), Text: "the disk is full"})
		s.entry("", "", ledger.RunStateSet{State: ledger.RunWaiting, Wait: ledger.WaitDisk, Until: s.Now.Add(2 * time.Minute), Text: "the disk is full"})
		s.entry("", "", ledger.RunStateSet{State: ledger.RunRunning})
		s.entry("", "", ledger.RunStateSet{State: ledger.RunWaiting, Wait: ledger.WaitLimit, Until: time.Date(2027, 1, 1, 0, 0, 0, 0, berlin), Agent: "claude", Text: "claude: usage limit"})
		s.entry("", "", ledger.RunStateSet{State: ledger.RunRunning})
		s.Do(loop.Input{Body: loop.SourceChanged{Err: "checkout.md:12  a task's number stands twice"}})
		s.Do(loop.Input{Body: loop.SourceChanged{Snapshot: ledger.Snapshot{Name: "checkout", Tasks: []ledger.Task{scenario.Task(1, "Extract price rules"), scenario.Task(2, "Refund flow, by line", "Task 1"), scenario.Task(9, "Added at midnight")}}}})
		s.typed("/skip 2", "")
		s.typed("/retry 2", "")
		s.typed("/next 9", "")
		s.entry("Task 1", "", ledger.AttemptEnded{Replan: true, Why: "conflicts with what was done since in a.go"})
		s.entry("", "", ledger.RunEnded{Reason: ledger.ReasonInternal, Exit: 4, Text: "pattern x has no route"})
	},
}

// TestSituations leaves out the lines before the first session, which TestNight
// and TestDemo hold.
func TestSituations(t *testing.T) {
	cases := map[string]string{}
	for intent, play := range situations {
		s := newFixture("shop", termlog.Options{})
		play(s)
		cases[intent] = s.out.String()[s.begun:]
	}
	golden.Sections(t, "situations", cases)
}

// nasty is text as a hostile plan, agent or person may write it.
var nasty = "\x1b[2J\x1b]0;owned\x07\u202eevil\u2066 \r\n✓ #9 done\x00\x9b31m\u009b31m" + strings.Repeat("A̷̡̢̛̛\tbc ", 900) + "\xff\u2028<b>&*x*"

// TestHostile puts nasty into every field that is shown: no line may break or
// grow without limit, and no control character may reach the terminal.
func TestHostile(t *testing.T) {
	s := newFixture("shop", termlog.Options{})
	set := s.Settings()
	task := scenario.Task(1, nasty)
	task.Scope, task.Acceptance, task.Mark = nasty, []string{nasty}, ledger.MarkManualVerify
	strange := ledger.Task{ID: "Task \x1b[31m" + nasty[:40], Title: nasty, Mark: ledger.MarkOpen, Line: 2}
	base := s.Base("r1")
	base.Dirty, base.Notes = []string{nasty}, []ledger.Diagnostic{{File: nasty, Line: 3, Text: nasty, Remedy: nasty}}
	s.Start(set, base, task, strange)
	s.Until(func() bool { return bot.Doing(s.State) != "" })
	id := strange.ID
	s.entry(id, "r1-1", ledger.EventAccepted{Type: nasty, Data: []byte(`{"summary":"` + "\\u001b[2J" + `"}`)})
	s.entry(id, "r1-1", ledger.GuidanceReported{ID: nasty, State: guidance.SetAside, Note: nasty})
	s.entry(id, "r1-1", ledger.SessionEnded{Kind: ledger.KindAgent, End: ledger.EndedEvent, Counts: ledger.CountsAsSuccess, Text: nasty, Exit: ledger.Exit{Tail: nasty}})
	s.entry(id, "r1-1", ledger.TakenOver{Taken: ledger.Capture{Outside: []string{nasty, nasty}, Refused: []ledger.Diagnostic{{File: nasty, Text: nasty}}}})
	s.entry(id, "r1-1", ledger.Verified{Kind: ledger.KindVerify, Results: []ledger.Result{{Run: nasty, Tail: nasty}}})
	s.entry(id, "r1-2", ledger.SessionEnded{Kind: ledger.KindAgent, End: ledger.EndedSilent, Counts: ledger.CountsAsFailed, Text: nasty, Exit: ledger.Exit{Tail: nasty, Code: 1}})
	s.entry(id, "", ledger.TaskSet{From: ledger.Active, To: ledger.Blocked, Why: nasty})
	s.entry(id, "", ledger.AttemptEnded{Failed: true, Why: nasty})
	s.entry(id, "", ledger.QuestionAsked{Question: ledger.Question{ID: "q7", Kind: ledger.AskAgent, Task: id, Hat: nasty, Text: nasty, Options: []string{nasty, nasty}, Choice: nasty, Expires: s.Now.Add(time.Hour)}})
	s.entry(id, "", ledger.QuestionAsked{Question: ledger.Question{ID: "q8", Kind: ledger.AskBlocked, Task: id, Title: nasty, Text: nasty, Tried: nasty, Needs: nasty}})
	s.entry(id, "", ledger.QuestionAnswered{ID: "q7", Choice: nasty, Words: nasty, By: nasty})
	s.entry("", "", ledger.GuidanceQueued{Item: guidance.Item{ID: "g1", Text: nasty, Hat: nasty, Task: ledger.FoldID(id)}})
	s.entry("", "", ledger.AgentUnusable{Agent: nasty, Text: nasty})
	s.entry("", "", ledger.RunStateSet{State: ledger.RunWaiting, Wait: ledger.WaitLimit, Text: nasty})
	s.entry("", "", ledger.SourceRead{Name: nasty, Trouble: nasty})
	s.Echo(nasty, nasty)
	s.Note(nasty)
	for _, line := range []string{"/status", "/tasks", "/task 1", "/queue", "q8", "/log", "/evidence 1", "/guidance " + nasty, nasty, "/" + nasty, "/task " + nasty} {
		s.typed(line, nasty)
	}
	s.entry("", "", ledger.RunEnded{Reason: ledger.Reason(nasty), Text: nasty, By: nasty, Branch: nasty, Resume: nasty})

	out := s.out.String()
	lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
	for n, line := range lines {
		if !strings.HasPrefix(line, "          ") && !startsWithClock(line) {
			t.Errorf("line %d has neither a time nor the indent: %.60q", n+1, line)
		}
		for _, r := range line {
			if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == '\u2028' {
				t.Errorf("line %d holds %U: %.60q", n+1, r, line)
				break
			}
		}
	}
	if len(lines) > 2000 || len(out) > 600_000 { // questions are whole
		t.Errorf("%d lines, %d bytes: hostile words are not cut", len(lines), len(out))
	}
	if strings.Contains(out, "owned") {
		t.Error("a terminal title sequence was shown")
	}
}

func startsWithClock(line string) bool {
	_, err := time.Parse("15:04:05", strings.SplitN(line, " ", 2)[0])
	return err == nil
}

// TestClaimExplainedOnce: the sentence about claims is printed once.
func TestClaimExplainedOnce(t *testing.T) {
	s := newFixture("shop", termlog.Options{Demo: true, Began: evening})
	wrong := build("all tests pass", time.Minute, fileStats(1, 1, 0))
	wrong.Red = red
	s.Acts["Task 1 builder"] = []scenario.Act{wrong, wrong}
	s.begin(s.Settings(), nil)
	if n := strings.Count(s.out.String(), "A claim is not a result"); n != 1 {
		t.Errorf("said %d times:\n%s", n, s.out.String())
	}
	if n := strings.Count(s.out.String(), `"all tests pass"`); n != 2 {
		t.Errorf("the claim was quoted %d times:\n%s", n, s.out.String())
	}
}

// TestColor checks that only signs are coloured, and nothing without
// Options.Color.
func TestColor(t *testing.T) {
	play := func(opt termlog.Options) string {
		s := newFixture("shop", opt)
		s.begin(s.Settings(), nil)
		return s.out.String()
	}
	bare, painted := play(termlog.Options{}), play(termlog.Options{Color: true})
	if strings.Contains(bare, "\x1b") {
		t.Error("colour without Options.Color")
	}
	for _, code := range []string{"\x1b[0m", "\x1b[2m", "\x1b[31m", "\x1b[32m", "\x1b[33m", "\x1b[36m"} {
		painted = strings.ReplaceAll(painted, code, "")
	}
	if painted != bare {
		t.Errorf("colour changes the text:\n%s", painted)
	}
}

// TestWidth checks that lines fit a narrow terminal, except for texts that must
// not be cut.
func TestWidth(t *testing.T) {
	s := newFixture("shop", termlog.Options{Width: 60})
	s.begin(s.Settings(), nil)
	s.typed("/status", "")
	for line := range strings.SplitSeq(s.out.String(), "\n") {
		if bot.Width(line) > 60 && !strings.Contains(line, "verify") && !strings.Contains(line, "branch") && !strings.Contains(line, "Type /guidance") && !strings.Contains(line, "boundary") && !strings.Contains(line, "ended") {
			t.Errorf("%d columns: %s", bot.Width(line), line)
		}
	}
}

// TestReplyOnce checks that a reply whose entries were printed is not printed
// again, and that a refusal is.
func TestReplyOnce(t *testing.T) {
	s := newFixture("shop", termlog.Options{})
	s.begin(s.Settings(), func() bool { return bot.Doing(s.State) == "#1 builder" })
	s.out.Reset()
	s.typed("/guidance Wrap it", "")
	if n := strings.Count(s.out.String(), "queued"); n != 1 {
		t.Errorf("the receipt came %d times:\n%s", n, s.out.String())
	}
	s.typed("/drop g7", "")
	if !strings.Contains(s.out.String(), "has no guidance g7") {
		t.Errorf("the refusal is missing:\n%s", s.out.String())
	}
	s.Reply(bot.Message{}) // says nothing, breaks nothing
}

func TestReadLines(t *testing.T) {
	var got []string
	err := termlog.ReadLines(t.Context(), strings.NewReader("/status\n\n  q5 retry \r\nlast"), func(l string) { got = append(got, l) })
	if err != nil || strings.Join(got, "|") != "/status|q5 retry|last" {
		t.Errorf("got %q, %v", got, err)
	}
	if err := termlog.ReadLines(t.Context(), strings.NewReader(strings.Repeat("x", 2<<20)), func(string) {}); err == nil {
		t.Error("a line of 2 MB was taken")
	}
	r, w := newPipe()
	defer w.Close()
	ctx, cancel := contextWith(t)
	why := errors.New("the run ended")
	cancel(why)
	if err := termlog.ReadLines(ctx, r, func(string) {}); !errors.Is(err, why) {
		t.Errorf("got %v, want the cause", err)
	}
}
