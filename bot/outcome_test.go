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

// ended holds an attempt's end for each outcome.
var ended = map[ledger.AttemptOutcome]ledger.AttemptEnded{
	"":                      {Failed: true, Why: "ended without a report 3 times in a row"}, // an entry of a release that did not record outcomes
	ledger.OutcomeStalled:   {Failed: true, Why: "the same files as in an earlier round"},
	ledger.OutcomeLimit:     {Failed: true, Why: "it goes round and round"},
	ledger.OutcomeRed:       {Failed: true, Why: "npm test still fails (TestSum) after 3 sessions"},
	ledger.OutcomeFailed:    {Failed: true, Why: "ended without a report 3 times in a row"},
	ledger.OutcomeBlocked:   {Failed: true, Why: "the plan says two things"},
	ledger.OutcomeBudget:    {Why: "$15.02 of $15.00 spent"},
	ledger.OutcomeParked:    {Why: "the run ends"},
	ledger.OutcomeAnew:      {Replan: true, Why: "conflicts with what was done since in a.go"},
	ledger.OutcomePlanned:   {Why: "3 parts"},
	ledger.OutcomeConverged: {},
}

// records returns the ledger records of an attempt of #8 that ended with o.
func records(t *testing.T, o ledger.AttemptOutcome) []ledger.Record {
	t.Helper()
	b := ended[o]
	b.Outcome = o
	bodies := []ledger.Body{
		ledger.Commitment{TaskID: "Task 8", Title: "Refund flow", Tier: "T3"}, ledger.Claim{AgentID: "claude"},
		ledger.Evidence{Kind: "fix-applied", FilesChanged: 2, LinesAdded: 31}, ledger.Evidence{Kind: "review"},
	}
	switch {
	case o == ledger.OutcomeConverged:
		bodies = append(bodies, ledger.Submit{Result: "pass", Outcome: o, Commit: "9c41e07aa"}, ledger.TaskSet{To: ledger.Done})
	case b.Failed:
		bodies = append(bodies, ledger.Submit{Result: "fail", Outcome: o, Reason: b.Why}, b)
		if o == ledger.OutcomeBlocked {
			bodies = append(bodies, ledger.TaskSet{To: ledger.Blocked, Why: b.Why})
		}
	default:
		bodies = append(bodies, b)
	}
	var out []ledger.Record
	for _, body := range bodies {
		r, err := ledger.Entry{Stream: "project/shop", Time: evening, Run: "r14", Task: "Task 8", Attempt: "a1", Body: body}.Record()
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, r)
	}
	return out
}

// TestOutcomes checks that every outcome is shown differently.
func TestOutcomes(t *testing.T) {
	var text strings.Builder
	seen := map[string]ledger.AttemptOutcome{}
	s := loop.State{Project: loop.Project{Name: "shop"}}
	for _, o := range []ledger.AttemptOutcome{"", ledger.OutcomeFailed, ledger.OutcomeStalled, ledger.OutcomeLimit, ledger.OutcomeRed, ledger.OutcomeBlocked, ledger.OutcomeBudget, ledger.OutcomeParked, ledger.OutcomeAnew, ledger.OutcomePlanned, ledger.OutcomeConverged} {
		recs := records(t, o)
		evidence, log := bot.Evidence(recs, bot.ChainCheck{}, evening.Location()), bot.Log("shop", "Task 8", recs, evening)
		task := loop.TaskState{Task: ledger.Task{ID: "Task 8", Title: "Refund flow"}, Status: ledger.Ready, Attempts: 1, LastFail: ended[o].Why}
		all := []bot.Message{evidence, log, bot.Task(s, task, bot.TaskHistory{Last: o}, evening)}
		q := ledger.Question{ID: "q5", Kind: ledger.AskBlocked, Task: "Task 8", Text: ended[o].Why, Asked: evening}
		all = append(all, bot.AskAfter(s, q, o, evening))
		whole := ""
		for n, m := range all {
			checkForm(t, string(o), m)
			if n < 3 || o == "" || ended[o].Failed { // only a failed attempt leads to a question
				whole += m.Text(76) + "\n"
			}
		}
		if same, twice := seen[whole]; twice && same != "" {
			t.Errorf("%s and %s look the same", o, same)
		}
		seen[whole] = o
		fmt.Fprintf(&text, "== %s\n%s\n", o, whole)
	}
	golden.Compare(t, "outcomes.txt", text.String())
}

