package termlog_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/bot/termlog"
	"github.com/nightporter/nightporter/loop"
)

// TestPlans: what a terminal is told of plans that are argued about, of paths
// out of scope, of hats that change on disk, and of how attempts come out.
// The entries are written by hand.
func TestPlans(t *testing.T) {
	s := newScene("shop", termlog.Options{})
	s.begin(s.Settings(), func() bool { return bot.Doing(s.State) == "#2 builder" })
	s.out.Reset()
	at := func(task string, bodies ...loop.Body) {
		for _, b := range bodies {
			s.Now = s.Now.Add(time.Second)
			s.Night.Entry(loop.Entry{Stream: loop.ProjectStream("shop"), Time: s.Now, Run: "r1", Task: task, Body: b})
		}
	}
	plan := json.RawMessage(`{"summary":"An adapter first.","sections":[{"id":"a","title":"Adapter"},{"id":"b","title":"Callers"}]}`)
	tasks := s.State.Project.Tasks.Slice()
	for n := range tasks {
		if t := &tasks[n]; t.Task.ID == "Task 2" {
			w := *t.Attempt
			w.Consensus = &loop.Consensus{Rounds: []loop.Critique{{Sections: []loop.Judgement{{ID: "b", Verdict: "REJECT", Objections: []string{"no path for expired cards"}}}}, {OK: true}}}
			w.Plan, t.Plan, t.Attempt = plan, plan, &w
		}
	}
	s.State.Project.Tasks = loop.NewTaskList(tasks...)
	at("", loop.HatsRead{Pattern: loop.Pattern{Name: "full-cycle"}}, loop.HatsRead{Trouble: `hats/mine.toml:3: unknown key "wrote_allowed"`})
	q := loop.Question{ID: "q7", Kind: loop.AskPlan, Run: "r1", Task: "Task 2", Title: "Refund flow", Text: "An adapter first.", Asked: s.Now}
	at("Task 2", loop.QuestionAsked{Question: q}, loop.QuestionAnswered{ID: "q7", Choice: "approve", By: "Mira"}, loop.PlanSettled{Approved: true, By: "Mira", Rounds: 2})
	part := loop.Task{ID: "Task 2/a", Title: "Adapter", Parent: "Task 2", Own: true, Mark: loop.MarkOpen}
	at("Task 2", loop.PartsMade{Parts: []loop.Task{part}, Gone: []string{"Task 2/z"}}, loop.PartsMade{Whole: true}, loop.PlanSettled{By: "Mira", Rounds: 5, Words: "b before a"})
	out := loop.Question{ID: "q8", Kind: loop.AskAllow, Run: "r1", Task: "Task 2", Text: "written again by the builder", Paths: []string{"docs/orders.md", "go.work"}, Asked: s.Now, Expires: s.Now.Add(30 * time.Minute)}
	at("Task 2", loop.QuestionAsked{Question: out}, loop.QuestionAnswered{ID: "q8", Choice: "allow", By: "Ana"}, loop.PathsAllowed{Paths: out.Paths})
	out.ID = "q9"
	at("Task 2", loop.QuestionAsked{Question: out}, loop.QuestionExpired{ID: "q9", Choice: "deny", Then: "stays out"})
	at("Task 2", loop.AttemptEnded{Outcome: loop.OutcomeBudget, Why: "$15.02 of $15.00 spent"})
	at("Task 2", loop.AttemptEnded{Outcome: loop.OutcomeParked, Why: "the run ends"})
	at("Task 2", loop.AttemptEnded{Outcome: loop.OutcomeAnew, Replan: true, Why: "another plan"})
	at("Task 2", loop.AttemptEnded{Outcome: loop.OutcomePlanned})
	at("Task 2", loop.AttemptEnded{Failed: true, Outcome: loop.OutcomeStalled, Why: "the same tree as after round 1"})
	at("Task 2", loop.AttemptEnded{Failed: true, Outcome: loop.OutcomeLimit, Why: "no end"},
		loop.QuestionAsked{Question: loop.Question{ID: "q10", Kind: loop.AskBlocked, Run: "r1", Task: "Task 2", Text: "no end", Asked: s.Now}})
	at("Task 2", loop.TaskSet{From: loop.Active, To: loop.Ready}, loop.AttemptEnded{Failed: true, Outcome: loop.OutcomeBlocked, Why: "two things"},
		loop.QuestionAsked{Question: loop.Question{ID: "q11", Kind: loop.AskBlocked, Run: "r1", Task: "Task 2", Text: "two things", Asked: s.Now}})
	golden(t, "scene-plans", s.out.Bytes())
}

// TestLinesKeepTheirWidth: what is said gives way, what is true does not.
func TestLinesKeepTheirWidth(t *testing.T) {
	s := newScene("shop", termlog.Options{})
	s.begin(s.Settings(), func() bool { return bot.Doing(s.State) == "#2 builder" })
	s.out.Reset()
	said := func(hat, event, data string, more ...loop.Body) {
		s.Now = s.Now.Add(time.Second)
		for _, b := range append([]loop.Body{
			loop.SessionPlanned{Hat: hat},
			loop.EventAccepted{Type: event, Data: json.RawMessage(data)},
			loop.SessionEnded{Kind: loop.KindAgent, End: loop.EndedEvent, Counts: loop.CountsAsSuccess},
		}, more...) {
			s.Night.Entry(loop.Entry{Stream: loop.ProjectStream("shop"), Time: s.Now, Run: "r1", Task: "Task 2", Session: "r1-90", Body: b})
		}
	}
	green := loop.Verified{Kind: loop.KindVerify, OK: true, Results: []loop.Result{{Run: "go test ./...", OK: true, Ms: 38000}, {Run: "golangci-lint run", OK: true}}}
	said("refactorer", "refactor.complete", `{"no_change":"simple enough as it is, and every name says what it means"}`, green)
	said("refactorer", "refactor.complete", `{"no_change":"fine"}`, loop.Verified{Kind: loop.KindVerify, OK: true, Results: []loop.Result{{Run: "make", OK: true}}})
	said("critic", "critique.verdict", `{"verdict":"REJECT","sections":[{"id":"b","verdict":"REJECT","objections":["no path for cards that expire during the refresh"]}]}`, loop.Routed{On: "critique.verdict", To: "architect"})
	said("reproducer", "repro.complete", `{"command":"sh tests/t2.sh"}`, loop.Verified{Kind: loop.KindRepro, OK: true, Results: []loop.Result{{Run: "sh tests/t2.sh", Exit: 1}}}, loop.Routed{On: "repro.complete", To: "fixer"})
	for _, line := range strings.Split(s.out.String(), "\n") {
		said, _, _ := strings.Cut(line, "   verify ") // which is never cut
		if utf8.RuneCountInString(said) > 80 {
			t.Errorf("wider than 80: %s", line)
		}
	}
	golden(t, "scene-width", s.out.Bytes())
}
