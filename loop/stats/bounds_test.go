package stats_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"testing"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/stats"
)

// TestBounds folds ten years of plans, each with tasks, hats and models of its own, and
// sessions that never end. What the fold remembers is bounded, and nothing is lost from
// the sums.
func TestBounds(t *testing.T) {
	const nights, tasks = 3650, 5
	f := stats.New(time.UTC)
	at := evening.AddDate(-10, 0, 0)
	for night := range nights {
		run := fmt.Sprintf("r%d", night)
		add := func(task, session string, b ledger.Body) {
			at = at.Add(time.Second)
			f.Apply(ledger.Entry{Stream: ledger.ProjectStream("shop"), Time: at, Run: run, Task: task, Session: session, Body: b})
		}
		set := ledger.Settings{Source: ledger.SourceRef{Kind: "plan", Path: fmt.Sprintf("plan-%d.md", night)}}
		add("", "", ledger.RunPlanned{Run: run, Settings: set})
		add("", "", ledger.RunStarted{})
		var list []ledger.Task
		for n := range tasks {
			list = append(list, ledger.Task{ID: fmt.Sprintf("Task %d", n)})
		}
		add("", "", ledger.SourceRead{Tasks: list})
		for n, task := range list {
			id := fmt.Sprintf("%s-%d", run, n)
			add(task.ID, id, ledger.SessionPlanned{Kind: ledger.KindAgent, Hat: fmt.Sprintf("hat %d", night%20*tasks+n), Agent: "claude", Model: id})
			add(task.ID, id, ledger.SessionEnded{Kind: ledger.KindAgent, Exit: ledger.Exit{CostUSD: 0.5, Tokens: 10}})
			add(task.ID, id, ledger.TaskSet{To: ledger.Done})
			add(task.ID, id+"x", ledger.SessionPlanned{Kind: ledger.KindAgent, Hat: "lost"})
		}
		at = at.Add(24*time.Hour - time.Minute)
	}
	if days, names, works, listed, open := f.Held(); days > 1000 || names > 70 || works > 4096 || listed > 20_000 || open > 1024 {
		t.Errorf("it holds %d days, %d names on one, %d tasks at work, %d tasks of sources, %d sessions", days, names, works, listed, open)
	}
	all := f.Report(stats.Since{}, at)
	want := stats.Figures{Sessions: nights * tasks, USD: nights * tasks * 0.5, Tokens: nights * tasks * 10, Unsplit: nights * tasks, Unsized: nights * tasks, Finished: nights * tasks, Done: nights * tasks, FirstPass: nights * tasks}
	if all.All != want {
		t.Errorf("all: %+v, want %+v", all.All, want)
	}
	if last := f.Report(stats.Since{Run: true}, at); last.All.Done != tasks {
		t.Errorf("the last run: %+v", last.All)
	}
}

// TestPartsAndRepeats: a part's session and flaw are its task's, a task that repeats is
// another task, and nightporter's own tasks are no tasks.
func TestPartsAndRepeats(t *testing.T) {
	f := stats.New(time.UTC)
	add := func(task string, b ledger.Body) {
		f.Apply(ledger.Entry{Time: evening, Run: "r1", Task: task, Session: "s-" + task, Body: b})
	}
	done := func(task string) {
		add(task, ledger.SessionPlanned{Kind: ledger.KindAgent, Hat: "builder", Agent: "claude"})
		add(task, ledger.SessionEnded{Kind: ledger.KindAgent, Exit: ledger.Exit{CostUSD: -1, Tokens: -1}})
		add(task, ledger.TaskSet{To: ledger.Done})
	}
	add("", ledger.RunPlanned{Run: "r1"})
	add("", ledger.RunStarted{})
	add("", ledger.SourceRead{Tasks: []ledger.Task{{ID: "Task 1", Complexity: 9}, {ID: "Task 2"}}, Own: []ledger.Task{{ID: "baseline", Own: true}}})
	add("Task 1", ledger.PartsMade{Parts: []ledger.Task{{ID: "Task 1/a", Parent: "Task 1"}, {ID: "Task 1/b", Parent: "task  1"}}})
	done("Task 1/a")
	add("Task 1/a", ledger.Redo{Why: ledger.RedoRed})
	done("Task 1/b")
	add("Task 1", ledger.TaskSet{To: ledger.Done})
	done("Task 2")
	add("Task 2", ledger.TaskSet{From: ledger.Done, To: ledger.Ready, Fresh: true, Again: true})
	done("Task 2")
	done("baseline")
	add("Task 3", ledger.TaskSet{To: ledger.Done}) // no agent worked on it
	r := f.Report(stats.Since{Run: true}, evening)
	if want := (stats.Figures{Sessions: 5, Unpriced: 5, Untold: 5, Unsplit: 5, Unsized: 5, Finished: 3, Done: 3, FirstPass: 2}); r.All != want {
		t.Errorf("%+v, want %+v", r.All, want)
	}
	if large := r.By[stats.BySize]; len(large) != 2 || large[1].Name != "large" || large[1].Sessions != 2 || large[1].Done != 1 {
		t.Errorf("by size: %+v", large)
	}
	if raw, err := json.Marshal(r); err != nil || len(raw) == 0 {
		t.Error(err)
	}
}

