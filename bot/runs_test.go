package bot_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// archive is a Service with old runs of two projects.
type archive struct {
	*service
	past map[string][]ledger.Record
	fail error
}

func (a *archive) State(p string) (loop.State, bool) {
	return loop.State{Project: loop.Project{Name: p}}, true
}

func (a *archive) Runs(_ context.Context, project string) ([]string, error) {
	var ids []string
	for _, r := range a.past[project] {
		if !slices.Contains(ids, r.Run) {
			ids = append(ids, r.Run)
		}
	}
	return ids, a.fail
}

func (a *archive) RunRecords(_ context.Context, project, run string, types ...string) ([]ledger.Record, error) {
	var out []ledger.Record
	for _, r := range a.past[project] {
		if r.Run == run && (len(types) == 0 || slices.Contains(types, r.Type)) {
			out = append(out, r)
		}
	}
	return out, nil
}

// ran adds a run to a project's records.
func (a *archive) ran(t *testing.T, project, run string, began time.Time, took time.Duration, cost []float64, end *ledger.RunEnded, tasks ...string) {
	t.Helper()
	set := a.Settings()
	at := began
	add := func(task string, b ledger.Body) {
		r, err := ledger.Entry{Stream: ledger.ProjectStream(project), Time: at, Run: run, Task: task, Body: b}.Record()
		if err != nil {
			t.Fatal(err)
		}
		a.past[project] = append(a.past[project], r)
	}
	add("", ledger.RunPlanned{Run: run, Settings: set})
	at = at.Add(time.Minute)
	add("", ledger.PreflightDone{Base: ledger.Base{Branch: "nightporter/" + project + "/" + run}})
	add("", ledger.RunStarted{Tasks: len(tasks)})
	for _, c := range cost {
		add("", ledger.SessionEnded{Kind: ledger.KindAgent, Exit: ledger.Exit{CostUSD: c}})
	}
	add("", ledger.SessionEnded{Kind: ledger.KindVerify, Exit: ledger.Exit{CostUSD: 99}})
	for _, x := range tasks {
		id, status, _ := strings.Cut(x, " ")
		if status == "done" {
			add("Task "+id, ledger.TaskCommitted{Commit: "c"})
		}
		add("Task "+id, ledger.TaskSet{To: ledger.Active})
		add("Task "+id, ledger.TaskSet{To: ledger.Status(status)})
	}
	if end != nil {
		at = at.Add(took)
		add("", *end)
	}
}

// TestRuns checks the list of the runs of all projects, by number, and that
// values missing in the records are shown as unknown.
func TestRuns(t *testing.T) {
	red := false
	day := func(d, h, m int) time.Time { return time.Date(2026, 11, d, h, m, 0, 0, evening.Location()) }
	a := &archive{service: over(), past: map[string][]ledger.Record{}}
	a.names = []string{"blog", "shop"}
	a.Now = day(20, 8, 0)
	a.ran(t, "shop", "r2", day(1, 22, 0), 3*time.Hour, []float64{1}, &ledger.RunEnded{Reason: ledger.ReasonUntil, Done: 1, Total: 3})
	a.ran(t, "blog", "r9", day(10, 22, 0), time.Minute, nil, &ledger.RunEnded{Reason: ledger.ReasonPreflight, Exit: 3, Text: "agent claude is not on PATH"})
	a.ran(t, "shop", "r10", day(12, 22, 0), 2*time.Hour, []float64{-1, -1}, nil, "1 active")
	a.ran(t, "shop", "r11", day(14, 22, 0), 2*time.Hour, []float64{4.1, -1}, &ledger.RunEnded{Reason: ledger.ReasonDone, Done: 3, Total: 3, FinalOK: &red}, "1 done", "2 done", "3 done")
	a.ran(t, "shop", "r12", day(17, 20, 0), 110*time.Minute, []float64{3.02}, &ledger.RunEnded{Reason: ledger.ReasonDone, Done: 4, Total: 4})
	a.ran(t, "blog", "r13", day(19, 21, 40), 72*time.Minute, []float64{2, 0.1}, &ledger.RunEnded{Reason: ledger.ReasonStopped, Done: 5, Total: 6})
	a.ran(t, "shop", "r14", day(19, 23, 9), 422*time.Minute, []float64{13, 0.62}, &ledger.RunEnded{
		Reason: ledger.ReasonNothing, Text: "#8 blocked · #10 needs #8", Done: 9, Total: 12, Branch: "nightporter/shop/r14",
	}, "7 done", "1 done", "2 done", "3 done", "4 done", "5 done", "6 done", "8 blocked", "9 done", "11 done", "12 manual_verify", "10 pending")
	say := func(project, line string) bot.Message {
		t.Helper()
		m, err := bot.Handle(t.Context(), a, bot.Request{Key: "k", Actor: "telegram:1", Project: project, Text: line, Time: a.Now})
		if (err != nil) != (a.fail != nil) {
			t.Errorf("%s: %v", line, err)
		}
		checkForm(t, line, m)
		return m
	}
	var text strings.Builder
	for _, c := range [][2]string{{"", "/runs"}, {"", "/runs blog"}, {"blog", "/runs"}, {"", "blog: /runs"}, {"blog", "/runs r14"}, {"", "/runs_r11"}, {"", "/runs 9"}, {"", "/runs r10"}, {"", "/runs r77"}, {"", "/runs zoo"}, {"blog", "/log r11"}, {"blog", "/diff r11"}} {
		m := say(c[0], c[1])
		text.WriteString("> " + c[1] + "  (" + c[0] + ")\n▸ " + m.Key + " " + m.Project + "\n" + m.Text(38) + "\n\n")
	}
	golden(t, "runs", []byte(text.String()))

	a.names = []string{strings.Repeat("n", 32)}
	a.ran(t, a.names[0], "r999999999", day(19, 21, 40), 100*time.Hour, []float64{12345.67, -1}, &ledger.RunEnded{Reason: ledger.ReasonStopped, Done: 500, Total: 600})
	say("", "/runs")
	a.fail = errors.New("the database is locked")
	for _, line := range []string{"/runs", "/runs r14", "/log r14"} {
		if m := say("", line); m.Key != "fault" {
			t.Errorf("%s: %s", line, m.First())
		}
	}
}
