package bot_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/bot/internal/messagelint"
	"github.com/nightporter/nightporter/guidance"
	"github.com/nightporter/nightporter/internal/scenario"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

var update = flag.Bool("update", false, "write the golden files anew")

var evening = time.Date(2026, 11, 19, 23, 10, 0, 0, time.FixedZone("CET", 3600))

// service is a Service with a scripted project state. It records the inputs
// that it gets.
type service struct {
	*scenario.Night
	names  []string
	inputs []loop.Input
	patch  string
	err    error
}

func (d *service) Do(_ context.Context, in loop.Input) (ledger.Answer, error) {
	if d.err != nil {
		return ledger.Answer{}, d.err
	}
	d.inputs = append(d.inputs, in)
	if b, is := in.Body.(loop.RedoPlan); is { // the tests do not look at the result of this input
		return ledger.Answer{OK: true, Text: ledger.ShortID(b.Task) + " is planned anew"}, nil
	}
	return d.Night.Do(in), nil
}

func (d *service) State(p string) (loop.State, bool) {
	return d.Night.State, slices.Contains(d.names, p)
}
func (d *service) Projects() []string { return d.names }
func (d *service) Diff(context.Context, string, string) (string, error) {
	return d.patch, d.err
}

func (d *service) Hats(_ context.Context, project, pattern string) (bot.HatSet, error) {
	return hatSet(project, pattern), d.err
}

func (d *service) Records(_ context.Context, _, task string) ([]ledger.Record, error) {
	return d.Night.Records(task), d.err
}

func (d *service) Runs(context.Context, string) ([]string, error) { return d.Night.Runs(), d.err }
func (d *service) RunRecords(_ context.Context, _, run string, types ...string) ([]ledger.Record, error) {
	return d.Night.RunRecords(run, types...), d.err
}

func (d *service) say(t *testing.T, line string) bot.Message {
	t.Helper()
	d.inputs = nil
	m, err := bot.Handle(t.Context(), d, bot.Request{Key: "k", Actor: "telegram:1", Name: "Mira", Text: line, Time: d.Now})
	if err != nil && d.err == nil {
		t.Errorf("%s: %v", line, err)
	}
	return m
}

// atWork returns a night in which one task is done, one is blocked, one asks a
// question, and a builder is running.
func atWork() *service {
	n := scenario.New("shop", evening)
	n.Cost = 0.25
	n.Acts["Task 2 planner"] = []scenario.Act{{Type: "task.blocked", Data: `{"reason":"the plan says two things","tried":"by line","needs":"which of them"}`, Took: time.Minute, Cost: 0.1}}
	n.Acts["Task 3 planner"] = []scenario.Act{{Type: "question.asked", Data: `{"text":"May an address be a PO box?","options":["Yes, letters only","No"],"choice":"No"}`, Took: time.Minute, Cost: 0.1}}
	look := scenario.Task(5, "Pay page on a phone")
	look.Mark, look.Acceptance = ledger.MarkManualVerify, []string{"Open /pay", "Test card"}
	n.Start(n.Settings(), n.Base("r1"), scenario.Task(1, "Extract price rules"), scenario.Task(2, "Refund flow"), scenario.Task(3, "Address form"),
		scenario.Task(4, "Move orders to the new API"), look, scenario.Task(6, "Retry failed payments", "Task 2"))
	n.Until(func() bool { return bot.Doing(n.State) == "#4 builder" })
	return &service{Night: n, names: []string{"shop"}, patch: patch}
}

// over returns the night of atWork after the run's end.
func over() *service {
	d := atWork()
	d.Until(nil)
	return d
}

const patch = `diff --git a/order/adapter.go b/order/adapter.go
new file mode 100644
--- /dev/null
+++ b/order/adapter.go
@@ -0,0 +1,2 @@
+package order
+	// adapter
diff --git a/logo.png b/logo.png
Binary files a/logo.png and b/logo.png differ
diff --git a/order/service.go b/order/service.go
--- a/order/service.go
+++ b/order/service.go
@@ -9 +9 @@
--- a comment of SQL
+++ another
`

var notPlain = regexp.MustCompile(`[^a-z0-9]+`)

