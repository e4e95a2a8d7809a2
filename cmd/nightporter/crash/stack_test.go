package crash

import (
	"strings"
	"testing"

	"github.com/nightporter/nightporter/internal/programtest"
)

// TestCrashWhileStacking kills the program between the pushes and requests of a run
// that has one for each task: there is one branch and one request for each, and each
// stands on the one before.
func TestCrashWhileStacking(t *testing.T) {
	t.Parallel()
	for _, points := range append([][]string{nil}, sampled(t, publishPoints)...) {
		name := "none"
		if points != nil {
			name = points[0]
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := run{programtest.NewTwoTasks(t)}
			s := programtest.NewForge(n.TwoTasks, `pr = { per = "task" }`)
			if crashed := n.Through(points...); crashed < len(points) {
				t.Errorf("the run never came to %s", points[crashed])
			}
			want := strings.TrimSpace(n.Out("git", "-C", "repo", "rev-parse", "nightporter/shop/r1~1")) + " nightporter/shop/r1-1\n" +
				strings.TrimSpace(n.Out("git", "-C", "repo", "rev-parse", "nightporter/shop/r1")) + " nightporter/shop/r1-2\n"
			if there := n.Out("git", "-C", "forge/acme/shop.git", "for-each-ref", "--format=%(objectname) %(refname:lstrip=2)", "refs/heads/nightporter"); there != want {
				t.Errorf("the remote has\n%s\nwant\n%s", there, want)
			}
			if pushes := s.Pushes.Load(); pushes != 2 {
				t.Errorf("%d pushes", pushes)
			}
			pulls := s.Pulls()
			if len(pulls) != 2 || pulls[0].Base != "main" || pulls[1].Base != "nightporter/shop/r1-1" {
				t.Fatalf("requests: %+v", pulls)
			}
			for at, words := range [][]string{{"1 of 2 of a stack", "Next: #2", "`Task 1` First"}, {"2 of 2 of a stack", "Stands on #1; merge that first.", "`Task 2` Second"}} {
				for _, word := range words {
					if !strings.Contains(pulls[at].Body, word) {
						t.Errorf("request %d lacks %q:\n%s", at+1, word, pulls[at].Body)
					}
				}
			}
			if out := n.Out("nightporter", "status"); !strings.Contains(out, "2 requests, one a task") {
				t.Errorf("status says\n%s", out)
			}
		})
	}
}
