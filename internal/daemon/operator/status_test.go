package operator_test

import (
	"testing"
	"time"

	"github.com/nightporter/nightporter/internal/daemon/operator"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/request"
)

// TestStatusRequests lists all open requests: of a stack each, and of earlier runs.
func TestStatusRequests(t *testing.T) {
	at := time.Date(2026, 11, 20, 6, 12, 0, 0, time.UTC)
	open := func(n int, state ledger.RequestState) *ledger.Request {
		return &ledger.Request{Number: n, State: state, Base: "main"}
	}
	seen := func(s ledger.RequestStanding) *request.Seen { return &request.Seen{RequestStanding: s, At: at} }
	run := &loop.Run{ID: "r14", State: ledger.RunOver, Ended: &ledger.RunEnded{Reason: ledger.ReasonDone}, Settings: ledger.Settings{Stays: true, Push: ledger.PushEnd}}
	got, err := operator.RequestsOf(loop.Project{Run: run, Requests: request.State{Branches: []request.Branch{
		{Run: "r12", Request: open(44, ledger.RequestOpen), Seen: seen(ledger.RequestStanding{Strangers: 1, Passed: 2})},
		{Run: "r13", Request: open(45, ledger.RequestMerged)},
		{Run: "r14-5", Of: "r14", Task: "Task 5", Request: open(46, ledger.RequestOpen), Seen: seen(ledger.RequestStanding{Failing: 1, Failed: []string{"lint"}})},
		{Run: "r14-6", Of: "r14", Task: "Task 6", Request: open(47, ledger.RequestOpen), Seen: seen(ledger.RequestStanding{ChecksDue: at})},
		{Run: "r15", Request: open(48, ledger.RequestOpen)},
		{Run: "r16", Request: open(49, ledger.RequestOpen), Seen: seen(ledger.RequestStanding{Strangers: 2, OwnUnknown: true})},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	const want = `[{"number":44,"url":"","state":"open","head":"","base":"main","run":"r12","checks":{"passed":2,"pending":0,"failing":0},"not_kept":"strangers"},` +
		`{"number":46,"url":"","state":"open","head":"","base":"main","run":"r14","task":"Task 5","checks":{"passed":0,"pending":0,"failing":1,"failed":["lint"]}},` +
		`{"number":47,"url":"","state":"open","head":"","base":"main","run":"r14","task":"Task 6","checks":{"passed":0,"pending":0,"failing":0,"due":"2026-11-20T06:12:00Z"}},` +
		`{"number":48,"url":"","state":"open","head":"","base":"main","run":"r15","checks":null},` +
		`{"number":49,"url":"","state":"open","head":"","base":"main","run":"r16","checks":{"passed":0,"pending":0,"failing":0},"not_kept":"address"}]`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// TestStatusCost: a program can tell what an agent said of a cost from what was computed or
// estimated, and what is unknown from what is nothing.
func TestStatusCost(t *testing.T) {
	began := []loop.Session{{ID: "r1-1", Planned: ledger.SessionPlanned{Kind: ledger.KindAgent}}}
	for name, c := range map[string]struct {
		run      loop.Run
		sessions []loop.Session
		want     string
	}{
		"told":        {loop.Run{Agents: 2, CostUSD: 1.5}, nil, `{"cost_usd":1.5,"cost_known_usd":1.5,"unpriced":0,"estimated":0}`},
		"estimated":   {loop.Run{Agents: 2, CostUSD: 1.5, Estimated: 1}, nil, `{"cost_usd":1.5,"cost_known_usd":1.5,"unpriced":0,"estimated":1}`},
		"in part":     {loop.Run{Agents: 3, CostUSD: 1.5, Estimated: 1, Unpriced: 1, AssumedUSD: 2}, nil, `{"cost_usd":null,"cost_known_usd":1.5,"unpriced":1,"estimated":1}`},
		"nothing":     {loop.Run{Agents: 1}, nil, `{"cost_usd":0,"cost_known_usd":0,"unpriced":0,"estimated":0}`},
		"not yet":     {loop.Run{State: ledger.RunRunning, Agents: 1}, began, `{"cost_usd":null,"cost_known_usd":0,"unpriced":0,"estimated":0}`},
		"no sessions": {loop.Run{State: ledger.RunRunning}, nil, `{"cost_usd":0,"cost_known_usd":0,"unpriced":0,"estimated":0}`},
	} {
		got, err := operator.CostOf(loop.State{Project: loop.Project{Name: "shop", Run: &c.run, Sessions: c.sessions}})
		if err != nil || got != c.want {
			t.Errorf("%s: %s, want %s, %v", name, got, c.want, err)
		}
	}
}
