package prompt

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/nightporter/nightporter/internal/scenario"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// settings are those of a run with ten hats, consensus off.
func settings(n *scenario.Night) ledger.Settings {
	set := n.Settings()
	set.Source.Path, set.Verify = "checkout.md", []ledger.Command{{Run: "go test"}}
	set.Hats = map[string]ledger.Hat{}
	hat := func(name, job string, writes bool, emits ...string) {
		h := ledger.Hat{
			Name: name, Prompt: strings.TrimSpace("You are the " + name + ". " + job), Emits: emits, Expect: ledger.ExpectNone, MaxTokens: 40000,
			Timeout: ledger.Duration(time.Hour), StallTimeout: ledger.Duration(15 * time.Minute), Shipped: true,
		}
		if writes {
			h.WriteAllowed, h.WriteDenied, h.Expect = []string{"**"}, []string{"docs/**"}, ledger.ExpectPass
		}
		set.Hats[name] = h
	}
	hat("planner", "Your one job: a plan that somebody else can follow.", false, ledger.EventPlan)
	hat("builder", "Your one job: make the task true, tests included.", true, "build.complete")
	hat("reviewer", "Your one job: find what is wrong with the change.", false, ledger.EventReview)
	hat("fixer", "Your one job: settle every issue of the review.", true, ledger.EventFix)
	hat("writer", "", true, "docs.complete")
	hat("critic", "", false, ledger.EventCritique)
	hat("architect", "", false, ledger.EventAdvice)
	hat("verifier", "", false, "verification.passed", ledger.EventFailed)
	hat("refactorer", "", true, "refactor.complete")
	hat("reproducer", "", true, ledger.EventRepro)
	return set
}

// tasks are the plan of these tests.
func tasks() []ledger.Task {
	return []ledger.Task{
		{
			ID: "Task 1", Title: "Extract the price rules", Mark: ledger.MarkOpen, Scope: "`internal/price`, `go.mod`",
			Acceptance: []string{"Rules are data", "`go test ./...` passes"},
			Body:       "Move the rules out of the handler.\nKeep the old function names.", Notes: "See legacy/orders.go.",
		},
		{ID: "Task 2", Title: "Use them", Mark: ledger.MarkOpen, DependsOn: []string{"Task 1"}},
	}
}

// start returns a night whose run has started and whose first session is not
// planned yet. change, which may be nil, changes its settings.
func start(change func(*ledger.Settings)) *scenario.Night {
	n := scenario.New("shop", time.Date(2026, 11, 19, 23, 10, 0, 0, time.FixedZone("CET", 3600)))
	set := settings(n)
	if change != nil {
		change(&set)
	}
	n.Type = func(line string) { person(n, line) }
	n.Start(set, n.Base("r1"), tasks()...)
	return n
}

// person carries out a command that a person types at the console.
func person(n *scenario.Night, line string) {
	in := loop.Input{Key: fmt.Sprintf("line-%d", len(n.All())), Actor: "console", Name: "Mira"}
	switch word, rest, _ := strings.Cut(line, " "); word {
	case "/guidance":
		in.Body = loop.Guide{Text: rest}
	case "/pause":
		in.Body = loop.Pause{}
	case "/resume":
		in.Body = loop.Resume{}
	case "/answer":
		question, choice, _ := strings.Cut(rest, " ")
		in.Body = loop.AnswerQuestion{Question: question, Choice: choice}
	default:
		panic("unknown command " + line)
	}
	if a := n.Do(in); !a.OK {
		panic(line + ": " + a.Text)
	}
}

// agent returns the agent session in flight.
func agent(n *scenario.Night) (loop.Session, bool) {
	for _, s := range n.State.Project.Sessions {
		if s.Planned.Kind == ledger.KindAgent {
			return s, true
		}
	}
	return loop.Session{}, false
}

// play has each agent session do one act of the script. It stops in front of
// the session that follows, or where the night waits for a person.
func play(n *scenario.Night, script ...scenario.Act) {
	last := ""
	n.Until(func() bool {
		s, ok := agent(n)
		switch {
		case len(n.State.Project.Questions) > 0:
			return true
		case !ok || s.ID == last:
			return false
		case len(script) == 0:
			return true
		}
		last = s.ID
		n.Acts[s.Task+" "+s.Planned.Hat], script = script[:1:1], script[1:]
		return false
	})
}

