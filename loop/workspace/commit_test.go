package workspace

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nightporter/nightporter/loop/ledger"
)

// oneTask returns a run with a captured tree that is ready to be committed.
func oneTask(t *testing.T, change ...func(*Options)) (repo string, w *Workspace, base ledger.Base, taken ledger.Capture) {
	t.Helper()
	repo = shop(t)
	w = workspace(t, repo, change...)
	base = begin(t, w, "r1")
	taken = session(t, w, base, "", all, func(dir string) { writeFile(t, dir, "cart/cart.go", "package cart // 1\n") })
	return repo, w, base, taken
}

func TestCommit(t *testing.T) {
	repo, w, base, taken := oneTask(t)
	before := repoContent(t, repo)
	c := commitTask(base, base.Commit, taken.Tree)
	c.Body = "What was done.\r\n\x00"
	done, err := w.Commit(t.Context(), c, nil)
	must(t, err)
	if diff := cmp.Diff([]ledger.FileChange{{Path: "cart/cart.go", Added: 1, Removed: 1}}, done.Files); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	want := "Ada Example <ada@example.org> 2026-11-20T22:30:00+01:00\nnightporter <nightporter@localhost> 2026-11-20T22:30:00+01:00\n" +
		"feat: Task 1 - A\n\nWhat was done.\n\nNightporter-Session: r1-1\nNightporter-Head: abc123"
	if got := git(t, repo, "show", "-s", "--format=%an <%ae> %aI%n%cn <%ce> %cI%n%B", base.Branch); got != want {
		t.Errorf("commit is\n%s\nwant\n%s", got, want)
	}
	if got := git(t, repo, "rev-parse", base.Branch+"^"); got != base.Commit {
		t.Errorf("parent %s, want %s", got, base.Commit)
	}
	git(t, repo, "fsck", "--strict", "--no-dangling")
	if diff := cmp.Diff(before, repoContent(t, repo)); diff != "" {
		t.Errorf("the user's repository changed beyond our branch (-before +after):\n%s", diff)
	}
	for range 2 {
		again, err := w.Commit(t.Context(), c, nil)
		if err != nil || again.Commit != done.Commit {
			t.Errorf("again: %s, %v, want %s", again.Commit, err, done.Commit)
		}
	}
}

func TestCommitLarge(t *testing.T) {
	repo := shop(t)
	w := workspace(t, repo)
	base := begin(t, w, "r1")
	taken := session(t, w, base, "", all, func(dir string) {
		for i := range 300 { // enough objects for git to send a pack
			writeFile(t, dir, "gen/"+strings.Repeat("d/", i%7)+fmt.Sprint(i), strings.Repeat("x", i))
		}
	})
	_, err := w.Commit(t.Context(), commitTask(base, base.Commit, taken.Tree), nil)
	must(t, err)
	git(t, repo, "fsck", "--strict", "--no-dangling")
}

// TestCommitRunsNoHook fills the user's repository with hooks that fail and
// leave a mark.
func TestCommitRunsNoHook(t *testing.T) {
	repo, w, base, taken := oneTask(t)
	mark := filepath.Join(t.TempDir(), "ran")
	for _, hook := range []string{"pre-receive", "update", "post-receive", "post-update", "reference-transaction", "pre-commit", "commit-msg", "post-commit", "pre-push", "pre-auto-gc", "proc-receive", "push-to-checkout", "post-index-change", "fsmonitor-watchman"} {
		writeFile(t, repo, ".git/hooks/"+hook, "#!/bin/sh\necho "+hook+" >>"+mark+"\nexit 1\n")
		must(t, os.Chmod(filepath.Join(repo, ".git/hooks", hook), 0o755))
	}
	trap := filepath.Join(repo, ".git/hooks/update")
	for _, kv := range [][2]string{{"core.fsmonitor", trap}, {"core.hooksPath", filepath.Join(repo, ".git/hooks")}, {"uploadpack.packObjectsHook", trap},
		{"core.alternateRefsCommand", trap}, {"filter.x.clean", trap}, {"filter.x.smudge", trap}, {"diff.external", trap}, {"core.pager", trap},
		{"receive.denyCurrentBranch", "refuse"}, {"receive.denyNonFastForwards", "true"}, {"gc.auto", "1"}, {"commit.gpgSign", "true"}, {"gpg.program", trap}, {"core.sshCommand", trap}} {
		git(t, repo, "config", kv[0], kv[1])
	}
	writeFile(t, repo, ".git/info/attributes", "* filter=x\n")
	must(t, os.Chtimes(filepath.Join(repo, "README.md"), tomorrow, tomorrow))
	before := repoContent(t, repo)
	if _, err := w.Begin(t.Context(), ledger.Begin{Run: "r2"}); err != nil {
		t.Fatal(err)
	}
	done, err := w.Commit(t.Context(), commitTask(base, base.Commit, taken.Tree), nil)
	must(t, err)
	if got := readFile(t, repo, ".git/refs/heads/"+base.Branch); got != done.Commit+"\n" {
		t.Errorf("branch at %q, want %s", got, done.Commit)
	}
	if got := readFile(t, filepath.Dir(mark), "ran"); got != "(none)" {
		t.Errorf("these ran: %s", got)
	}
	if diff := cmp.Diff(before, repoContent(t, repo)); diff != "" {
		t.Errorf("the user's repository changed (-before +after):\n%s", diff)
	}
	// The hooks work: a plain git runs them.
	if out, err := tryGit(t, repo, "update-ref", "refs/heads/x", "HEAD"); err == nil {
		t.Errorf("the planted hook did nothing: %s", out)
	}
}

