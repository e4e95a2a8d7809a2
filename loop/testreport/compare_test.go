package testreport_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/testreport"
)

const (
	addFails  = "--- FAIL: TestAdd (0.00s)\n    a_test.go:10: no\nFAIL\nFAIL\texample.com/a\t0.005s\nFAIL\n"
	bothFail  = "--- FAIL: TestAdd (0.01s)\n    a_test.go:12: no\n--- FAIL: TestSub (0.00s)\nFAIL\nFAIL\texample.com/a\t0.105s\nFAIL\n"
	addPanics = "--- FAIL: TestAdd (0.00s)\npanic: no\n\ngoroutine 7 [running]:\nexample.com/a.TestAdd(0x1)\nFAIL\texample.com/a\t0.005s\nFAIL\n"
	exits     = "FAIL\texample.com/a\t0.004s\nFAIL\n"
	unbuilt   = "# example.com/a\na/a.go:3:1: undefined: x\nFAIL\texample.com/a [build failed]\nFAIL\n"
)

func TestCompare(t *testing.T) {
	for _, c := range []struct {
		name, before, after string
		was, is             int    // exit codes
		want                string // names of new failures
		gone                int
	}{
		{"the same", addFails, addFails, 1, 1, "", 0},
		{"other lines and times", addFails, strings.ReplaceAll(addFails, ":10:", ":99:"), 1, 1, "", 0},
		{"one more", addFails, bothFail, 1, 1, "TestSub", 0},
		{"one less", bothFail, addFails, 1, 1, "", 1},
		{"no longer builds", addFails, unbuilt, 1, 1, "undefined: x, (build)", 1},
		{"stops the others", addFails, addPanics, 1, 1, "TestAdd", 0},
		{"stops the others no more", addPanics, addFails, 1, 1, "", 0},
		{"exits without a test", addFails, exits, 1, 1, "(package)", 1},
		{"another exit code", addFails, addFails, 1, 2, "(exit 2, was 1)", 0},
		{"a fixed one beside another exit code", bothFail, addFails, 2, 1, "", 1},
		{"a fake beside it", addFails, bothFail + "not ok 1 - x\nFAILED tests/a.py::test_b - no\n", 1, 1, "x, TestSub, test_b", 0},
		{"a fake hides nothing", addFails + "not ok 1 - x\n", "not ok 1 - x\n", 1, 1, "", 1},
		{"nothing is printed", "", "", 1, 1, "", 0},
		{"nothing is printed, other exit code", "", "", 1, 3, "(exit 3, was 1)", 0},
		{"silent, then readable", "", addFails, 1, 1, "TestAdd", 1},
		{"readable, then silent", addFails, "", 1, 1, "(no output)", 1},
		{"own words", "checking\nprice: expected 10, got 12\n", "checking\nprice: expected 11, got 7\n", 1, 1, "", 0},
		{"more of own words", "price is wrong\n", "price is wrong\nsum is wrong\n", 1, 1, "sum is wrong", 0},
		{"own words, names with digits", "FAIL tests/f1.sh\n", "FAIL tests/f1.sh\nFAIL tests/f2.sh\n", 1, 1, "FAIL tests/f2.sh", 0},
		{"counts one more", "ran 10, 2 failed\n", "ran 12, 3 failed\n", 1, 1, "ran #, # failed (3)", 0},
		{"counts one less", "ran 10, 2 failed\n", "ran 10, 1 failed\n", 1, 1, "", 1},
		{"another target", "make: *** [Makefile:3: lint] Error 1\n", "make: *** [Makefile:9: test] Error 1\n", 2, 2, "make: test Error 1", 1},
		{"a linter before the tests", addFails, "./check: a.sh is bad\nError: 1 problem\n" + addFails, 1, 1, "Error: # problem", 0},
		{"tsc behind an open section", "=== FAILURES ===\n", "=== FAILURES ===\nsrc/a.ts(3,5): error TS2322: no\n", 1, 1, "TS2322: no", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := testreport.Parse(c.before, testreport.Ended{Exit: c.was}).Summary(200)
			after := testreport.Parse(c.after, testreport.Ended{Exit: c.is}).Summary(200)
			d := testreport.Compare(&before, &after)
			if got := names(d.New); got != c.want || len(d.Gone) != c.gone {
				t.Errorf("new %q, want %q; gone %v, want %d", got, c.want, d.Gone, c.gone)
			}
		})
	}
}

func names(failed []ledger.Failure) string {
	var all []string
	for _, f := range failed {
		all = append(all, f.Name)
	}
	return strings.Join(all, ", ")
}

