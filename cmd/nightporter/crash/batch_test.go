package crash

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nightporter/nightporter/internal/programtest"
)

// batchPoints are the points between two tasks that wait and the second of their
// commits. Adjacent points are in different runs.
var batchPoints = [][]string{
	{"before-effect:chain", "before-commit:commit_made", "after-commit:commit_made:2"},
	{"after-effect:chain", "after-commit:commit_made"},
	{"before-commit:chain_made", "after-effect:commit"},
	{"after-commit:chain_made", "before-effect:commit:2", "after-effect:commit"},
}

// throughBatch starts a run with queue = "batch" again and again until it has ended,
// each time with the next crash, and returns what it came to.
func throughBatch(t *testing.T, crashes ...string) result {
	t.Helper()
	n := run{programtest.NewTwoTasks(t)}
	config, err := os.ReadFile(n.Path("config", "nightporter", "nightporter.toml"))
	if err != nil {
		t.Fatal(err)
	}
	for file, text := range map[string]string{
		n.Path("repo", "plan.md"):                           "- [ ] **Task 1: First**\n  - Scope: `src`\n- [ ] **Task 2: Second**\n  - Scope: `src`\n",
		n.Path("config", "nightporter", "nightporter.toml"): string(config) + "queue = \"batch\"\n",
	} {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for round := 0; ; round++ {
		if round > len(crashes) {
			t.Fatal("it never ends")
		}
		env := []string{}
		if round < len(crashes) {
			env = append(env, "NIGHTPORTER_CRASH="+crashes[round])
		}
		p, err := n.Machine.Start(env, "run", "--pattern", "single")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(p.Kill)
		code, err := p.Wait()
		switch {
		case err != nil || code != -9 && code != 0 || code == -9 && round == len(crashes):
			t.Fatalf("round %d: exit %d, %v\n%s", round, code, err, p.Out)
		case code == 0 && round < len(crashes):
			t.Fatalf("the run never came to %s\n%s", crashes[round], p.Out)
		}
		if code == 0 {
			break
		}
	}
	if out := n.Out("nightporter", "verify"); !strings.Contains(out, "ledger whole, checked against 2 commits") {
		t.Errorf("verify: %s", out)
	}
	if out := n.Out("git", "-C", "repo", "log", "--format=%(trailers:key=Nightporter-Batch,valueonly)", "main..nightporter/shop/r1"); strings.Join(strings.Fields(out), " ") != "Task 1 Task 2" {
		t.Errorf("verified together with: %q", out)
	}
	return n.result()
}

// TestBatchCrashes kills and restarts the real program while tasks are verified and
// committed together: each is committed once, with its tree of the chain.
func TestBatchCrashes(t *testing.T) {
	t.Parallel()
	want := throughBatch(t)
	if len(want.Subjects) != 3 || len(want.Tasks) != 2 || strings.Count(want.Plan, "[x]") != 2 {
		t.Fatalf("without a crash: %+v", want)
	}
	for _, points := range sampled(t, batchPoints) {
		t.Run(points[0], func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(want, throughBatch(t, points...)); diff != "" {
				t.Errorf("not the same as without a crash (-want +got):\n%s", diff)
			}
		})
	}
}
