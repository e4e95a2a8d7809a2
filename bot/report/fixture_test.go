package report_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nightporter/nightporter/bot/report"
	"github.com/nightporter/nightporter/internal/scenario"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/store"
)

var (
	berlin  = mustZone("Europe/Berlin")
	evening = time.Date(2026, 11, 19, 23, 10, 0, 0, berlin)
	morning = time.Date(2026, 11, 20, 7, 30, 0, 0, berlin)
)

func mustZone(name string) *time.Location {
	z, err := time.LoadLocation(name)
	if err != nil {
		panic(err)
	}
	return z
}

var titles = []string{
	"Extract price rules", "Price list of the shop", "Tax per country", "Address form", "Sum the basket", "Cards",
	"Move orders to the new API", "Refund flow", "Order emails", "Retry failed payments", "Admin order list", "Pay page on a phone",
}

// fixture is a scripted night in Berlin.
type fixture struct {
	*scenario.Night
	t *testing.T
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	n := scenario.New("shop", evening)
	n.Cost, n.Check = 0.35, 38*time.Second
	n.State.Project.Name = "shop"
	return &fixture{n, t}
}

// plan starts a run over the twelve tasks.
func (n *fixture) plan() {
	set := n.Settings()
	set.Stays = true
	var tasks []ledger.Task
	for i, title := range titles {
		var needs []string
		switch i + 1 {
		case 10:
			needs = []string{"Task 8"}
		case 12:
			needs = []string{"Task 7"}
		}
		tasks = append(tasks, scenario.Task(i+1, title, needs...))
	}
	tasks[11].Mark = ledger.MarkManualVerify
	n.Start(set, n.Base("r1"), tasks...)
}

func files(n int) []ledger.FileChange {
	return []ledger.FileChange{{Path: "order/adapter.go", Added: n, Removed: 3}}
}

func (n *fixture) guide(text string) {
	if a := n.Do(loop.Input{Key: "tg:" + text, Actor: "telegram:48213377", Name: "Mira", Body: loop.Guide{Text: text}}); !a.OK {
		n.t.Fatalf("%s: %s", text, a.Text)
	}
}

// exampleNight is the specified night: 9 of 12 tasks done, one blocked, one to verify by
// hand.
func exampleNight(t *testing.T) (report.Facts, *fixture) {
	n := newFixture(t)
	took := func(hat string, min int) scenario.Act {
		a := scenario.Success(hat, time.Duration(min)*time.Minute, 0.35)
		switch hat {
		case "builder":
			a.Files = files(40)
		case "fixer":
			a.Files = files(7)
		}
		return a
	}
	for i := range titles {
		id := fmt.Sprintf("Task %d", i+1)
		n.Acts[id+" planner"] = []scenario.Act{took("planner", 4)}
		n.Acts[id+" builder"] = []scenario.Act{took("builder", 17+i)}
		n.Acts[id+" reviewer"] = []scenario.Act{took("reviewer", 6)}
	}
	wrong := took("reviewer", 7)
	wrong.Data = `{"summary":"one","issues":[{"severity":"major","file":"a.go","text":"rounding"}]}`
	for _, i := range []string{"3", "6", "11"} {
		n.Acts["Task "+i+" reviewer"] = []scenario.Act{wrong, took("reviewer", 5)}
		n.Acts["Task "+i+" fixer"] = []scenario.Act{took("fixer", 5)}
	}
	red := took("builder", 9)
	red.Red = "--- FAIL: TestSum"
	n.Acts["Task 5 builder"] = []scenario.Act{red, took("builder", 8)}
	n.Acts["Task 8 builder"] = []scenario.Act{{Took: 9 * time.Minute, Cost: 0.3, Type: ledger.EventBlocked, Data: `{"reason":"the plan says \"refund the order\" and \"refund the line\"","tried":"by line, by order","needs":"a decision"}`}}
	n.Acts["Task 8 builder"] = append(n.Acts["Task 8 builder"], n.Acts["Task 8 builder"][0])
	n.Acts["Task 9 planner"] = []scenario.Act{
		{Took: 2 * time.Minute, Cost: 0.1, Exit: &ledger.Exit{Reason: ledger.ExitSelf, Code: 1, Failure: ledger.FailureLimit, Text: "usage limit reached", Until: time.Date(2026, 11, 20, 4, 58, 0, 0, berlin), CostUSD: 0.1, Tokens: -1, Turns: 3, Boundary: 3}},
		took("planner", 4),
	}
	about := func(i int, hat, text string) {
		acts := n.Acts[fmt.Sprintf("Task %d %s", i, hat)]
		acts[0].Data = strings.TrimSuffix(acts[0].Data, "}") + `,"guidance":[` + text + `]}`
	}
	about(1, "builder", `{"id":"g1","set_aside":true,"note":"no writer ran"}`)
	about(4, "builder", `{"id":"g2","done":true,"note":"plain text"}`)
	about(6, "builder", `{"id":"g3","done":true,"note":"kept legacy/orders.go"}`)
	about(6, "reviewer", `{"id":"g3","done":true}`)
	n.Proof = words()
	n.plan()
	n.Now = n.Now.Add(time.Minute)
	n.guide("Mention the env vars in the README")
	n.Until(func() bool { return n.State.Project.Run.Commits == 3 })
	n.guide("@builder Plain text mails, no HTML")
	n.Until(func() bool { return n.State.Project.Run.Commits == 5 })
	n.guide("Wrap the existing code, don't replace it")
	n.Until(nil)
	return n.facts(morning), n
}