func TestOutcomeWhy(t *testing.T) {
	for _, c := range []struct {
		o         ledger.AttemptOutcome
		why, want string
	}{
		{ledger.OutcomeStalled, "", "no progress"},
		{ledger.OutcomeStalled, "Stalled: the same issues", "Stalled: the same issues"},
		{ledger.OutcomeLimit, "20 sessions, and no end", "20 sessions, and no end"},
		{ledger.OutcomeLimit, "", "limit of 20 sessions"},
		{ledger.OutcomeParked, "wall clock", "parked: wall clock"},
		{ledger.OutcomeRed, "npm test still fails (TestSum) after 3 sessions", "npm test still fails (TestSum) after 3 sessions"},
		{ledger.OutcomeBudget, "", "budget"},
		{ledger.OutcomeFailed, "lost twice", "lost twice"},
		{"", "\x1b[2Jx", "x"},
	} {
		if got := bot.OutcomeWhy(c.o, c.why); got != c.want {
			t.Errorf("%s %q: %q, want %q", c.o, c.why, got, c.want)
		}
	}
}

// TestLogTells checks that a run's log shows decisions about a plan and changes
// of the hats on disk.
func TestLogTells(t *testing.T) {
	var recs []ledger.Record
	for _, b := range []ledger.Body{
		ledger.HatsRead{Pattern: ledger.Pattern{Name: "full-cycle"}},
		ledger.HatsRead{Trouble: "hats/mine.toml:3: unknown key \"wrote_allowed\""},
		ledger.HatsRead{Trouble: "✗ /home/mira/.config/nightporter/hats/mine.toml:3:1  unknown key \"rol\" in [hat]\n     3 | rol = \"x\"\n       | ^^^ meant \"role\"?\n✗ /home/mira/.config/nightporter/hats/b.toml  file is missing"},
		ledger.Verified{Kind: ledger.KindRepro, OK: true, Results: []ledger.Result{{Run: "sh tests/t2.sh", Exit: 1}}},
		ledger.Verified{Kind: ledger.KindRepro, Results: []ledger.Result{{Run: "sh tests/t2.sh", OK: true}}},
		ledger.PlanSettled{By: "Mira", Rounds: 5, Words: "b before a"},
		ledger.PlanSettled{Approved: true, By: "critic", Rounds: 2},
		ledger.PartsMade{Parts: []ledger.Task{{ID: "Task 8/a"}, {ID: "Task 8/b"}}, Gone: []string{"Task 8/c"}},
		ledger.PartsMade{Whole: true},
	} {
		e := ledger.Entry{Stream: "project/shop", Time: evening, Run: "r14", Body: b}
		if _, of := b.(ledger.HatsRead); !of {
			e.Task = "Task 8"
		}
		r, err := e.Record()
		if err != nil {
			t.Fatal(err)
		}
		recs = append(recs, r)
	}
	m := bot.Log("shop", "", recs, evening)
	checkForm(t, "log", m)
	golden.Compare(t, "log-plans.txt", m.Text(78)+"\n")
}

