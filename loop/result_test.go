package loop

import (
	"testing"

	"github.com/nightporter/nightporter/loop/ledger"
)

// TestResultFailures holds that a check's result keeps what failed in the
// command, and that a flaky one, which was green in the end, names what failed once.
func TestResultFailures(t *testing.T) {
	failed := &ledger.Failures{Failed: []ledger.Failure{{Runner: "go test", Name: "TestAdd", Kind: ledger.FailureAssertion}}}
	red := ledger.SessionEnded{End: ledger.EndedEvent, Exit: ledger.Exit{Code: 1, Failures: failed}}
	green := ledger.SessionEnded{End: ledger.EndedEvent, OK: true}
	never := func(string) bool { return false }
	once := (&Checks{Commands: []ledger.Command{{Run: "go test"}}}).result(red, "r1-c1", never)
	if once.First == nil || once.First.Failures != failed {
		t.Errorf("after the first red: %+v", once.First)
	}
	if twice := once.result(red, "r1-c2", never); len(twice.Results) != 1 || twice.Results[0].Failures != failed {
		t.Errorf("after the second red: %+v", twice.Results)
	}
	if flaky := once.result(green, "r1-c2", never); len(flaky.Results) != 1 || !flaky.Results[0].Flaky || flaky.Results[0].Failures != nil || len(flaky.Results[0].Flakes) != 1 {
		t.Errorf("after a green one: %+v", flaky.Results)
	}
}
