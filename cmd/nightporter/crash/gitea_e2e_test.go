//go:build e2e

package crash

import (
	"os"
	"regexp"
	"strings"
	"testing"

	sdk "code.gitea.io/sdk/gitea"

	"github.com/nightporter/nightporter/internal/e2e/gitea"
	"github.com/nightporter/nightporter/internal/programtest"
)

// TestMergeGitea pushes a night to a real Gitea, looks at its request while a check
// works, fails and passes, and merges it; the daemon is killed once the merge was
// sent.
func TestMergeGitea(t *testing.T) {
	s, err := gitea.Start(os.Getenv(gitea.Variable))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Stop(); err != nil {
			t.Error(err)
		}
	})
	acme, err := s.Account("acme")
	if err != nil {
		t.Fatal(err)
	}
	porter, err := s.Account("porter")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Repository(acme, "shop", porter.Login); err != nil {
		t.Fatal(err)
	}
	w := &watched{run: run{programtest.NewTwoTasks(t)}}
	w.Out("git", "-C", "repo", "push", "-q", s.HTTP(acme, "acme", "shop"), "HEAD:refs/heads/trunk")
	w.Out("git", "-C", "repo", "remote", "add", "origin", s.URL+"/acme/shop.git")
	file := w.Path("config", "nightporter", "nightporter.toml")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for file, text := range map[string]string{
		file: string(text) + "push = \"end\"\nforge = \"gitea\"\nbase = \"trunk\"\n", w.Path("config", "nightporter", "gitea.token"): porter.Token + "\n",
	} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	w.Through()
	tip := strings.TrimSpace(w.Out("git", "-C", "repo", "rev-parse", "nightporter/shop/r1"))
	check := func(state sdk.StatusState, shows string) {
		t.Helper()
		if err := s.Status(acme, "acme", "shop", tip, "lint", state); err != nil {
			t.Fatal(err)
		}
		w.until(shows, "status")
	}
	w.up("after-effect:request.merge")
	check(sdk.StatusPending, "1 of 1 checks pending")
	check(sdk.StatusFailure, "checks fail: lint")
	if out, code, _ := w.Output("nightporter", "merge"); code == 0 || !strings.Contains(out, "checks fail: lint") {
		t.Errorf("a merge with a failed check: exit %d\n%s", code, out)
	}
	check(sdk.StatusSuccess, "checks pass")
	q := regexp.MustCompile(`\((q\d+)\)`).FindStringSubmatch(w.until("into trunk?", "merge"))
	if q == nil {
		t.Fatal("no question")
	}
	if out, _, err := w.Output("nightporter", "answer", q[1], "merge"); err != nil {
		t.Log(err, out) // the daemon may have died while it answered
	}
	out := w.until("PR 1 merged", "status")
	if w.died != 1 {
		t.Errorf("the daemon died %d times", w.died)
	}
	w.Out("git", "-C", "repo", "fetch", "-q", s.HTTP(acme, "acme", "shop"), "trunk")
	if log := w.Out("git", "-C", "repo", "log", "--merges", "--format=%P", "FETCH_HEAD"); !strings.Contains(log, tip) || strings.Count(log, "\n") != 1 {
		t.Errorf("merges of trunk: %q\n%s", log, out)
	}
}
