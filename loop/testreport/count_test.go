package testreport_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/testreport"
)

const (
	nodeSpec = "✔ a (2.7ms)\n✔ b (0.3ms)\n﹣ c (0.1ms) # SKIP\nℹ tests 3\nℹ suites 0\nℹ pass 2\nℹ fail 0\nℹ cancelled 0\nℹ skipped 1\nℹ todo 0\n"
	nodeFile = "✔ test/cart.test.js (35.1ms)\nℹ tests 1\nℹ suites 0\nℹ pass 1\nℹ fail 0\nℹ cancelled 0\nℹ skipped 0\nℹ todo 0\n"
	nodeTap  = "TAP version 13\n# Subtest: a\nok 1 - a\n# Subtest: b\nok 2 - b\n1..2\n# tests 2\n# pass 2\n"
	tapFile  = "TAP version 13\n# Subtest: /work/p/test/cart.test.js\nok 1 - /work/p/test/cart.test.js\n1..1\n# tests 1\n# pass 1\n"
	twoPass  = "..                                                                       [100%]\n2 passed in 0.01s\n"
	cargoTwo = "\nrunning 2 tests\n..\ntest result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n\n"
	cargoNil = "\nrunning 0 tests\n\ntest result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n\n"
	goShown  = "=== RUN   TestA\n--- PASS: TestA (0.00s)\n=== RUN   TestB\n    --- PASS: TestB/sub (0.00s)\n--- PASS: TestB (0.00s)\nPASS\nok  \texample.com/a\t0.1s\n"
)

// TestFewerTests holds which green output counts as fewer tests than another one.
func TestFewerTests(t *testing.T) {
	for _, c := range []struct{ name, before, after, want string }{
		{"the same", nodeSpec, nodeSpec, ""},
		{"a runner that counts nothing", "ok  \texample.com/a\t0.1s\n", "ok  \texample.com/a\t(cached)\n", ""},
		{"nothing is printed, as before", "", "", ""},
		{"nothing is printed any more", nodeSpec, "", "node test 0 of 2"},
		{"more than before", "1 passed in 0.01s\n", twoPass, ""},
		{"another runner as well", nodeSpec, nodeSpec + twoPass, ""},
		{"another runner instead", nodeSpec, twoPass, "node test 0 of 2"},
		{"newly skipped", nodeSpec, strings.NewReplacer("pass 2", "pass 1", "skipped 1", "skipped 2").Replace(nodeSpec), "node test 1 of 2"},
		{"a file that ends before its tests", nodeSpec, nodeFile, "node test 0 of 2"},
		{"a file that ends before its tests, in TAP", nodeTap, tapFile, "tap 0 of 2"},
		{"files without tests, as before", nodeFile, nodeFile, ""},
		{"pytest ends without a word", twoPass, "collected\n", "pytest 0 of 2"},
		{"go -v shows no test", goShown, "ok  \texample.com/a\t0.1s\n", "go test 0 of 3"},
		{"go -v, from the cache", goShown, strings.ReplaceAll(goShown, "0.1s", "(cached)"), ""},
		{"cargo begins and does not end", cargoTwo, "\nrunning 2 tests\n", "cargo test 0 of 2"},
		{"another target of cargo", cargoTwo, cargoTwo + cargoNil, ""},
		{"a printed count before the runner's", nodeSpec, "ℹ pass 9\n" + nodeFile, "node test 0 of 2"},
		{"a printed report of pytest before pytest's", twoPass, "2 passed in 0.00s\n1 passed in 0.01s\n", "pytest 1 of 2"},
		{"printed results before a plan", nodeTap, "TAP version 13\nok 7 - x\n# Subtest: a\nok 1 - a\n1..1\n", "tap 0 of 2"},
		{"printed results behind a plan", nodeTap, "TAP version 13\n# Subtest: a\nok 1 - a\n1..1\nok 2 - b\n", "tap 0 of 2"},
		{"a whole printed plan", nodeTap, "TAP version 13\nok 1 - x\nok 2 - y\n1..2\nTAP version 13\nok 1 - a\n1..1\n", "tap 1 of 2"},
		{"a printed result of cargo", cargoTwo, "\nrunning 1 test\ntest result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out\ntest result: ok. 1 passed; 0 failed; 0 ignored; 0 measured\n", "cargo test 0 of 2"},
		{"workspaces, one of them without tests", nodeSpec + nodeSpec, nodeSpec + nodeFile, "node test 2 of 4"},
		{"a plan that comes first", "TAP version 14\n1..2\nok 1 - a\nok 2 - b\n", "TAP version 14\n1..3\nok 1 - a\nok 2 - b\nok 3 - c\n", ""},
		{"lines are cut out", goShown, "=== RUN   TestA\n--- PASS: TestA (0.00s)\n[nightporter: 9 bytes are missing]\nok  \texample.com/a\t0.1s\n", "go test 0 of 3"},
		{"lines are cut out, as before", goShown + "[nightporter: 9 bytes are missing]\n", "=== RUN   TestA\n", ""},
		{"lines are cut out before a report", nodeSpec, "[nightporter: 9 bytes are missing]\n" + nodeSpec, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			for _, f := range testreport.Fewer("npm test", testreport.Count(c.before), testreport.Count(c.after)) {
				got = append(got, fmt.Sprintf("%s %d of %d", f.Runner, f.Ran, f.Was))
			}
			if text := strings.Join(got, ", "); text != c.want {
				t.Errorf("fewer: %q, want %q\nbefore %+v\nafter %+v", text, c.want, testreport.Count(c.before), testreport.Count(c.after))
			}
		})
	}
}

