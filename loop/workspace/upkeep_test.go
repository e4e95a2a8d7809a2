package workspace

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/nightporter/nightporter/loop/ledger"
)

// request is a remote with a branch of ours, which somebody is asked to merge into
// main, and a clone in which a person works on both.
type requested struct {
	w       *Workspace
	at      Remote
	person  string
	pushed  string // commit of the branch
	theirs  ledger.BeginUpkeep
	remotes string // folder of the remote
	had     []string
}

func newRequested(t *testing.T) *requested {
	t.Helper()
	w, commit := committed(t)
	r := &requested{w: w, remotes: filepath.Join(t.TempDir(), "shop.git"), person: filepath.Join(t.TempDir(), "person"), pushed: commit}
	r.at = Remote{URL: r.remotes}
	git(t, "/", "init", "-q", "--bare", "-b", "main", r.remotes)
	git(t, w.o.Repo, "push", "-q", r.remotes, "HEAD:refs/heads/main")
	r.push(t, commit)
	git(t, "/", "clone", "-q", r.remotes, r.person)
	return r
}

func (r *requested) push(t *testing.T, commit string) {
	t.Helper()
	if got, err := r.w.Push(t.Context(), r.at, ledger.Push{Branch: "nightporter/shop/r1", Commit: commit}); err != nil || got.Theirs != "" {
		t.Fatalf("push: %+v, %v", got, err)
	}
}

// commits lets the person commit a file to a branch of the remote.
func (r *requested) commits(t *testing.T, branch, file, text string) string {
	t.Helper()
	git(t, r.person, "fetch", "-q", "origin")
	git(t, r.person, "switch", "-q", "-C", branch, "origin/"+branch)
	writeFile(t, r.person, file, text)
	git(t, r.person, "add", "-A")
	git(t, r.person, "commit", "-q", "-m", "Change "+file)
	git(t, r.person, "push", "-q", "origin", branch)
	return git(t, r.person, "rev-parse", "HEAD")
}

// begin begins a run that keeps the request green, as the engine does.
func (r *requested) begin(t *testing.T, run string, merge bool) (ledger.Base, error) {
	t.Helper()
	b := ledger.Begin{Run: run, Upkeep: &ledger.BeginUpkeep{Number: 48, Branch: "nightporter/shop/r1", Into: "main", Merge: merge, Had: r.had}}
	has, err := r.w.FetchBranches(t.Context(), r.at, run, b.Upkeep.Branch, b.Upkeep.Into, "gone")
	must(t, err)
	if _, gone := has["gone"]; gone || len(has) != 2 {
		t.Fatalf("fetched %v", has)
	}
	b.Upkeep.Head, b.Upkeep.IntoCommit = has[b.Upkeep.Branch], has[b.Upkeep.Into]
	return r.w.Begin(t.Context(), b)
}

func (r *requested) started(t *testing.T, run string, merge bool) ledger.Base {
	t.Helper()
	base, err := r.begin(t, run, merge)
	must(t, err)
	return base
}

// holds fails unless a commit has all others in its history.
func (r *requested) holds(t *testing.T, commit string, others ...string) {
	t.Helper()
	for _, o := range others {
		if _, err := tryGit(t, r.remotes, "merge-base", "--is-ancestor", o, commit); err != nil {
			t.Errorf("%.12s is lost", o)
		}
	}
}

