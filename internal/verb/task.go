package verb

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/nightporter/nightporter/internal/api"
)

// Tasks returns the tasks of the run.
func (c Client) Tasks(ctx context.Context) ([]api.Task, error) {
	reply, err := c.call(ctx, api.PathTask, api.TaskQuery{})
	return reply.Tasks, err
}

// FindTask returns one task, the session's own for "".
func (c Client) FindTask(ctx context.Context, id string) (api.Task, error) {
	if id == "" {
		if id = c.Task; id == "" {
			return api.Task{}, InvalidError{"task show: this session has no task of its own; name one"}
		}
	}
	reply, err := c.call(ctx, api.PathTask, api.TaskQuery{ID: id})
	if err != nil {
		return api.Task{}, err
	}
	if reply.Task == nil {
		return api.Task{}, fmt.Errorf("%w: it holds no task", api.ErrAnswer)
	}
	return *reply.Task, nil
}

// AddTasks adds the tasks of an api.NewTasks, and returns them with the answer.
func (c Client) AddTasks(ctx context.Context, data json.RawMessage) ([]api.Task, string, error) {
	reply, err := c.call(ctx, api.PathTask, api.TaskQuery{Add: data})
	return reply.Tasks, reply.Text, err
}

// TaskList returns tasks as text, one a line.
func TaskList(tasks []api.Task) string {
	if len(tasks) == 0 {
		return "There are no tasks."
	}
	var id, status int
	for _, t := range tasks {
		id, status = max(id, utf8.RuneCountInString(t.ID)), max(status, utf8.RuneCountInString(t.Status))
	}
	lines := make([]string, 0, len(tasks))
	for _, t := range tasks {
		mark := " "
		if t.Current {
			mark = "▸"
		}
		lines = append(lines, mark+" "+pad(t.ID, id)+"  "+pad(t.Status, status)+"  "+t.Title)
	}
	return strings.Join(lines, "\n")
}

// TaskText returns one task as text.
func TaskText(t api.Task) string {
	lines := []string{t.ID + ": " + t.Title, "Status: " + t.Status}
	if t.Scope != "" {
		lines = append(lines, "Scope: "+t.Scope)
	}
	if len(t.DependsOn) > 0 {
		lines = append(lines, "Depends on: "+strings.Join(t.DependsOn, ", "))
	}
	if len(t.Acceptance) > 0 {
		lines = append(lines, "Acceptance:\n- "+strings.Join(t.Acceptance, "\n- "))
	}
	if t.Body != "" {
		lines = append(lines, "\n"+t.Body)
	}
	return strings.Join(lines, "\n")
}

// pad pads s with spaces to n characters.
func pad(s string, n int) string {
	return s + strings.Repeat(" ", max(0, n-utf8.RuneCountInString(s)))
}
