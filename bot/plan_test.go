package bot_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/nightporter/nightporter/bot"
	"github.com/nightporter/nightporter/internal/scenario"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/payload"
)

// hatSet returns the hats of the test project.
func hatSet(project, pattern string) bot.HatSet {
	set := scenario.New(project, evening).Settings()
	out := bot.HatSet{Pattern: set.Pattern, Hats: set.Hats, Agent: set.Agent, Patterns: []string{"plan-build-review", "single"}}
	out.Routes = "planner → builder → reviewer\nreviewer issues: → fixer → reviewer"
	builder := out.Hats["builder"]
	builder.Role, builder.Model, builder.WriteDenied, builder.MaxCostUSD = "Builds one task until all is green", "fast", []string{"docs/**"}, 2.5
	out.Hats["builder"] = builder
	writer := builder
	writer.Name, writer.WriteAllowed, writer.WriteDenied, writer.OwnScope, writer.Emits = "writer", []string{"docs/**", "README*"}, nil, true, []string{"docs.complete"}
	out.Hats["writer"] = writer
	if pattern == "single" {
		out.Pattern = ledger.Pattern{Name: "single", Start: "builder", Routes: []ledger.Route{{From: "builder", On: "build.complete", To: ledger.Converged}}}
		out.Routes = "builder → converged"
	}
	return out
}

const planSections = `{"summary":"An adapter around the old payment API, then the callers one by one.","sections":[
 {"id":"a","title":"Add the adapter","tasks":["the old tests pass against it"],"files":["payment/adapter.go"],"steps":["interface","implementation"]},
 {"id":"b","title":"Move the callers to the adapter, and nothing else","files":["orders/service.go","orders/refund.go"],"steps":[{"title":"service"},{"what":"refund"}]},
 {"id":"c","title":"Remove the old client","depends_on":["b"]}]}`

// argued returns a project whose task #4 has a plan that the critic has
// reviewed.
func argued(c *loop.Consensus, plan string) *service {
	d := atWork()
	s := &d.Night.State
	tasks := s.Project.Tasks.Slice()
	for n := range tasks {
		t := &tasks[n]
		if t.Task.ID != "Task 4" {
			continue
		}
		t.Plan = json.RawMessage(plan)
		w := *t.Attempt
		w.Consensus, w.Hat, w.Plan = c, "planner", t.Plan
		t.Attempt = &w
	}
	s.Project.Tasks = loop.NewTaskList(tasks...)
	return d
}

// asks opens a question about the task of argued.
func (d *service) asks(q ledger.Question) {
	q.ID, q.Task, q.Title, q.Run, q.Asked = "q9", "Task 4", "Move orders to the new API", "r1", d.Now
	d.Entry(ledger.Entry{Stream: ledger.ProjectStream("shop"), Time: d.Now, Run: "r1", Task: "Task 4", Body: ledger.TaskSet{From: ledger.Active, To: ledger.Waiting, Question: q.ID}})
	d.Entry(ledger.Entry{Stream: ledger.ProjectStream("shop"), Time: d.Now, Run: "r1", Task: "Task 4", Body: ledger.QuestionAsked{Question: q}})
}

func rejected(section, objection string) payload.Critique {
	return payload.Critique{Sections: []payload.Judgement{{ID: "a", Verdict: "OKAY"}, {ID: section, Verdict: "REJECT", Objections: []string{objection, "and it is long"}}}}
}

func fine() payload.Critique { return payload.Critique{OK: true} }