func TestCommitNeverWritesElsewhere(t *testing.T) {
	repo, w, base, taken := oneTask(t, func(o *Options) { o.Protected = []string{"main", "nightporter/shop/secret*"} })
	for _, branch := range []string{"main", "nightporter", "nightporter/other/r1", "nightporter/shop/secret1", "nightporter/shop/", "nightporter/shop/a..b", "refs/heads/main"} {
		c := commitTask(base, base.Commit, taken.Tree)
		c.Branch = branch
		if _, err := w.Commit(t.Context(), c, nil); err == nil {
			t.Errorf("branch %q was written", branch)
		}
	}
	if got := git(t, repo, "for-each-ref", "--format=%(refname)"); got != "refs/heads/main" {
		t.Errorf("refs: %s", got)
	}
	c := commitTask(base, base.Commit, taken.Tree)
	c.Author = ""
	if _, err := w.Commit(t.Context(), c, nil); err == nil {
		t.Error("a commit without an author was made")
	}
}

func TestCommitWhenTheBranchMoved(t *testing.T) {
	repo, w, base, taken := oneTask(t)
	done, err := w.Commit(t.Context(), commitTask(base, base.Commit, taken.Tree), nil)
	must(t, err)
	// Somebody commits to the branch, in a worktree that is removed again.
	side := filepath.Join(t.TempDir(), "side")
	git(t, repo, "worktree", "add", "-q", side, base.Branch)
	writeFile(t, side, "README.md", "theirs\n")
	git(t, side, "commit", "-qam", "theirs")
	theirs := git(t, side, "rev-parse", "HEAD")

	second := session(t, w, base, taken.Tree, all, func(dir string) { writeFile(t, dir, "cart/b.go", "x\n") })
	c := commitTask(base, done.Commit, second.Tree)
	_, err = w.Commit(t.Context(), c, nil)
	moved, ok := errors.AsType[*ledger.BranchMoved](err)
	if !ok || moved.Have != theirs || moved.Want != done.Commit || !moved.Ahead {
		t.Fatalf("error %v, want a branch moved ahead to %s", err, theirs)
	}
	if want := git(t, side, "rev-parse", "HEAD^{tree}"); moved.Tree != want {
		t.Errorf("the tip that was found has the tree %s, want %s", moved.Tree, want)
	}
	if got := git(t, repo, "rev-parse", base.Branch); got != theirs {
		t.Errorf("the branch was moved to %s", got)
	}
	// Their commit is in our repository, and Merge can apply the work onto it.
	merged, err := w.Merge(t.Context(), ledger.MergeTree{Run: "r1", Base: done.Commit, Tree: second.Tree, Onto: theirs})
	must(t, err)
	c = commitTask(base, theirs, merged.Tree)
	_, err = w.Commit(t.Context(), c, nil)
	if held, ok := errors.AsType[*ledger.RepositoryError](err); !ok || held.Text != "branch "+base.Branch+" is checked out in "+side || held.Remedy != "git -C "+side+" switch --detach" {
		t.Errorf("error %v, want a branch that is checked out", err)
	}
	git(t, repo, "worktree", "remove", side)
	last, err := w.Commit(t.Context(), c, nil)
	must(t, err)
	if got := git(t, repo, "log", "--format=%s", base.Branch); got != "feat: Task 1 - A\ntheirs\nfeat: Task 1 - A\nFirst" {
		t.Errorf("log:\n%s", got)
	}
	if got := git(t, repo, "show", last.Commit+":README.md"); got != "theirs" {
		t.Errorf("README.md is %q", got)
	}
}

