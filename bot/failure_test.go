package bot_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/bot/telegram"
	"github.com/nightporter/nightporter/internal/golden"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// failureRecords returns the records of a task, an entry a minute. An "aN" begins an
// attempt.
func failureRecords(t *testing.T, bodies ...any) (recs []ledger.Record) {
	t.Helper()
	attempt := ""
	for n, b := range bodies {
		if name, is := b.(string); is {
			attempt = name
			continue
		}
		e := ledger.Entry{Stream: "project/shop", Time: evening.Add(time.Duration(n) * time.Minute), Run: "r14", Task: "Task 8", Attempt: attempt, Session: "r14-" + attempt, Body: b.(ledger.Body)}
		r, err := e.Record()
		if err != nil {
			t.Fatal(err)
		}
		recs = append(recs, r)
	}
	return recs
}

// TestFailure reads /why of a task as a narrow phone shows it: what failed last, whole
// where somebody wrote it, and the end of what a program printed.
func TestFailure(t *testing.T) {
	var long strings.Builder
	for n := range 40 {
		fmt.Fprintf(&long, "line %d\n", n+1)
	}
	builder := ledger.SessionPlanned{Kind: ledger.KindAgent, Hat: "builder"}
	red := func(tail string) ledger.Verified {
		return ledger.Verified{Kind: ledger.KindVerify, Results: []ledger.Result{{Run: "npm ci", OK: true}, {Run: "npm run lint", Exit: 2, Advisory: true, Tail: "advice"}, {Run: "npm test", Exit: 1, Tail: tail}}}
	}
	silent := ledger.SessionEnded{Kind: ledger.KindAgent, End: ledger.EndedSilent, Exit: ledger.Exit{Code: 1, Tail: "{\"type\":\"result\"}\nError: no space left\n"}}
	refused := ledger.EventRefused{Type: "build.complete", Why: "files_modified names cart.go, which did not change"}
	var story strings.Builder
	for _, c := range []struct {
		name    string
		status  ledger.Status
		bodies  []any
		missing string
	}{
		{"red", ledger.Blocked, []any{"a1", builder, red("old"), "a2", builder, red("\x1b[31m✗ adds a line\x1b[0m\n  want 3, got 2\n"), ledger.AttemptEnded{Failed: true, Outcome: ledger.OutcomeRed, Why: "npm test still fails (adds a line) after 3 sessions"}}, "old"},
		{"long output", ledger.Ready, []any{"a1", builder, red(long.String())}, "line 24\n"}, // it is in the file
		{"refused", ledger.Blocked, []any{"a1", builder, refused, silent, ledger.AttemptEnded{Failed: true, Outcome: ledger.OutcomeFailed, Why: "ended without a report"}}, "{"},
		{"mended meanwhile", ledger.Active, []any{"a1", builder, red("old"), refused, ledger.EventAccepted{Type: "build.complete"}, ledger.Verified{Kind: ledger.KindVerify, OK: true}}, "old"},
		{"the attempt before", ledger.Active, []any{"a1", builder, red("want 3, got 2"), ledger.AttemptEnded{Failed: true, Outcome: ledger.OutcomeRed, Why: "npm test fails"}, "a2", builder}, ""},
		{"nothing", ledger.Ready, nil, ""},
	} {
		state := loop.State{Project: loop.Project{Name: "shop"}}
		m := bot.Failure(state, loop.TaskState{Task: ledger.Task{ID: "Task 8", Title: "Refund flow"}, Status: c.status}, failureRecords(t, c.bodies...), false, evening.Add(time.Hour))
		checkForm(t, c.name, m)
		text := m.Text(38)
		if p := telegram.Render(m); p.File != nil {
			text = p.Text + "\n[" + p.File.Name + "]"
			if !bytes.Contains(p.File.Data, []byte("line 1\n")) {
				t.Errorf("%s: the file lacks output:\n%s", c.name, p.File.Data)
			}
		}
		if c.missing != "" && strings.Contains(text, c.missing) {
			t.Errorf("%s: has %q\n%s", c.name, c.missing, text)
		}
		if n := strings.Count(text, "\n"); n > 26 {
			t.Errorf("%s: %d lines", c.name, n)
		}
		story.WriteString("── " + c.name + "\n\n" + text + "\n" + m.Twins() + "\n\n")
	}
	golden.Compare(t, "failure.txt", story.String())
}
