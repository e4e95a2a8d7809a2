package workspace

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nightporter/nightporter/loop/ledger"
)

// longAgo is before every commit of a test.
var longAgo = time.Unix(1700000000, 0)

// oneCommit returns a run with one task's commit, which names goodHead.
func oneCommit(t *testing.T) (repo string, w *Workspace, base ledger.Base, commit string) {
	t.Helper()
	repo, w, base, taken := oneTask(t)
	c := commitTask(base, base.Commit, taken.Tree)
	c.Footers = ourFooters
	done, err := w.Commit(t.Context(), c, nil)
	must(t, err)
	return repo, w, base, done.Commit
}

// heads returns the heads that both repositories name, by repository.
func heads(t *testing.T, w *Workspace, since time.Time) (own, user []HeadCommit) {
	t.Helper()
	own, err := w.OwnHeads(t.Context(), since)
	must(t, err)
	user, err = w.UserHeads(t.Context(), since)
	must(t, err)
	return own, user
}

func TestHeads(t *testing.T) {
	repo, w, base, commit := oneCommit(t)
	before := repoContent(t, repo)
	want := []HeadCommit{{Commit: commit, Head: goodHead, Own: true}}
	check := func(what string, wantOwn, wantUser []HeadCommit) {
		t.Helper()
		own, user := heads(t, w, longAgo)
		if diff := cmp.Diff([][]HeadCommit{wantOwn, wantUser}, [][]HeadCommit{own, user}); diff != "" {
			t.Errorf("%s: heads of ours and the user's (-want +got):\n%s", what, diff)
		}
	}
	check("at once", want, want)
	if diff := cmp.Diff(before, repoContent(t, repo)); diff != "" {
		t.Errorf("the user's repository changed (-before +after):\n%s", diff)
	}
	if own, user := heads(t, w, tomorrow); own != nil || user != nil {
		t.Errorf("since tomorrow: %v, %v", own, user)
	}

	// The person goes on with the branch in their own way.
	git(t, repo, "merge", "-q", "--no-ff", "-m", "Merge the night", base.Branch)
	git(t, repo, "branch", "-D", base.Branch)
	check("merged", want, want)
	git(t, repo, "reset", "-q", "--hard", base.Commit)
	check("deleted", want, nil)
	git(t, repo, "cherry-pick", "-x", commit)
	picked := []HeadCommit{{Commit: git(t, repo, "rev-parse", "HEAD"), Head: goodHead}}
	check("picked by a person", want, picked)
	git(t, repo, "commit", "-q", "--allow-empty", "-m", "Quotes\n\nNightporter-Head: "+forgedHead+"\n\nas found in the log")
	check("quoted by a person", want, picked)
	git(t, repo, "switch", "-q", "--orphan", "empty")
	check("a branch without commits", want, nil)

	must(t, os.Rename(w.gitDir, w.gitDir+".away"))
	if _, err := w.OwnHeads(t.Context(), longAgo); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without our repository: %v", err)
	}
	if _, err := w.OwnCommits(t.Context(), []string{commit}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without our repository: %v", err)
	}
	must(t, os.Rename(filepath.Join(repo, ".git"), filepath.Join(repo, "git")))
	if _, err := w.UserHeads(t.Context(), longAgo); err == nil {
		t.Error("a folder that is no repository has heads")
	}
	if _, err := w.UserCommits(t.Context(), []string{commit}); err == nil {
		t.Error("a folder that is no repository has commits")
	}
}

// TestHeldCommits looks for a commit that exists, one that no branch leads to
// any more, and one that never existed.
func TestHeldCommits(t *testing.T) {
	repo, w, base, commit := oneCommit(t)
	const never = "00000000000000000000000000000000000000aa"
	all := []string{commit, never, "HEAD", ""}
	check := func(what string, wantOwn, wantUser bool) {
		t.Helper()
		own, err := w.OwnCommits(t.Context(), all)
		must(t, err)
		user, err := w.UserCommits(t.Context(), all)
		must(t, err)
		if own[commit] != wantOwn || user[commit] != wantUser || own[never] || user[never] || own["HEAD"] || user[""] {
			t.Errorf("%s: ours has %v, the user's %v", what, own, user)
		}
	}
	check("at once", true, true)
	git(t, repo, "merge", "-q", "--no-ff", "-m", "Merge the night", base.Branch)
	git(t, repo, "branch", "-D", base.Branch)
	check("merged", true, true)
	git(t, repo, "reset", "-q", "--hard", base.Commit)
	check("deleted", true, false)
	git(t, repo, "tag", "kept", commit)
	check("behind a tag", true, true)
	git(t, w.gitDir, "update-ref", "-d", "refs/heads/"+base.Branch)
	git(t, w.gitDir, "reflog", "expire", "--expire=now", "--all")
	git(t, w.gitDir, "prune", "--expire=now")
	check("pruned from ours", false, true)
}
