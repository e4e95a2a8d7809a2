package bot_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// TestConfirmations: the questions that ask back, and their answers.
func TestConfirmations(t *testing.T) {
	h := daemon(over())
	h.say(t, "/run")
	for line, want := range map[string]loop.AnswerQuestion{
		"q4 start": {Question: "q4", Choice: "start"}, "q4 c": {Question: "q4", Choice: "cancel"}, "/approve q4": {Question: "q4", Choice: "start"}, "/reject q4": {Question: "q4", Choice: "cancel"},
	} {
		h := daemon(over())
		h.say(t, "/run")
		h.say(t, line)
		if len(h.Inputs) != 1 || h.Inputs[0].Body != loop.InputBody(want) {
			t.Errorf("%s: %+v, want %+v", line, h.Inputs, want)
		}
	}
	q := ledger.Question{ID: "q9", Kind: ledger.AskLate, Do: ledger.DeferStop, Text: "/stop", By: "Mira", Sent: evening.Add(-3 * time.Hour), Asked: evening, Expires: evening.Add(30 * time.Minute)}
	m := bot.Ask(h.Night.State, q, evening)
	checkForm(t, "late", m)
	if got := m.First(); got != "? /stop from 20:10: still do it? (q9)" {
		t.Errorf("%q", got)
	}
	if labels := []string{m.Buttons[0].Label, m.Buttons[1].Label}; !slices.Equal(labels, []string{"Keep going", "Stop"}) {
		t.Errorf("%v", labels)
	}
}

// TestNothingReady: a run that could begin no task is not offered; the reply says what
// rests, and what helps.
func TestNothingReady(t *testing.T) {
	h := daemon(over())
	h.idle = true
	m := h.say(t, "/run")
	checkForm(t, "nothing ready", m)
	var lines, labels []string
	for _, l := range m.Lines {
		lines = append(lines, l.Text)
	}
	for _, b := range m.Buttons {
		labels = append(labels, b.Label)
	}
	if want := []string{"! shop has no task that can begin", "Blocked: #2", "Waits for a person: #5", "Waits for other tasks: #6"}; !slices.Equal(lines, want) || !m.Refused || len(h.Inputs) > 0 {
		t.Errorf("%q, want %q; %+v", lines, want, h.Inputs)
	}
	if want := []string{"Retry #2", "Pass #5", "Tasks"}; !slices.Equal(labels, want) {
		t.Errorf("%q, want %q", labels, want)
	}
}

// TestRequiredRole: every command has a role, and an unknown one is for admins.
func TestRequiredRole(t *testing.T) {
	want := map[ledger.Role]string{
		ledger.RoleView:  "status queue tasks task log diff evidence projects cost whoami pair start help plan hats",
		ledger.RoleSteer: "guidance pause resume stop now drop answer approve reject skip retry next run keep words",
		ledger.RoleAdmin: "people unpair",
	}
	seen := map[bot.Verb]bool{}
	for role, verbs := range want {
		for v := range strings.FieldsSeq(verbs) {
			seen[bot.Verb(v)] = true
			if got := bot.RequiredRole(bot.Command{Verb: bot.Verb(v), Words: "x"}); got != role {
				t.Errorf("%s needs %s, want %s", v, got, role)
			}
		}
	}
	for _, word := range []string{"/status", "/guidance", "/pause", "/resume", "/stop", "/now", "/queue", "/drop", "/answer", "/approve", "/reject", "/tasks", "/task", "/skip", "/retry", "/next", "/log", "/diff", "/evidence", "/run", "/projects", "/cost", "/whoami", "/people", "/unpair", "/pair", "/start", "/help", "/plan", "/hats"} {
		c, err := bot.Parse(word)
		if err != nil || !seen[c.Verb] {
			t.Errorf("%s: %v, %v", word, c.Verb, err)
		}
	}
	if got := bot.RequiredRole(bot.Command{Verb: bot.VerbPlan, Redo: true}); got != ledger.RoleSteer {
		t.Errorf("/plan redo needs %s", got)
	}
	if bot.RequiredRole(bot.Command{Verb: "new thing"}) == ledger.RoleView {
		t.Error("a command that nobody thought of may be used by everybody")
	}
	m := bot.Message{Buttons: []bot.Button{{Label: "Log", Command: "/log"}, {Label: "Stop", Command: "/stop"}, {Label: "People", Command: "/people"}}}
	for role, n := range map[ledger.Role]int{ledger.RoleView: 1, ledger.RoleSteer: 2, ledger.RoleAdmin: 3, "": 0} {
		if got := len(m.For(role).Buttons); got != n {
			t.Errorf("%q gets %d buttons, want %d", role, got, n)
		}
	}
	if len(m.Buttons) != 3 {
		t.Error("the message itself lost buttons")
	}
	for role, want := range map[ledger.Role]string{
		ledger.RoleView:  "status tasks queue cost digest quiet help",
		ledger.RoleSteer: "status guidance pause resume tasks queue now stop cost digest quiet help",
		ledger.RoleAdmin: "status guidance pause resume tasks queue now stop cost digest quiet help",
		"":               "",
	} {
		var names []string
		for _, i := range bot.Menu(role) {
			if _, err := bot.Parse("/" + i.Command); err != nil || i.Help == "" {
				t.Errorf("menu: %+v %v", i, err)
			}
			names = append(names, i.Command)
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("menu of %q: %s, want %s", role, got, want)
		}
	}
}

