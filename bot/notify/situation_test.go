package notify_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/bot/notify"
	"github.com/nightporter/nightporter/guidance"
	"github.com/nightporter/nightporter/internal/golden"
	"github.com/nightporter/nightporter/internal/scenario"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/payload"
)

// runningNight returns a night with a builder running on #2, without the messages
// before that.
func runningNight(t *testing.T, stays bool) *fixture {
	t.Helper()
	p := newFixture(t)
	p.off = true
	set := p.Settings()
	set.Stays = stays
	p.Start(set, p.Base("r1"), scenario.Task(1, "Extract price rules"), scenario.Task(2, "Refund flow"), scenario.Task(3, "Address form"))
	p.Until(func() bool { return bot.Doing(p.State) == "#2 builder" })
	p.off = false
	return p
}

// exit ends the current session.
func (p *fixture) exit(x ledger.Exit) {
	s := p.State.Project.Sessions[0]
	x.Session, x.Started, x.Ended, x.Turns, x.Tokens, x.CostUSD = s.ID, p.Now, p.Now.Add(8*time.Minute), 3, -1, 0.27
	if x.Reason == "" {
		x.Reason = ledger.ExitSelf
	}
	p.Now = x.Ended
	p.Do(loop.Input{Key: "exit:" + s.ID, Body: loop.SessionExited{Exit: x}})
	p.Until(func() bool {
		r := p.State.Project.Run
		return len(p.State.Project.Sessions) > 0 || r.State == ledger.RunWaiting || r.Over()
	})
}

// asks lets the planner of #3 ask a question while nothing else runs.
func (p *fixture) asks(data string) {
	p.Acts["Task 3 planner"] = []scenario.Act{{Type: "question.asked", Data: data, Took: time.Minute}}
	p.Until(func() bool { return len(p.State.Project.Questions) > 0 })
}

// reminded is asks, followed by the wait until the reminder is due.
func (p *fixture) reminded(data string) {
	p.asks(data)
	p.Now = loop.Due(p.State)
	p.Do(loop.Input{Body: loop.Tick{}})
}

// threeBlocked asks about three blocked tasks within half an hour.
func (p *fixture) threeBlocked() {
	for _, id := range []string{"Task 2", "Task 3"} {
		p.Acts[id+" planner"] = []scenario.Act{{Type: "task.blocked", Data: blocked, Took: time.Minute}}
	}
	for _, id := range []string{"Task 1", "Task 2", "Task 3"} {
		p.project(ledger.QuestionAsked{Question: ledger.Question{ID: "q" + id[5:], Kind: ledger.AskBlocked, Run: "r1", Task: id, Title: "A title", Text: "go build fails in internal/price", Asked: p.Now}})
		p.Now = p.Now.Add(10 * time.Minute)
	}
}

// project adds entries to the project's stream without a decision.
func (p *fixture) project(bodies ...ledger.Body) { p.session("", "", bodies...) }

// session adds entries about a task and a session to the project's stream.
func (p *fixture) session(task, session string, bodies ...ledger.Body) {
	var entries []ledger.Entry
	run := "r1"
	if r := p.State.Project.Run; r != nil && r.Upkeep != nil {
		run = r.ID
	}
	for _, b := range bodies {
		entries = append(entries, ledger.Entry{Stream: ledger.ProjectStream("shop"), Time: p.Now, Run: run, Task: task, Session: session, Actor: "daemon", Body: b})
	}
	p.compose(p.State, loop.Decided(p.State, entries...), loop.Input{Time: p.Now, Project: "shop", Actor: "daemon", Body: loop.Tick{}})
	for _, e := range entries {
		p.Entry(e)
	}
}

