package bot_test

import (
	"slices"
	"testing"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/internal/golden"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// scheduled returns a run of tasks in every state that a schedule has to explain.
func scheduled(order ledger.Order) loop.State {
	task := func(n string, status ledger.Status, change func(*loop.TaskState)) loop.TaskState {
		t := loop.TaskState{Task: ledger.Task{ID: "Task " + n, Title: "Title " + n, Mark: ledger.MarkOpen}, Status: status}
		if change != nil {
			change(&t)
		}
		return t
	}
	return loop.State{Project: loop.Project{
		Name: "shop", Run: &loop.Run{ID: "r14", State: ledger.RunRunning, Settings: ledger.Settings{Order: order, Source: ledger.SourceRef{Kind: "tasks", Path: "tasks.json"}}},
		Tasks: loop.NewTaskList(
			task("1", ledger.Done, nil),
			task("2", ledger.Ready, func(t *loop.TaskState) { t.Failed, t.Last = 2, evening.Add(-12*time.Minute) }),
			task("3", ledger.Ready, func(t *loop.TaskState) { t.Task.Priority = 4 }),
			task("4", ledger.Pending, func(t *loop.TaskState) { t.Task.DependsOn = []string{"Task 3"} }),
			task("5", ledger.Blocked, func(t *loop.TaskState) { t.Task.Phase, t.Why, t.Question = 1, "no key for the shop", "q5" }),
			task("6", ledger.Pending, func(t *loop.TaskState) { t.Task.Phase = 2 }),
			task("7", ledger.Ready, func(t *loop.TaskState) { t.Attempt, t.Last = &loop.Attempt{Stage: ledger.StageHeld}, evening }),
			task("8", ledger.Skipped, nil),
			task("9", ledger.Ready, func(t *loop.TaskState) { t.Task.Mark = ledger.MarkBlocked }),
			task("10", ledger.Ready, func(t *loop.TaskState) { t.Task.Priority, t.Task.Complexity = -2, 10 }),
			task("11", ledger.Done, func(t *loop.TaskState) {
				t.Task.Repeat, t.Ended = &ledger.Repeat{Cooldown: 5 * time.Hour}, evening
			}),
		),
	}}
}

// TestTasksWhy checks what people read about the order of a run, and that /task says
// the same of one task.
func TestTasksWhy(t *testing.T) {
	s := scheduled(ledger.OrderScore)
	text := "By score:\n" + bot.TasksWhy(s, evening)
	chosen := s
	r := *s.Project.Run
	r.Next = "task 2"
	chosen.Project.Run = &r
	text += "\nBy score, after /next 2:\n" + bot.TasksWhy(chosen, evening)
	text += "\nAs in the file:\n" + bot.TasksWhy(scheduled(ledger.OrderDocument), evening)
	for _, id := range []string{"Task 3", "Task 6", "Task 4", "Task 11"} {
		one, _ := s.Project.Find(id)
		text += "\n/task " + id[5:] + ":\n" + bot.Task(s, one, bot.TaskHistory{}, evening).Text(60) + "\n"
	}
	text += "\n/tasks:\n" + bot.Tasks(s, evening).Text(60) + "\n\nnightporter tasks:\n" + bot.TasksTable(s, 60, evening)
	// Later, all that is left repeats.
	s.Project.Tasks = loop.NewTaskList(slices.DeleteFunc(s.Project.Tasks.Slice(), func(t loop.TaskState) bool { return t.Status != ledger.Done })...)
	for _, after := range []time.Duration{0, 6 * time.Hour} {
		text += "\nnightporter tasks, " + after.String() + " later:\n" + bot.TasksTable(s, 60, evening.Add(after))
	}
	golden.Compare(t, "tasks-why.txt", text)
}