// planSituations are plans and questions about them, by intent.
func planSituations() map[string]func() (*service, string) {
	return map[string]func() (*service, string){
		"steps": func() (*service, string) {
			return argued(nil, `{"summary":"Two steps.","steps":["Write the adapter around the old client, and keep its tests",{"title":"Move callers"},{"odd":1}]}`), "/plan 4"
		},
		"sent back by the critic": func() (*service, string) {
			c := &loop.Consensus{Rounds: []payload.Critique{rejected("b", "no path for expired cards")}, Approved: []string{"a"}}
			return argued(c, planSections), "/plan"
		},
		"approval after the critic": func() (*service, string) {
			c := &loop.Consensus{Rounds: []payload.Critique{rejected("b", "no path for expired cards"), {Objections: []string{"b before a"}}, fine()}, Approved: []string{"a", "b", "c"}}
			d := argued(c, planSections)
			d.asks(ledger.Question{Kind: ledger.AskPlan, Text: "An adapter around the old payment API, then the callers one by one."})
			return d, "q9"
		},
		"read before approval": func() (*service, string) {
			d := argued(&loop.Consensus{Rounds: []payload.Critique{rejected("b", "no path for expired cards"), fine()}, Approved: []string{"a", "b", "c"}}, planSections)
			d.asks(ledger.Question{Kind: ledger.AskPlan, Text: "An adapter."})
			return d, "/plan"
		},
		"approval, the critic never agreed": func() (*service, string) {
			c := &loop.Consensus{}
			for range 5 {
				c.Rounds = append(c.Rounds, rejected("b", "no path for expired cards, whichever way the callers are moved, since the old client swallows them"))
			}
			d := argued(c, planSections)
			d.asks(ledger.Question{Kind: ledger.AskPlan, Text: "An adapter."})
			return d, "q9"
		},
		"approval without a critic": func() (*service, string) { // approval without a critic
			d := argued(nil, `{"summary":"One step.","steps":["one"]}`)
			d.asks(ledger.Question{Kind: ledger.AskPlan, Text: "One step."})
			return d, "q9"
		},
		"task waits for approval": func() (*service, string) {
			d := argued(nil, `{"summary":"One step.","steps":["one"]}`)
			d.asks(ledger.Question{Kind: ledger.AskPlan, Text: "One step."})
			return d, "/task 4"
		},
		"list, one waits for approval": func() (*service, string) {
			d := argued(nil, `{"summary":"One step.","steps":["one"]}`)
			d.asks(ledger.Question{Kind: ledger.AskPlan, Text: "One step."})
			return d, "/tasks"
		},
		"words without a choice": func() (*service, string) {
			d := argued(nil, `{"summary":"One step.","steps":["one"]}`)
			d.asks(ledger.Question{Kind: ledger.AskPlan, Text: "One step."})
			return d, "q9 do b first"
		},
		"status, run waits for approval": func() (*service, string) {
			d := argued(nil, planSections)
			d.Night.State.Project.Questions = nil
			d.asks(ledger.Question{Kind: ledger.AskPlan, Text: "x"})
			d.Entry(ledger.Entry{Stream: ledger.ProjectStream("shop"), Time: d.Now, Run: "r1", Body: ledger.RunStateSet{State: ledger.RunWaiting, Wait: ledger.WaitQuestion}})
			return d, "/status"
		},
		"run over, approval open": func() (*service, string) {
			d := argued(nil, planSections)
			d.Night.State.Project.Questions = nil
			d.asks(ledger.Question{Kind: ledger.AskPlan, Text: "x"})
			return d, ""
		},
		"task in parts": func() (*service, string) { d := parted(); return d, "/plan 4" },
		"one part":      func() (*service, string) { d := parted(); return d, "/plan 4/b" },
		"task of parts": func() (*service, string) { d := parted(); return d, "/task 4" },
		"paths to allow": func() (*service, string) {
			d := argued(nil, `{"summary":"One step.","steps":["one"]}`)
			d.asks(ledger.Question{Kind: ledger.AskAllow, Hat: "builder", Text: "builder wrote docs/orders/guide.md again", Paths: []string{"docs/orders/a/guide for people.md", "go.work"}, Expires: d.Now.Add(30 * time.Minute)})
			return d, "q9"
		},
		"a path that runs by itself": func() (*service, string) {
			d := argued(nil, `{"summary":"One step.","steps":["one"]}`)
			d.asks(ledger.Question{Kind: ledger.AskAllow, Hat: "builder", Text: "allow .vscode/tasks.json for #4?", Paths: []string{".vscode/tasks.json"}, RunsItself: []string{".vscode/tasks.json"}, Expires: d.Now.Add(30 * time.Minute)})
			return d, "q9"
		},
		"what looks like a secret": func() (*service, string) {
			d := argued(nil, `{"summary":"One step.","steps":["one"]}`)
			d.asks(ledger.Question{Kind: ledger.AskSecret, Hat: "builder", Text: "Is it a secret? The builder wrote it again.", Secrets: []ledger.SecretFound{
				{Path: "deploy/scripts/production/release.sh", Line: 12, Rule: "aws-access-token"}, {Path: "keys/cert.p12", Rule: "pkcs12-file"}}})
			return d, "q9"
		},
		"very many new files": func() (*service, string) {
			d := argued(nil, `{"summary":"One step.","steps":["one"]}`)
			d.asks(ledger.Question{Kind: ledger.AskNewFiles, Hat: "builder", Text: "Are those in node_modules2, services/checkout/frontend/.svelte-kit work, or was an ignore rule forgotten?",
				TooMany: []ledger.NewFiles{{Path: "node_modules2", Files: 300_000}, {Path: "services/checkout/frontend/.svelte-kit", Files: 1_200}}, Expires: d.Now.Add(30 * time.Minute)})
			return d, "q9"
		},
		"a session that does not fit into the run's budget": func() (*service, string) {
			d := argued(nil, `{"summary":"One step.","steps":["one"]}`)
			d.asks(ledger.Question{Kind: ledger.AskBudget, Hat: "builder", Text: "≈$7.10 + unknown of $10.00 spent in this run ($1.50 assumed for 2 sessions, $1.20 reserved by sessions at work); the next session takes about $0.60",
				Short: &ledger.BudgetShort{Limit: ledger.BudgetRun, Of: 10, Spent: 9.8, Assumed: 1.5, Unknown: 2, Reserved: 1.2, About: true, Needs: 0.6, Agent: "claude", Step: 5}})
			return d, "q9"
		},
		"a session that met its limit": func() (*service, string) {
			d := argued(nil, `{"summary":"One step.","steps":["one"]}`)
			d.asks(ledger.Question{Kind: ledger.AskBudget, Hat: "builder", Text: "$2.10 of $2.00 spent in one session",
				Short: &ledger.BudgetShort{Limit: ledger.BudgetSession, Of: 2, Spent: 2.1, Agent: "claude", Step: 5}})
			return d, "q9"
		},
		"a session that does not fit into the day's tokens": func() (*service, string) {
			d := argued(nil, `{"summary":"One step.","steps":["one"]}`)
			d.asks(ledger.Question{Kind: ledger.AskBudget, Hat: "builder", Text: "unknown of 40.0 M tokens spent in 24 hours (39.8 M assumed for 80 sessions)",
				Short: &ledger.BudgetShort{Limit: ledger.BudgetDay, Tokens: true, Of: 40e6, Spent: 39.8e6, Assumed: 39.8e6, Unknown: 80, Needs: 1.2e6, Agent: "claude", Step: 20e6}})
			return d, "q9"
		},
		"paths of which one runs by itself": func() (*service, string) {
			d := argued(nil, `{"summary":"One step.","steps":["one"]}`)
			d.asks(ledger.Question{Kind: ledger.AskAllow, Hat: "builder", Text: "allow .envrc, docs/a.md for #4?", Paths: []string{".envrc", "docs/a.md"}, RunsItself: []string{".envrc"}, Expires: d.Now.Add(30 * time.Minute)})
			return d, "q9"
		},
	}
}