// TestSituations compares the content of Mira's chat and the messages that led to
// it. The name of a case is its topic, which has one golden file, and its intent.
func TestSituations(t *testing.T) {
	topics := map[string]map[string]string{}
	logged := ledger.Exit{Code: 1, Failure: ledger.FailureAuth, Text: "Invalid API key · Please run /login"}
	limit := func(p *fixture, d time.Duration) ledger.Exit {
		return ledger.Exit{Code: 1, Failure: ledger.FailureLimit, Text: "You've hit your session limit", Until: p.Now.Add(d)}
	}
	changed := 0
	for name, c := range map[string]struct {
		stays bool
		do    func(p *fixture)
	}{
		"wait/agent unusable": {true, func(p *fixture) {
			p.exit(logged)
			for range 4 { // four trials of an agent that stays unusable
				p.Now = loop.Due(p.State)
				p.Do(loop.Input{Body: loop.Tick{}})
				p.exit(logged)
			}
		}},
		"wait/agent usable again": {true, func(p *fixture) {
			p.exit(logged)
			p.Now = loop.Due(p.State)
			p.Do(loop.Input{Body: loop.Tick{}})
			p.Do(loop.Input{Key: "emit", Actor: "agent", Body: loop.Emit{Session: p.State.Project.Sessions[0].ID, Type: "build.complete", Data: json.RawMessage(`{"summary":"did it","files_modified":["a.go"]}`)}})
			p.exit(ledger.Exit{})
		}},
		// A second standstill in the same night is a new problem, and makes a
		// sound.
		"wait/agent unusable twice": {true, func(p *fixture) {
			p.exit(logged)
			p.Do(loop.Input{Key: "resume", Actor: mira, Name: "Mira", Body: loop.Resume{}})
			p.Do(loop.Input{Key: "emit", Actor: "agent", Body: loop.Emit{Session: p.State.Project.Sessions[0].ID, Type: "build.complete", Data: json.RawMessage(`{"summary":"did it","files_modified":["a.go"]}`)}})
			p.exit(ledger.Exit{})
			p.Until(func() bool { return bot.Doing(p.State) == "#3 builder" })
			p.exit(logged)
		}},
		"wait/usage limit twice": {true, func(p *fixture) {
			p.exit(limit(p, time.Hour))
			p.Now = loop.Due(p.State)
			p.Do(loop.Input{Body: loop.Tick{}})
			p.Until(func() bool { return bot.Doing(p.State) == "#3 builder" })
			p.exit(limit(p, time.Hour))
		}},
		"wait/agent unusable, foreground run": {false, func(p *fixture) { p.exit(logged); p.Until(nil) }},
		"wait/agent unusable, another goes on": {true, func(p *fixture) {
			p.State.Project.Run.Settings.Fallback = "codex"
			p.exit(logged)
		}},
		"wait/usage limit": {true, func(p *fixture) {
			p.exit(limit(p, 58*time.Minute))
			p.Now = p.Now.Add(50 * time.Minute)
			p.Do(loop.Input{Body: loop.Tick{}})
		}},
		"wait/usage limit of another agent": {true, func(p *fixture) {
			p.State.Project.Run.Settings.Others = []string{"codex"}
			p.exit(limit(p, 58*time.Minute))
			p.Now = p.Now.Add(time.Minute)
			p.Do(loop.Input{Key: "tg:9", Actor: mira, Name: "Mira", Body: loop.Resume{Agent: "codex"}})
		}},
		"wait/usage limit after a time off": {true, func(p *fixture) {
			p.exit(limit(p, time.Hour))
			p.Now = loop.Due(p.State)
			p.Do(loop.Input{Body: loop.Tick{}})
			p.exit(limit(p, 15*time.Minute))
		}},
		"wait/usage limit without an end": {true, func(p *fixture) { p.exit(limit(p, -time.Hour)) }},
		"wait/network fails": {true, func(p *fixture) {
			for range 5 {
				p.exit(ledger.Exit{Code: 1, Failure: ledger.FailureNetwork, Text: "Connection reset"})
				p.Now = loop.Due(p.State)
				p.Do(loop.Input{Body: loop.Tick{}})
			}
			p.exit(ledger.Exit{Code: 1, Failure: ledger.FailureNetwork, Text: "Connection reset"})
		}},
		"wait/disk full": {true, func(p *fixture) {
			for range 3 {
				p.project(ledger.RunStateSet{State: ledger.RunWaiting, Wait: ledger.WaitDisk, Until: p.Now.Add(time.Minute), Text: "the disk is full"})
				p.Now = p.Now.Add(time.Minute)
				p.project(ledger.RunStateSet{State: ledger.RunRunning})
			}
			p.project(ledger.RunStateSet{State: ledger.RunWaiting, Wait: ledger.WaitDisk, Until: p.Now.Add(time.Minute), Text: "the disk is full"})
		}},
		"fault/session lost": {true, func(p *fixture) { p.exit(ledger.Exit{Reason: ledger.ExitLost}) }},
		"fault/agent reports differently": {true, func(p *fixture) {
			for range 2 { // told once
				p.exit(ledger.Exit{Uncounted: true, Tokens: -1, CostUSD: -1})
				p.Until(func() bool { return len(p.State.Project.Sessions) > 0 })
			}
		}},
		"fault/session throttled": {true, func(p *fixture) {
			session := p.State.Project.Sessions[0].ID
			for range 2 { // told once
				p.Do(loop.Input{Body: loop.Throttled{Session: session, Refused: 1000}})
			}
		}},
		"fault/input poisoned": {true, func(p *fixture) {
			p.project(ledger.InputPoisoned{Key: "telegram:8", Kind: "skip", Error: "index out of range"})
		}},
		"fault/input poisoned, run over": {true, func(p *fixture) {
			p.project(ledger.InputPoisoned{Key: "telegram:8", Kind: "skip", Error: "index out of range", Done: true})
		}},
		"fault/source not writable": {true, func(p *fixture) {
			failed := ledger.EffectFailed{Kind: "mark", Key: "shop/done Task 1", Text: "mark in the source: open /srv/shop/checkout.md: permission denied"}
			p.project(failed)
			p.project(failed)
			p.project(ledger.EffectFailed{Kind: "mark", Text: "no space left on device", Disk: true}, ledger.EffectFailed{Kind: "session.start", Text: "exec"})
		}},
		"fault/effect fails": {true, func(p *fixture) {
			b := ledger.EffectFailed{Kind: "commit", Key: "k", Text: "move refs/heads/nightporter/shop/r1 in /srv/shop: git update-ref: fatal: Unable to create '/srv/shop/.git/refs/heads/nightporter/shop/r1.lock': File exists.", Fault: ledger.FaultMachine, Since: p.Now}
			p.project(b) // a moment is not told
			p.Now = p.Now.Add(5 * time.Minute)
			b.Told = true
			p.project(b, ledger.RunStateSet{State: ledger.RunWaiting, Wait: ledger.WaitMachine, Text: b.Text})
			p.Now = p.Now.Add(time.Hour)
			p.project(ledger.EffectRecovered{Kind: "commit", Key: "k"}, ledger.RunStateSet{State: ledger.RunRunning})
		}},
		"start/mistakes to mend": {true, func(p *fixture) {
			p.project(ledger.PreflightFailed{Problems: []ledger.Diagnostic{
				{File: "/srv/shop/checkout.md", Line: 41, Text: "Task 7 depends on Task 70, which this plan lacks", Remedy: "Fix the line."},
				{Text: "agent claude is not logged in", Remedy: "nightporter login claude"},
			}}, ledger.RunEnded{Reason: ledger.ReasonPreflight, Exit: 3})
		}},
		"start/warnings": {true, func(p *fixture) {
			p.project(ledger.PreflightDone{Base: p.Base("r1"), Warnings: []ledger.Diagnostic{{File: "checkout.md", Line: 9, Text: "Task 2 is large", Remedy: "Split it."}}})
		}},
		"start/boundary degraded": {true, func(p *fixture) {
			b := p.Base("r1")
			b.Boundary = 1
			p.project(ledger.PreflightDone{Base: b}, ledger.RunStarted{Tasks: 3, First: "Task 1", Advisory: []string{"go vet ./..."}})
		}},
		"start/with an outlook": {true, func(p *fixture) {
			p.project(ledger.RunStarted{Tasks: 12, First: "Task 1", Outlook: &ledger.Outlook{
				Total: 12, Done: 9, Low: 7, High: 11, By: p.Now.Add(8 * time.Hour), USDLow: 11, USDHigh: 16, Unsure: "Task 8", Chance: 0.41, Basis: "project",
				Limit: ledger.OutlookLimit{Agent: "claude", At: p.Now.Add(4 * time.Hour), Then: "codex", Until: p.Now.Add(5 * time.Hour)},
			}})
		}},
		"wait/another outlook": {true, func(p *fixture) {
			said := ledger.Outlook{Total: 12, Done: 9, Low: 7, High: 11, By: p.Now.Add(8 * time.Hour), USDLow: 11, USDHigh: 16, Basis: "project"}
			p.State.Project.Run.Said = &said
			now := said
			now.Done, now.Low, now.High, now.USDLow, now.USDHigh, now.Unsure, now.Chance = 5, 4, 6, 12, 15, "Task 3", 0.2
			now.Limit = ledger.OutlookLimit{Agent: "claude", At: p.Now.Add(4 * time.Hour), Until: p.Now.Add(5 * time.Hour)}
			p.project(ledger.OutlookChanged{Outlook: now})
			p.Now = p.Now.Add(2 * time.Hour)
			now.USDLow, now.USDHigh = 20, 24
			p.project(ledger.OutlookChanged{Outlook: now})
		}},
		"wait/most of a budget is spent": {true, func(p *fixture) {
			left := ledger.Outlook{Total: 3, Done: 1, Low: 1, High: 2, By: p.Now.Add(time.Hour), USDLow: 2, USDHigh: 3, Basis: "project", Budget: ledger.OutlookBudget{Limit: ledger.BudgetRun, Of: 15, Task: "Task 3"}}
			p.project(ledger.BudgetWarned{Limit: ledger.BudgetRun, Of: 15, Spent: 12.01, Outlook: &left})
		}},
		"start/on a base": {true, func(p *fixture) {
			b := p.Base("r1")
			b.Set, b.Fetched, b.HeadName, b.Head = true, true, "develop", "0123456789abcdef"
			p.project(ledger.PreflightDone{Base: b}, ledger.RunStarted{Tasks: 3, First: "Task 1", Baseline: []ledger.Result{{Run: "go test ./...", OK: true}}})
		}},
		"end/stopped by the reader": {true, func(p *fixture) {
			p.Do(loop.Input{Key: "stop", Actor: mira, Name: "Mira", Body: loop.Stop{Now: true}})
			p.exit(ledger.Exit{Reason: ledger.ExitAsked})
			p.Until(nil)
		}},
		"end/stopped by another person": {true, func(p *fixture) {
			p.Do(loop.Input{Key: "stop", Actor: ana, Name: "Ana", Body: loop.Stop{Now: true}})
			p.exit(ledger.Exit{Reason: ledger.ExitAsked})
			p.Until(nil)
		}},
		"end/stopped at the host": {true, func(p *fixture) {
			p.Do(loop.Input{Key: "stop", Actor: "console", Body: loop.Stop{Now: true}})
			p.exit(ledger.Exit{Reason: ledger.ExitAsked})
			p.Until(nil)
		}},
		"end/done":                 {true, func(p *fixture) { p.Until(nil) }},
		"end/done, branch tip red": {true, func(p *fixture) { p.Tip = "--- FAIL: TestSum"; p.Until(nil) }},
		"end/limit of tasks":       {true, func(p *fixture) { p.State.Project.Run.Settings.MaxTasks = 2; p.Until(nil) }},
		"end/chosen task done":     {true, func(p *fixture) { p.State.Project.Run.Settings.Only = "Task 2"; p.Until(nil) }},
		"end/limit of sessions":    {true, func(p *fixture) { p.State.Project.Run.Settings.MaxIterations = 5; p.Until(nil) }},
		"end/limit of time": {true, func(p *fixture) {
			p.State.Project.Run.Settings.Until = time.Date(2026, 11, 19, 23, 20, 0, 0, zone)
			p.Until(nil)
		}},
		"end/stopped at a blocked task": {true, func(p *fixture) {
			p.State.Project.Run.Settings.OnBlocked = ledger.OnBlockedStop
			p.Acts["Task 3 planner"] = []scenario.Act{{Type: "task.blocked", Data: blocked, Took: time.Minute}}
			p.Until(nil)
		}},
		"question/three blocked tasks": {true, func(p *fixture) { p.threeBlocked() }},
		"question/three blocked tasks, settled one by one": {true, func(p *fixture) {
			p.off = true
			p.threeBlocked()
			p.off = false
			p.session("Task 1", "", ledger.QuestionAnswered{ID: "q1", Choice: "retry", By: "Mira"})
			p.Now = p.Now.Add(time.Minute)
			p.session("Task 3", "", ledger.QuestionAnswered{ID: "q3", Choice: "guide", Words: "Mock the clock", By: "Ana"})
			p.Now = p.Now.Add(10 * time.Minute)
			p.session("Task 2", "", ledger.QuestionExpired{ID: "q2", Then: "done meanwhile"})
		}},
		"question/three blocked tasks, an answer taken back": {true, func(p *fixture) {
			p.off = true
			p.threeBlocked()
			p.session("Task 1", "", ledger.QuestionAnswered{ID: "q1", Choice: "retry", By: "Mira"})
			q, _ := p.State.Project.Question("q3")
			p.session("Task 3", "", ledger.QuestionAnswered{ID: "q3", Choice: "skip", By: "Mira"})
			p.off = false
			p.session("Task 3", "", ledger.AnswerUndone{Before: ledger.Before{Question: q}})
		}},
		"fault/internal fault": {true, func(p *fixture) {
			p.project(ledger.RunEnded{Reason: ledger.ReasonInternal, Exit: 4, Text: "work folder: read-only file system", Total: 3})
		}},
		"end/check without a run": {true, func(p *fixture) { p.project(ledger.RunEnded{Reason: ledger.ReasonChecked}) }},
		"question/interrupt a session": {true, func(p *fixture) {
			p.Do(loop.Input{Key: "now", Actor: mira, Name: "Mira", Body: loop.Now{Text: "Keep the old function names"}})
			p.Now = loop.Due(p.State)
			p.Do(loop.Input{Body: loop.Tick{}})
		}},
		"question/rerun a session": {true, func(p *fixture) {
			p.Do(loop.Input{Key: "now", Actor: mira, Name: "Mira", Body: loop.Now{Text: "Keep the old function names"}})
			p.Do(loop.Input{Key: "yes", Actor: mira, Name: "Mira", Body: loop.AnswerQuestion{Question: "q1", Choice: "rerun"}})
		}},
		// The reminder repeats the question. After the answer, both messages
		// show it.
		"question/reminder": {true, func(p *fixture) { p.reminded(asksAgent) }},
		"question/reminder, still open": {true, func(p *fixture) {
			p.State.Project.Run.Settings.QuestionThen = ledger.ThenPause
			p.reminded(asksOpen)
		}},
		"question/reminder, run stopped": {true, func(p *fixture) {
			p.State.Project.Run.Settings.QuestionThen = ledger.ThenAbort
			p.reminded(asksAgent)
		}},
		"question/reminder, answered": {true, func(p *fixture) {
			p.reminded(asksAgent)
			p.Do(loop.Input{Key: "a", Actor: mira, Name: "Mira", Body: loop.AnswerQuestion{Question: "q1", Choice: "a"}})
		}},
		"question/reminder, undone": {true, func(p *fixture) {
			p.reminded(asksAgent)
			p.Do(loop.Input{Key: "p", Actor: "console", Body: loop.Pause{}}) // so that no work begins after the answer
			p.Do(loop.Input{Key: "a", Actor: mira, Name: "Mira", Body: loop.AnswerQuestion{Question: "q1", Choice: "a"}})
			p.Do(loop.Input{Key: "u", Actor: mira, Name: "Mira", Body: loop.AnswerQuestion{Question: "q1", Choice: "undo"}})
		}},
		"question/reminder after a time off": {true, func(p *fixture) { // nightporter was off when the reminder was due
			p.asks(asksAgent)
			p.Now = p.Now.Add(27 * time.Minute)
			p.Do(loop.Input{Body: loop.Tick{}})
		}},
		"question/late command": {true, func(p *fixture) {
			p.Do(loop.Input{Key: "late", Actor: mira, Name: "Mira", Body: loop.Late{Line: "/pause now", Do: ledger.DeferPauseNow, Sent: p.Now.Add(-3 * time.Hour)}})
		}},
		"question/late command, unanswered": {true, func(p *fixture) {
			p.Do(loop.Input{Key: "late", Actor: mira, Name: "Mira", Body: loop.Late{Line: "/stop", Do: ledger.DeferStop, Sent: p.Now.Add(-3 * time.Hour)}})
			p.Now = loop.Due(p.State)
			p.Do(loop.Input{Body: loop.Tick{}})
		}},
		"guidance/set aside": {true, func(p *fixture) {
			p.reported(`{"id":"g1","set_aside":true,"note":"No pkg/money in this repository. Used internal/price"}`)
		}},
		"guidance/unsaid": {true, func(p *fixture) { p.reported(`{"id":"g9","done":true}`) }},
		"guidance/not followed": {true, func(p *fixture) {
			p.Acts["Task 3 reviewer"] = []scenario.Act{{Type: "review.verdict", Data: `{"summary":"no","issues":[{"severity":"major","file":"a.go","text":"rewritten"}],"guidance":[{"id":"g1","set_aside":true,"note":"legacy/orders.go was rewritten"}]}`, Took: time.Minute}}
			p.reported(`{"id":"g1","done":true,"note":"Kept it"}`)
		}},
		"guidance/expired": {true, func(p *fixture) {
			p.project(ledger.RunStateSet{State: ledger.RunRunning})
			id := p.guide(mira, "Mira", "Mention the env vars")
			p.project(ledger.GuidanceExpired{ID: id, Why: "no writer session in r1"})
		}},
		"guidance/kept": {true, func(p *fixture) {
			id := p.guide(mira, "Mira", "Mention the env vars")
			p.project(ledger.GuidanceExpired{ID: id, Why: "72 hours passed and no session took it"}, ledger.GuidanceKept{ID: id})
		}},
		"guidance/sticky": {true, func(p *fixture) {
			p.guide(mira, "Mira", "!sticky No new dependencies")
			p.Until(func() bool { return bot.Doing(p.State) == "#3 builder" })
		}},
		"guidance/judged": {true, func(p *fixture) {
			id := p.guide(mira, "Mira", "#2 Wrap the existing code")
			p.taken(id, "Task 2", guidance.Addressed, "Kept legacy/orders.go, added order/adapter.go around it")
			p.Now = p.Now.Add(8 * time.Minute)
			p.session("Task 2", "r1-6", ledger.GuidanceJudged{ID: id, Hat: "reviewer", Followed: true})
		}},
		"guidance/judged not": {true, func(p *fixture) {
			id := p.guide(mira, "Mira", "#2 Wrap the existing code")
			p.taken(id, "Task 2", guidance.Addressed, "Kept it")
			p.Now = p.Now.Add(8 * time.Minute)
			p.session("Task 2", "r1-6", ledger.GuidanceJudged{ID: id, Hat: "reviewer", Note: "legacy/orders.go was rewritten"})
		}},
		"guidance/judged unsaid": {true, func(p *fixture) {
			id := p.guide(mira, "Mira", "#2 Wrap the existing code")
			p.taken(id, "Task 2", guidance.NotReported, "")
			p.session("Task 2", "r1-6", ledger.GuidanceJudged{ID: id, Hat: "reviewer", Followed: true})
		}},
		"guidance/sticky fine": {true, func(p *fixture) {
			id := p.guide(mira, "Mira", "!sticky No new dependencies")
			p.Now = p.Now.Add(30 * time.Hour)
			p.taken(id, "Task 2", guidance.Addressed, "none added")
		}},
		"guidance/sticky aside": {true, func(p *fixture) {
			p.taken(p.guide(mira, "Mira", "!sticky No new dependencies"), "Task 2", guidance.SetAside, "the parser needs one")
		}},
		"guidance/changed": {true, func(p *fixture) {
			id := p.guide(mira, "Mira", "Wrap the existing code")
			p.Do(loop.Input{Key: "edit", Actor: mira, Name: "Mira", Body: loop.EditGuidance{ID: id, Text: "Wrap the existing code, keep its tests"}})
		}},
		"plan/approved": {true, func(p *fixture) {
			p.plan(payload.Critique{Sections: []payload.Judgement{{ID: "b", Verdict: "REJECT", Objections: []string{"no path for expired cards"}}}}, payload.Critique{OK: true})
			p.session("Task 2", "", ledger.QuestionAnswered{ID: "q9", Choice: "approve", By: "Mira"})
		}},
		"plan/sent back": {true, func(p *fixture) {
			no := payload.Critique{Objections: []string{"b before a"}}
			p.plan(no, no, no, no, no)
			p.session("Task 2", "", ledger.QuestionAnswered{ID: "q9", Choice: "reject", Words: "Do b first", By: "Ana"})
		}},
		"plan/open": {true, func(p *fixture) { p.plan(payload.Critique{OK: true}) }},
		"question/path to allow": {true, func(p *fixture) {
			p.outside()
			p.session("Task 2", "", ledger.QuestionAnswered{ID: "q9", Choice: "allow", By: "Ana"}, ledger.PathsAllowed{Paths: []string{"docs/orders.md"}})
		}},
		"question/path to allow, unanswered": {true, func(p *fixture) {
			p.outside()
			p.Now = p.Now.Add(30 * time.Minute)
			p.session("Task 2", "", ledger.QuestionExpired{ID: "q9", Choice: "deny", Then: "stays out"})
		}},
		"question/attempt stalled": {true, func(p *fixture) {
			p.session("Task 2", "r1-6", ledger.AttemptEnded{Failed: true, Outcome: ledger.OutcomeStalled, Why: "the same files as in an earlier round"},
				ledger.QuestionAsked{Question: ledger.Question{ID: "q9", Kind: ledger.AskBlocked, Run: "r1", Task: "Task 2", Title: "Refund flow", Text: "the same files as in an earlier round", Asked: p.Now}})
		}},
		"start/changed hats": {true, func(p *fixture) {
			p.project(ledger.HatsRead{}, ledger.HatsRead{Trouble: "hats/mine.toml:3: unknown key"}, ledger.PlanSettled{Approved: true, By: "critic", Rounds: 2}, ledger.PartsMade{Whole: true}, ledger.MemoryKept{Kind: ledger.MemoryFact, Text: "x"})
		}},
		"start/closed hosts": {true, func(p *fixture) {
			p.project(ledger.HostsMissed{Hosts: []string{"registry.example.org", strings.Repeat("assets-eu.", 6) + "example.org:8443", "a.example", "b.example", "c.example", "d.example", "e.example"}, Services: []string{"127.0.0.1:5432", "127.0.0.1:6379"}})
		}},
		"start/agent's closed host": {true, func(p *fixture) {
			p.project(ledger.HostsMissed{Agent: "claude", Hosts: []string{"console.example.org"}})
		}},
		"start/strangers can write its tasks": {true, func(p *fixture) {
			before := loop.Project{HostsSeen: []loop.SeenHost{{Host: "old.example.org"}, {Host: "api.example.org"}, {Host: "cdn.example.org"}}, Hosts: []loop.HostRule{{Host: "cdn.example.org", Allow: true}}}
			p.project(ledger.PreflightDone{Base: p.Base("r1"), Warnings: []ledger.Diagnostic{before.ClosedByStrangers(ledger.Settings{Source: ledger.SourceRef{Path: "bugs.json"}, Network: ledger.NetworkRules{Hosts: []string{"old.example.org:443"}}})}})
		}},
		"start/local service": {true, func(p *fixture) {
			p.project(ledger.HostsMissed{Services: []string{"127.0.0.1:5432"}})
		}},
		"start/baseline red": {true, func(p *fixture) {
			red := ledger.Verified{Kind: ledger.KindBaseline, Results: []ledger.Result{{Run: "go test ./...", Exit: 1, Tail: "--- FAIL: TestSum"}}}
			q := ledger.Question{ID: "q9", Kind: ledger.AskBaseline, Run: "r1", Title: "The checks fail at the start", Text: "go test ./... fails before anything was changed: FAIL", Asked: p.Now, Expires: p.Now.Add(15 * time.Minute)}
			p.project(red, ledger.QuestionAsked{Question: q})
			p.Now = q.Expires
			p.project(ledger.QuestionExpired{ID: "q9", Choice: "go", Then: "goes on; the failing commands are shown, not counted"})
		}},
		"start/baseline breaks later": {true, func(p *fixture) {
			p.project(ledger.BaselineBroke{Commands: []string{"go test ./..."}, Text: "fails on the start commit too by now: go test ./... (certificate has expired)"})
		}},
		"question/open again in the source": {true, func(p *fixture) {
			p.project(ledger.QuestionAsked{Question: ledger.Question{ID: "q9", Kind: ledger.AskUnticked, Run: "r1", Tasks: []string{"Task 1"}, Title: "Finished here, open in the source", Text: "#1: finished here, but not ticked in the source any more", Asked: p.Now}})
			p.project(ledger.QuestionExpired{ID: "q9", Choice: "keep", Then: "ticked again in the source"})
		}},
		"request/from its checks to a merge by somebody": {true, func(p *fixture) {
			p.published()
			p.project(p.saw(ledger.RequestStanding{Passed: 1, Pending: 2}))
			p.project(p.saw(ledger.RequestStanding{Passed: 2, Failing: 1, Failed: []string{"lint"}}))
			p.project(p.saw(ledger.RequestStanding{Passed: 1, Failing: 2, Failed: []string{"lint", "test"}}))
			p.project(p.saw(ledger.RequestStanding{Passed: 2, Pending: 1}))
			p.project(p.saw(ledger.RequestStanding{Passed: 3, Mergeable: ledger.MergeableClean}))
			p.project(p.saw(ledger.RequestStanding{Passed: 3, State: ledger.RequestMerged}))
		}},
		"request/checks that have not begun yet, and none": {true, func(p *fixture) {
			p.published()
			p.project(p.saw(ledger.RequestStanding{Mergeable: ledger.MergeableClean, ChecksDue: p.Now.Add(time.Minute)}))
			p.Now = p.Now.Add(time.Minute)
			p.project(p.saw(ledger.RequestStanding{Mergeable: ledger.MergeableClean}))
		}},
		"request/kept green": {true, func(p *fixture) {
			p.published()
			p.project(ledger.RunEnded{Reason: ledger.ReasonStopped, Signal: "SIGTERM"})
			p.project(p.saw(ledger.RequestStanding{Passed: 2, Failing: 1, Failed: []string{"lint"}}))
			p.looksAfter(ledger.UpkeepChecks, "c1", "c9")
			p.project(p.sawAt("c9", ledger.RequestStanding{Passed: 3}))
			p.looksAfter(ledger.UpkeepComments, "c9", "c10")
			p.project(p.sawAt("c10", ledger.RequestStanding{Passed: 3}))
			p.looksAfter(ledger.UpkeepBase, "m1", "m1")
			p.project(p.sawAt("m1", ledger.RequestStanding{Failing: 1, Failed: []string{"lint"}}))
			p.project(ledger.RequestLeft{Run: "r1", Number: 48, Head: "m1", Rounds: 3, Failed: []string{"lint"}})
			p.project(p.sawAt("h1", ledger.RequestStanding{Failing: 1, Failed: []string{"lint"}, Strangers: 1}))
		}},
		"request/nobody reads it": {true, func(p *fixture) {
			p.published()
			p.project(p.saw(ledger.RequestStanding{Failure: ledger.ForgeAway, Text: "no answer within 30s"}))
			p.project(p.saw(ledger.RequestStanding{Failure: ledger.ForgeLogin, Text: "the forge does not know the token", Remedy: "Put a new one into github.token"}))
			p.project(p.saw(ledger.RequestStanding{Passed: 3}))
		}},
		"request/more comments than become guidance, and no reply to one": {true, func(p *fixture) {
			p.published()
			p.project(p.saw(ledger.RequestStanding{Passed: 3}))
			p.project(p.commented("g8", "ann", "Use cents here"), ledger.CommentsSeen{Run: "r1", Number: 48, Count: ledger.CommentCount{Others: 2, Waiting: 10}})
			p.project(ledger.CommentsSeen{Run: "r1", Number: 48, Count: ledger.CommentCount{Others: 2, Waiting: 9}})
			p.project(ledger.ReplyBegun{Run: "r1", Number: 48, Comment: "line:7", Key: "k", ID: "g8"})
			p.project(ledger.ReplyEnded{Run: "r1", Number: 48, Key: "k", Failure: ledger.ForgeRights, Text: "the conversation is locked", Remedy: "Unlock it"})
			p.project(ledger.ReplyBegun{Run: "r1", Number: 48, Comment: "line:7", Key: "l", ID: "g8", Final: true})
			p.project(ledger.ReplyEnded{Run: "r1", Number: 48, Key: "l", Failure: ledger.ForgeRights, Text: "the conversation is locked", Remedy: "Unlock it"})
		}},
		"request/a merge that is refused, and one": {true, func(p *fixture) {
			p.published()
			r := *p.State.Project.Requests.Branch("r1").Request
			p.project(ledger.MergeBegun{Run: "r1", N: 1, Number: 48, HeadCommit: "c1", By: "Mira"}, ledger.MergeEnded{Run: "r1", Request: r, Failure: ledger.ForgeProtected, Text: "checks fail: lint"})
			r.State, r.MergeCommit = ledger.RequestMerged, "abcdef1234567890"
			p.project(ledger.MergeBegun{Run: "r1", N: 2, Number: 48, HeadCommit: "c1", By: "Mira"}, ledger.MergeEnded{Run: "r1", Request: r, Method: ledger.MergeSquash})
		}},
	} {
		t.Run(name, func(t *testing.T) {
			p := runningNight(t, c.stays)
			c.do(p)
			ph := p.chats[mira]
			topic, intent, _ := strings.Cut(name, "/")
			if topics[topic] == nil {
				topics[topic] = map[string]string{}
			}
			topics[topic][intent] = ph.transcript() + "---\n" + strings.Join(ph.log, "\n")
			changed += p.prose
		})
	}
	if changed < 300 {
		t.Errorf("compose changed only %d sentences", changed)
	}
	for topic, cases := range topics {
		golden.Sections(t, topic, cases)
	}
}