// spoken returns all messages that a person can ask for, by golden file name.
func spoken(t *testing.T) map[string]bot.Message {
	out := map[string]bot.Message{}
	ask := func(where string, d *service, lines ...string) {
		for _, line := range lines {
			m := d.say(t, line)
			name := strings.Trim(notPlain.ReplaceAllString(strings.ToLower(where+" "+line), "-"), "-")
			if _, twice := out[name]; twice {
				name += "-again"
			}
			out[name[:min(len(name), 48)]] = m
		}
	}
	ask("work", atWork(), "/status", "/tasks", "/task 1", "/task 2", "/task 3", "/task 4", "/task 5", "/task 6", "/task", "/queue", "q1", "q2", "/log", "/log 1", "/evidence 1",
		"/evidence 2", "/evidence 4", "/evidence 6", "/diff 1", "/diff r1", "/help", "/help now", "/help frob", "/guidence Wrap it", "/skip 70", "/skip",
		"/pause now then", "/frob", "", "stop", "/drop g9", "/drop", "/approve", "/approve q1", "/reject", "/guidance", "/guidance @bulder be quick", "/guidance @xyzzyx be quick",
		"/guidance #70 x", "/status blog", "q9 a", "q1 frob", "/plan", "/plan 2", "/plan 70", "/hats", "/hats fixer", "/hats Builder", "/hats routes", "/hats single", "/hats frob", "/runs", "/runs r1", "/runs frob")
	d := atWork()
	ask("steered", d, "/guidance Wrap the existing code, don't replace it", "/guidance !sticky No new dependencies", "/guidance @fixer #4 Keep it small", "/now Keep the names", "/queue", "/drop g1", "/pause", "/status", "/pause", "/resume", "/stop", "/status", "/next 6", "/retry 2", "/skip 6", "/skip 2 3", "/plan redo 4 Wrap it, don't replace it")
	d = atWork()
	d.Until(func() bool { return d.Night.State.Project.Run.State == ledger.RunWaiting })
	ask("waiting", d, "/status")
	d = over()
	ask("over", d, "/status", "/tasks", "/task 5", "/pause", "/resume", "/approve", "/retry 1", "/log", "q2 b", "/runs", "/runs r1", "/runs 7", "/log r1")
	d.Entry(ledger.Entry{Stream: ledger.ProjectStream("shop"), Time: d.Now, Body: ledger.GuidanceQueued{Item: guidance.Item{ID: "g8", Text: "Mention the env vars", Hat: "writer", At: d.Now}}})
	d.Entry(ledger.Entry{Stream: ledger.ProjectStream("shop"), Time: d.Now, Body: ledger.GuidanceExpired{ID: "g8", Why: "no writer"}})
	ask("expired", d, "/queue", "g8 keep")
	d = &service{Night: scenario.New("shop", evening), names: []string{"shop"}}
	d.Night.State.Project.Name = "shop"
	ask("new", d, "/runs", "/plan", "/plan redo", "/status", "/tasks", "/log", "/evidence 1", "/queue", "/diff", "/guidance Wrap it", "/stop", "q1 a")
	d.Do(context.Background(), loop.Input{Key: "run", Body: loop.StartRun{Settings: d.Settings()}})
	ask("planned", d, "/status", "/pause")
	ask("two", &service{Night: scenario.New("shop", evening), names: []string{"shop", "blog"}}, "/guidance Wrap the existing code, don't replace it", "blog: /stop", "note: two words")
	ask("three", &service{Night: scenario.New("shop", evening), names: []string{"shop", "blog", "zoo"}}, "/stop")
	ask("none", &service{Night: scenario.New("shop", evening)}, "/status")
	broken := atWork()
	broken.err = errors.New("the database is locked")
	ask("broken", broken, "/pause", "/diff 1")
	return out
}

func TestMessages(t *testing.T) {
	for name, m := range spoken(t) {
		text := "▸ " + m.Key + "\n" + m.Text(78) + "\n"
		for _, b := range m.Buttons {
			text += "[" + b.Label + "] "
		}
		golden(t, name, []byte(strings.TrimRight(text, " ")+"\n"))
	}
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name+".txt")
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}

// checkForm checks the rules that hold for every message.
func checkForm(t *testing.T, name string, m bot.Message) {
	t.Helper()
	messagelint.Check(t, name, m)
}

func TestForm(t *testing.T) {
	for name, m := range spoken(t) {
		checkForm(t, name, m)
	}
}

// TestFormHostile checks that hostile text from a project, a plan or an agent
// cannot break the form of a message.
func TestFormHostile(t *testing.T) {
	nasty := "\x1b[2J\u202e<b>&*x*\n\r✓ #9 done " + strings.Repeat("日本語 title ", 900)
	d := atWork()
	s := &d.Night.State
	s.Project.Name = strings.Repeat("n", 32)
	d.names = []string{s.Project.Name}
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
	d.patch = "diff --git a/" + nasty + " b/" + nasty + "\n@@\n+" + nasty
	for _, line := range []string{"/status", "/tasks", "/task 1", "/task 2", "/task 3", "/queue", "q1", "q2", "/log", "/diff 1", "/evidence 1", "/runs", "/runs r1", "/runs " + nasty, "/guidance @" + nasty, "/" + nasty, "/task " + nasty, "/help " + nasty, "/drop " + nasty, nasty, nasty + ": /stop", "/stop " + nasty} {
		m := d.say(t, line)
		checkForm(t, fmt.Sprintf("%.20q", line), m)
		_ = bot.TasksTable(*s, 80)
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
		if len(d.inputs) != 1 {
			t.Errorf("%s: %d inputs", line, len(d.inputs))
			continue
		}
		in := d.inputs[0]
		if diff := cmp.Diff(want, in.Body); diff != "" {
			t.Errorf("%s (-want +got):\n%s", line, diff)
		}
		if in.Key != "k" || in.Actor != "telegram:1" || in.Name != "Mira" || in.Project != "shop" {
			t.Errorf("%s: the input says %+v", line, in)
		}
	}
	d := atWork()
	d.say(t, "/skip 2 3")
	if len(d.inputs) != 2 || d.inputs[0].Key == d.inputs[1].Key {
		t.Errorf("two tasks need two inputs of different keys: %+v", d.inputs)
	}
	for _, line := range []string{"/skip 2 70", "/approve", "/approve q1", "q1 frob", "q1 s by line", "/guidance @bulder x", "/drop g9", "/status", "", "/frob", "/pause then", "/plan", "/plan 2", "/plan redo 70", "/hats"} {
		d := atWork()
		if d.say(t, line); len(d.inputs) != 0 {
			t.Errorf("%s: %+v was done", line, d.inputs)
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
	if !strings.Contains(m.Lines[1].Text, long) || m.Text(0) != "✗ "+long {
		t.Errorf("a long answer is lost: %+v, %q", m.Lines, m.Text(0))
	}
}

func TestTasksTable(t *testing.T) {
	golden(t, "tasks-table", []byte(bot.TasksTable(atWork().Night.State, 72)))
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
	if got, want := bot.Evidence(records, time.UTC).First(), "✗ shop #8 evidence: ends at review"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := bot.Evidence(records[:3], time.UTC).First(), "● shop #8 evidence: so far to build"; got != want {
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