// words are those of the specified night.
func words() map[string]ledger.Proof {
	all := map[string]ledger.Proof{}
	for i, w := range map[int]ledger.ProofWord{
		1: ledger.Proved, 2: ledger.Proved, 3: ledger.Proved, 4: ledger.TestedNew, 5: ledger.Tested,
		6: ledger.ChangedChecks, 7: ledger.ChangedChecks, 9: ledger.Tested, 11: ledger.Unproved,
	} {
		all[fmt.Sprintf("Task %d", i)] = ledger.Proof{Word: w}
	}
	deleted := ledger.CheckChange{Path: "order/sum_test.go", Kind: "test", Action: "deleted"}
	all["Task 6"] = ledger.Proof{Word: ledger.ChangedChecks, Allowed: "Mira", Changes: []ledger.CheckChange{deleted}}
	all["Task 7"] = ledger.Proof{Word: ledger.ChangedChecks, Changes: []ledger.CheckChange{deleted, {Path: "ci/test.sh", Kind: "script", Action: "changed", Removed: 4}}}
	return all
}

// facts returns the Facts of the digest at a time.
func (n *fixture) facts(at time.Time) report.Facts {
	n.t.Helper()
	records := n.All()
	for i := range records { // as the store does
		records[i].Seq, records[i].Hash = int64(i+1), []byte("0123456789abcdef")
	}
	f, err := report.Collect(records, n.State, at.Add(-24*time.Hour), at)
	if err != nil {
		n.t.Fatal(err)
	}
	return f
}

// read returns the Facts of a span as the daemon reads them.
func (n *fixture) read(from, to time.Time) report.Facts {
	n.t.Helper()
	l := store.NewMemory()
	for _, r := range n.All() {
		if _, err := l.Commit(n.t.Context(), ledger.Batch{Time: r.Time, Records: []ledger.Record{r}}); err != nil {
			n.t.Fatal(err)
		}
	}
	f, err := report.Read(n.t.Context(), l, n.State, from, to)
	if err != nil {
		n.t.Fatal(err)
	}
	return f
}

// lanesNight is a night in which twelve tasks are worked on in lanes: one session fails,
// one task waits for a person, one for the files of another, and some meet at the merge.
func lanesNight(t *testing.T, lanes int) (report.Facts, *fixture) {
	t.Helper()
	n := newFixture(t)
	set := n.Settings()
	set.Stays, set.Parallel = true, lanes
	var tasks []ledger.Task
	for i, title := range titles {
		x := scenario.Task(i+1, title)
		x.Scope = fmt.Sprintf("`src/%d`", i+1)
		if i == 5 {
			x.Scope = "`src/1`" // the files of #1
		}
		tasks = append(tasks, x)
		for k, hat := range []string{"planner", "builder", "reviewer"} {
			a := scenario.Success(hat, time.Duration(4+k*7+i%5*3)*time.Minute, 0.35)
			if hat == "builder" {
				a.Files = files(40 + i)
			}
			n.Acts[x.ID+" "+hat] = []scenario.Act{a}
		}
	}
	wrong := scenario.Success("reviewer", 9*time.Minute, 0.35)
	wrong.Data = `{"summary":"one","issues":[{"severity":"major","file":"a.go","text":"rounding"}]}`
	n.Acts["Task 3 reviewer"] = []scenario.Act{wrong, scenario.Success("reviewer", 5*time.Minute, 0.35)}
	silent := scenario.Act{Took: 8 * time.Minute, Cost: 0.2}
	n.Acts["Task 9 builder"] = append([]scenario.Act{silent}, n.Acts["Task 9 builder"]...)
	n.Acts["Task 8 builder"] = []scenario.Act{{Took: 9 * time.Minute, Cost: 0.3, Type: ledger.EventBlocked, Data: `{"reason":"the plan says two things","tried":"by line","needs":"a decision"}`}}
	n.Check = 3 * time.Minute
	n.Start(set, n.Base("r1"), tasks...)
	n.Until(func() bool { return n.State.Project.Run.Commits == 3 })
	n.guide("Wrap the existing code, don't replace it")
	n.Until(nil)
	return n.facts(morning), n
}
