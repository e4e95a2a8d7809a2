package hatcli

import (
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/nightporter/nightporter/internal/api"
)

// taskAdd implements hat task add: one task by flags, or tasks as JSON.
func (h *hat) taskAdd(args []string) error {
	f, err := parse(args, []string{"--data", "--id", "--body", "--scope", "--depends-on", "--acceptance", "--priority", "--complexity", "--role"}, []string{"--json"}, helpTaskAdd)
	if err != nil {
		return h.printHelp(err, helpTaskAdd)
	}
	value, given, err := f.single("--data", helpTaskAdd)
	if err != nil {
		return err
	}
	var data json.RawMessage
	switch {
	case given && (len(f.words) > 0 || len(f.values) > 1):
		return usageError{"task add: either a title and flags, or --data", helpTaskAdd}
	case given:
		if data, err = h.data(value, helpTaskAdd); err != nil {
			return err
		}
	default:
		task, err := taskOf(f)
		if err != nil {
			return err
		}
		if data, err = json.Marshal(task); err != nil {
			return fmt.Errorf("encode the task: %w", err)
		}
	}
	tasks, text, err := h.client.AddTasks(h.ctx, data)
	if err == nil && f.set["--json"] {
		return h.json(orEmpty(tasks))
	}
	return h.print(text, err)
}

// taskOf returns the task that words and flags describe.
func taskOf(f flags) (api.NewTask, error) {
	t := api.NewTask{Title: f.text(), DependsOn: f.values["--depends-on"], Acceptance: f.values["--acceptance"]}
	if t.Title == "" {
		return t, usageError{"task add: the title is missing", helpTaskAdd}
	}
	complexity := ""
	for name, to := range map[string]*string{"--id": &t.ID, "--body": &t.Body, "--scope": &t.Scope, "--priority": &t.Priority, "--role": &t.Role, "--complexity": &complexity} {
		value, _, err := f.single(name, helpTaskAdd)
		if err != nil {
			return t, err
		}
		*to = value
	}
	if complexity != "" {
		n, err := strconv.Atoi(complexity)
		if err != nil || n < 1 || n > 10 {
			return t, usageError{"task add: --complexity is a number from 1 to 10", helpTaskAdd}
		}
		t.Complexity = n
	}
	return t, nil
}
