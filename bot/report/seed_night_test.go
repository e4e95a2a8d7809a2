package report_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/nightporter/nightporter/bot/report"
	"github.com/nightporter/nightporter/internal/scenario"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/stats"
)

// A night of thirty tasks: 28 done, 24 of them at the first review, 4 after a round of
// fixes, 2 not done because their text is ambiguous. It costs $4.20, in seven hours.
const (
	thirtyTasks = 30
	fixedTasks  = 4
	unclearOnes = 2
	plannedOnes = 5 // tasks whose role has a planner first
)

// What a session of any hat writes, in tokens, and the length of its prompt in bytes.
const (
	written     = 2000
	promptBytes = 14_000
)

// cents is what a session of each hat costs: 5·5 + 30·8 + 32·4 + 4·7 = 421. The last
// planner costs one less.
var cents = map[string]int{"planner": 5, "builder": 8, "reviewer": 4, "fixer": 7}

// Minutes and thousands of tokens of a session of each hat.
var (
	minutes = map[string]int{"planner": 3, "builder": 9, "reviewer": 3, "fixer": 4}
	tokens  = map[string]int{"planner": 24, "builder": 46, "reviewer": 36, "fixer": 40}
)

// script is what the night is made of.
type script struct {
	cents, sessions, tokens map[string]int // by hat
	took                    time.Duration  // of sessions and verifications
}

// thirty plays the night.
func thirty(t *testing.T) (*fixture, script) {
	n := newFixture(t)
	n.Check = 20 * time.Second
	s := script{map[string]int{}, map[string]int{}, map[string]int{}, n.Check} // of the branch's tip
	act := func(task int, hat string, change func(*scenario.Act)) {
		c := cents[hat]
		if hat == "planner" && task == plannedOnes {
			c--
		}
		a := scenario.Success(hat, time.Duration(minutes[hat])*time.Minute, float64(c)/100)
		a.Exit = &ledger.Exit{Reason: ledger.ExitSelf, CostUSD: a.Cost, Tokens: int64(tokens[hat]) * 1000, Turns: 9, Boundary: 3, Prompt: promptBytes}
		a.Exit.Usage = &ledger.TokenUsage{Input: 1000, CacheRead: a.Exit.Tokens - 1000 - written, CacheWrite: -1, Output: written, Reasoning: -1}
		if change != nil {
			change(&a)
		}
		n.Acts[fmt.Sprintf("Task %d %s", task, hat)] = append(n.Acts[fmt.Sprintf("Task %d %s", task, hat)], a)
		s.cents[hat], s.sessions[hat], s.tokens[hat] = s.cents[hat]+c, s.sessions[hat]+1, s.tokens[hat]+tokens[hat]*1000
		if s.took += a.Took; len(a.Files) > 0 {
			s.took += n.Check
		}
	}
	set := n.Settings()
	set.Stays = true
	set.Roles = map[string]ledger.Pattern{"planned": set.Pattern}
	set.Pattern.Start = "builder"
	var tasks []ledger.Task
	for i := 1; i <= thirtyTasks; i++ {
		task := scenario.Task(i, fmt.Sprintf("Endpoint %d", i))
		if i <= plannedOnes {
			task.Role, task.Complexity = "planned", 8
			act(i, "planner", nil)
		}
		tasks = append(tasks, task)
		switch {
		case i > thirtyTasks-unclearOnes:
			act(i, "builder", func(a *scenario.Act) {
				a.Type, a.Data, a.Files = ledger.EventBlocked, `{"reason":"the task names two formats","tried":"both","needs":"a decision"}`, nil
			})
			continue
		case i > thirtyTasks-unclearOnes-fixedTasks:
			act(i, "builder", nil)
			act(i, "reviewer", func(a *scenario.Act) {
				a.Data = `{"summary":"one","issues":[{"severity":"major","file":"a.go","rule":"edge","text":"empty list","contradicts":"none"}]}`
			})
			act(i, "fixer", nil)
		default:
			act(i, "builder", nil)
		}
		act(i, "reviewer", nil)
	}
	n.Start(set, n.Base("r1"), tasks...)
	n.Until(nil)
	return n, s
}

