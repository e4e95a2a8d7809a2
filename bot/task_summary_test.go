package bot_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// TestTaskSummary: /task of a done task has what its sessions said of their work,
// whole, in the attempt that was committed. A task that is not done has none.
func TestTaskSummary(t *testing.T) {
	var records []ledger.Record
	keep := func(attempt string, body ledger.Body) {
		t.Helper()
		r, err := ledger.Entry{Stream: "project/shop", Time: evening, Run: "r14", Task: "Task 7", Attempt: attempt, Body: body}.Record()
		if err != nil {
			t.Fatal(err)
		}
		records = append(records, r)
	}
	event := func(attempt, typ string, fields map[string]any) {
		t.Helper()
		data, err := json.Marshal(fields)
		if err != nil {
			t.Fatal(err)
		}
		keep(attempt, ledger.EventAccepted{Type: typ, Data: data})
	}
	long := "Totals are rounded half up,\nalso those below zero. " + strings.Repeat("Every caller was changed. ", 20)
	event("a1", "build.complete", map[string]any{"summary": "Gave up on floats."})
	keep("a1", ledger.AttemptEnded{Outcome: ledger.OutcomeRed, Failed: true})
	event("a2", "plan.complete", map[string]any{"summary": "Three steps."})
	event("a2", "build.complete", map[string]any{"summary": long})
	event("a2", "review.verdict", map[string]any{"summary": "One issue.", "issues": []any{}})
	keep("a1", ledger.SessionEnded{Exit: ledger.Exit{Hosts: []ledger.HostUse{{Host: "api.example.org", Port: 443, Conns: 2, Sent: 900}, {Host: "evil.example.org", Port: 443, Conns: 1, Refused: "no"}}}})
	event("a2", "fix.complete", map[string]any{"summary": "Covered -1.005."})
	event("a2", "docs.complete", map[string]any{"files_modified": []string{"docs/round.md"}})
	keep("a2", ledger.AttemptEnded{Outcome: ledger.OutcomeConverged})

	h := bot.HistoryOf(records)
	if h.Last != ledger.OutcomeConverged || !slices.Equal(h.Summaries, []string{strings.TrimSpace(long), "Covered -1.005."}) {
		t.Errorf("%+v", h)
	}
	if h := bot.HistoryOf(nil); h.Last != "" || h.Summaries != nil {
		t.Errorf("of no records: %+v", h)
	}
	s := loop.State{Project: loop.Project{Name: "shop"}}
	task := loop.TaskState{Task: ledger.Task{ID: "Task 7", Title: "Round totals"}, Status: ledger.Done, Attempts: 2, Commit: "9c41e07aa"}
	m := bot.Task(s, task, h, evening)
	text := m.Text(0)
	if !strings.Contains(text, "The agent says:\n┃ Totals are rounded half up,\n┃ also those below zero. Every caller") || !strings.Contains(text, "was changed.\n┃ Covered -1.005.") {
		t.Errorf("of a done task:\n%s", text)
	}
	if !strings.Contains(text, "\nReached api.example.org; refused: evil.example.org") {
		t.Errorf("without its hosts:\n%s", text)
	}
	if text := bot.Task(s, task, bot.TaskHistory{}, evening).Text(0); strings.Contains(text, "eached") {
		t.Errorf("of a task without hosts:\n%s", text)
	}
	checkForm(t, "done", m)
	if text := bot.Task(s, task, bot.TaskHistory{}, evening).Text(0); strings.Contains(text, "The agent says") {
		t.Errorf("without a summary:\n%s", text)
	}
	task.Status = ledger.Ready
	if text := bot.Task(s, task, h, evening).Text(0); strings.Contains(text, "rounded half up") {
		t.Errorf("of a task that is not done:\n%s", text)
	}
}
