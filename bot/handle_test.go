package bot_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/guidance"
	"github.com/nightporter/nightporter/internal/golden"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// TestFormHostile checks that hostile text from a project, a plan or an agent
// cannot break the form of a message.
func TestFormHostile(t *testing.T) {
	nasty := "\x1b[2J\u202e<b>&*x*\n\r✓ #9 done " + strings.Repeat("日本語 title ", 900)
	d := atWork()
	s := &d.Night.State
	s.Project.Name = strings.Repeat("n", 32)
	d.Names = []string{s.Project.Name}
	s.Project.Run.Settings.Source.Path = nasty
	tasks := s.Project.Tasks.Slice()
	for n := range tasks {
		tasks[n].Task.Title, tasks[n].Why, tasks[n].Task.Scope, tasks[n].LastFail = nasty, nasty, nasty, nasty
	}
	tasks[5].Task.ID = nasty
	s.Project.Tasks = loop.NewTaskList(tasks...)
	for n := range s.Project.Questions {
		q := &s.Project.Questions[n]
		q.Text, q.Title, q.Tried, q.Needs, q.Hat, q.Options = nasty, nasty, nasty, nasty, nasty, []string{nasty, nasty}
	}
	s.Project.Guidance = s.Project.Guidance.Add(guidance.Item{ID: "g1", Text: nasty, Hat: nasty, Task: ledger.FoldID(nasty)})
	d.Patch = "diff --git a/" + nasty + " b/" + nasty + "\n@@\n+" + nasty
	for _, line := range []string{"/status", "/tasks", "/task 1", "/task 2", "/task 3", "/queue", "q1", "q2", "/log", "/diff 1", "/evidence 1", "/runs", "/runs r1", "/runs " + nasty, "/guidance @" + nasty, "/" + nasty, "/task " + nasty, "/help " + nasty, "/drop " + nasty, nasty, nasty + ": /stop", "/stop " + nasty} {
		m := d.say(t, line)
		checkForm(t, fmt.Sprintf("%.20q", line), m)
		_ = bot.TasksTable(*s, 80, time.Time{})
	}
}

// TestInputs checks which input each line sends to the core.
func TestInputs(t *testing.T) {
	for line, want := range map[string]loop.InputBody{
		"/pause":                  loop.Pause{},
		"/pause now":              loop.Pause{Now: true},
		"/resume":                 loop.Resume{},
		"/resume codex":           loop.Resume{Agent: "codex"},
		"/resume shop codex":      loop.Resume{Agent: "codex"},
		"/stop":                   loop.Stop{},
		"shop: /stop now":         loop.Stop{Now: true},
		"/guidance Wrap it":       loop.Guide{Text: "Wrap it"},
		"/guidance @builder x":    loop.Guide{Text: "@builder x"},
		"/guidance #4 x":          loop.Guide{Text: "#4 x"},
		"Wrap it":                 loop.Guide{Text: "Wrap it"},
		"note: wrap it":           loop.Guide{Text: "note: wrap it"},
		"/now Wrap it":            loop.Now{Text: "Wrap it"},
		"/now":                    loop.Now{},
		"/skip 6":                 loop.SkipTask{Task: "Task 6"},
		"/retry #2":               loop.RetryTask{Task: "Task 2"},
		"/next task 6":            loop.NextTask{Task: "Task 6"},
		"/fix task 6":             loop.FixReport{Task: "Task 6"},
		"q1 retry":                loop.AnswerQuestion{Question: "q1", Choice: "retry"},
		"q1 s":                    loop.AnswerQuestion{Question: "q1", Choice: "skip"},
		"q1 g Refund by line":     loop.AnswerQuestion{Question: "q1", Choice: "guide", Words: "Refund by line"},
		"/answer 2 retry":         loop.AnswerQuestion{Question: "q1", Choice: "retry"},
		"q2 a":                    loop.AnswerQuestion{Question: "q2", Choice: "a"},
		"q2 A.":                   loop.AnswerQuestion{Question: "q2", Choice: "a"},
		"q2 a man should look":    loop.AnswerQuestion{Question: "q2", Words: "a man should look"},
		"q2 skip weekends":        loop.AnswerQuestion{Question: "q2", Words: "skip weekends"},
		"q2 skip":                 loop.AnswerQuestion{Question: "q2", Choice: "skip"},
		"q2 only on weekdays":     loop.AnswerQuestion{Question: "q2", Words: "only on weekdays"},
		"/approve q2":             loop.AnswerQuestion{Question: "q2", Choice: "a"},
		"/reject 3":               loop.AnswerQuestion{Question: "q2", Choice: "b"},
		"/reject q2 no such box":  loop.AnswerQuestion{Question: "q2", Choice: "b", Words: "no such box"},
		"q77 retry":               loop.AnswerQuestion{Question: "q77", Choice: "retry"},
		"/plan redo":              loop.RedoPlan{Task: "Task 4"},
		"/plan redo 2":            loop.RedoPlan{Task: "Task 2"},
		"/plan REDO #2 by line":   loop.RedoPlan{Task: "Task 2", Words: "by line"},
		"/plan redo by line":      loop.RedoPlan{Task: "Task 4", Words: "by line"},
		"/answer q2 letters only": loop.AnswerQuestion{Question: "q2", Words: "letters only"},
	} {
		d := atWork()
		d.say(t, line)
		if len(d.Inputs) != 1 {
			t.Errorf("%s: %d inputs", line, len(d.Inputs))
			continue
		}
		in := d.Inputs[0]
		if diff := cmp.Diff(want, in.Body); diff != "" {
			t.Errorf("%s (-want +got):\n%s", line, diff)
		}
		if in.Key != "k" || in.Actor != "telegram:1" || in.Name != "Mira" || in.Project != "shop" {
			t.Errorf("%s: the input says %+v", line, in)
		}
	}
	d := atWork()
	d.say(t, "/skip 2 3")
	if len(d.Inputs) != 2 || d.Inputs[0].Key == d.Inputs[1].Key {
		t.Errorf("two tasks need two inputs of different keys: %+v", d.Inputs)
	}
	for _, line := range []string{"/skip 2 70", "/approve", "/approve q1", "q1 frob", "q1 s by line", "/guidance @bulder x", "/drop g9", "/status", "", "/frob", "/pause then", "/plan", "/plan 2", "/plan redo 70", "/hats"} {
		d := atWork()
		if d.say(t, line); len(d.Inputs) != 0 {
			t.Errorf("%s: %+v was done", line, d.Inputs)
		}
	}
}

