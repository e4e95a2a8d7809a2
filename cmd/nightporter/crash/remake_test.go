package crash

import (
	"os"
	"strings"
	"testing"

	"github.com/nightporter/nightporter/internal/programtest"
)

// TestRemakeCrashes kills the daemon while it makes a branch without one task of a
// night: after the restart there is one such branch, with one result, and verify
// knows its commits.
func TestRemakeCrashes(t *testing.T) {
	t.Parallel()
	for _, point := range sampled(t, []string{
		"before-effect:remake", "after-effect:remake", "before-commit:branch_remade", "after-commit:branch_remade",
		"before-effect:session.start", "after-effect:session.start", "before-commit:session_exited", "after-commit:session_exited",
	}) {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			n := run{programtest.NewTwoTasks(t)}
			plan := "- [ ] **Task 1: First**\n  - Scope: `src`\n- [ ] **Task 2: Second**\n  - Scope: `src`\n"
			if err := os.WriteFile(n.Path("repo", "plan.md"), []byte(plan), 0o644); err != nil {
				t.Fatal(err)
			}
			n.Out("nightporter", "run", "--pattern", "single")
			up, err := n.Machine.Start([]string{"NIGHTPORTER_CRASH=" + point}, "up")
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(up.Kill)
			if err := programtest.WaitFor("the daemon", func() (bool, error) { return strings.Contains(up.Out.String(), "nightporter is up"), nil }); err != nil {
				t.Fatalf("%v\n%s", err, up.Out)
			}
			n.Out("nightporter", "revert", "1")
			// The daemon may be gone before it answers: what it decided stands.
			if out, _, err := n.Output("nightporter", "answer", "q1", "drop"); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			if code, err := up.Wait(); err != nil || code != -9 {
				t.Fatalf("exit %d, %v: it never came to %s\n%s", code, err, point, up.Out)
			}
			if up, err = n.Machine.Start(nil, "up"); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(up.Kill)
			if err := programtest.WaitFor("the branch to be green", func() (bool, error) {
				out, _, err := n.Output("nightporter", "status", "--json")
				return strings.Contains(out, `"branch":"nightporter/shop/r1.1","tip":"green"`), err
			}); err != nil {
				t.Fatalf("%v\n%s", err, up.Out)
			}
			if out := n.Out("git", "-C", "repo", "branch", "--list", "nightporter/*", "--format=%(refname:short)"); out != "nightporter/shop/r1\nnightporter/shop/r1.1\n" {
				t.Errorf("branches:\n%s", out)
			}
			if out := n.Out("git", "-C", "repo", "log", "--format=%s", "main..nightporter/shop/r1.1"); out != "feat: Task 2 - Second\n" {
				t.Errorf("commits:\n%s", out)
			}
			if out := n.Out("nightporter", "verify"); !strings.Contains(out, "ledger whole") {
				t.Errorf("verify: %s", out)
			}
		})
	}
}