// TestUpkeepKeepsOthers merges a base that moved, keeps a person's commit on the
// branch, commits on top and pushes: nothing of anybody is lost, and nothing is forced.
func TestUpkeepKeepsOthers(t *testing.T) {
	r := newRequested(t)
	human := r.commits(t, "nightporter/shop/r1", "web/human.ts", "human\n")
	main := r.commits(t, "main", "docs/main.md", "main\n")
	base := r.started(t, "r2", true)
	if base.Branch != "nightporter/shop/r1" || base.Head != main || base.HeadName != "main" || base.From != base.Branch {
		t.Errorf("base %+v", base)
	}
	want := ledger.BaseUpkeep{Head: human, Into: main, Contained: true}
	if got := *base.Upkeep; got.Head != want.Head || got.Into != want.Into || !got.Contained || len(got.Conflicts) > 0 {
		t.Errorf("upkeep %+v, want %+v", got, want)
	}
	if parents := git(t, r.w.o.Repo, "show", "-s", "--format=%P", "nightporter/shop/r1"); parents != human+" "+main {
		t.Errorf("the branch is a merge of %s", parents)
	}
	if author := git(t, r.w.o.Repo, "show", "-s", "--format=%an <%ae>", base.Commit); author != base.Author {
		t.Errorf("the merge is by %s, want %s: a forge knows nobody else", author, base.Author)
	}
	if again := r.started(t, "r2", true); again.Commit != base.Commit {
		t.Errorf("a second try starts at %s, the first one at %s", again.Commit, base.Commit)
	}
	c := session(t, r.w, ledger.Base{Commit: base.Commit, Tree: base.Tree, Branch: base.Branch}, base.Tree, all, func(dir string) { writeFile(t, dir, "cart/fixed.go", "package cart\n") })
	made, err := r.w.Commit(t.Context(), ledger.CommitTask{Run: "r2", Branch: base.Branch, Parent: base.Commit, Tree: c.Tree, Author: base.Author, Subject: "fix: lint", Time: "2026-11-19T23:10:00Z"}, nil)
	must(t, err)
	r.push(t, made.Commit)
	r.holds(t, git(t, r.remotes, "rev-parse", "nightporter/shop/r1"), r.pushed, human, main, made.Commit)
	// The base is there now: nothing to merge.
	next := r.started(t, "r3", true)
	if next.Commit != made.Commit || !next.Upkeep.Contained {
		t.Errorf("with the base already in it: %+v", next.Upkeep)
	}
}

// TestUpkeepUnpushed builds on commits that the user's own branch has and the remote
// lacks, and names files that do not merge.
func TestUpkeepUnpushed(t *testing.T) {
	r := newRequested(t)
	local := git(t, r.w.o.Repo, "commit-tree", "-p", r.pushed, "-m", "local", r.pushed+"^{tree}")
	git(t, r.w.o.Repo, "update-ref", "refs/heads/nightporter/shop/r1", local)
	human := r.commits(t, "nightporter/shop/r1", "web/human.ts", "human\n")
	base := r.started(t, "r2", false)
	git(t, r.w.o.Repo, "merge-base", "--is-ancestor", local, base.Commit)
	git(t, r.w.o.Repo, "merge-base", "--is-ancestor", human, base.Commit)

	r = newRequested(t)
	git(t, r.w.o.Repo, "switch", "-q", "nightporter/shop/r1")
	writeFile(t, r.w.o.Repo, "web/human.ts", "here\n")
	git(t, r.w.o.Repo, "add", "-A")
	git(t, r.w.o.Repo, "commit", "-q", "-m", "here")
	git(t, r.w.o.Repo, "switch", "-q", "-")
	r.commits(t, "nightporter/shop/r1", "web/human.ts", "there\n")
	if _, err := r.begin(t, "r2", false); !strings.Contains(findingsOf(t, err), "web/human.ts") {
		t.Errorf("two sides that differ: %v", err)
	}
}

// TestUpkeepReplaced brings back nothing that a person removed from the branch on the
// remote, which needs force, as long as the user's own branch has it.
func TestUpkeepReplaced(t *testing.T) {
	r := newRequested(t)
	git(t, r.person, "fetch", "-q", "origin")
	git(t, r.person, "switch", "-q", "-C", "work", "origin/nightporter/shop/r1~1")
	writeFile(t, r.person, "web/human.ts", "instead\n")
	git(t, r.person, "add", "-A")
	git(t, r.person, "commit", "-q", "-m", "Instead")
	git(t, r.person, "push", "-q", "--force", "origin", "work:nightporter/shop/r1")
	r.had = []string{strings.Repeat("0", 40), r.pushed} // one that is nowhere any more
	found := ""
	if _, err := r.begin(t, "r2", false); err != nil {
		found = findingsOf(t, err)
	}
	if !strings.Contains(found, "replaced on the remote") || !strings.Contains(found, "+nightporter/shop/r1:nightporter/shop/r1") {
		t.Errorf("finding: %q", found)
	}
	if tip := git(t, r.w.o.Repo, "rev-parse", "nightporter/shop/r1"); tip != r.pushed {
		t.Errorf("the user's branch was moved to %s", tip)
	}
	git(t, r.w.o.Repo, "fetch", "-q", r.remotes, "+nightporter/shop/r1:nightporter/shop/r1")
	if base := r.started(t, "r3", false); base.Commit != base.Upkeep.Head {
		t.Errorf("after the user took it over: %+v", base)
	}
}

