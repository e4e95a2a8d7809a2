package bot_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// sourceOf reads these tasks, or fails.
type sourceOf struct {
	tasks []ledger.Task
	err   error
}

func (s sourceOf) ReadSource(context.Context, string) (bot.SourceReading, error) {
	return bot.SourceReading{Source: ledger.SourceRef{Kind: "plan", Path: "plan.md"}, Tasks: s.tasks}, s.err
}

// TestTasksBeforeARun: before a run has read them, /tasks lists the tasks that the
// source has.
func TestTasksBeforeARun(t *testing.T) {
	done, open := ledger.Task{ID: "Task 1", Title: "Paint", Mark: ledger.MarkDone}, ledger.Task{ID: "Task 2", Title: "Dry", Mark: ledger.MarkOpen}
	blocked := ledger.Task{ID: "Task 3", Title: "Hang", Mark: ledger.MarkBlocked}
	for name, c := range map[string]struct {
		service any
		want    string
	}{
		"some":       {sourceOf{tasks: []ledger.Task{done, open, blocked}}, "shop tasks · 1/3 done\nNo run yet. In plan.md:\n○ #2 Dry\n■ #3 Hang"},
		"all done":   {sourceOf{tasks: []ledger.Task{done}}, "shop tasks · 1/1 done\nNo run yet, and all in plan.md is done."},
		"none":       {sourceOf{}, "shop tasks · 0/0 done\nNo tasks are known: nothing was read yet."},
		"unreadable": {sourceOf{err: errors.New("broken")}, "shop tasks · 0/0 done\nNo tasks are known: nothing was read yet."},
		"no reader":  {nil, "shop tasks · 0/0 done\nNo tasks are known: nothing was read yet."},
	} {
		s := loop.State{Project: loop.Project{Name: "shop"}}
		if got := strings.TrimSpace(bot.ProjectTasks(t.Context(), c.service, s, time.Time{}).Text(60)); got != c.want {
			t.Errorf("%s:\n%s\nwant:\n%s", name, got, c.want)
		}
	}
}