// TestCommitWhenTheBranchWasMovedAside checks that a commit onto a branch that
// has lost our last commit is refused: that task's changes would silently be
// gone.
func TestCommitWhenTheBranchWasMovedAside(t *testing.T) {
	repo, w, base, taken := oneTask(t)
	done, err := w.Commit(t.Context(), commitTask(base, base.Commit, taken.Tree), nil)
	must(t, err)
	git(t, repo, "branch", "-qf", base.Branch, "HEAD")
	second := session(t, w, base, taken.Tree, all, func(dir string) { writeFile(t, dir, "cart/b.go", "x\n") })
	_, err = w.Commit(t.Context(), commitTask(base, done.Commit, second.Tree), nil)
	moved, ok := errors.AsType[*ledger.RepositoryError](err)
	if !ok || !strings.Contains(moved.Text, "somebody moved branch "+base.Branch) {
		t.Fatalf("error %v, want a branch moved aside", err)
	}
	if want := "git -C " + repo + " branch -f " + base.Branch + " " + done.Commit[:12]; moved.Remedy != want {
		t.Errorf("the remedy is %q, want %q", moved.Remedy, want)
	}
}

// TestCommitOfNothing asks for a commit with its parent's tree: there is none, also
// with the marks that commit_status would add to it.
func TestCommitOfNothing(t *testing.T) {
	repo, w, base, _ := oneTask(t)
	for _, files := range []map[string][]byte{nil, {"plan.md": []byte("- [x] **Task 1: A**\n")}} {
		_, err := w.Commit(t.Context(), commitTask(base, base.Commit, base.Tree), files)
		if err == nil || !strings.Contains(err.Error(), "nothing to commit") {
			t.Errorf("error %v, want that there is nothing to commit", err)
		}
	}
	if out, err := tryGit(t, repo, "rev-parse", "--verify", base.Branch); err == nil {
		t.Errorf("the branch is there: %s", out)
	}
}

// TestCommitSurvivesTheUsersGc runs reset, reflog expire and gc in the user's
// repository: none of our objects is lost.
func TestCommitSurvivesTheUsersGc(t *testing.T) {
	repo := shop(t)
	writeFile(t, repo, "gone.txt", "x\n")
	git(t, repo, "add", "-A")
	git(t, repo, "commit", "-qm", "Second")
	w := workspace(t, repo)
	base := begin(t, w, "r1")
	git(t, repo, "reset", "-q", "--hard", "HEAD~1")
	git(t, repo, "reflog", "expire", "--expire=now", "--expire-unreachable=now", "--all")
	git(t, repo, "gc", "-q", "--prune=now")
	if _, err := tryGit(t, repo, "cat-file", "-e", base.Commit); err == nil {
		t.Fatal("the commit was to be gone from the user's repository")
	}
	taken := session(t, w, base, "", all, func(dir string) { writeFile(t, dir, "cart/a.go", "lost and found\n") })
	done, err := w.Commit(t.Context(), commitTask(base, base.Commit, taken.Tree), nil)
	must(t, err)
	git(t, repo, "gc", "-q", "--prune=now")
	git(t, repo, "fsck", "--strict", "--no-dangling")
	if got := git(t, repo, "rev-list", "--count", base.Branch); got != "3" {
		t.Errorf("%s commits on the branch, want 3", got)
	}
	// A crash before the ref was on disk, followed by a gc: a repetition
	// repairs it.
	git(t, repo, "update-ref", "-d", "refs/heads/"+base.Branch)
	git(t, repo, "reflog", "expire", "--expire=now", "--expire-unreachable=now", "--all")
	git(t, repo, "gc", "-q", "--prune=now")
	again, err := w.Commit(t.Context(), commitTask(base, base.Commit, taken.Tree), nil)
	if err != nil || again.Commit != done.Commit {
		t.Fatalf("again: %s, %v", again.Commit, err)
	}
	git(t, repo, "fsck", "--strict", "--no-dangling")
	// Objects of an existing ref are missing: repeating the commit repairs
	// that, and so does the next task's commit.
	lose := func() {
		hash := git(t, repo, "rev-parse", done.Commit+":cart/a.go")
		must(t, os.Remove(filepath.Join(repo, ".git/objects", hash[:2], hash[2:])))
	}
	lose()
	_, err = w.Commit(t.Context(), commitTask(base, base.Commit, taken.Tree), nil)
	must(t, err)
	git(t, repo, "fsck", "--strict", "--no-dangling")
	lose()
	second := session(t, w, base, taken.Tree, all, func(dir string) { writeFile(t, dir, "cart/b.go", "y\n") })
	_, err = w.Commit(t.Context(), commitTask(base, done.Commit, second.Tree), nil)
	must(t, err)
	git(t, repo, "fsck", "--strict", "--no-dangling")
}

