package loop

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/nightporter/nightporter/loop/ledger"
)

// TestReasons: a reason names what is still wrong, in one line of a phone's
// length, whatever programs and agents said.
func TestReasons(t *testing.T) {
	node := "node:internal/modules/cjs/loader:1210\n  throw err;\n  ^\n\nError: Cannot find module 'ms'\nRequire stack:\n- /src/a.js\n    at Module._load (node:internal:1:2)\n\nNode.js v20.20.2\n"
	red := func(tree, run, tail string) *ledger.Verified {
		return &ledger.Verified{Kind: ledger.KindVerify, Tree: tree, Results: []ledger.Result{
			{Run: "npm run known", Advisory: true, Tail: "old failure"}, {Run: run, Exit: 1, Tail: tail},
		}}
	}
	f2 := red("t2", "sh tests/f2.sh", "f1 ok\nf2: expected 3, got 4\nexit status 1\n")
	issues := []ledger.Issue{{Severity: ledger.Minor, File: "b.go", Rule: "naming", Text: "short"}, {Severity: ledger.Critical, File: "tests/f2.sh", Rule: "deleted-test", Text: "the test is gone"}}
	long := strings.Repeat("a very long word of a program \u202e\x1b[31m\n", 400)
	for _, c := range []struct {
		name, got, want string
	}{
		{"unchanged, red", failedRow(&Attempt{FailedRow: 3, Verified: f2}, ledger.Redo{Why: ledger.RedoUnchanged}), "sh tests/f2.sh still fails (f2: expected 3, got 4); the last 3 sessions changed nothing"},
		{"unchanged, issues", failedRow(&Attempt{FailedRow: 3, Issues: issues}, ledger.Redo{Why: ledger.RedoUnchanged}), "2 issues still open, first [critical] tests/f2.sh (deleted-test) the test is gone; the last 3 sessions changed nothing"},
		{"unchanged but out of scope", failedRow(&Attempt{FailedRow: 3, Captured: &ledger.Capture{Outside: []string{"a", "b"}}}, ledger.Redo{Why: ledger.RedoUnchanged}), "changed only files out of scope: a, b; 3 failed sessions in a row"},
		{"violation", failedRow(&Attempt{FailedRow: 3, Captured: &ledger.Capture{Refused: []ledger.Diagnostic{{Text: "src/pipe is a FIFO"}}}}, ledger.Redo{Why: ledger.RedoViolation}), "left what cannot be kept: src/pipe is a FIFO; 3 failed sessions in a row"},
		{"scope", failedRow(&Attempt{FailedRow: 3, Verified: f2, Captured: &ledger.Capture{Outside: []string{"lib/x.go"}}}, ledger.Redo{Why: ledger.RedoScope}), "sh tests/f2.sh still fails (f2: expected 3, got 4); without files out of scope: lib/x.go"},
		{"silent", failedSessions(&Attempt{FailedRow: 3, Verified: f2}, "silent for 15m0s"), "silent for 15m0s; 3 failed sessions in a row; sh tests/f2.sh still fails (f2: expected 3, got 4)"},
		{"red, changed", stayedRed(&Attempt{Red: 3, Start: "t0", Verified: red("t3", "npm test", node)}, "t2"), "npm test still fails (Error: Cannot find module 'ms') after 3 sessions"},
		{"red, the last unchanged", stayedRed(&Attempt{Red: 3, Start: "t0", Verified: f2}, "t2"), "sh tests/f2.sh still fails (f2: expected 3, got 4); the last session changed nothing"},
		{"red, unchanged", stayedRed(&Attempt{Red: 3, Start: "t2", Verified: f2}, "t2"), "sh tests/f2.sh still fails (f2: expected 3, got 4); the last 3 sessions changed nothing"},
		{"stalled on issues", stalled(&Attempt{IssueSets: []string{issueSet(issues)}}, issues, "t9"), "no progress, 2 issues still open, first [critical] tests/f2.sh (deleted-test) the test is gone; the same issues as in an earlier round"},
		{"stalled on files", stalled(&Attempt{Trees: []string{"t2"}}, issues[:1], "t2"), "no progress, still open: [minor] b.go (naming) short; the same files as in an earlier round"},
		{"passes", unreproduced(ledger.Verified{Results: []ledger.Result{{Run: "go test -run X", OK: true}}}), "go test -run X passes"},
		{"no command", unreproduced(ledger.Verified{Results: []ledger.Result{{Run: "check", Exit: 127, Tail: "sh: 1: check: not found"}}}), "check cannot be run (sh: 1: check: not found)"},
		{"first red", firstRed(*f2), "sh tests/f2.sh (f2: expected 3, got 4)"},
		{"green", (&Attempt{Verified: &ledger.Verified{Kind: ledger.KindVerify, OK: true}}).open(), ""},
		{"long", stayedRed(&Attempt{Red: 3, Verified: red("t3", long, long)}, "t2"), ""},
		{"long issue", stalled(&Attempt{Trees: []string{"t2"}}, []ledger.Issue{{Severity: ledger.Major, File: long, Text: long}, issues[0]}, "t2"), ""},
		{"long end", failedSessions(&Attempt{FailedRow: 3, Issues: issues}, long), ""},
	} {
		if c.want != "" && c.got != c.want || c.name == "green" && c.got != "" {
			t.Errorf("%s:\n got %s\nwant %s", c.name, c.got, c.want)
		}
		if utf8.RuneCountInString(c.got) > maxReason || strings.Contains(c.got, "\n") {
			t.Errorf("%s: %q", c.name, c.got)
		}
	}
}
