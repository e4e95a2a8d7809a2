package stats_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/nightporter/nightporter/internal/scenario"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/history"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/stats"
)

var evening = time.Date(2026, 11, 19, 23, 10, 0, 0, time.UTC)

// folded returns the fold of the records of the types that a Fold reads.
func folded(t *testing.T, records []ledger.Record) *stats.Fold {
	t.Helper()
	f := stats.New(time.UTC)
	types := stats.Types()
	for _, r := range records {
		if !slices.Contains(types, r.Type) {
			continue
		}
		e, err := r.Entry()
		if err != nil {
			t.Fatal(err)
		}
		f.Apply(e)
	}
	return f
}

func verdict(issues string) scenario.Act {
	a := scenario.Success("reviewer", time.Minute, 0.25)
	a.Data = `{"summary":"s","issues":[` + issues + `]}`
	return a
}

func issue(severity, contradicts string) string {
	return fmt.Sprintf(`{"severity":%q,"file":"a.go","text":"t","contradicts":%q}`, severity, contradicts)
}

var equal = cmpopts.EquateApprox(0, 1e-9)

// TestFold plays a night with the real core: a task at the first pass, one that a review
// sent back against its plan, one that is blocked and done the second time, one whose
// cost is unknown, one that waits for a person, and one that is put away.
func TestFold(t *testing.T) {
	n := scenario.New("shop", evening)
	n.Cost = 0.25
	n.Acts["Task 2 reviewer"] = []scenario.Act{verdict(issue("major", "plan") + "," + issue("minor", "none")), verdict(issue("minor", ""))}
	blocked := scenario.Act{Took: time.Minute, Cost: 0.5, Type: ledger.EventBlocked, Data: `{"reason":"r","tried":"t","needs":"n"}`}
	n.Acts["Task 3 planner"] = []scenario.Act{blocked}
	unpriced := scenario.Success("builder", 2*time.Minute, -1)
	n.Acts["Task 4 builder"] = []scenario.Act{unpriced}
	n.Acts["Task 6 planner"] = []scenario.Act{blocked}
	large := scenario.Task(2, "Two")
	large.Complexity = 9
	manual := scenario.Task(5, "Five")
	manual.Mark = ledger.MarkManualVerify
	n.Start(n.Settings(), n.Base("r1"), scenario.Task(1, "One"), large, scenario.Task(3, "Three"), scenario.Task(4, "Four"), manual, scenario.Task(6, "Six"))
	n.Until(nil)

	want := stats.Figures{
		Sessions: 13, USD: 11*0.25 + 2*0.5 - 0.25, Unpriced: 1, Untold: 13, Unsplit: 13, Unsized: 13, Finished: 5, Done: 3, FirstPass: 2,
		FixRounds: 1, Reviews: 4, Judged: 3, Contradicted: 1, Ms: int64(14 * time.Minute / time.Millisecond),
	}
	f := folded(t, n.All())
	for _, since := range []stats.Since{{}, {Run: true}, {Days: 1}} {
		if d := cmp.Diff(want, f.Report(since, n.Now).All, equal); d != "" {
			t.Errorf("%s: (-want +got)\n%s", since, d)
		}
	}
	r := f.Report(stats.Since{}, n.Now)
	for _, c := range []struct {
		by   stats.By
		name string
		want stats.Figures
	}{
		{stats.ByHat, "planner", stats.Figures{Sessions: 5, USD: 1.75, Untold: 5, Unsplit: 5, Unsized: 5, Finished: 5, Done: 3, FirstPass: 2, Ms: 300_000}},
		{stats.ByHat, "builder", stats.Figures{Sessions: 3, USD: 0.5, Unpriced: 1, Untold: 3, Unsplit: 3, Unsized: 3, Finished: 3, Done: 3, FirstPass: 2, FixRounds: 1, Reviews: 3, Judged: 3, Contradicted: 1, Ms: 240_000}},
		{stats.ByHat, "fixer", stats.Figures{Sessions: 1, USD: 0.25, Untold: 1, Unsplit: 1, Unsized: 1, Finished: 1, Done: 1, Reviews: 1, Ms: 60_000}},
		{stats.BySize, string(history.Large), stats.Figures{Sessions: 5, USD: 1.25, Untold: 5, Unsplit: 5, Unsized: 5, Finished: 1, Done: 1, FixRounds: 1, Reviews: 2, Judged: 1, Contradicted: 1, Ms: 300_000}},
		{stats.ByAgent, "claude", want},
		{stats.ByModel, "", want},
	} {
		i := slices.IndexFunc(r.By[c.by], func(x stats.Named) bool { return x.Name == c.name })
		if i < 0 {
			t.Errorf("no %s %q in %+v", c.by, c.name, r.By[c.by])
			continue
		}
		if d := cmp.Diff(c.want, r.By[c.by][i].Figures, equal); d != "" {
			t.Errorf("%s %q: (-want +got)\n%s", c.by, c.name, d)
		}
	}
	if usd, known := r.All.CostATask(); known {
		t.Errorf("a task cost %v, although a session's cost is unknown", usd)
	}
	if mean, of := r.All.TokensASession(); of != 0 {
		t.Errorf("%d tokens a session of %d, and nobody reported any", mean, of)
	}

	// A blocked task that is done on another day is done, and no longer blocked.
	n.Now = n.Now.AddDate(0, 0, 2)
	tasks := []ledger.Task{scenario.Task(1, "One"), large, scenario.Task(3, "Three"), scenario.Task(4, "Four"), manual, scenario.Task(6, "Six")}
	for i, mark := range map[int]ledger.Mark{0: ledger.MarkDone, 1: ledger.MarkDone, 3: ledger.MarkDone, 5: ledger.MarkBlocked} {
		tasks[i].Mark = mark
	}
	n.Do(loop.Input{Key: "retry", Actor: "console", Body: loop.RetryTask{Task: "Task 3"}})
	n.Start(n.Settings(), n.Base("r2"), tasks...)
	n.Until(nil)
	f = folded(t, n.All())
	got := f.Report(stats.Since{Run: true}, n.Now)
	if got.Run != "r2" || got.All.Finished != 1 || got.All.Done != 1 || got.All.FirstPass != 0 || got.All.Sessions != 3 {
		t.Errorf("the second run: %+v", got)
	}
	if got := f.Report(stats.Since{}, n.Now); got.All.Finished != 5 || got.All.Done != 4 || len(got.Days) != 2 || got.Days[0].Finished != 4 {
		t.Errorf("all: %+v", got)
	}
	if got := f.Report(stats.Since{Days: 1}, n.Now); got.All.Sessions != 3 || got.All.Done != 1 {
		t.Errorf("the last days: %+v", got)
	}
}