// TestCountsOfOthers holds that what one runner prints changes the count of no
// other one, and that no output lowers its own count.
func TestCountsOfOthers(t *testing.T) {
	files := outputs(t)
	of := func(counts []ledger.TestCount, runner string) ledger.TestCount {
		n := slices.IndexFunc(counts, func(c ledger.TestCount) bool { return c.Runner == runner })
		if n < 0 {
			return ledger.TestCount{}
		}
		return counts[n]
	}
	rapid.Check(t, func(rt *rapid.T) {
		a, b := rapid.SampledFrom(files).Draw(rt, "a"), rapid.SampledFrom(files).Draw(rt, "b")
		one, two := testreport.Count(read(t, a)), testreport.Count(read(t, b))
		both := testreport.Count(read(t, a) + "\n" + read(t, b))
		if of(one, "tap").Runner != "" && of(two, "tap").Runner == "" {
			// TAP without its first line, such as mocha's, counts behind another's.
			two = append(two, testreport.Count("TAP version 13\n"+read(t, b))...)
		}
		for _, n := range one {
			if of(two, n.Runner).Runner == "" && of(both, n.Runner).Passed > n.Passed {
				rt.Fatalf("%s then %s: %+v of %+v", a, b, both, n)
			}
		}
	})
}

// TestManyGreenTests holds that the size of what is kept does not depend on the
// number of tests, and that the time is bounded on a loaded machine, too.
func TestManyGreenTests(t *testing.T) {
	const many = 20_000
	for runner, form := range map[string]struct{ head, test, foot string }{
		"node test":  {"", "✔ case %d (0.1ms)\n", "ℹ tests %[1]d\nℹ suites 0\nℹ pass %[1]d\nℹ fail 0\nℹ skipped 0\n"},
		"tap":        {"TAP version 13\n", "# Subtest: case %[1]d\nok %[1]d - case %[1]d\n  ---\n  duration_ms: 0.1\n  ...\n", "1..%d\n"},
		"go test":    {"", "=== RUN   Test%[1]d\n--- PASS: Test%[1]d (0.00s)\n", "PASS\nok  \texample.com/a\t%d.1s\n"},
		"pytest":     {"", "tests/test_a.py::test_%d PASSED [ 50%%]\n", "=== %d passed in 9.1s ===\n"},
		"cargo test": {"running 20000 tests\n", "test case_%d ... ok\n", "test result: ok. %d passed; 0 failed; 0 ignored; 0 measured; 0 filtered out\n"},
	} {
		var b strings.Builder
		b.WriteString(form.head)
		for n := range many {
			fmt.Fprintf(&b, form.test, n+1)
		}
		fmt.Fprintf(&b, form.foot, many)
		got := testreport.Count(b.String())
		if len(got) != 1 || got[0] != (ledger.TestCount{Runner: runner, Passed: many}) {
			t.Errorf("%s: %+v", runner, got)
		}
	}
}
