package workspace

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nightporter/nightporter/loop/ledger"
)

// TestTraps lets a session plant everything by which a repository can make git
// run a program. Then it runs a capture, makes a clean folder, restores and
// commits. A trap that runs leaves a mark.
func TestTraps(t *testing.T) {
	for _, c := range []struct {
		name string
		set  func(t *testing.T, dir, trap, repo string)
		live []string // a git command that runs the trap, to prove that the trap works
	}{
		{"core.fsmonitor", func(t *testing.T, dir, trap, _ string) {
			git(t, dir, "config", "core.fsmonitor", trap)
		}, []string{"status"}},
		{"filter by .gitattributes", func(t *testing.T, dir, trap, _ string) {
			git(t, dir, "config", "filter.x.clean", trap)
			git(t, dir, "config", "filter.x.smudge", trap)
			git(t, dir, "config", "filter.x.process", trap)
			writeFile(t, dir, ".gitattributes", "* filter=x diff=x merge=x\n")
			writeFile(t, dir, ".git/info/attributes", "* filter=x\n")
			git(t, dir, "config", "diff.x.textconv", trap)
			git(t, dir, "config", "diff.x.command", trap)
			git(t, dir, "config", "merge.x.driver", trap)
		}, []string{"add", "-A"}},
		{"hooks", func(t *testing.T, dir, trap, _ string) {
			git(t, dir, "config", "core.hooksPath", filepath.Dir(trap))
			for _, hook := range []string{"post-index-change", "pre-commit", "reference-transaction", "post-checkout"} {
				must(t, os.Link(trap, filepath.Join(filepath.Dir(trap), hook)))
			}
		}, []string{"commit", "-qam", "x"}},
		{"nested repository with fsmonitor", func(t *testing.T, dir, trap, _ string) {
			writeFile(t, dir, "nested/x", "x\n")
			nested := filepath.Join(dir, "nested")
			git(t, nested, "init", "-q")
			git(t, nested, "add", "-A")
			git(t, nested, "commit", "-qm", "x")
			git(t, nested, "config", "core.fsmonitor", trap)
			git(t, dir, "add", "-A")
		}, []string{"status"}},
		{".git is a file that leads to a trapped repository", func(t *testing.T, dir, trap, _ string) {
			other := filepath.Join(t.TempDir(), "other")
			must(t, os.Rename(filepath.Join(dir, ".git"), other))
			writeFile(t, dir, ".git", "gitdir: "+other+"\n")
			git(t, dir, "config", "core.fsmonitor", trap)
		}, []string{"status"}},
		{".git is a link to the user's repository", func(t *testing.T, dir, _, repo string) {
			must(t, os.RemoveAll(filepath.Join(dir, ".git")))
			must(t, os.Symlink(filepath.Join(repo, ".git"), filepath.Join(dir, ".git")))
		}, nil},
		{"uploadpack hook and alternates", func(t *testing.T, dir, trap, _ string) {
			git(t, dir, "config", "uploadpack.packObjectsHook", trap)
			git(t, dir, "config", "core.alternateRefsCommand", trap)
			writeFile(t, dir, ".git/objects/info/alternates", "/nonexistent\n")
		}, nil},
		{"include and worktree", func(t *testing.T, dir, trap, repo string) {
			writeFile(t, dir, ".gitinclude", "[core]\n\tfsmonitor = "+trap+"\n\tworktree = "+repo+"\n")
			git(t, dir, "config", "include.path", "../.gitinclude")
		}, []string{"status"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			repo := shop(t)
			before := repoContent(t, repo)
			w := workspace(t, repo)
			base := begin(t, w, "r1")
			traps := t.TempDir()
			mark := filepath.Join(t.TempDir(), "ran")
			trap := filepath.Join(traps, "trap")
			writeFile(t, traps, "trap", fmt.Sprintf("#!/bin/sh\necho \"$0 $*\" >>%s\ncat\n", mark))
			must(t, os.Chmod(trap, 0o755))

			taken := session(t, w, base, "", all, func(dir string) {
				c.set(t, dir, trap, repo)
				writeFile(t, dir, "cart/cart.go", "package cart // changed\n")
				if c.live != nil {
					tryGit(t, dir, c.live...)
					if got := readFile(t, filepath.Dir(mark), "ran"); got == "(none)" {
						t.Errorf("the trap is none: git %v did not run it", c.live)
					}
				}
				os.Remove(mark)
			})
			if len(taken.Files) == 0 {
				t.Error("nothing was captured")
			}
			must(t, w.Restore(t.Context(), only("r1", taken.Tree)))
			_, err := w.LayRoom(t.Context(), ledger.RoomUse{Tree: taken.Tree, Parent: base.Commit}, true)
			must(t, err)
			_, err = w.Diff(t.Context(), base.Tree, taken.Tree, 0)
			must(t, err)
			done, err := w.Commit(t.Context(), commitTask(base, base.Commit, taken.Tree), nil)
			must(t, err)
			_, err = w.Merge(t.Context(), ledger.MergeTree{Run: "r1", Base: base.Commit, Tree: taken.Tree, Onto: done.Commit})
			must(t, err)
			if got := readFile(t, filepath.Dir(mark), "ran"); got != "(none)" {
				t.Errorf("the trap ran:\n%s", got)
			}
			if diff := cmp.Diff(before, repoContent(t, repo)); diff != "" {
				t.Errorf("the user's repository changed (-before +after):\n%s", diff)
			}
		})
	}
}

func mustLink(t *testing.T, target, name string) {
	t.Helper()
	must(t, os.Symlink(target, name))
}
