package crash

import (
	"strings"
	"testing"

	"github.com/nightporter/nightporter/internal/programtest"
)

// moveBranch moves the run's branch while one task is on its way into it and three wait
// in the queue, and kills the run: what somebody put there stays, and the run goes on
// where it was once the branch is back. So it does over commits on the person's own.
func moveBranch(t *testing.T, of together, want severalResult) {
	const branch = "nightporter/shop/r1"
	n := newSeveralRun(t, of)
	rev := func(args ...string) string {
		return strings.TrimSpace(n.Out("git", append([]string{"-C", "repo"}, args...)...))
	}
	n.round(kill{phase: "queue"})
	ours := rev("rev-parse", branch)
	theirs := rev("commit-tree", "-p", "main", "-m", "by Mira", "main^{tree}")
	n.Out("git", "-C", "repo", "update-ref", "refs/heads/"+branch, theirs)
	n.Out("git", "-C", "repo", "commit", "--quiet", "--allow-empty", "--message=Meanwhile")
	n.write(n.note("go-queue"), "")
	for range 2 {
		p := n.start("")
		if err := programtest.WaitFor("the run to wait for its branch", func() (bool, error) {
			out, _, err := n.Output("nightporter", "status")
			return strings.Contains(strings.Join(strings.Fields(out), " "), "moved branch "+branch), err
		}); err != nil {
			t.Fatalf("%v\n%s", err, p.Out)
		}
		p.Kill()
		if tip := rev("rev-parse", branch); tip != theirs {
			t.Fatalf("the branch is at %s, want %s", tip, theirs)
		}
	}
	n.Out("git", "-C", "repo", "update-ref", "refs/heads/"+branch, ours)
	n.through()
	n.check(want)
}