// TestAnswered checks that the reply to an accepted input has its key as Cause,
// and that a refusal has no Cause.
func TestAnswered(t *testing.T) {
	if m := bot.FromAnswer("pause", ledger.Answer{OK: true, Text: "shop pauses after #7 builder\nSoon."}, "k"); m.First() != "‖ shop pauses after #7 builder" || m.Cause != "k" || len(m.Lines) != 2 {
		t.Errorf("%+v", m)
	}
	if m := bot.FromAnswer("pause", ledger.Answer{Text: "shop is idle: nothing to pause"}, "k"); m.First() != "✗ shop is idle: nothing to pause" || m.Cause != "" {
		t.Errorf("%+v", m)
	}
	long := "a reason that is far too long for the first line of a message"
	m := bot.FromAnswer("next", ledger.Answer{Text: long}, "")
	if m.Lines[0].Text+" "+m.Lines[1].Text != "✗ "+long || m.Text(0) != "✗ "+long {
		t.Errorf("a long answer is lost: %+v, %q", m.Lines, m.Text(0))
	}
}

func TestTasksTable(t *testing.T) {
	golden.Compare(t, "tasks-table.txt", bot.TasksTable(atWork().Night.State, 72, atWork().Now))
}

// TestEvidenceBroke checks that the evidence ends at the last failed check, not
// at a check that failed first and passed later.
func TestEvidenceBroke(t *testing.T) {
	var records []ledger.Record
	for _, b := range []ledger.Body{
		ledger.Commitment{TaskID: "Task 8", Title: "Refund flow", Tier: "T3"}, ledger.Claim{AgentID: "claude"},
		ledger.Evidence{Kind: "build", Command: "go test ./...", ExitCode: 1, Tail: "--- FAIL: TestSum"},
		ledger.Evidence{Kind: "build", Command: "go test ./..."},
		ledger.Evidence{Kind: "review", Issues: []ledger.Issue{{Severity: ledger.Major, Text: "x"}}},
		ledger.Submit{Result: "fail", Reason: "stalled"},
	} {
		r, err := ledger.Entry{Stream: "project/shop", Time: evening, Task: "Task 8", Attempt: "a1", Body: b}.Record()
		if err != nil {
			t.Fatal(err)
		}
		records = append(records, r)
	}
	if got, want := bot.Evidence(records, bot.ChainCheck{}, time.UTC).First(), "✗ shop #8 evidence: ends at review"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := bot.Evidence(records[:3], bot.ChainCheck{}, time.UTC).First(), "● shop #8 evidence: so far to build"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestEvidenceJSON checks that EvidenceJSON writes one object per line, with
// the fields of the hash chain.
func TestEvidenceJSON(t *testing.T) {
	d := over()
	out, err := bot.EvidenceJSON(d.Night.Records("Task 1"))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if len(lines) != len(d.Night.Records("Task 1")) || !strings.Contains(string(out), `"type":"claim"`) || !strings.Contains(string(out), `"agentId":"claude"`) {
		t.Errorf("%d lines:\n%s", len(lines), out)
	}
	line, err := bot.RecordJSON(ledger.Record{Body: []byte("not json\xff")})
	if err != nil || !strings.Contains(string(line), `"body":"not json`) {
		t.Errorf("%s, %v", line, err)
	}
}