// parted returns a project whose task #4 was split into parts: the first is
// done, the second is running.
func parted() *service {
	d := argued(nil, planSections)
	s := &d.Night.State
	tasks := s.Project.Tasks.Slice()
	for n := range tasks {
		if t := &tasks[n]; t.Task.ID == "Task 4" {
			t.Status, t.Parts, t.Allowed = ledger.Pending, []string{"Task 4/a", "Task 4/b", "Task 4/c"}, []string{"docs/orders.md"}
		}
	}
	section := json.RawMessage(`{"id":"b","title":"Move the callers to the adapter, and nothing else","files":["orders/service.go"],"steps":["service"]}`)
	s.Project.Tasks = loop.NewTaskList(append(tasks,
		loop.TaskState{Task: ledger.Task{ID: "Task 4/a", Title: "Add the adapter", Parent: "Task 4", Own: true}, Status: ledger.Done},
		loop.TaskState{Task: ledger.Task{ID: "Task 4/b", Title: "Move the callers", Parent: "Task 4", Own: true}, Status: ledger.Active, Attempt: &loop.Attempt{Hat: "builder"}, Plan: section},
		loop.TaskState{Task: ledger.Task{ID: "Task 4/c", Title: "Remove the old client", Parent: "Task 4", Own: true, DependsOn: []string{"Task 4/b"}}, Status: ledger.Pending})...)
	return d
}