// TestInHand: a task that is worked on again is not finished, one that a person puts away
// stays what it was, and a run that keeps a request green is not the last run.
func TestInHand(t *testing.T) {
	f := stats.New(time.UTC)
	add := func(run, task string, b ledger.Body) {
		f.Apply(ledger.Entry{Time: evening, Run: run, Task: task, Session: run + task, Body: b})
	}
	finished := func(want int) {
		t.Helper()
		if r := f.Report(stats.Since{Run: true}, evening); r.Run != "r1" || r.All.Finished != want || r.All.Done != 0 {
			t.Errorf("%s: %+v, want %d finished", r.Run, r.All, want)
		}
	}
	add("r1", "", ledger.RunPlanned{Run: "r1"})
	add("r1", "", ledger.RunStarted{})
	add("r1", "Task 1", ledger.SessionPlanned{Kind: ledger.KindAgent, Hat: "builder"})
	finished(0)
	add("r1", "Task 1", ledger.TaskSet{To: ledger.Blocked})
	finished(1)
	add("r1", "Task 1", ledger.TaskSet{From: ledger.Blocked, To: ledger.Ready, Fresh: true})
	finished(0)
	add("r1", "Task 1", ledger.TaskSet{To: ledger.Blocked})
	add("r1", "Task 1", ledger.TaskSet{From: ledger.Blocked, To: ledger.Skipped})
	finished(1)
	add("r2", "", ledger.RunPlanned{Run: "r2", Upkeep: &ledger.Upkeep{}})
	add("r2", "", ledger.RunStarted{})
	add("r3", "", ledger.RunPlanned{Run: "r3", Check: true})
	add("r3", "", ledger.RunStarted{})
	finished(1)
}

// TestTriagedSizes: triage gives a report its size, unless the report has one.
func TestTriagedSizes(t *testing.T) {
	f := stats.New(time.UTC)
	add := func(task string, b ledger.Body) {
		f.Apply(ledger.Entry{Time: evening, Task: task, Session: "s-" + task, Body: b})
	}
	add("", ledger.SourceRead{Tasks: []ledger.Task{{ID: "B1"}, {ID: "B2", Complexity: 1}, {ID: "B3"}}})
	add("", ledger.WaveTriaged{Changed: []ledger.Triage{{Task: "b1", Tier: ledger.TierComplex}, {Task: "B2", Tier: ledger.TierComplex}, {Task: "B3"}, {Task: "B4", Tier: ledger.TierSimple}}})
	for _, task := range []string{"B1", "B2", "B3"} {
		add(task, ledger.SessionPlanned{Kind: ledger.KindAgent, Hat: "builder", Agent: "claude"})
		add(task, ledger.SessionEnded{Kind: ledger.KindAgent})
	}
	got := map[string]int{}
	for _, x := range f.Report(stats.Since{}, evening).By[stats.BySize] {
		got[x.Name] = x.Sessions
	}
	if got["large"] != 1 || got["small"] != 2 || len(got) != 2 {
		t.Errorf("sessions by size: %v", got)
	}
}

// TestSinceWords reads what people type.
func TestSinceWords(t *testing.T) {
	for word, want := range map[string]string{"run": "run", "ALL": "all", "7d": "7d", "30D": "30d", "999d": "999d", "0d": "", "07d": "", "+7d": "", "1000d": "", "d": "", "": "", "7": "", "-1d": "", "week": ""} {
		s, ok := stats.ParseSince(word)
		if ok != (want != "") || ok && s.String() != want {
			t.Errorf("%q is read as %s, %t", word, s, ok)
		}
	}
	for word, want := range map[string]stats.By{"hat": stats.ByHat, "Hats": stats.ByHat, "agent": stats.ByAgent, "model": stats.ByModel, "sizes": stats.BySize} {
		if by, ok := stats.ParseBy(word); !ok || by != want {
			t.Errorf("%q is read as %q, %t", word, by, ok)
		}
	}
	if _, ok := stats.ParseBy("s"); ok {
		t.Error(`"s" tells figures apart`)
	}
}

// TestPromptTokens: what a session read is its input with what was cached, never its
// output; a session that tells one sum tells nothing of it. A prompt is an estimate from its
// length.
func TestPromptTokens(t *testing.T) {
	f := stats.New(time.UTC)
	n := 0
	add := func(hat string, x ledger.Exit) {
		n++
		id := fmt.Sprintf("r1-%d", n)
		f.Apply(ledger.Entry{Time: evening, Run: "r1", Task: "Task 1", Session: id, Body: ledger.SessionPlanned{Kind: ledger.KindAgent, Hat: hat, Agent: "claude"}})
		f.Apply(ledger.Entry{Time: evening, Run: "r1", Task: "Task 1", Session: id, Body: ledger.SessionEnded{Kind: ledger.KindAgent, Exit: x}})
	}
	add("builder", ledger.Exit{Tokens: 345, Usage: &ledger.TokenUsage{Input: 100, CacheRead: 200, CacheWrite: 30, Output: 15, Reasoning: 5}, Prompt: 3500})
	add("builder", ledger.Exit{Tokens: 60, Usage: &ledger.TokenUsage{Input: 50, CacheRead: -1, CacheWrite: -1, Output: 10, Reasoning: -1}, Prompt: 7000})
	add("reviewer", ledger.Exit{Tokens: 500, Prompt: 350})
	add("writer", ledger.Exit{Tokens: -1, Usage: &ledger.TokenUsage{Input: 9}}) // broke off: a part is no figure
	r := f.Report(stats.Since{}, evening)
	type figures struct {
		read, prompt int64
		of, sized    int
	}
	got := map[string]figures{}
	for _, x := range append(r.By[stats.ByHat], stats.Named{Name: "all", Figures: r.All}) {
		var g figures
		g.read, g.of = x.ReadASession()
		g.prompt, g.sized = x.PromptASession()
		got[x.Name] = g
	}
	want := map[string]figures{"builder": {read: 190, of: 2, prompt: 1500, sized: 2}, "reviewer": {prompt: 100, sized: 1}, "writer": {}, "all": {read: 190, of: 2, prompt: 1033, sized: 3}}
	if !maps.Equal(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}
