package outlook

import (
	"testing"
	"time"

	"github.com/nightporter/nightporter/loop/history"
	"github.com/nightporter/nightporter/loop/ledger"
)

// costing returns n tasks of one session each, which is expected to cost so much.
func costing(n int, usd float64) []Task {
	list := ids(n)
	for k := range list {
		list[k].Needs = []Need{{USD: usd, Tokens: 1000}}
	}
	return list
}

// TestBudget: a night ends where the next session does not fit into a budget, and says so.
func TestBudget(t *testing.T) {
	costly, untold := hour, hour
	costly.USD = 5
	untold.USD = history.Unknown
	run := func(left float64) []Budget { return []Budget{{Limit: ledger.BudgetRun, Of: 20, Left: left}} }
	four := hour
	four.Sessions, four.Ms, four.USD, four.Tokens = 4, 4*3_600_000, 8, 4000
	own := costing(4, 2)
	own[1].Budgets = []Budget{{Limit: ledger.BudgetTask, Of: 1, Left: 1}}
	free := costing(4, 2)
	for n := range free {
		free[n].Free = true
	}
	atWork := costing(4, 2)
	atWork[0].Granted = true
	later := func(waits bool) []Budget {
		return []Budget{{Limit: ledger.BudgetDay, Of: 20, Left: 4.1, Waits: waits, Frees: []Freed{{begin.Add(10 * time.Hour), 2}, {begin.Add(12 * time.Hour), 20}}}}
	}
	for _, tc := range []struct {
		name     string
		q        Question
		done     int
		most     float64
		by       time.Duration // 0 = any
		end      BudgetEnd
		unlikely string // task that is never done
	}{
		{"has room for all", Question{Tasks: costing(4, 2), Budgets: run(30), Lookup: known(always(5, hour)...)}, 4, 16, 0, BudgetEnd{}, ""},
		{"ends the night", Question{Tasks: costing(8, 2), Budgets: run(6.5), Lookup: known(always(5, hour)...)}, 3, 6.5, 0, BudgetEnd{Limit: ledger.BudgetRun, Of: 20, Task: "d"}, "h"},
		{"a session is ended that spends more", Question{Tasks: costing(8, 2), Budgets: run(8), Lookup: known(always(5, costly)...)}, 1, 8, 0, BudgetEnd{Limit: ledger.BudgetRun, Of: 20, Task: "b"}, "h"},
		{"cost unknown: what is reserved counts", Question{Tasks: costing(8, 2), Budgets: run(6.5), Lookup: known(always(5, untold)...)}, 3, -1, 0, BudgetEnd{Limit: ledger.BudgetRun, Of: 20, Task: "d"}, "h"},
		{"not even one session", Question{Tasks: costing(4, 2), Budgets: run(1), Lookup: known(always(5, hour)...)}, 0, 0, 0, BudgetEnd{Limit: ledger.BudgetRun, Of: 20, Task: "a", Needs: 2}, "a"},
		{"less than nothing is left", Question{Tasks: costing(4, 2), Budgets: run(-3), Lookup: known(always(5, hour)...)}, 0, 0, 0, BudgetEnd{Limit: ledger.BudgetRun, Of: 20, Task: "a", Needs: 2}, "a"},
		{"the session in hand has its room", Question{Tasks: atWork, Budgets: run(1.9), Lookup: known(always(5, hour)...)}, 0, 1.9, 0, BudgetEnd{Limit: ledger.BudgetRun, Of: 20, Task: "a"}, "b"},
		{"in the middle of a task", Question{Tasks: costing(2, 2), Budgets: run(13), Lookup: known(always(5, four)...)}, 1, 13, 0, BudgetEnd{Limit: ledger.BudgetRun, Of: 20, Task: "b"}, "b"},
		{"in tokens", Question{Tasks: costing(4, 2), Budgets: []Budget{{Limit: ledger.BudgetRun, Tokens: true, Of: 9000, Left: 9000}}, Lookup: known(always(5, four)...)}, 2, 19, 0, BudgetEnd{Limit: ledger.BudgetRun, Tokens: true, Of: 9000, Task: "c"}, "d"},
		{"of one task", Question{Tasks: own, Budgets: run(30), Lookup: known(always(5, hour)...)}, 3, 16, 0, BudgetEnd{Limit: ledger.BudgetTask, Of: 1, Task: "b", Tasks: 1, Needs: 2}, "b"},
		{"that a person lifted", Question{Tasks: free, Budgets: run(1), Lookup: known(always(5, hour)...)}, 4, 16, 0, BudgetEnd{}, ""},
		{"of the day, which the run waits for", Question{Tasks: costing(4, 2), Budgets: later(true), Lookup: known(always(5, hour)...)}, 4, 16, 13 * time.Hour, BudgetEnd{}, ""},
		{"of the day, at which the run ends", Question{Tasks: costing(4, 2), Budgets: later(false), Lookup: known(always(5, hour)...)}, 2, 5, 0, BudgetEnd{Limit: ledger.BudgetDay, Of: 20, Task: "c"}, "d"},
		{"of the day, until the clock ends it", Question{Tasks: costing(4, 2), Until: begin.Add(9 * time.Hour), Budgets: later(true), Lookup: known(always(5, hour)...)}, 2, 6, 0, BudgetEnd{Limit: ledger.BudgetDay, Of: 20, Task: "c"}, "d"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tc.q.Begin = begin
			o := Of(tc.q)
			if o.Done != tc.done || o.USDHigh > tc.most+cent || o.Budget != tc.end {
				t.Errorf("%+v", o)
			}
			if tc.by > 0 && !o.By.Equal(begin.Add(tc.by)) {
				t.Errorf("ends at %s", o.By)
			}
			if tc.unlikely != "" && (o.Unsure == "" || o.Unsure > tc.unlikely || o.Chance > 0.05) {
				t.Errorf("%s is done with %v: %+v", o.Unsure, o.Chance, o)
			}
		})
	}
}

// TestBudgetBeside: what is told of a night without a budget stays as it is, however its
// tasks are expected to spend.
func TestBudgetBeside(t *testing.T) {
	q := Question{Tasks: ids(6), Begin: begin, Lanes: 2, Until: begin.Add(150 * time.Minute), Lookup: known(always(5, hour)...)}
	want := Of(q)
	q.Tasks = costing(6, 2)
	q.Budgets = []Budget{{Limit: ledger.BudgetRun, Of: 1000, Left: 1000}}
	if got := Of(q); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// BenchmarkBudget is a night of 30 tasks within three budgets, of which those of the day have
// room again each quarter of an hour. All of an outlook may take 50 ms.
func BenchmarkBudget(b *testing.B) {
	four := hour
	four.Sessions, four.Ms, four.USD, four.Tokens = 6, 4*3_600_000, 8, 4000
	var frees []Freed
	for n := range 98 {
		frees = append(frees, Freed{begin.Add(time.Duration(n) * 15 * time.Minute), 0.5})
	}
	q := Question{Tasks: costing(30, 1), Begin: begin, Lookup: known(always(32, four)...), Budgets: []Budget{
		{Limit: ledger.BudgetRun, Of: 500, Left: 500},
		{Limit: ledger.BudgetDay, Of: 50, Left: 5, Waits: true, Frees: frees},
		{Limit: ledger.BudgetDay, Tokens: true, Of: 500000, Left: 500000, Waits: true, Frees: frees},
	}}
	for b.Loop() {
		Of(q)
	}
}