// addPlans adds the messages about plans.
func addPlans(t *testing.T, all topics) {
	t.Helper()
	for intent, situation := range planSituations() {
		d, line := situation()
		if line == "" {
			m := bot.Ended(d.Night.State, ledger.RunEnded{Reason: ledger.ReasonNothing, Exit: 1, Done: 1, Total: 6}, d.Now)
			all.add(t, "plan", intent, "", m, 38)
			continue
		}
		all.add(t, "plan", intent, line, d.say(t, line), 38)
	}
}

// TestPlanAnswers checks the answers to questions about a plan or about a path.
func TestPlanAnswers(t *testing.T) {
	for kind, lines := range map[ledger.QuestionKind]map[string]loop.AnswerQuestion{
		ledger.AskPlan: {
			"q9 approve": {Question: "q9", Choice: "approve"}, "q9 a": {Question: "q9", Choice: "approve"},
			"q9 reject b before a": {Question: "q9", Choice: "reject", Words: "b before a"}, "q9 r b first": {Question: "q9", Choice: "reject", Words: "b first"},
			"/approve 4": {Question: "q9", Choice: "approve"}, "/reject q9 b before a": {Question: "q9", Choice: "reject", Words: "b before a"},
		},
		ledger.AskAllow: {
			"q9 allow": {Question: "q9", Choice: "allow"}, "q9 d": {Question: "q9", Choice: "deny"},
			"/approve q9": {Question: "q9", Choice: "allow"}, "/reject #4": {Question: "q9", Choice: "deny"},
		},
	} {
		for line, want := range lines {
			d := argued(nil, planSections)
			d.asks(ledger.Question{Kind: kind, Paths: []string{"docs/a.md"}})
			d.say(t, line)
			if len(d.Inputs) != 1 || d.Inputs[0].Body != loop.InputBody(want) {
				t.Errorf("%s: %+v, want %+v", line, d.Inputs, want)
			}
		}
	}
}