// TestEvidenceOfReproducer checks that the failure of a reproducer's command,
// which has to fail, does not break the chain.
func TestEvidenceOfReproducer(t *testing.T) {
	var recs []ledger.Record
	for _, b := range []ledger.Body{
		ledger.Commitment{},
		ledger.Evidence{Kind: "build", Command: "npm ci"},
		ledger.Evidence{Kind: "build", Command: "sh tests/t2.sh", ExitCode: 1},
		ledger.Verified{Kind: ledger.KindRepro, OK: true, Results: []ledger.Result{{Run: "npm ci", OK: true}, {Run: "sh tests/t2.sh", Exit: 1}}},
		ledger.Evidence{Kind: "investigation", RootCause: "greet.sh never says it"},
	} {
		r, err := ledger.Entry{Stream: "project/shop", Time: evening, Run: "r14", Task: "Task 8", Attempt: "a1", Body: b}.Record()
		if err != nil {
			t.Fatal(err)
		}
		recs = append(recs, r)
	}
	want := "● shop #8 evidence: so far to investi…\n✓ begun (commit) 23:10\n✓ build: npm ci, exit 0\n✓ build: t2.sh fails, as it has to\n✓ investigation\n┃ greet.sh never says it"
	if got := bot.Evidence(recs, bot.ChainCheck{}, evening.Location()).Text(78); !strings.HasPrefix(got, want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	// A reproducer's command that passes is a failure, and the reason is shown
	// once.
	r, err := ledger.Entry{Stream: "project/shop", Task: "Task 8", Attempt: "a1", Body: ledger.Evidence{Kind: "build", Command: "sh tests/t2.sh", ExitCode: 1}}.Record()
	if err != nil {
		t.Fatal(err)
	}
	if got := bot.Evidence(append(recs, r), bot.ChainCheck{}, evening.Location()).Text(78); strings.Count(got, "t2.sh, exit 1") != 1 {
		t.Errorf("got\n%s", got)
	}
}

// TestVerdicts checks the results of read-only hats, such as a reviewer.
func TestVerdicts(t *testing.T) {
	for data, want := range map[string]string{
		`critique.verdict {"verdict":"OKAY","sections":[]}`:                                                                           "plan OKAY",
		`critique.verdict {"verdict":"REJECT","sections":[{"id":"b","verdict":"REJECT","objections":["no path for expired cards"]}]}`: "plan REJECT: b: no path for expired cards",
		`critique.verdict {"verdict":"REJECT","sections":[],"objections":["b before a"]}`:                                             "plan REJECT: b before a",
		`critique.verdict nonsense`: "plan judged: without a word",
		`verification.failed {"checks":[{"criterion":"receipt appears","ok":false},{"criterion":"x","ok":true}]}`:                "1 of 2 checks fails: receipt appears",
		`verification.failed {"checks":[{"criterion":"a","ok":false},{"criterion":"b","ok":false},{"criterion":"c","ok":true}]}`: "2 of 3 checks fail: a",
	} {
		typ, payload, _ := strings.Cut(data, " ")
		if got, ok := bot.Verdict(ledger.EventAccepted{Type: typ, Data: []byte(payload)}); !ok || got != want {
			t.Errorf("%s: %q, %v, want %q", data, got, ok, want)
		}
	}
	if _, ok := bot.Verdict(ledger.EventAccepted{Type: "verification.passed"}); ok {
		t.Error("a verification that passed is a verdict")
	}
}

// receiptState returns a project with a builder at work on #7.
func receiptState() loop.State {
	return loop.State{Project: loop.Project{Name: "shop", Run: &loop.Run{ID: "r14", State: ledger.RunRunning},
		Tasks:    loop.NewTaskList(loop.TaskState{Task: ledger.Task{ID: "Task 7"}, Status: ledger.Active, Attempt: &loop.Attempt{Hat: "builder", Stage: ledger.StageSession}}),
		Sessions: []loop.Session{{ID: "r14-25", Task: "Task 7", At: evening.Add(-20 * time.Minute), Planned: ledger.SessionPlanned{Kind: ledger.KindAgent, Hat: "builder"}}}}}
}

// TestTooLate checks that the reply names the session that has the guidance,
// and since when.
func TestTooLate(t *testing.T) {
	i := guidance.Item{ID: "g17", Text: "Wrap it", State: guidance.Injected, Session: "r14-25", Bound: "task 7"}
	m := bot.TooLate(receiptState(), i, "Replace it", evening)
	want := []string{"✗ g17 not changed: in use since 22:50", "Replace it", "#7 builder has your first words. No answer: it stays so."}
	var got []string
	for _, l := range m.Lines {
		got = append(got, l.Text)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := bot.TooLate(receiptState(), i, "", evening).First(); got != "✗ g17 not dropped: in use since 22:50" {
		t.Errorf("drop: %s", got)
	}
	i.Session = "r14-3" // ended meanwhile
	if got := bot.TooLate(receiptState(), i, "x", evening).First(); got != "✗ g17 not changed: in use" {
		t.Errorf("ended: %s", got)
	}
}

// TestQueueStates checks that the queue shows guidance in every state, newest
// first.
func TestQueueStates(t *testing.T) {
	s := receiptState()
	reviewed := func(followed bool) *guidance.Judged {
		return &guidance.Judged{Session: "r14-26", Hat: "reviewer", Followed: followed, Note: "x"}
	}
	for n, i := range []guidance.Item{
		{State: guidance.Queued, Hat: "writer"}, {State: guidance.Queued, Task: "task 9"}, {State: guidance.Injected, Session: "r14-25", Bound: "task 7"},
		{State: guidance.Addressed}, {State: guidance.Addressed, Judged: reviewed(true)}, {State: guidance.Addressed, Judged: reviewed(false)},
		{State: guidance.SetAside}, {State: guidance.NotReported}, {State: guidance.Expired}, {State: guidance.Dropped}, {State: guidance.Queued, Sticky: true},
		{State: guidance.Injected, Session: "r14-25", Sticky: true},
	} {
		i.ID, i.Text, i.At = fmt.Sprintf("g%d", n+1), "Wrap the existing code", evening
		s.Project.Guidance.Items = append(s.Project.Guidance.Items, i)
	}
	m := bot.Queue(s, evening)
	checkForm(t, "queue", m)
	golden.Compare(t, "queue-states.txt", m.Text(78)+"\n")
}
