//go:build e2e

package workspace

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestLFSProgram has the real git-lfs read and check what a session left.
func TestLFSProgram(t *testing.T) {
	if dir := os.Getenv("NIGHTPORTER_GIT_LFS"); dir != "" {
		t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	}
	needs(t, "git-lfs")
	repo := shop(t)
	git(t, repo, "lfs", "install", "--local", "--skip-smudge")
	git(t, repo, "lfs", "track", "*.psd", "with space.bin")
	writeFile(t, repo, "art/one.psd", "large one\n")
	writeFile(t, repo, "art/with space.bin", "two\n")
	git(t, repo, "add", "-A")
	git(t, repo, "commit", "-q", "-m", "lfs")
	w := workspace(t, repo)
	base := begin(t, w, "r1")
	if len(base.Notes) > 0 {
		t.Errorf("notes: %v", base.Notes)
	}
	taken := session(t, w, base, "", all, func(dir string) {
		if got := readFile(t, dir, "art/one.psd") + readFile(t, dir, "art/with space.bin"); got != "large one\ntwo\n" {
			t.Errorf("the session sees %q", got)
		}
		writeFile(t, dir, "art/one.psd", "larger one\n")
		writeFile(t, dir, "web/new.psd", strings.Repeat("new\n", 100_000))
	})
	_, err := w.Commit(t.Context(), commitTask(base, base.Commit, taken.Tree), nil)
	must(t, err)
	git(t, repo, "lfs", "fsck", base.Branch)
	git(t, repo, "checkout", "-q", base.Branch)
	git(t, repo, "lfs", "checkout")
	if got := readFile(t, repo, "art/one.psd"); got != "larger one\n" {
		t.Errorf("git lfs checkout gives %q", got)
	}
	if got := git(t, repo, "status", "--porcelain"); got != "" {
		t.Errorf("the checkout has changes:\n%s", got)
	}
	far := filepath.Join(t.TempDir(), "far.git")
	git(t, repo, "clone", "-q", "--bare", repo, far)
	git(t, repo, "remote", "add", "far", "file://"+far)
	git(t, repo, "lfs", "push", "far", base.Branch)
	if _, err := os.Stat(filepath.Join(far, lfsPath(lfsID("larger one\n")))); err != nil {
		t.Errorf("git lfs push: %v", err)
	}
}