// taken gives a session a guidance item and lets it report on the item.
func (p *fixture) taken(id, task string, state guidance.State, note string) {
	p.session(task, "r1-5", ledger.GuidanceBound{Hat: "builder", Writes: true, Binding: guidance.Binding{Bound: []string{id}}})
	p.session(task, "r1-5", ledger.GuidanceReported{ID: id, State: state, Note: note})
}

// plan asks for approval of the plan of #2 after the critic's rounds.
func (p *fixture) plan(rounds ...payload.Critique) {
	plan := json.RawMessage(`{"summary":"An adapter first, then the callers.","sections":[{"id":"a","title":"Adapter"},{"id":"b","title":"Callers"},{"id":"c","title":"The old client goes"}]}`)
	tasks := p.State.Project.Tasks.Slice()
	for n := range tasks {
		if t := &tasks[n]; t.Task.ID == "Task 2" {
			w := *t.Attempt
			w.Consensus = &loop.Consensus{Rounds: rounds}
			w.Plan, t.Plan, t.Attempt = plan, plan, &w
		}
	}
	p.State.Project.Tasks = loop.NewTaskList(tasks...)
	p.session("Task 2", "", ledger.QuestionAsked{Question: ledger.Question{ID: "q9", Kind: ledger.AskPlan, Run: "r1", Task: "Task 2", Title: "Refund flow", Text: "An adapter first, then the callers.", Asked: p.Now}})
}

