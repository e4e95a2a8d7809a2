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