// TestThirtyTasks holds the digest of that night, and the figures of its ledger, to the
// script, to the cent.
func TestThirtyTasks(t *testing.T) {
	n, s := thirty(t)
	end := n.Now
	f := n.read(evening.Add(-time.Hour), end)
	total, count, used := 0, 0, int64(0)
	for hat, c := range s.cents {
		total, count, used = total+c, count+s.sessions[hat], used+int64(s.tokens[hat])
	}
	if total != 420 {
		t.Fatalf("the script costs %d cents", total)
	}
	for _, x := range n.Acts {
		if len(x) > 0 {
			t.Fatalf("the night left something of its script: %+v", n.Acts)
		}
	}

	type night struct {
		Done, Total, Blocked, FirstPass, Fixes, Failures, Sessions, Unpriced, Cents int
		Took                                                                        string
		Hats                                                                        map[string]int
	}
	got := night{Done: f.Done, Total: f.Total, Blocked: f.Blocked, FirstPass: f.FirstPass, Fixes: f.Fixes, Failures: len(f.Failures), Sessions: f.Cost.Sessions, Unpriced: f.Cost.Unpriced, Hats: map[string]int{}}
	got.Cents, got.Took = inCents(t, f.Cost.USD), f.Ended.Sub(f.Began).String()
	for _, h := range f.Hats {
		got.Hats[h.Name] = h.N
	}
	want := night{Done: 28, Total: 30, Blocked: 2, FirstPass: 24, Fixes: 4, Failures: 2, Sessions: count, Cents: 420, Took: s.took.String(), Hats: s.sessions}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("the digest (-script +digest):\n%s", d)
	}
	text := report.FullText(f).Text(0)
	for _, line := range []string{"28/30 done", "$4.20", fmt.Sprintf("%d sessions", count), "First pass 24 of 28", "4 fix rounds", "$0.15 a task"} {
		if !strings.Contains(text, line) {
			t.Errorf("the digest does not say %q:\n%s", line, text)
		}
	}

	r := n.figures(stats.Since{Run: true})
	all := stats.Figures{
		Sessions: count, USD: 4.20, Tokens: used, Read: used - int64(count)*written, Prompt: int64(count) * promptBytes, Finished: 30, Done: 28, FirstPass: 24,
		FixRounds: 4, Reviews: s.sessions["reviewer"], Judged: s.sessions["reviewer"],
	}
	if d := cmp.Diff(all, r.All, cmpopts.EquateApprox(0, 1e-9), cmpopts.IgnoreFields(stats.Figures{}, "Ms")); d != "" {
		t.Errorf("the figures (-script +ledger):\n%s", d)
	}
	byHat := map[string]int{}
	for _, h := range r.By[stats.ByHat] {
		byHat[h.Name] = inCents(t, h.USD)
	}
	if d := cmp.Diff(s.cents, byHat); d != "" {
		t.Errorf("cents by hat (-script +ledger):\n%s", d)
	}
}

// figures folds the night.
func (n *fixture) figures(since stats.Since) stats.Report {
	n.t.Helper()
	fold := stats.New(berlin)
	for _, r := range n.Records("") {
		if !slices.Contains(stats.Types(), r.Type) {
			continue
		}
		e, err := r.Entry()
		if err != nil {
			n.t.Fatal(err)
		}
		fold.Apply(e)
	}
	return fold.Report(since, n.Now)
}

// inCents returns an amount that must be one of whole cents.
func inCents(t *testing.T, usd float64) int {
	t.Helper()
	c := math.Round(usd * 100)
	if math.Abs(c-usd*100) > 1e-6 {
		t.Errorf("$%v is no whole cents", usd)
	}
	return int(c)
}
