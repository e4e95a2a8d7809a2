package termlog_test

import (
	"bytes"
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/bot/termlog"
	"github.com/nightporter/nightporter/internal/golden"
	"github.com/nightporter/nightporter/internal/scenario"
	"github.com/nightporter/nightporter/loop/ledger"
)

var berlin = time.FixedZone("CET", 3600)

// evening is the time at which scripted nights start: Thu 19 Nov 2026,
// 23:10:02.
var evening = time.Date(2026, 11, 19, 23, 10, 2, 0, berlin)

// fixture is a night with a Console that shows it.
type fixture struct {
	*scenario.Night
	*termlog.Console
	service *scenario.Service
	out     bytes.Buffer
	begun   int // bytes of out before the first session
	lines   int // typed so far
}

func newFixture(project string, opt termlog.Options) *fixture {
	s := &fixture{Night: scenario.New(project, evening)}
	s.service = scenario.NewService(s.Night)
	opt.Zone, opt.Now = berlin, func() time.Time { return s.Now }
	s.Console = termlog.New(&s.out, opt)
	s.See = s.Console.Entry
	s.Type = func(line string) { s.typed(line, "") }
	return s
}

// typed handles a line that a person types, and prints its echo and reply.
func (s *fixture) typed(line, by string) {
	s.lines++
	s.Echo(line, by)
	m, err := bot.Handle(context.Background(), s.service, bot.Request{Key: fmt.Sprintf("console:%d", s.lines), Actor: "console", Text: line, Time: s.Now, Terminal: true})
	if err != nil {
		panic(err)
	}
	s.Reply(m)
}

const red = "=== RUN   TestSum\n    sum_test.go:9: want 1200, got 1000\n--- FAIL: TestSum (0.00s)\nFAIL\n"

func fileStats(n, added, removed int) []ledger.FileChange {
	out := make([]ledger.FileChange, n)
	for i := range out {
		out[i] = ledger.FileChange{Path: fmt.Sprintf("f%d.go", i)}
	}
	out[0].Added, out[0].Removed = added, removed
	return out
}

func act(typ, data string, took time.Duration) scenario.Act {
	return scenario.Act{Type: typ, Data: data, Took: took, Cost: -1}
}

func build(summary string, took time.Duration, f []ledger.FileChange) scenario.Act {
	a := act("build.complete", fmt.Sprintf(`{"summary":%q,"files_modified":["f0.go"]}`, summary), took)
	a.Files = f
	return a
}

const sec = time.Second

// TestDemo compares the first forty seconds of the demo.
func TestDemo(t *testing.T) {
	s := newFixture("tea-shop", termlog.Options{Demo: true, Began: evening})
	s.Check, s.Cost = 0, 0
	set := s.Settings()
	set.Agent, set.QuestionTimeout, set.ScriptedMarks = "demo", ledger.Duration(5*sec), ledger.ScriptedWritten
	review := func(took time.Duration) scenario.Act {
		return act("review.verdict", `{"summary":"fine","issues":[]}`, took)
	}
	plan := func(took time.Duration) scenario.Act {
		return act("plan.complete", `{"summary":"planned","steps":["one"]}`, took)
	}
	wrong := build("Summed the basket; all tests pass", 3*sec, fileStats(2, 20, 0))
	wrong.Red = red
	fix := act("fix.complete", `{"summary":"rounded","files_modified":["f0.go"]}`, 2*sec)
	fix.Files = fileStats(1, 3, 1)
	guided := plan(1 * sec)
	guided.Typed = []string{"/guidance Wrap the old till, don't replace it"}
	adapter := build("wrapped", 3*sec, fileStats(2, 40, 0))
	adapter.Data = `{"summary":"wrapped","files_modified":["f0.go"],"guidance":[{"id":"g1","done":true,"note":"kept till.go, added adapter.go around it"}]}`
	followed := review(1 * sec)
	followed.Data = `{"summary":"fine","issues":[],"guidance":[{"id":"g1","done":true}]}`
	s.Acts = map[string][]scenario.Act{
		"Task 1 planner": {plan(1 * sec)}, "Task 1 builder": {build("did", 3*sec, fileStats(2, 31, 0))}, "Task 1 reviewer": {review(1 * sec)},
		"Task 2 planner": {plan(1 * sec)}, "Task 2 builder": {wrong, build("did", 3*sec, fileStats(2, 24, 0))},
		"Task 2 reviewer": {act("review.verdict", `{"summary":"no","issues":[{"severity":"major","rule":"rounding","text":"half cents are lost"}]}`, 2*sec), review(1 * sec)},
		"Task 2 fixer":    {fix},
		"Task 3 planner":  {guided}, "Task 3 builder": {adapter}, "Task 3 reviewer": {followed},
		"Task 4 planner": {act("question.asked", `{"text":"round half cents up?","options":["yes","no"],"choice":"no"}`, 1*sec), plan(1 * sec)},
		"Task 4 builder": {build("did", 2*sec, fileStats(1, 9, 2))}, "Task 4 reviewer": {review(1 * sec)},
	}
	for _, acts := range s.Acts {
		for n := range acts {
			acts[n].Cost = 0
		}
	}
	s.Type = func(line string) { s.typed(line, "typed by the demo") }
	s.Note("repository ~/nightporter-demo/tea-shop, plan first-week, 4 tasks")
	s.Now = s.Now.Add(sec)
	s.Start(set, s.Base("r1"), scenario.Task(1, "Add a price list"), scenario.Task(2, "Sum the basket"), scenario.Task(3, "Move the till to the new API"), scenario.Task(4, "Round the prices"))
	s.Until(nil)
	golden.Compare(t, "demo.txt", s.out.String())
}