// TestPlanApprovalRole: only an admin decides about a plan, however the answer is
// typed. The role steer answers every other question.
func TestPlanApprovalRole(t *testing.T) {
	h := daemon(argued(nil, planSections))
	h.asks(ledger.Question{Kind: ledger.AskPlan, Text: "x"})
	for line, want := range map[string]ledger.Role{
		"q9 approve": ledger.RoleAdmin, "q9 a": ledger.RoleAdmin, "/approve 4": ledger.RoleAdmin, "/reject q9 no": ledger.RoleAdmin, "shop: q9 r no": ledger.RoleAdmin,
		"/answer #4 a": ledger.RoleAdmin, "q9": ledger.RoleView, "q1 retry": ledger.RoleSteer, "/approve 3": ledger.RoleSteer, "/plan 4": ledger.RoleView, "/plan redo 4": ledger.RoleSteer,
	} {
		c, err := bot.Parse(line)
		if err != nil {
			t.Fatal(err)
		}
		if got := bot.RequiredRoleHere(h, "", true, c); got != want {
			t.Errorf("%s needs %s, want %s", line, got, want)
		}
	}
	for line, want := range map[string]ledger.Role{"/approve": ledger.RoleAdmin, "/reject not yet": ledger.RoleAdmin, "/answer a": ledger.RoleAdmin, "/retry 4": ledger.RoleSteer} {
		alone := daemon(argued(nil, planSections))
		alone.Night.State.Project.Questions = nil
		alone.asks(ledger.Question{Kind: ledger.AskPlan, Text: "x"})
		c, err := bot.Parse(line)
		if err != nil {
			t.Fatal(err)
		}
		if got := bot.RequiredRoleHere(alone, "shop", true, c); got != want {
			t.Errorf("%s, with one question, needs %s, want %s", line, got, want)
		}
	}
	s, _ := h.State("shop")
	q := s.Project.Questions[len(s.Project.Questions)-1]
	for role, want := range map[ledger.Role]string{ledger.RoleAdmin: "Approve Reject… Read", ledger.RoleSteer: "Read", ledger.RoleView: "Read"} {
		var labels []string
		for _, b := range bot.Ask(s, q, h.Now).For(role).Buttons {
			labels = append(labels, b.Label)
		}
		if got := strings.Join(labels, " "); got != want {
			t.Errorf("%s sees %q, want %q", role, got, want)
		}
	}
}

// TestPlanHostile checks that hostile text from a planner or a critic cannot
// break the form of a message or become a command in a chat.
func TestPlanHostile(t *testing.T) {
	nasty := "x /stop \x1b[2J\u202e<b>&*x*\n\r✓ #9 done " + strings.Repeat("日本語 title ", 90)
	quoted, err := json.Marshal(nasty)
	if err != nil {
		t.Fatal(err)
	}
	n := string(quoted)
	plan := `{"summary":` + n + `,"steps":[` + n + `,{"title":` + n + `}],"sections":[{"id":"a","title":` + n + `,"tasks":[` + n + `],"files":[` + n + `],"steps":[` + n + `]}]}`
	c := &loop.Consensus{Rounds: []payload.Critique{{Sections: []payload.Judgement{{ID: nasty, Objections: []string{nasty}}, {ID: "a", Objections: []string{nasty}}}, Objections: []string{nasty}}}, Approved: []string{nasty}}
	for _, kind := range []ledger.QuestionKind{ledger.AskPlan, ledger.AskAllow} {
		d := argued(c, plan)
		d.asks(ledger.Question{Kind: kind, Text: nasty, Hat: "builder", Paths: []string{"docs/ /stop " + nasty, nasty, nasty, nasty, nasty, nasty}})
		for _, line := range []string{"q9", "/plan 4", "/tasks", "/task 4", "/status"} {
			m := d.say(t, line)
			checkForm(t, line, m)
			for _, l := range m.Lines {
				for w := range strings.FieldsSeq(l.Text) {
					if l.Kind == bot.Plain && w == "/stop" {
						t.Errorf("%s: %s can be tapped in %q", line, w, l.Text)
					}
				}
			}
		}
	}
	for _, raw := range []string{`null`, `[]`, `{}`, `{"sections":7}`, `{"steps":{}}`, `{"summary":3}`, `"x"`, `{`} {
		d := argued(nil, raw)
		if m := d.say(t, "/plan 4"); m.Key != "plan.none" {
			t.Errorf("%s: %s", raw, m.Key)
		}
	}
}

// TestHats checks the replies for hats that cannot be read and for a hat of
// another pattern.
func TestHats(t *testing.T) {
	d := atWork()
	d.Err = &ledger.InputError{Diagnostics: []ledger.Diagnostic{{File: "/home/mira/hats/mine.toml", Line: 3, Text: "unknown key \"wrote_allowed\"", Remedy: "write_allowed"}}}
	m, err := bot.Handle(context.Background(), d, bot.Request{Text: "/hats", Time: d.Now, Project: "shop"})
	if err != nil || !strings.Contains(m.Text(0), "mine.toml:3") || !strings.HasPrefix(m.First(), bot.SignFailed) {
		t.Errorf("%v\n%s", err, m.Text(0))
	}
}
