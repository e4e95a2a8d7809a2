package termlog_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/bot/termlog"
	"github.com/nightporter/nightporter/internal/golden"
	"github.com/nightporter/nightporter/internal/scenario"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/payload"
)

// TestPlans compares lines about debated plans, paths out of scope, changed
// hats and outcomes of attempts with golden files. The test writes their
// entries itself.
func TestPlans(t *testing.T) {
	s := newFixture("shop", termlog.Options{})
	s.begin(s.Settings(), func() bool { return bot.Doing(s.State) == "#2 builder" })
	s.out.Reset()
	at := func(task string, bodies ...ledger.Body) {
		for _, b := range bodies {
			s.Now = s.Now.Add(time.Second)
			s.Night.Entry(ledger.Entry{Stream: ledger.ProjectStream("shop"), Time: s.Now, Run: "r1", Task: task, Body: b})
		}
	}
	plan := json.RawMessage(`{"summary":"An adapter first.","sections":[{"id":"a","title":"Adapter"},{"id":"b","title":"Callers"}]}`)
	tasks := s.State.Project.Tasks.Slice()
	for n := range tasks {
		if t := &tasks[n]; t.Task.ID == "Task 2" {
			w := *t.Attempt
			w.Consensus = &loop.Consensus{Rounds: []payload.Critique{{Sections: []payload.Judgement{{ID: "b", Verdict: "REJECT", Objections: []string{"no path for expired cards"}}}}, {OK: true}}}
			w.Plan, t.Plan, t.Attempt = plan, plan, &w
		}
	}
	s.State.Project.Tasks = loop.NewTaskList(tasks...)
	at("", ledger.HatsRead{Pattern: ledger.Pattern{Name: "full-cycle"}}, ledger.HatsRead{Trouble: `hats/mine.toml:3: unknown key "wrote_allowed"`})
	q := ledger.Question{ID: "q7", Kind: ledger.AskPlan, Run: "r1", Task: "Task 2", Title: "Refund flow", Text: "An adapter first.", Asked: s.Now}
	at("Task 2", ledger.QuestionAsked{Question: q}, ledger.QuestionAnswered{ID: "q7", Choice: "approve", By: "Mira"}, ledger.PlanSettled{Approved: true, By: "Mira", Rounds: 2})
	part := ledger.Task{ID: "Task 2/a", Title: "Adapter", Parent: "Task 2", Own: true, Mark: ledger.MarkOpen}
	at("Task 2", ledger.PartsMade{Parts: []ledger.Task{part}, Gone: []string{"Task 2/z"}}, ledger.PartsMade{Whole: true}, ledger.PlanSettled{By: "Mira", Rounds: 5, Words: "b before a"})
	out := ledger.Question{ID: "q8", Kind: ledger.AskAllow, Run: "r1", Task: "Task 2", Text: "written again by the builder", Paths: []string{"docs/orders.md", "go.work"}, Asked: s.Now, Expires: s.Now.Add(30 * time.Minute)}
	at("Task 2", ledger.QuestionAsked{Question: out}, ledger.QuestionAnswered{ID: "q8", Choice: "allow", By: "Ana"}, ledger.PathsAllowed{Paths: out.Paths})
	out.ID = "q9"
	at("Task 2", ledger.QuestionAsked{Question: out}, ledger.QuestionExpired{ID: "q9", Choice: "deny", Then: "stays out"})
	at("Task 2", ledger.AttemptEnded{Outcome: ledger.OutcomeBudget, Why: "$15.02 of $15.00 spent"})
	at("Task 2", ledger.AttemptEnded{Outcome: ledger.OutcomeParked, Why: "the run ends"})
	at("Task 2", ledger.AttemptEnded{Outcome: ledger.OutcomeAnew, Replan: true, Why: "another plan"})
	at("Task 2", ledger.AttemptEnded{Outcome: ledger.OutcomePlanned})
	at("Task 2", ledger.AttemptEnded{Failed: true, Outcome: ledger.OutcomeStalled, Why: "the same files as in an earlier round"})
	at("Task 2", ledger.AttemptEnded{Failed: true, Outcome: ledger.OutcomeLimit, Why: "limit of 20 sessions: no end"},
		ledger.QuestionAsked{Question: ledger.Question{ID: "q10", Kind: ledger.AskBlocked, Run: "r1", Task: "Task 2", Text: "limit of 20 sessions: no end", Asked: s.Now}})
	at("Task 2", ledger.TaskSet{From: ledger.Active, To: ledger.Ready}, ledger.AttemptEnded{Failed: true, Outcome: ledger.OutcomeBlocked, Why: "two things"},
		ledger.QuestionAsked{Question: ledger.Question{ID: "q11", Kind: ledger.AskBlocked, Run: "r1", Task: "Task 2", Text: "two things", Asked: s.Now}})
	golden.Compare(t, "plans.txt", s.out.String())
}

