package history

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
)

var building = Key{Hat: "builder", Agent: "claude", Model: "opus", Size: Medium}

// took returns a history with sessions of the key that cost what is given.
func took(k Key, usd ...float64) (h History) {
	for _, c := range usd {
		h = h.WithSession(k, Session{Ms: 60_000, USD: c, Tokens: Unknown})
	}
	return h
}

// TestBounds: a ledger of any length has a small history, and no later session changes an
// earlier history.
func TestBounds(t *testing.T) {
	var h History
	for n := range 2*KeysKept + 3 {
		for m := range SamplesKept + 5 {
			h = h.WithSession(Key{Hat: fmt.Sprint(n)}, Session{Ms: int64(m)}).WithTask(Kind{Pattern: fmt.Sprint(n)}, Task{Ms: int64(m)})
		}
	}
	if len(h.Sessions) != KeysKept || len(h.Tasks) != KeysKept {
		t.Errorf("%d and %d keys", len(h.Sessions), len(h.Tasks))
	}
	last := h.Sessions[KeysKept-1]
	if last.Hat != fmt.Sprint(2*KeysKept+2) || len(last.Last) != SamplesKept || last.Last[0].Ms != 5 {
		t.Errorf("the last key is %s with %d, from %d", last.Hat, len(last.Last), last.Last[0].Ms)
	}
	before, _ := json.Marshal(h)
	first := h.Sessions[0].Key
	next := h.WithSession(first, Session{Ms: 1})
	if after, _ := json.Marshal(h); string(after) != string(before) {
		t.Error("a later session changed the history")
	}
	if got := next.Sessions[KeysKept-1].Key; got != first {
		t.Errorf("the key used last is %v", got)
	}
	var back History
	if err := json.Unmarshal(before, &back); err != nil || !reflect.DeepEqual(back, h) {
		t.Errorf("another history after JSON: %v", err)
	}
}

func TestCost(t *testing.T) {
	prior := priors["builder"].usd * priorSpread[3] // of a medium task
	other := Key{Hat: "fixer", Agent: "claude", Model: "opus", Size: Medium}
	for _, tc := range []struct {
		name string
		l    Lookup
		key  Key
		want Estimate
	}{
		{"enough of the key", Lookup{Own: took(building, 1, 2, 3, 4, 5)}, building, Estimate{4, Unknown, FromProject, 5}},
		{"of another size", Lookup{Own: took(building, 1, 2, 3, 4, 5)}, Key{"builder", "claude", "opus", Large}, Estimate{4, Unknown, FromProject, 5}},
		{"of another hat", Lookup{Own: took(building, 1, 2, 3, 4, 5)}, other, Estimate{4, Unknown, FromProject, 5}},
		{"never of another model", Lookup{Own: took(building, 1, 2, 3, 4, 5)}, Key{"builder", "codex", "opus", Medium}, Estimate{Unknown, Unknown, FromNothing, 0}},
		{"too few, but the house has enough", Lookup{Own: took(building, 9), House: []History{took(building, 1, 2), took(building, 3, 4, 5)}}, building, Estimate{4, Unknown, FromHouse, 5}},
		{"too few: the prior", Lookup{Own: took(building, 9)}, building, Estimate{prior, Unknown, FromPrior, 0}},
		{"none: the prior", Lookup{}, building, Estimate{prior, Unknown, FromPrior, 0}},
		{"an agent without a prior", Lookup{}, Key{Hat: "builder", Agent: "codex"}, Estimate{Unknown, Unknown, FromNothing, 0}},
		{"unknown is no zero", Lookup{Own: took(building, Unknown, Unknown, 1, 2, 3, 4, 5)}, building, Estimate{4, Unknown, FromProject, 5}},
		{"reported nothing so far", Lookup{Own: took(building, Unknown)}, building, Estimate{Unknown, Unknown, FromNothing, 0}},
		{"few, without a prior", Lookup{Own: took(Key{Hat: "builder", Agent: "codex"}, 2)}, Key{Hat: "builder", Agent: "codex"}, Estimate{2, Unknown, FromProject, 1}},
	} {
		if got := tc.l.Cost(tc.key.Hat, tc.key.Agent, tc.key.Model, tc.key.Size); got != tc.want {
			t.Errorf("%s: %+v, not %+v", tc.name, got, tc.want)
		}
	}
}

