package loop

import (
	"slices"
	"testing"

	"github.com/nightporter/nightporter/loop/ledger"
)

// TestSecondReviewer checks who makes a second review, and what preflight says where
// nobody can.
func TestSecondReviewer(t *testing.T) {
	review := ledger.Pattern{Name: "p", Start: "builder", Routes: []ledger.Route{{From: "builder", On: "build.complete", To: "reviewer"}, {From: "reviewer", On: ledger.EventReview, To: ledger.Converged}}}
	hats := map[string]ledger.Hat{"builder": {Emits: []string{"build.complete"}}, "reviewer": {Emits: []string{ledger.EventReview}}}
	own := map[string]ledger.Hat{"builder": hats["builder"], "reviewer": {Emits: []string{ledger.EventReview}, Agent: "codex"}}
	asks := ledger.Task{ID: "Task 3", Mark: ledger.MarkOpen, SecondReview: true}
	bars := []ledger.Bar{{Agent: "copilot", Text: "a budget in money cannot hold for agent copilot", Remedy: "Say what a session costs."}}
	for name, c := range map[string]struct {
		s    ledger.Settings
		task ledger.Task
		want string
		text string
	}{
		"not asked for":        {ledger.Settings{Agent: "claude", Pattern: review, Hats: hats}, ledger.Task{ID: "Task 3", Mark: ledger.MarkOpen}, "", ""},
		"done":                 {ledger.Settings{Agent: "claude", Pattern: review, Hats: hats}, ledger.Task{ID: "Task 3", Mark: ledger.MarkDone, SecondReview: true}, "", ""},
		"a fallback first":     {ledger.Settings{Agent: "claude", Pattern: review, Hats: hats, Others: []string{"pi"}, Fallbacks: map[string][]string{"claude": {"codex"}}}, asks, "codex", ""},
		"any other":            {ledger.Settings{Agent: "claude", Pattern: review, Hats: hats, Others: []string{"pi"}}, asks, "pi", ""},
		"the reviewer's is it": {ledger.Settings{Agent: "claude", Pattern: review, Hats: own, Others: []string{"codex", "claude"}}, asks, "claude", ""},
		"a budget refuses one": {ledger.Settings{Agent: "claude", Pattern: review, Hats: hats, Others: []string{"copilot", "pi"}, Barred: bars}, asks, "pi", ""},
		"a budget refuses all": {ledger.Settings{Agent: "claude", Pattern: review, Hats: hats, Others: []string{"copilot"}, Barred: bars}, asks, "", "Task 3 asks for a second review, and a budget in money cannot hold for agent copilot"},
		"nobody":               {ledger.Settings{Agent: "claude", Pattern: review, Hats: hats}, asks, "", "Task 3 asks for a second review, and no agent but claude is configured"},
		"no review":            {ledger.Settings{Agent: "claude", Pattern: ledger.Pattern{Name: "single", Start: "builder"}, Hats: hats, Others: []string{"pi"}}, asks, "", "Task 3 asks for a second review, and pattern single has no review"},
	} {
		t.Run(name, func(t *testing.T) {
			got, problem := SecondReviewer(c.s, c.task)
			text := ""
			if problem != nil {
				text = problem.Text
			}
			if got != c.want || text != c.text {
				t.Errorf("%q, %q; want %q, %q", got, text, c.want, c.text)
			}
		})
	}
}

// TestRaisedModel: a task whose hat asks for it says on which model its next attempt is.
func TestRaisedModel(t *testing.T) {
	set := testSettings()
	builder := set.Hats["builder"]
	builder.Tier, builder.Escalate = "fast", true
	set.Hats["builder"] = builder
	set.Pattern = patterns["single"]
	set.Models = map[string]ledger.Tiers{"claude": {Strong: "opus", Fast: "sonnet"}}
	s := State{Project: Project{Run: &Run{ID: "r1", Settings: set}}}
	for _, c := range []struct {
		task   TaskState
		raised bool
	}{
		{TaskState{Status: ledger.Ready, Failed: 1}, true},
		{TaskState{Status: ledger.Ready}, false},
		{TaskState{Status: ledger.Active, Failed: 1}, false},
	} {
		if model, raised := s.RaisedModel(c.task); raised != c.raised || raised && model != "opus" {
			t.Errorf("%s after %d failed attempts: %q, %v", c.task.Status, c.task.Failed, model, raised)
		}
	}
}

// TestChoosable: a person is offered the agents that can work now.
func TestChoosable(t *testing.T) {
	s := State{
		Shared: Shared{Agents: map[string]AgentHold{"held": {}, "tried": {Trial: true}}},
		Project: Project{Run: &Run{
			Settings: ledger.Settings{Agent: "claude", Others: []string{"barred", "held", "tried", "unready", "well"}, Barred: []ledger.Bar{{Agent: "barred"}}},
			Base:     ledger.Base{Unready: []string{"unready"}},
		}},
	}
	if got := s.Choosable(); !slices.Equal(got, []string{"tried", "well"}) {
		t.Errorf("%q", got)
	}
}
