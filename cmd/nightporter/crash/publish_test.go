package crash

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nightporter/nightporter/internal/programtest"
)

// publishPoints are the points from the last commit to the end of a run that pushes.
// Adjacent points are in different runs.
var publishPoints = [][]string{
	{"before-effect:push", "before-commit:push_finished", "before-effect:request", "before-commit:request_finished"},
	{"after-effect:push", "after-commit:push_finished", "after-effect:request"},
	{"after-effect:commit", "after-effect:push", "after-effect:request", "before-commit:request_finished"},
}

// TestCrashWhilePublishing kills the program at every step between a run's last
// commit and its end: there is one push and one request, and the token is nowhere.
func TestCrashWhilePublishing(t *testing.T) {
	t.Parallel()
	for _, points := range append([][]string{nil}, sampled(t, publishPoints)...) {
		name := "none"
		if points != nil {
			name = points[0]
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := run{programtest.NewTwoTasks(t)}
			s := programtest.NewForge(n.TwoTasks, "pr = { draft = true }")
			if crashed := n.Through(points...); crashed < len(points) {
				t.Errorf("the run never came to %s", points[crashed])
			}
			tip := n.Out("git", "-C", "repo", "rev-parse", "nightporter/shop/r1")
			if there := n.Out("git", "-C", "forge/acme/shop.git", "for-each-ref", "--format=%(objectname)", "refs/heads/nightporter"); there != tip {
				t.Errorf("the remote has %q, and the branch is %q", there, tip)
			}
			if pushes := s.Pushes.Load(); pushes != 1 {
				t.Errorf("%d pushes", pushes)
			}
			pulls := s.Pulls()
			if len(pulls) != 1 || !pulls[0].Draft || pulls[0].Base != "main" {
				t.Fatalf("requests: %+v", pulls)
			}
			for _, want := range []string{"`Task 1` First", "`Task 2` Second", "`sh ./verify.sh` passes", "g1 " + programtest.Guided} {
				if !strings.Contains(pulls[0].Body, want) {
					t.Errorf("the request lacks %q:\n%s", want, pulls[0].Body)
				}
			}
			out := n.Out("nightporter", "status") + n.Out("nightporter", "evidence", "2") + n.Out("nightporter", "log")
			for _, want := range []string{"Branch nightporter/shop/r1, PR 1", "✓ PR 1"} {
				if !strings.Contains(out, want) {
					t.Errorf("nobody says %q:\n%s", want, out)
				}
			}
			if found := n.find(s.Token); len(found) != 1 {
				t.Errorf("the token is in %q", found)
			}
		})
	}
}

// find returns the files of the machine that hold a text.
func (n run) find(text string) (files []string) {
	n.T.Helper()
	err := filepath.WalkDir(n.Dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return nil //nolint:nilerr // what went meanwhile holds nothing
		}
		data, err := os.ReadFile(path)
		if err == nil && strings.Contains(string(data), text) {
			files = append(files, path)
		}
		return nil
	})
	if err != nil {
		n.T.Fatal(err)
	}
	return files
}