func TestCompareUnknown(t *testing.T) {
	red := testreport.Parse(addFails, testreport.Ended{Exit: 1}).Summary(200)
	if d := testreport.Compare(nil, &red); names(d.New) != "TestAdd" {
		t.Errorf("without a before: %v", d.New)
	}
	if d := testreport.Compare(&red, nil); len(d.New) != 1 {
		t.Errorf("without an after: %v", d.New)
	}
	cut := testreport.Parse(addFails+"\n[nightporter: output is missing here]\n", testreport.Ended{Exit: 1}).Summary(200)
	if d := testreport.Compare(&red, &cut); names(d.New) != "(output cut)" {
		t.Errorf("after a cut: %v", d.New)
	}
	wall := testreport.Parse(addFails, testreport.Ended{Exit: 1, Stopped: "wall"}).Summary(200)
	if d := testreport.Compare(&red, &wall); names(d.New) != "(ended from outside: wall)" {
		t.Errorf("after its time: %v", d.New)
	}
}

// TestFewer holds that tests which passed before and are not there any more are
// counted: a runner that is made to stop after the exempt failure shows only
// that one.
func TestFewer(t *testing.T) {
	before := testreport.Parse("=== RUN TestAdd\n--- PASS: TestA (0.00s)\n--- PASS: TestB (0.00s)\n"+addFails, testreport.Ended{Exit: 1}).Summary(200)
	after := testreport.Parse("=== RUN TestAdd\n"+addFails, testreport.Ended{Exit: 1}).Summary(200)
	after.Passed = 0
	if d := testreport.Compare(&before, &after); d.Fewer != 2 || len(d.New) > 0 {
		t.Errorf("%+v", d)
	}
}

func TestSummary(t *testing.T) {
	var b strings.Builder
	for n := range 1000 {
		fmt.Fprintf(&b, "not ok %d - test %d\n", n, n)
	}
	r := testreport.Parse(b.String(), testreport.Ended{Exit: 1})
	s, again := r.Summary(200), r.Summary(200)
	if len(s.Failed) != 200 || s.More != 800 || s.Rest == "" || s.Rest != again.Rest || s.Passed != -1 {
		t.Errorf("%d failures, %d more, %q", len(s.Failed), s.More, s.Rest)
	}
	if d := testreport.Compare(&s, &again); len(d.New) > 0 {
		t.Errorf("new: %v", d.New)
	}
	b.WriteString("not ok 1001 - zzz\n")
	more := testreport.Parse(b.String(), testreport.Ended{Exit: 1}).Summary(200)
	if d := testreport.Compare(&s, &more); names(d.New) != "(801 more)" {
		t.Errorf("new: %v", d.New)
	}
}

// TestManyTests holds the bounds with output that names more than any project
// has.
func TestManyTests(t *testing.T) {
	var b strings.Builder
	for n := range testreport.MaxFailures + 10 {
		fmt.Fprintf(&b, "not ok %d - test %d\n", n, n)
	}
	if r := testreport.Parse(b.String(), testreport.Ended{Exit: 1}); len(r.Failed) != testreport.MaxFailures || !r.Truncated {
		t.Errorf("%d failures, truncated %v", len(r.Failed), r.Truncated)
	}
}

// nasty are lines that are expensive to read when they are repeated.
var nasty = []string{
	"x", "{\"Action\":\"", "not ok ", "    # Subtest: a\n", "=", "=\n", "FAIL\t", "--- FAIL: Test", "a:1:", "<testcase name=\"", "<testcase \n", "\x1b[", "\x1b]", "\r", "✖ a\n", "▶ a\n ", " ", "/tmp/ ",
	"  1) a\n", "FAIL  a > ", "● ", "____ a ____\n", "/work/p/", "error: `\n", "1 failed ", "0x123 ", "not ok 1 - a > a {\n",
}

// TestNastySizes parses 1 MB of each nasty line. A reader that is quadratic does
// not end within the time of the test program; BenchmarkNasty shows smaller sins.
func TestNastySizes(t *testing.T) {
	for _, line := range nasty {
		check(t, testreport.Parse(strings.Repeat(line, 1<<20/len(line)), ended))
	}
}

// BenchmarkNasty reports how many times as long a fourfold output of each nasty
// line takes.
//
// Figure: 4 is linear, 16 quadratic.
func BenchmarkNasty(b *testing.B) {
	for _, line := range nasty {
		b.Run(line, func(b *testing.B) {
			var took [2]time.Duration
			for b.Loop() {
				for n, size := range []int{1 << 18, 1 << 20} {
					text := strings.Repeat(line, size/len(line))
					began := time.Now()
					testreport.Parse(text, ended)
					took[n] += time.Since(began)
				}
			}
			b.ReportMetric(float64(took[1])/float64(took[0]), "1MB/256kB")
			b.ReportMetric(0, "ns/op")
		})
	}
}

func BenchmarkParse(b *testing.B) {
	for _, file := range []string{"go/verbose.txt", "go/json.txt", "node/many-tap-20.txt", "pytest/assert.txt", "jest/all.txt"} {
		b.Run(file, func(b *testing.B) {
			text := read(b, file)
			text = strings.Repeat(text, 20<<20/len(text))
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				testreport.Parse(text, ended)
			}
		})
	}
}
