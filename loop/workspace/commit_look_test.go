package workspace

import (
	"testing"
)

// TestMerged: whether a base has the work of a branch, however it got there.
func TestMerged(t *testing.T) {
	repo := shop(t)
	commit := func(branch, from, file, text string) string {
		t.Helper()
		git(t, repo, "checkout", "-q", "-B", branch, from)
		if file != "" {
			writeFile(t, repo, file, text)
			git(t, repo, "add", "-A")
		}
		git(t, repo, "commit", "-q", "--allow-empty", "-m", branch)
		return git(t, repo, "rev-parse", "HEAD")
	}
	git(t, repo, "checkout", "-q", "-B", "base")
	start := git(t, repo, "rev-parse", "HEAD")
	by := map[string]string{
		"merge":   commit("merge", start, "merge.txt", "a\n"),
		"squash":  commit("squash", start, "squash.txt", "b\n"),
		"open":    commit("open", start, "open.txt", "c\n"),
		"clash":   commit("clash", start, "merge.txt", "other\n"),
		"begun":   commit("begun", start, "", ""),
		"created": start,
	}
	git(t, repo, "checkout", "-q", "base")
	git(t, repo, "merge", "-q", "--no-ff", "-m", "Merge", by["merge"])
	git(t, repo, "merge", "-q", "--squash", by["squash"])
	git(t, repo, "commit", "-q", "-m", "Squashed")
	by["forward"] = commit("base", "base", "forward.txt", "d\n")
	commit("base", "base", "more.txt", "e\n")
	by["orphan"] = func() string {
		git(t, repo, "checkout", "-q", "--orphan", "orphan")
		git(t, repo, "commit", "-q", "-m", "orphan")
		return git(t, repo, "rev-parse", "HEAD")
	}()
	git(t, repo, "checkout", "-q", "base")
	base := git(t, repo, "rev-parse", "HEAD")
	w := workspace(t, repo)
	begin(t, w, "r1")
	git(t, w.gitDir, "fetch", "-q", repo, "+refs/heads/*:refs/test/*")
	for name, want := range map[string]bool{"merge": true, "squash": true, "open": false, "clash": false, "begun": false, "created": false, "forward": false, "orphan": false} {
		if got, err := w.Merged(t.Context(), base, by[name]); err != nil || got != want {
			t.Errorf("%s: %t, %v, want %t", name, got, err, want)
		}
	}
	for _, c := range [][2]string{{"", base}, {base, "--help"}, {base, "HEAD"}} {
		if _, err := w.Merged(t.Context(), c[0], c[1]); err == nil {
			t.Errorf("%q was compared", c)
		}
	}
}
