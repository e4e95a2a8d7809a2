package session

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nightporter/nightporter/internal/api"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/workspace/secret"
)

// addedTime limits how long a session waits for its tasks to be in the file. After
// that it may ask again: the same tasks are added once.
const addedTime = 10 * time.Second

// addTasks adds tasks to the source of the session's run, and answers when they are in
// it.
func (a *API) addTasks(ctx context.Context, s loop.State, ses loop.Session, raw json.RawMessage) (api.Reply, error) {
	tasks, wrong := newTasks(secret.RedactJSON(raw))
	if wrong != "" {
		return api.Reply{Text: wrong}, nil
	}
	key := sha256.Sum256(raw)
	answer, err := a.Engine.Do(context.WithoutCancel(ctx), loop.Input{
		Key: fmt.Sprintf("add:%s:%x", ses.ID, key[:12]), Project: s.Project.Name, Actor: "agent", Body: loop.AddTasks{Tasks: tasks, Session: ses.ID},
	})
	switch {
	case err != nil:
		return api.Reply{}, fmt.Errorf("%w: %w", api.ErrLater, err)
	case !answer.OK:
		return api.Reply{Text: answer.Text}, nil
	}
	wait, cancel := context.WithTimeout(ctx, addedTime)
	defer cancel()
	if err := a.Engine.Written(wait); err != nil {
		return api.Reply{}, fmt.Errorf("%w: the tasks are being written", api.ErrLater)
	}
	s, _ = a.Engine.State(s.Project.Name)
	added, ok := s.Project.Addition(answer.ID)
	switch {
	case !ok:
		return api.Reply{OK: true, Text: "added"}, nil // long ago
	case !added.Done:
		return api.Reply{}, fmt.Errorf("%w: the tasks cannot be written for now", api.ErrLater)
	case added.Error != "":
		return api.Reply{Text: strings.TrimSpace(added.Error + ". " + added.Remedy)}, nil
	}
	r := api.Reply{OK: true, Text: strings.Join(added.IDs, ", ") + " added"}
	for _, id := range added.IDs {
		if t, ok := s.Project.Find(id); ok {
			r.Tasks = append(r.Tasks, apiTask(s, t, ses))
		}
	}
	return r, nil
}

// newTasks reads the tasks of a request. wrong says what is the matter with it.
func newTasks(raw json.RawMessage) (tasks []ledger.Task, wrong string) {
	var in api.NewTasks
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(&in); err != nil {
		return nil, "that is no task: " + strings.TrimPrefix(err.Error(), "json: ") + "; see: hat task add --help"
	}
	list := in.Tasks
	if len(list) == 0 {
		list = []api.NewTask{in.NewTask}
	}
	for _, t := range list {
		priority, ok := priorityOf(t.Priority)
		if !ok {
			return nil, fmt.Sprintf("priority %q: expected P0 to P3, or critical, high, medium, low", t.Priority)
		}
		if t.Complexity < 0 || t.Complexity > 10 {
			return nil, fmt.Sprintf("complexity %d: expected 1 to 10", t.Complexity)
		}
		tasks = append(tasks, ledger.Task{
			ID: strings.TrimSpace(t.ID), Title: t.Title, Body: strings.TrimSpace(t.Body), Scope: strings.TrimSpace(t.Scope), DependsOn: t.DependsOn,
			Acceptance: t.Acceptance, Priority: priority, Complexity: t.Complexity, Role: t.Role,
		})
	}
	return tasks, ""
}

// priorityOf returns a priority as tasks have it: 4 for the highest, 0 for none.
func priorityOf(word string) (n int, ok bool) {
	word = strings.ToLower(strings.TrimSpace(word))
	if word == "" {
		return 0, true
	}
	for _, words := range [][]string{{"p0", "p1", "p2", "p3"}, {"critical", "high", "medium", "low"}} {
		if at := slices.Index(words, word); at >= 0 {
			return len(words) - at, true
		}
	}
	return 0, false
}