// before returns a night in front of the session that follows the script, and
// the id of that session.
func before(t testing.TB, script ...scenario.Act) (*scenario.Night, string) {
	t.Helper()
	n := start(nil)
	play(n, script...)
	return n, next(t, n)
}

// next returns the id of the agent session in flight.
func next(t testing.TB, n *scenario.Night) string {
	t.Helper()
	s, ok := agent(n)
	if !ok {
		t.Fatal("no session is in flight")
	}
	return s.ID
}

// Acts of a script. silent ends without an event.
var (
	plan   = act(ledger.EventPlan, `{"summary":"the plan","steps":["one","two"]}`)
	build  = wrote("build.complete", `{"summary":"built it","files_modified":["a.go"]}`)
	fix    = wrote(ledger.EventFix, `{"summary":"fixed it","files_modified":["a.go"],"resolved":["r1"]}`)
	fine   = act(ledger.EventReview, `{"summary":"fine","issues":[]}`)
	silent = act("", "")
	okay   = act(ledger.EventCritique, `{"verdict":"OKAY","sections":[]}`)
)

func act(typ, data string) scenario.Act {
	return scenario.Act{Type: typ, Data: data, Took: time.Minute, Cost: 0.25}
}

// wrote is an act that changes a file.
func wrote(typ, data string) scenario.Act {
	a := act(typ, data)
	a.Files = []ledger.FileChange{{Path: "a.go", Added: 2, Removed: 1}}
	return a
}

// with adds fields to the event of an act.
func with(a scenario.Act, fields string) scenario.Act {
	a.Data = strings.TrimSuffix(a.Data, "}") + "," + fields + "}"
	return a
}

// typed is an act during which a person types.
func typed(a scenario.Act, lines ...string) scenario.Act {
	a.Typed = lines
	return a
}

// red is an act after which the verification fails.
func red(a scenario.Act) scenario.Act {
	a.Red = "FAIL TestA\nwant 1, got 2"
	return a
}

// issues is a review that finds SEVERITY:RULE….
func issues(found ...string) scenario.Act {
	var list []string
	for _, f := range found {
		severity, rule, _ := strings.Cut(f, ":")
		list = append(list, fmt.Sprintf(`{"severity":%q,"file":"a.go","line":3,"rule":%q,"text":"wrong"}`, severity, rule))
	}
	return act(ledger.EventReview, `{"summary":"look","issues":[`+strings.Join(list, ",")+`]}`)
}

// folded returns the state that the night's ledger folds to.
func folded(t testing.TB, n *scenario.Night) loop.State {
	t.Helper()
	var s loop.State
	s.Project.Name = n.State.Project.Name
	for _, r := range n.All() {
		e, err := r.Entry()
		if err != nil {
			t.Fatal(err)
		}
		s = loop.Apply(s, e)
	}
	return s
}

// restored returns the state as its snapshot gives it back.
func restored(t testing.TB, s loop.State) loop.State {
	t.Helper()
	var back loop.State
	if err := json.Unmarshal(encode(t, s), &back); err != nil {
		t.Fatal(err)
	}
	return back
}

func encode(t testing.TB, v any) []byte {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return bytes.TrimSpace(raw)
}

// inWork changes the first task, and its attempt, by hand: package loop tests
// what leads there.
func inWork(s *loop.State, change func(t *loop.TaskState, a *loop.Attempt)) {
	t := *s.Project.Tasks.At(0)
	a := *t.Attempt
	change(&t, &a)
	t.Attempt = &a
	s.Project.Tasks = s.Project.Tasks.With(0, t)
}

// configured changes the settings of the run by hand.
func configured(s *loop.State, change func(*ledger.Settings)) {
	r := *s.Project.Run
	change(&r.Settings)
	s.Project.Run = &r
}

// hatted changes one hat of the run by hand.
func hatted(s *loop.State, name string, change func(*ledger.Hat)) {
	configured(s, func(set *ledger.Settings) {
		h := set.Hats[name]
		change(&h)
		set.Hats = maps.Clone(set.Hats)
		set.Hats[name] = h
	})
}

// limited sets the budget of a hat by hand.
func limited(s *loop.State, hat string, tokens int) {
	hatted(s, hat, func(h *ledger.Hat) { h.MaxTokens = tokens })
}