func TestCommitBesideARebaseAndStash(t *testing.T) {
	repo, w, base, taken := oneTask(t)
	git(t, repo, "switch", "-q", "-c", "topic")
	writeFile(t, repo, "README.md", "topic\n")
	git(t, repo, "commit", "-qam", "topic")
	git(t, repo, "switch", "-q", "main")
	writeFile(t, repo, "README.md", "main\n")
	git(t, repo, "commit", "-qam", "main")
	writeFile(t, repo, "docs/api.md", "wip\n")
	git(t, repo, "stash", "-q")
	git(t, repo, "switch", "-q", "topic")
	if _, err := tryGit(t, repo, "rebase", "main"); err == nil {
		t.Fatal("the rebase was to stop at a conflict")
	}
	before := repoContent(t, repo)
	_, err := w.Commit(t.Context(), commitTask(base, base.Commit, taken.Tree), nil)
	must(t, err)
	if diff := cmp.Diff(before, repoContent(t, repo)); diff != "" {
		t.Errorf("the user's repository changed (-before +after):\n%s", diff)
	}
	writeFile(t, repo, "README.md", "both\n")
	git(t, repo, "add", "-A")
	git(t, repo, "-c", "core.editor=true", "rebase", "--continue")
	git(t, repo, "switch", "-q", "main")
	git(t, repo, "stash", "pop", "-q")
}

// TestCommitInSomebodyElsesRepository commits as root: every new file must
// belong to the repository's owner.
func TestCommitInSomebodyElsesRepository(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root: a repository that belongs to somebody else")
	}
	repo := shop(t)
	const uid = 65534
	for p := filepath.Dir(repo); p != os.TempDir() && p != "/"; p = filepath.Dir(p) {
		must(t, os.Chmod(p, 0o755))
	}
	give := func() {
		must(t, filepath.WalkDir(repo, func(path string, _ os.DirEntry, err error) error {
			must(t, err)
			return os.Lchown(path, uid, uid)
		}))
	}
	give()
	w := workspace(t, repo)
	base := begin(t, w, "r1")
	taken := session(t, w, base, "", all, func(dir string) { writeFile(t, dir, "cart/a.go", "x\n") })
	_, err := w.Commit(t.Context(), commitTask(base, base.Commit, taken.Tree), nil)
	must(t, err)
	must(t, filepath.WalkDir(repo, func(path string, d os.DirEntry, err error) error {
		must(t, err)
		info, err := d.Info()
		must(t, err)
		if st := info.Sys().(*syscall.Stat_t); st.Uid != uid {
			t.Errorf("%s belongs to %d", path, st.Uid)
		}
		return nil
	}))
}

func TestStaleLocksAreRemoved(t *testing.T) {
	_, w, base, taken := oneTask(t)
	old := yesterday
	for _, lock := range []string{filepath.Join(w.gitDir, "refs/heads", base.Branch+".lock"), filepath.Join(filepath.Dir(w.Work(only("r1", "")).Dir), "work-index.lock")} {
		writeFile(t, filepath.Dir(lock), filepath.Base(lock), "")
		must(t, os.Chtimes(lock, old, old))
	}
	must(t, w.Restore(t.Context(), only("r1", base.Tree)))
	_, err := w.Commit(t.Context(), commitTask(base, base.Commit, taken.Tree), nil)
	must(t, err)
}
