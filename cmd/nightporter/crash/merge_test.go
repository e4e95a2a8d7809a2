package crash

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/nightporter/nightporter/internal/programtest"
)

// mergePoints are the steps from a look at a request to the end of its merge.
var mergePoints = []string{
	"", "before-commit:request_looked", "before-effect:request.merge", "after-effect:request.merge", "before-commit:request_merged", "after-commit:request_merged",
}

// watched is a daemon that looks at the request of a run that is over.
type watched struct {
	run
	p    *programtest.Process
	died int
}

// up starts the daemon, which dies at the point crash, "" = at none.
func (w *watched) up(crash string) {
	w.T.Helper()
	var env []string
	if crash != "" {
		env = []string{"NIGHTPORTER_CRASH=" + crash}
	}
	p, err := w.Machine.Start(env, "up")
	if err != nil {
		w.T.Fatal(err)
	}
	w.T.Cleanup(p.Kill)
	w.p = p
}

// until waits until a command prints a text, and starts the daemon again if it
// died.
func (w *watched) until(text string, args ...string) string {
	w.T.Helper()
	last := ""
	err := programtest.WaitFor(strings.Join(args, " ")+" to print "+text, func() (bool, error) {
		select {
		case <-w.p.Done:
			w.died++
			w.up("")
		default:
		}
		out, _, err := w.Output("nightporter", args...)
		last = out
		return strings.Contains(out, text), err
	})
	if err != nil {
		w.T.Fatalf("%v\n%s\n%s", err, last, w.p.Out)
	}
	return last
}

// TestCrashWhileMerging kills the daemon at every step between a look at a request
// and the end of its merge: it is merged once.
func TestCrashWhileMerging(t *testing.T) {
	t.Parallel()
	for _, point := range sampled(t, mergePoints) {
		t.Run("at "+point, func(t *testing.T) {
			t.Parallel()
			w := &watched{run: run{programtest.NewTwoTasks(t)}}
			s := programtest.NewForge(w.TwoTasks, "")
			w.Through()
			s.Settings([]string{"squash"}, true, false)
			s.Run(s.Tip("nightporter/shop/r1"), "lint", "in_progress", "", "")
			w.up(point)
			w.until("1 of 1 checks pending", "status")
			if out, code, _ := w.Output("nightporter", "merge"); code == 0 || !strings.Contains(out, "1 of 1 checks pending") {
				t.Errorf("a merge with a pending check: exit %d\n%s", code, out)
			}
			s.Run(s.Tip("nightporter/shop/r1"), "lint", "completed", "success", "")
			w.until("PR 1, checks pass", "status")
			q := regexp.MustCompile(`\((q\d+)\)`).FindStringSubmatch(w.until("Merge PR 1 into main?", "merge", "1"))
			if q == nil {
				t.Fatal("no question")
			}
			if out, _, err := w.Output("nightporter", "answer", q[1], "merge"); err != nil {
				t.Log(err, out) // the daemon may have died while it answered
			}
			w.until("PR 1 merged", "status")
			merges := 0
			for _, c := range s.Calls() {
				if c.Method == http.MethodPut && strings.HasSuffix(c.Path, "/merge") && c.Status == http.StatusOK {
					merges++
				}
			}
			if merges != 1 {
				t.Errorf("%d merges", merges)
			}
			if point != "" && w.died == 0 {
				if err := programtest.WaitFor("the daemon to come there", func() (bool, error) {
					select {
					case <-w.p.Done:
						return true, nil
					default:
						return false, nil
					}
				}); err != nil {
					t.Error(err)
				}
			}
		})
	}
}