// TestUpkeepConflict gives a session the merge with git's marks, takes no tree that
// still has one, and commits the resolved one as a merge.
func TestUpkeepConflict(t *testing.T) {
	r := newRequested(t)
	main := r.commits(t, "main", "cart/cart.go", "package cart // main\n")
	base := r.started(t, "r2", true)
	u := base.Upkeep
	if base.Commit != r.pushed || u.Contained || !slices.Equal(u.Conflicts, []string{"cart/cart.go"}) || u.Tree == "" {
		t.Fatalf("conflict: %+v at %s", u, base.Commit)
	}
	take := func(text string) ledger.Capture {
		t.Helper()
		must(t, r.w.Restore(t.Context(), only("r2", u.Tree)))
		dir := r.w.Work(only("r2", "")).Dir
		if marked := readFile(t, dir, "cart/cart.go"); !strings.Contains(marked, "<<<<<<<") || !strings.Contains(marked, "// main") {
			t.Fatalf("the session is given %q", marked)
		}
		writeFile(t, dir, "cart/cart.go", text)
		writeFile(t, dir, "cart/other.go", "package cart\n")
		q := captureRequest(ledger.Base{Commit: base.Commit, Tree: u.Tree}, u.Tree, all)
		q.Run, q.Ref, q.Resolve, q.Session = "r2", strings.Replace(q.Ref, "/r1/", "/r2/", 1), u.Conflicts, "r2-"+text[:3]
		got, err := r.w.Capture(t.Context(), q)
		must(t, err)
		return got
	}
	half := take("package cart\n<<<<<<< a\n// one\n=======\n// main\n>>>>>>> b\n")
	if len(half.Refused) != 1 || half.Refused[0].File != "cart/cart.go" || half.Refused[0].Line != 2 {
		t.Errorf("a tree with a mark: %+v", half.Refused)
	}
	whole := take("// package cart // one and main\npackage cart\n")
	if len(whole.Refused) > 0 {
		t.Fatalf("refused %+v", whole.Refused)
	}
	c := ledger.CommitTask{Run: "r2", Branch: base.Branch, Parent: base.Commit, Merges: u.Into, Tree: whole.Tree, Author: base.Author, Subject: "fix: Merge", Time: "2026-11-19T23:10:00Z"}
	made, err := r.w.Commit(t.Context(), c, nil)
	must(t, err)
	if again, err := r.w.Commit(t.Context(), c, nil); err != nil || again.Commit != made.Commit {
		t.Errorf("again: %+v, %v", again, err)
	}
	if parents := git(t, r.w.o.Repo, "show", "-s", "--format=%P", made.Commit); parents != r.pushed+" "+main {
		t.Errorf("it merges %s", parents)
	}
	r.push(t, made.Commit)
	r.holds(t, made.Commit, main, r.pushed)
}

// TestUpkeepCheckedOut leaves a branch alone that a person has checked out.
func TestUpkeepCheckedOut(t *testing.T) {
	r := newRequested(t)
	r.commits(t, "main", "docs/main.md", "main\n")
	git(t, r.w.o.Repo, "switch", "-q", "nightporter/shop/r1")
	before := repoContent(t, r.w.o.Repo)
	if _, err := r.begin(t, "r2", true); err == nil || !strings.Contains(err.Error(), "checked out") {
		t.Errorf("checked out: %v", err)
	}
	if _, err := os.Stat(filepath.Join(r.w.o.Repo, "docs", "main.md")); err == nil {
		t.Error("the checkout was changed")
	}
	for name, was := range repoContent(t, r.w.o.Repo) {
		if was != before[name] && strings.HasPrefix(name, ".git/refs/heads") {
			t.Errorf("%s was moved", name)
		}
	}
}