// TestTokens: an agent that reports tokens and no cost has an estimate in tokens.
func TestTokens(t *testing.T) {
	k := Key{Hat: "builder", Agent: "codex"}
	var h History
	for n := range 5 {
		h = h.WithSession(k, Session{Ms: 1, USD: Unknown, Tokens: int64(n+1) * 1000})
	}
	want := Estimate{USD: Unknown, Tokens: 4000, Basis: FromProject, Samples: 5}
	if got := (Lookup{Own: h}).Cost(k.Hat, k.Agent, k.Model, k.Size); got != want {
		t.Errorf("%+v", got)
	}
}

func TestEffort(t *testing.T) {
	start := time.Date(2026, 11, 20, 1, 0, 0, 0, time.UTC)
	end := func(kind ledger.Kind, usd float64, tokens int64) ledger.SessionEnded {
		return ledger.SessionEnded{Kind: kind, Exit: ledger.Exit{Started: start, Ended: start.Add(time.Minute), CostUSD: usd, Tokens: tokens}}
	}
	e := Effort{Attempts: 1}.With(end(ledger.KindAgent, 0.25, 10), false).With(end(ledger.KindSetup, 0, 0), false)
	e = e.With(end(ledger.KindVerify, 0, 0), false).With(end(ledger.KindVerify, 0, 0), true)
	e.Times = 1
	want := Task{Outcome: OutcomeDone, Sessions: 1, Attempts: 1, Ms: 240_000, USD: 0.25, Tokens: 10, Checks: Checks{Times: 1, VerifyMs: 60_000, OtherMs: 60_000, MergedMs: 60_000}}
	if got := e.Finished(OutcomeDone); got != want {
		t.Errorf("%+v", got)
	}
	if got := e.Plus(e); got.Took() != 4*time.Minute || got.Once() != time.Minute || got.Merged() != 2*time.Minute {
		t.Errorf("twice: %+v", got)
	}
	for _, usd := range []float64{-1, math.NaN()} {
		if got := e.With(end(ledger.KindAgent, usd, -1), false).Finished(OutcomeDone); got.USD != Unknown || got.Tokens != Unknown {
			t.Errorf("cost %v: %+v", usd, got)
		}
	}
}

func TestSizeOf(t *testing.T) {
	words := func(n int) string { return strings.Repeat("word ", n) }
	for _, tc := range []struct {
		task   ledger.Task
		triage *ledger.Triage
		want   Size
	}{
		{ledger.Task{Complexity: 3, Body: words(900)}, nil, Small},
		{ledger.Task{Complexity: 4}, &ledger.Triage{Tier: ledger.TierComplex}, Medium},
		{ledger.Task{Complexity: 10}, nil, Large},
		{ledger.Task{}, &ledger.Triage{Tier: ledger.TierSimple, Estimate: ledger.TierComplex}, Large},
		{ledger.Task{Body: words(50), Acceptance: []string{words(11)}}, &ledger.Triage{}, Medium},
		{ledger.Task{Complexity: -1}, nil, Small},
		{ledger.Task{Body: words(201)}, nil, Large},
	} {
		if got := SizeOf(&tc.task, tc.triage); got != tc.want {
			t.Errorf("%+v: %s, not %s", tc.task, got, tc.want)
		}
	}
}

func TestQuantile(t *testing.T) {
	list := []int{5, 1, 4, 2, 3}
	for q, want := range map[float64]int{0: 1, 0.1: 1, 0.5: 3, 0.8: 4, 0.81: 5, 1: 5} {
		if got := Quantile(list, q); got != want {
			t.Errorf("quantile %v: %d, not %d", q, got, want)
		}
	}
	if got := Quantile([]int(nil), 0.5); got != 0 || list[0] != 5 {
		t.Errorf("of none: %d; the list is now %v", got, list)
	}
}

// TestPriorTasks: the priors know a cost only of agents that report one.
func TestPriorTasks(t *testing.T) {
	for agent, known := range map[string]bool{"claude": true, "codex": false} {
		list, basis := Lookup{}.Tasks(Kind{Pattern: "plan-build-review", Size: Small}, agent)
		if basis != FromPrior || len(list) == 0 {
			t.Fatalf("%s: %d from %s", agent, len(list), basis)
		}
		for _, task := range list {
			if (task.USD > 0) != known || !known && task.USD != Unknown || task.Ms <= 0 {
				t.Errorf("%s: %+v", agent, task)
			}
		}
	}
}
