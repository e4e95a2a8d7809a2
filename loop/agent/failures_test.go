package agent

import (
	"strings"
	"testing"

	"github.com/nightporter/nightporter/loop/ledger"
)

// verify runs a verification command in a session of its own.
func (h *fixture) verify(session, command string) ledger.Exit {
	h.t.Helper()
	l := h.launch(session)
	l.Kind, l.Agent, l.Prompt, l.Command = ledger.KindVerify, "", "", command
	h.start(l)
	return h.wait(session)
}

// TestFailures holds that the end of a red command says what failed, the same
// each time, and that other ends say nothing of it. A green end says how many tests
// ran, also behind more output than is kept.
func TestFailures(t *testing.T) {
	t.Parallel()
	h := newFixture(t, 1)
	const red = `printf -- '--- FAIL: TestAdd (0.0%ss)\n    %s/a_test.go:%s: in %s\nFAIL\nFAIL\texample.com/a\t0.01s\n' $$ "$PWD" $$ "$TMPDIR"; echo "Error: $TMPDIR/x is $$"; exit 1`
	first, second := h.verify("r1-c1", red), h.verify("r1-c2", red)
	want := ledger.Failure{Runner: "go test", File: "example.com/a", Name: "TestAdd", Kind: ledger.FailureAssertion}
	for _, x := range []ledger.Exit{first, second} {
		if x.Failures == nil || len(x.Failures.Failed) != 2 || x.Failures.Failed[0] != want || x.Failures.Failed[1] != second.Failures.Failed[1] || x.Failures.Exit != 1 {
			t.Errorf("%+v\n%s", x.Failures, h.log(x.Session))
		}
	}
	if x := h.verify("r1-c3", "echo '--- FAIL: TestAdd (0.00s)'"); x.Failures != nil {
		t.Errorf("a green command: %+v", x.Failures)
	}
	if x := h.verify("r1-c4", "kill -9 $$"); x.Failures == nil || len(x.Failures.Failed) != 1 || x.Failures.Failed[0].Name != "(no output)" {
		t.Errorf("a silent death: %+v", x.Failures)
	}
	if x := h.run("r1-5", "echo '--- FAIL: TestAdd (0.00s)'; exit 1"); x.Failures != nil {
		t.Errorf("an agent: %+v", x.Failures)
	}
	x := h.verify("r1-c6", `i=0; while [ $i -lt 300 ]; do i=$((i+1)); echo "not ok $i - test $i"; done; exit 1`)
	if f := x.Failures; f == nil || len(f.Failed) != maxFailures || f.More != 100 || f.Rest == "" {
		t.Errorf("300 failures: %+v", f)
	}
	if x := h.verify("r1-c8", `printf '..\n2 passed, 1 skipped in 0.01s\n'`); len(x.Ran) != 1 || x.Ran[0] != (ledger.TestCount{Runner: "pytest", Passed: 2, Skipped: 1}) || x.Failures != nil {
		t.Errorf("2 tests: %+v", x)
	}
	if x := h.verify("r1-c9", "true"); x.Ran != nil {
		t.Errorf("no output: %+v", x.Ran)
	}
	if x := h.verify("r1-c10", `yes "=== RUN   TestA$(printf %0500d 0)" | head -c 28000000; printf '\nok  \tx\t0.1s\n2 passed in 9s\n'`); len(x.Ran) != 1 || x.Ran[0].Runner != "pytest" || len(x.Tail) > lastSize {
		t.Errorf("50 MB: %+v", x.Ran)
	}
	if x := h.verify("r1-c7", "head -c 28000000 /dev/zero | tr '\\0' x | fold -w 500; echo; echo 'not ok 1 - last'; exit 1"); x.Failures == nil || !x.Failures.Truncated || !strings.Contains(x.Failures.Failed[0].Name, "last") {
		t.Errorf("a cut output: %+v", x.Failures)
	}
}
