package bot_test

import (
	"testing"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// learned returns a project of two patterns, and a threshold that Mira agreed to.
func learned() loop.State {
	s := scheduled(ledger.OrderDocument)
	r := *s.Project.Run
	r.Settings.Pattern = ledger.Pattern{Name: "plan-build-review", Threshold: []ledger.Severity{ledger.Critical, ledger.Major}}
	r.Settings.Roles = map[string]ledger.Pattern{"bug": {Name: "bug", Threshold: []ledger.Severity{ledger.Critical, ledger.Major, ledger.Minor}}}
	tasks := s.Project.Tasks.Slice()
	tasks[1].Task.Role = "bug"
	tasks[2].Task.Threshold = []ledger.Severity{ledger.Critical, ledger.Minor}
	s.Project.Run, s.Project.Tasks = &r, loop.NewTaskList(tasks...)
	s.Project.Learning.Set = map[string]loop.ThresholdRule{
		"plan-build-review": {Pattern: []ledger.Severity{ledger.Critical, ledger.Major}, Threshold: []ledger.Severity{ledger.Critical}, Question: "q9", By: "Mira"},
	}
	return s
}

// TestThresholdMessages checks what people read about learned thresholds.
func TestThresholdMessages(t *testing.T) {
	all := topics{}
	s := learned()
	loosen := ledger.ThresholdProposal{
		ThresholdChange: ledger.ThresholdChange{Kind: "plan-build-review", Severity: ledger.Major},
		Pattern:         []ledger.Severity{ledger.Critical, ledger.Major}, Threshold: []ledger.Severity{ledger.Critical},
		Tasks: 9, Runs: 2, Rounds: 5, Unchanged: 3, Small: 1, Open: 2,
	}
	tighten := ledger.ThresholdProposal{
		ThresholdChange: ledger.ThresholdChange{Kind: "build-review-refactor", Severity: ledger.Minor, Add: true},
		Pattern:         []ledger.Severity{ledger.Critical, ledger.Major}, Threshold: []ledger.Severity{ledger.Critical, ledger.Major, ledger.Minor},
		Tasks: 12, Runs: 3, Open: 4, Regretted: 3,
	}
	suggestions := loosen
	suggestions.Severity, suggestions.Small, suggestions.Open = ledger.Suggestion, 0, 0
	suggestions.Threshold = []ledger.Severity{ledger.Critical, ledger.Major, ledger.Minor}
	for intent, c := range map[string]ledger.ThresholdProposal{"fixes for nothing": loosen, "fixes of suggestions": suggestions, "regretted tasks": tighten} {
		q := ledger.Question{ID: "q12", Kind: ledger.AskThreshold, Title: c.Kind, Threshold: &c, Asked: evening}
		all.add(t, "threshold", intent, "", bot.Ask(s, q, evening), 32)
		if c.Severity != ledger.Suggestion {
			for _, choice := range []string{"use", "keep"} {
				all.add(t, "threshold", intent+", "+choice, "q12 "+choice, bot.Answered(s, q, ledger.QuestionAnswered{ID: "q12", Choice: choice, By: "Mira"}, "", evening), 32)
			}
		}
	}
	hostile := loosen
	hostile.Kind = "<b>a_pattern</b>\nwith a name that is much longer than any line"
	all.add(t, "threshold", "a hostile name", "", bot.Ask(s, ledger.Question{ID: "q12345", Kind: ledger.AskThreshold, Threshold: &hostile, Asked: evening}, evening), 32)
	all.add(t, "threshold", "one learned", "/threshold", bot.Thresholds(s), 32)
	edited := s
	r := *s.Project.Run
	r.Settings.Pattern.Threshold = []ledger.Severity{ledger.Critical, ledger.Major, ledger.Minor}
	edited.Project.Run = &r
	edited.Project.Learning.Set = map[string]loop.ThresholdRule{"plan-build-review": s.Project.Learning.Set["plan-build-review"], "gone": {Threshold: []ledger.Severity{ledger.Critical}}}
	all.add(t, "threshold", "a file edited since, and a pattern gone", "/threshold", bot.Thresholds(edited), 32)
	for intent, id := range map[string]string{"a task of a learned kind": "Task 4", "a task with its own": "Task 3", "a task of another kind": "Task 2"} {
		one, _ := s.Project.Find(id)
		all.add(t, "threshold", intent, "/task "+id[5:], bot.Task(s, one, bot.TaskHistory{}, evening), 38)
	}
	all["threshold"]["nightporter tasks --why"] = bot.TasksWhy(s, evening)
	all.compare(t)
}