// outside asks about a path that #2 wrote outside its scope.
func (p *fixture) outside() {
	p.session("Task 2", "", ledger.QuestionAsked{Question: ledger.Question{ID: "q9", Kind: ledger.AskAllow, Run: "r1", Task: "Task 2", Title: "Refund flow", Text: "written again", Paths: []string{"docs/orders.md"}, Asked: p.Now, Expires: p.Now.Add(30 * time.Minute)}})
}

// reported gives guidance to the next builder and lets the builder report on
// it.
func (p *fixture) reported(item string) {
	p.guide(mira, "Mira", "#3 Use pkg/money everywhere")
	build := scenario.Act{Type: "build.complete", Data: fmt.Sprintf(`{"summary":"did it","files_modified":["a.go"],"guidance":[%s]}`, item), Took: time.Minute, Files: []ledger.FileChange{{Path: "a.go", Added: 3}}}
	p.Acts["Task 3 builder"] = []scenario.Act{build}
	p.Until(func() bool { d := bot.Doing(p.State); return d == "#3 fixer" || p.State.Project.Run.Over() })
}

// TestRepeatQuestions checks that open questions are repeated after a time off,
// except questions that confirm a command.
func TestRepeatQuestions(t *testing.T) {
	p := runningNight(t, true)
	p.Do(loop.Input{Key: "now", Actor: mira, Name: "Mira", Body: loop.Now{Text: "Keep the old function names"}})
	look := ledger.Question{ID: "q4", Kind: ledger.AskManual, Run: "r1", Task: "Task 3", Title: "Address form", Text: "Open /pay\nTest card", Asked: p.Now}
	block := ledger.Question{ID: "q55", Kind: ledger.AskBlocked, Run: "r1", Task: "Task 2", Title: "Refund flow", Text: "two things", Asked: p.Now}
	p.off = true
	p.Entry(ledger.Entry{Stream: ledger.ProjectStream("shop"), Time: p.Now, Body: ledger.QuestionAsked{Question: look}})
	p.Entry(ledger.Entry{Stream: ledger.ProjectStream("shop"), Time: p.Now, Body: ledger.QuestionAsked{Question: block}})
	before := len(p.chats[mira].shown)
	out := p.n.RepeatQuestions(p.State, p.Now.Add(10*time.Minute), p.Now.Add(3*time.Hour))
	p.deliver(out)
	if len(out) != 6 {
		t.Errorf("%d messages, want two for each of three people", len(out))
	}
	for _, o := range out {
		if o.Class != ledger.ClassAsk || o.Edit || o.Silent {
			t.Errorf("%s to %s: %+v", o.Key, o.Chat, o)
		}
	}
	ph := chat{shown: p.chats[mira].shown[before:]}
	golden.Compare(t, "away.txt", ph.transcript())
}