// TestCost: shares of a run's cost; an unknown cost is never free.
func TestCost(t *testing.T) {
	s := loop.Apply(loop.State{Project: loop.Project{Name: "shop"}}, ledger.Entry{Stream: "project/shop", Body: ledger.RunPlanned{Run: "r1", Settings: ledger.Settings{Project: "shop"}}})
	add := func(session, task, hat string, usd float64, tokens int64) {
		for _, b := range []ledger.Body{ledger.SessionPlanned{Kind: ledger.KindAgent, Hat: hat}, ledger.SessionEnded{Kind: ledger.KindAgent, Exit: ledger.Exit{CostUSD: usd, Tokens: tokens}}} {
			s = loop.Apply(s, ledger.Entry{Stream: "project/shop", Task: task, Session: session, Body: b})
		}
	}
	add("r1-1", "Task 1", "builder", 7.3, 9_000_000)
	before := s
	add("r1-2", "Task 1", "reviewer", 3.02, 800_000)
	add("r1-3", "Task 2", "builder", -1, -1)
	add("r1-4", "Task 3", "writer", -1, 0)
	if got := bot.Spent(before, evening).Text(0); got != "$7.30 · shop r1\nbuilder $7.30\nMost: #1 $7.30\n9.0 M tokens" {
		t.Errorf("what was folded before is now\n%s", got)
	}
	m := bot.Spent(s, evening)
	want := "$10.32 + unknown (2 sessions) · shop r1\n$10.32 + unknown (2 sessions) · shop r1\nbuilder $7.30 + unknown · reviewer $3.02 · writer unknown\nMost: #1 $10.32 · #2 unknown\n9.8 M tokens"
	if got := m.Text(0); got != strings.TrimPrefix(want, "$10.32 + unknown (2 sessions) · shop r1\n") {
		t.Errorf("got\n%s", got)
	}
}

