package loop

import (
	"testing"

	"github.com/nightporter/nightporter/loop/ledger"
)

// TestFewer holds when a green tree is held against the number of tests that ran at
// its start. 12 ran there, 15 with the new tests on it, and 9 run now.
func TestFewer(t *testing.T) {
	of := func(n int) []ledger.TestCount { return []ledger.TestCount{{Runner: "pytest", Passed: n}} }
	change := func(c ledger.CheckChange) func(*Attempt) {
		return func(w *Attempt) { w.Facts.Changes = []ledger.CheckChange{c} }
	}
	ran := func(n int) func(*Attempt) {
		return func(w *Attempt) { w.Verified.Results[0].Ran = of(n) }
	}
	for name, c := range map[string]struct {
		with []func(*Attempt)
		want string
	}{
		"fewer":                       {nil, "9 of 12 tests ran: pytest"},
		"as many":                     {[]func(*Attempt){ran(12)}, ""},
		"more":                        {[]func(*Attempt){ran(99)}, ""},
		"the start is unknown":        {[]func(*Attempt){func(w *Attempt) { w.StartTests = nil }}, ""},
		"another command":             {[]func(*Attempt){func(w *Attempt) { w.Verified.Results[0].Run = "tox" }}, ""},
		"another tree":                {[]func(*Attempt){func(w *Attempt) { w.Verified.Tree = "t0" }}, ""},
		"nobody asked":                {[]func(*Attempt){func(w *Attempt) { w.Facts = nil }}, ""},
		"a named test is extended":    {[]func(*Attempt){change(ledger.CheckChange{Named: true, Kind: "test", Action: "changed"})}, "9 of 12 tests ran: pytest"},
		"a named test is deleted":     {[]func(*Attempt){change(ledger.CheckChange{Named: true, Kind: "test", Action: "deleted"})}, ""},
		"a named test loses cases":    {[]func(*Attempt){change(ledger.CheckChange{Named: true, Kind: "test", Action: "changed", Cases: []string{"test_a"}})}, ""},
		"a named configuration":       {[]func(*Attempt){change(ledger.CheckChange{Named: true, Kind: "config", Action: "changed"})}, ""},
		"by the start's checks":       {[]func(*Attempt){ran(99), func(w *Attempt) { w.Facts.Guard, w.GuardTests = "g1", testCounts{"pytest": of(9)} }}, "9 of 12 tests ran: pytest"},
		"new tests, and all ran":      {[]func(*Attempt){ran(15), shownWith(of(15))}, ""},
		"new tests instead of others": {[]func(*Attempt){ran(13), shownWith(of(15))}, "13 of 15 tests ran: pytest"},
		"a test moved":                {[]func(*Attempt){ran(13), shownWith(of(15)), change(ledger.CheckChange{Kind: "test", Action: "moved"})}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := &Attempt{Tree: "t1", Facts: &ledger.ProofFacts{}, StartTests: testCounts{"pytest": of(12)}, Verified: &ledger.Verified{
				Kind: ledger.KindVerify, OK: true, Tree: "t1", Results: []ledger.Result{{Run: "pytest", OK: true, Ran: of(9)}},
			}}
			for _, change := range c.with {
				change(w)
			}
			if got := ledger.FewerText(w.fewer()); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

// shownWith returns an attempt's change: its new tests ran on the start.
func shownWith(counts []ledger.TestCount) func(*Attempt) {
	return func(w *Attempt) {
		w.Facts.OnStart = "s1"
		w.Shown = Shown{Tree: "s1", Ran: testCounts{"pytest": counts}}
	}
}

// TestTipTests holds that a command that was left out keeps the number of the
// start, and that one without a count is unknown.
func TestTipTests(t *testing.T) {
	of := func(n int) []ledger.TestCount { return []ledger.TestCount{{Runner: "pytest", Passed: n}} }
	w := &Attempt{Tree: "t1", StartTests: testCounts{"a": of(1), "b": of(2), "c": of(3)}, Verified: &ledger.Verified{
		Kind: ledger.KindVerify, OK: true, Tree: "t1", Results: []ledger.Result{{Run: "a", OK: true, Ran: of(5)}, {Run: "b", OK: true}},
	}}
	got := w.testsOf("t1")
	if len(got) != 2 || got["a"][0].Passed != 5 || got["c"][0].Passed != 3 {
		t.Errorf("%+v", got)
	}
	if w.testsOf("t2") != nil {
		t.Error("another tree has the same numbers")
	}
}