// TestLineWidth: a narrow line shortens quotations, never results.
func TestLineWidth(t *testing.T) {
	s := newFixture("shop", termlog.Options{})
	s.begin(s.Settings(), func() bool { return bot.Doing(s.State) == "#2 builder" })
	s.out.Reset()
	said := func(hat, event, data string, more ...ledger.Body) {
		s.Now = s.Now.Add(time.Second)
		for _, b := range append([]ledger.Body{
			ledger.SessionPlanned{Hat: hat},
			ledger.EventAccepted{Type: event, Data: json.RawMessage(data)},
			ledger.SessionEnded{Kind: ledger.KindAgent, End: ledger.EndedEvent, Counts: ledger.CountsAsSuccess},
		}, more...) {
			s.Night.Entry(ledger.Entry{Stream: ledger.ProjectStream("shop"), Time: s.Now, Run: "r1", Task: "Task 2", Session: "r1-90", Body: b})
		}
	}
	green := ledger.Verified{Kind: ledger.KindVerify, OK: true, Results: []ledger.Result{{Run: "go test ./...", OK: true, Ms: 38000}, {Run: "golangci-lint run", OK: true}}}
	said("refactorer", "refactor.complete", `{"no_change":"simple enough as it is, and every name says what it means"}`, green)
	said("refactorer", "refactor.complete", `{"no_change":"fine"}`, ledger.Verified{Kind: ledger.KindVerify, OK: true, Results: []ledger.Result{{Run: "make", OK: true}}})
	said("critic", "critique.verdict", `{"verdict":"REJECT","sections":[{"id":"b","verdict":"REJECT","objections":["no path for cards that expire during the refresh"]}]}`, ledger.Routed{On: "critique.verdict", To: "architect"})
	said("reproducer", "repro.complete", `{"command":"sh tests/t2.sh"}`, ledger.Verified{Kind: ledger.KindRepro, OK: true, Results: []ledger.Result{{Run: "sh tests/t2.sh", Exit: 1}}}, ledger.Routed{On: "repro.complete", To: "fixer"})
	for _, line := range strings.Split(s.out.String(), "\n") {
		said, _, _ := strings.Cut(line, "   verify ") // which is never cut
		if utf8.RuneCountInString(said) > 80 {
			t.Errorf("wider than 80: %s", line)
		}
	}
	golden.Compare(t, "width.txt", s.out.String())
}

// TestLanesProposed checks that a run which several lanes would make faster says so once,
// with the flag.
func TestLanesProposed(t *testing.T) {
	for most, want := range map[int]bool{0: true, 1: false} {
		s := newFixture("shop", termlog.Options{Most: most})
		set := s.Settings()
		var tasks []ledger.Task
		for n := range 10 {
			x := scenario.Task(n+1, "Endpoint")
			x.Scope = fmt.Sprintf("`src/%d/`", n)
			tasks = append(tasks, x)
		}
		s.Start(set, s.Base("r1"), tasks...)
		s.Until(func() bool { return s.State.Project.Run.State == ledger.RunRunning })
		said := strings.Contains(s.out.String(), "10 tasks are independent: 4 at a time would be faster.\n          goes on as configured; another time: --parallel 4\n")
		if said != want {
			t.Errorf("with %d sessions allowed:\n%s", most, s.out.String())
		}
	}
}