// TestCostAbout: a sum that holds an estimate or a computed cost is marked, and agents and
// days are told apart where there are several.
func TestCostAbout(t *testing.T) {
	s := loop.Apply(loop.State{Project: loop.Project{Name: "shop"}}, ledger.Entry{Stream: "project/shop", Body: ledger.RunPlanned{Run: "r1", Settings: ledger.Settings{Project: "shop"}}})
	evening := time.Date(2026, 11, 26, 23, 0, 0, 0, time.UTC)
	for n, x := range []struct {
		task, hat, agent string
		exit             ledger.Exit
	}{
		{"Task 1", "builder", "claude", ledger.Exit{CostUSD: 2, Ended: evening, PricedBy: ledger.PricedByAgent}},
		{"Task 1", "reviewer", "codex", ledger.Exit{CostUSD: 0.5, Ended: evening.Add(2 * time.Hour), PricedBy: ledger.PricedByTable, Estimated: true}},
		{"Task 2", "builder", "claude", ledger.Exit{CostUSD: 1, Ended: evening.Add(3 * time.Hour), PricedBy: ledger.PricedByAgent}},
		{"Task 2", "reviewer", "codex", ledger.Exit{CostUSD: -1, Ended: evening.Add(4 * time.Hour)}},
	} {
		session := fmt.Sprintf("r1-%d", n+1)
		for _, b := range []ledger.Body{ledger.SessionPlanned{Kind: ledger.KindAgent, Hat: x.hat, Agent: x.agent}, ledger.SessionEnded{Kind: ledger.KindAgent, Exit: x.exit}} {
			s = loop.Apply(s, ledger.Entry{Stream: "project/shop", Task: x.task, Session: session, Body: b})
		}
	}
	want := "≈$3.50 + unknown (1 session) · shop r1\nbuilder $3.00 · reviewer ≈$0.50 + unknown\nclaude $3.00 · codex ≈$0.50 + unknown\n26 Nov $2.00 · 27 Nov ≈$1.50 + unknown\nMost: #1 ≈$2.50 · #2 $1.00 + unknown"
	if got := bot.Spent(s, evening).Text(0); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestOvershoots: what a run went over its budgets is said, with what people added to them
// and what was reserved for sessions of unknown cost.
func TestOvershoots(t *testing.T) {
	now := time.Date(2026, 11, 20, 6, 12, 0, 0, time.UTC)
	budget := func(b ledger.Budget) ledger.Settings { return ledger.Settings{Budget: b} }
	five, one := budget(ledger.Budget{USDRun: 5}), budget(ledger.Budget{USDTask: 1})
	tasks := func(list ...loop.Share) loop.Spent {
		var s loop.Spent
		for _, t := range list {
			s.Tasks = s.Tasks.Append(t)
		}
		return s
	}
	spent := tasks(loop.Share{Name: "Task 4", USD: 0.99}, loop.Share{Name: "Task 5", USD: 1.31}, loop.Share{Name: "", USD: 9}, loop.Share{Name: "Task 6", USD: 1.2, Assumed: 0.5})
	day := func(d ledger.DayBudget, raised float64) loop.Shared {
		return loop.Shared{Purse: loop.Purse{Day: d, Window: []loop.SpentSlot{{At: now.Add(-time.Hour), USD: 52.1, Tokens: 4_200_000}, {At: now.Add(-30 * time.Hour), USD: 40}}, Raised: []loop.SpentSlot{{At: now.Add(-time.Hour), USD: raised}}}}
	}
	for name, c := range map[string]struct {
		run    loop.Run
		shared loop.Shared
		want   []string
	}{
		"no budget":                        {run: loop.Run{CostUSD: 9, Spent: spent}},
		"kept":                             {run: loop.Run{CostUSD: 5, Settings: five}},
		"over":                             {run: loop.Run{CostUSD: 5.11, Settings: five}, want: []string{"$5.11 of $5 · $0.11 over"}},
		"half a cent":                      {run: loop.Run{CostUSD: 6.015, Settings: five}, want: []string{"$6.01 of $5 · $1.01 over"}},
		"raised":                           {run: loop.Run{CostUSD: 5.11, ExtraUSD: 5, Settings: five}},
		"with an unknown":                  {run: loop.Run{CostUSD: 4.61, AssumedUSD: 0.5, Unpriced: 1, Settings: five}, want: []string{"≈$5.11 of $5 · ≈$0.11 over, $0.50 assumed"}},
		"with an estimate":                 {run: loop.Run{CostUSD: 5.5, Estimated: 1, Settings: five}, want: []string{"≈$5.50 of $5 · ≈$0.50 over"}},
		"tokens":                           {run: loop.Run{Tokens: 4_200_000, Settings: budget(ledger.Budget{TokensRun: 4_000_000})}, want: []string{"4.2 M tokens of 4.0 M tokens · 200 k tokens over"}},
		"a sum not rounded":                {run: loop.Run{CostUSD: 5.000001, Settings: five}},
		"tasks, the worst first":           {run: loop.Run{Spent: spent, Settings: one}, want: []string{"#6: ≈$1.70 of $1 · ≈$0.70 over, $0.50 assumed", "#5: $1.31 of $1 · $0.31 over"}},
		"tasks, one raised and one lifted": {run: loop.Run{Spent: spent, Settings: one, TaskBudgets: map[string]loop.TaskBudget{ledger.FoldID("Task 5"): {Lifted: true}, ledger.FoldID("Task 6"): {USD: 5}}}},
		"many tasks": {
			run:  loop.Run{Settings: one, Spent: tasks(loop.Share{Name: "a", USD: 2}, loop.Share{Name: "b", USD: 3}, loop.Share{Name: "c", USD: 4}, loop.Share{Name: "d", USD: 5}, loop.Share{Name: "e", USD: 6})},
			want: []string{"e: $6 of $1 · $5 over", "d: $5 of $1 · $4 over", "c: $4 of $1 · $3 over", "2 tasks more over the budget of a task"},
		},
		"a session":            {run: loop.Run{SessionOver: &loop.SessionOver{Task: "Task 5", Hat: "builder", Of: 1, Spent: 1.42, Times: 1}}, want: []string{"#5 builder: $1.42 of $1 · $0.42 over"}},
		"sessions":             {run: loop.Run{SessionOver: &loop.SessionOver{Task: "Task 5", Hat: "builder", Of: 1, Spent: 1.42, Times: 3, About: true}}, want: []string{"#5 builder: ≈$1.42 of $1 · ≈$0.42 over, 2 sessions more by less"}},
		"the day":              {shared: day(ledger.DayBudget{USD: 50}, 0), want: []string{"24 h: $52.10 of $50 · $2.10 over"}},
		"the day, raised":      {shared: day(ledger.DayBudget{USD: 50}, 5)},
		"the day, tokens":      {shared: day(ledger.DayBudget{Tokens: 4_000_000}, 0), want: []string{"24 h: 4.2 M tokens of 4.0 M tokens · 200 k tokens over"}},
		"tokens, some unknown": {run: loop.Run{Tokens: 4_200_000, AssumedTokens: 500_000, Untold: 1, Settings: budget(ledger.Budget{TokensRun: 4_000_000})}, want: []string{"≈4.2 M tokens of 4.0 M tokens · ≈200 k tokens over, 500 k tokens assumed"}},
		"money before tokens":  {run: loop.Run{CostUSD: 6, Tokens: 9, Settings: budget(ledger.Budget{USDRun: 5, TokensRun: 5})}, want: []string{"$6 of $5 · $1 over"}},
	} {
		got := bot.Overshoots(loop.State{Shared: c.shared, Project: loop.Project{Run: &c.run}}, now)
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	if got := bot.Overshoots(loop.State{Shared: day(ledger.DayBudget{USD: 50}, 0)}, now); got != nil {
		t.Errorf("without a run: %q", got)
	}
}

// TestFaultIsTold: a sender whose command met a fault reads that it failed, also
// where the command needs no project.
func TestFaultIsTold(t *testing.T) {
	for _, line := range []string{"/quiet 22:00-06:30", "/unpair 5", "/runs", "/pause"} {
		h := daemon(atWork())
		h.Err = errors.New("the disk is full")
		m := h.say(t, line)
		verb, _, _ := strings.Cut(line, " ")
		if m.Key != "fault" || !m.Refused || !strings.HasPrefix(m.First(), "✗ "+verb+" failed") {
			t.Errorf("%s: %+v", line, m)
		}
		checkForm(t, line, m)
	}
}