// TestHostile checks that a message keeps its form whatever names, titles and
// texts it contains.
func TestHostile(t *testing.T) {
	nasty := "\x1b[2J\u202e<b>&*x*\n\r✓ #9 done " + strings.Repeat("日本語 title ", 90)
	p := runningNight(t, true)
	p.State.Project.Name = strings.Repeat("n", 32)
	run := p.State.Project.Run
	run.Settings.Agent, run.Settings.Source.Path, run.Base.Branch, run.Base.Dirty = nasty, nasty, nasty, []string{nasty}
	tasks := p.State.Project.Tasks.Slice()
	for n := range tasks {
		tasks[n].Task.Title = nasty
	}
	p.State.Project.Tasks = loop.NewTaskList(tasks...)
	for n := range p.State.Shared.People {
		p.State.Shared.People[n].Name = nasty
	}
	q := ledger.Question{ID: "q9", Run: "r1", Task: "Task 2", Tasks: []string{"Task 3"}, Title: nasty, Text: nasty, Tried: nasty, Needs: nasty, Hat: nasty, By: nasty, Options: []string{nasty, "b"}, Choice: nasty, Asked: p.Now, Sent: p.Now, Offer: &run.Settings}
	for _, kind := range ledger.QuestionKinds() {
		q.Kind = kind
		for _, end := range []ledger.Body{ledger.QuestionAnswered{ID: "q9", Choice: nasty, Words: nasty, By: nasty}, ledger.QuestionAnswered{ID: "q9", Choice: "guide", Words: nasty, By: nasty}, ledger.QuestionExpired{ID: "q9", Choice: nasty, Then: nasty}, ledger.QuestionExpired{ID: "q9"}} {
			p.project(ledger.QuestionAsked{Question: q})
			p.project(end)
			p.chats[mira].shown = append(p.chats[mira].shown, &shown{key: "q9"}) // confirmations, too
		}
	}
	id := p.guide(mira, "Mira", strings.ReplaceAll(nasty, "日本語 title ", "")+"x")
	p.project(ledger.GuidanceReported{ID: id, State: "set_aside", Note: nasty})
	p.project(ledger.GuidanceExpired{ID: id, Why: nasty})
	p.project(ledger.AgentUnusable{Agent: nasty, Text: nasty})
	p.project(ledger.PreflightFailed{Problems: []ledger.Diagnostic{{File: nasty, Line: 1 << 30, Text: nasty, Remedy: nasty}}})
	p.project(ledger.InputPoisoned{Kind: nasty, Error: nasty})
	p.project(ledger.RunStarted{Tasks: 1 << 30, First: "Task 2", Advisory: []string{nasty}, Baseline: []ledger.Result{{Run: nasty, OK: true}}})
	p.project(ledger.RunStateSet{State: ledger.RunWaiting, Wait: ledger.WaitLimit, Until: p.Now, Text: nasty})
	p.project(ledger.RunStateSet{State: ledger.RunWaiting, Wait: ledger.WaitAgent, Until: p.Now, Text: nasty})
	p.project(ledger.RunStateSet{State: ledger.RunWaiting, Wait: ledger.WaitDisk, Until: p.Now, Text: nasty})
	p.project(ledger.RunStateSet{State: ledger.RunRunning})
	for _, reason := range []ledger.Reason{ledger.ReasonDone, ledger.ReasonNothing, ledger.ReasonBlocked, ledger.ReasonStreak, ledger.ReasonManual, ledger.ReasonUntil, ledger.ReasonStopped, ledger.ReasonInternal, ledger.ReasonBudget} {
		p.project(ledger.RunEnded{Reason: reason, Text: nasty, By: nasty, Branch: nasty, Done: 1 << 20, Total: 1 << 20})
	}
}

// TestNoPeople: without a paired person nobody is told, and no chat is looked up.
func TestNoPeople(t *testing.T) {
	p := runningNight(t, true)
	p.State.Shared.People = nil
	p.Decided = nil
	n := notify.New(notify.Options{})
	before := p.State
	d := loop.Decide(before, loop.Input{Time: p.Now, Project: "shop", Actor: "console", Body: loop.Stop{Now: true}})
	if out := n.Compose(before, d, loop.Input{Time: p.Now, Project: "shop"}); len(out) > 0 {
		t.Errorf("%+v", out)
	}
}