// TestNight compares a night in a real project with its golden file: costs,
// guidance, a blocked task, a usage limit, and the rest of the work in the
// morning.
func TestNight(t *testing.T) {
	s := newFixture("shop", termlog.Options{})
	priced := func(a scenario.Act, usd float64) scenario.Act { a.Cost = usd; return a }
	fails := build("by line", 5*time.Minute, fileStats(1, 4, 1))
	fails.Red = "--- FAIL: TestRefundPartial (0.01s)\n    refund_test.go:12: want 1200, got 1000\nFAIL"
	quiet := act("", "", 3*time.Minute)
	quiet.Exit = &ledger.Exit{Reason: ledger.ExitSelf, Code: 1, CostUSD: -1, Turns: 4, Tail: `{"type":"turn.failed"}` + "\n", Said: "Error: context window exceeded\n{\"type\":\"error\"}"}
	limit := act("", "", 4*time.Minute)
	limit.Exit = &ledger.Exit{Reason: ledger.ExitSelf, Code: 1, CostUSD: 0.07, Turns: 3, Failure: ledger.FailureLimit, Until: time.Date(2026, 11, 20, 4, 10, 0, 0, berlin), Text: "You've hit your session limit · resets 4:10am"}
	stray := build("orders", 29*time.Minute+29*sec, fileStats(2, 71, 9))
	stray.Typed = []string{"/guidance Plain text mails, no HTML", "/status", "/guidance @bulder x", "/drop g1", "/guidance #2 Refund by line", "/pause", "/resume", "/next 5", "stop"}
	stray.Out = []string{"docs/a.md", "docs/b.md", "docs/c.md", "docs/d.md"}
	s.Acts = map[string][]scenario.Act{
		"Task 1 planner":  {priced(act("plan.complete", `{"summary":"p","steps":["one"]}`, 4*time.Minute+9*sec), 0.14)},
		"Task 1 builder":  {priced(build("rules", 13*time.Minute+29*sec, fileStats(4, 90, 12)), 0.52)},
		"Task 1 reviewer": {priced(act("review.verdict", `{"summary":"fine","issues":[{"severity":"minor","text":"a long name in price.go could be shorter than it is"}]}`, 6*time.Minute+18*sec), 0.26)},
		"Task 2 planner":  {priced(act("plan.complete", `{"summary":"p","steps":["one"]}`, sec), 0.1), priced(act("plan.complete", `{"summary":"p","steps":["one"]}`, sec), 0.1)},
		"Task 2 builder":  {quiet, fails, fails, fails, fails, fails, fails},
		"Task 3 planner":  {limit, priced(act("plan.complete", `{"summary":"p","steps":["one"]}`, 5*time.Minute), 0.2)},
		"Task 3 builder":  {stray},
	}
	look := scenario.Task(4, "Look at the pay page on a phone")
	look.Mark, look.Acceptance = ledger.MarkManualVerify, []string{"Open /pay: no sideways scroll", "Test card: the receipt appears"}
	base := s.Base("r1")
	base.Dirty = []string{"notes.txt"}
	s.Start(s.Settings(), base, scenario.Task(1, "Extract price rules"), scenario.Task(2, "Refund flow"), scenario.Task(3, "Move orders to the new API"), look, scenario.Task(5, "Retry failed payments", "Task 2"))
	s.Until(nil)
	for _, line := range []string{"/tasks", "/task 2", "/log 1", "/evidence 2", "q1", "/queue", "/help", "/guidence x", "/skip 70"} {
		s.typed(line, "")
	}
	golden.Compare(t, "night.txt", s.out.String())
}
