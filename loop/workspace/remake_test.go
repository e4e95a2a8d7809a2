package workspace

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nightporter/nightporter/loop/ledger"
)

// nightOf makes a run with n tasks that change and add files at random, and returns
// the steps of its branch. Some tasks build on others.
func nightOf(t *testing.T, w *Workspace, base ledger.Base, n int, rnd *rand.Rand) []ledger.RemakeStep {
	t.Helper()
	lines := func(count int) []string {
		var out []string
		for k := range count {
			out = append(out, fmt.Sprintf("line %d of the file", k))
		}
		return out
	}
	content := map[string][]string{"cart/cart.go": lines(40), "docs/api.md": lines(40)}
	first := ledger.CommitTask{Run: "r1", Branch: base.Branch, Parent: base.Commit, Author: base.Author, Time: "2026-11-20T22:30:00+01:00", Subject: "feat: Task 0 - Files", Footers: "Nightporter-Session: r1-0\n"}
	tip, tree := base.Commit, base.Tree
	var steps []ledger.RemakeStep
	commit := func(c ledger.CommitTask, task string, change map[string][]byte) {
		t.Helper()
		next, err := w.withFiles(t.Context(), "r1", tree, change)
		must(t, err)
		c.Parent, c.Tree = tip, next
		made, err := w.Commit(t.Context(), c, nil)
		must(t, err)
		tip, tree = made.Commit, made.Tree
		steps = append(steps, ledger.RemakeStep{Task: task, Commit: tip})
	}
	bytesOf := func(paths ...string) map[string][]byte {
		out := map[string][]byte{}
		for _, p := range paths {
			out[p] = []byte(strings.Join(content[p], "\n") + "\n")
		}
		return out
	}
	commit(first, "Task 0", bytesOf("cart/cart.go", "docs/api.md"))
	for k := 1; k <= n; k++ {
		c := first
		c.Subject, c.Body = fmt.Sprintf("feat: Task %d - Work", k), "What was done."
		c.Time = fmt.Sprintf("2026-11-20T23:%02d:00+01:00", k)
		c.Footers = fmt.Sprintf("Nightporter-Head: project/shop@%d:%064d\nNightporter-Session: r1-%d\nNightporter-Proof: proved\nCo-authored-by: claude <claude@localhost>\n", k, k, k)
		path := fmt.Sprintf("new/%d.go", k)
		switch rnd.IntN(4) {
		case 0: // a file of its own
			content[path] = lines(3)
		case 1: // lines of a file that all share
			path = "cart/cart.go"
			content[path][rnd.IntN(40)] = fmt.Sprintf("changed by %d", k)
		case 2: // more lines in it
			path = "docs/api.md"
			content[path] = slices.Insert(content[path], rnd.IntN(len(content[path])), fmt.Sprintf("added by %d", k))
		default: // on top of what another task made
			if some := fmt.Sprintf("new/%d.go", 1+rnd.IntN(k)); content[some] != nil {
				path = some
			}
			content[path] = append(slices.Clone(content[path]), fmt.Sprintf("more by %d", k))
		}
		commit(c, fmt.Sprintf("Task %d", k), bytesOf(path))
	}
	return steps
}

// TestRemakeSubsets keeps random subsets of nights of 12 tasks. Each has to give the
// tree that git cherry-pick gives in a clone, and that git revert gives, or the
// conflict that they meet, and leave the checkout and its index as they are. Kept tips
// are verified in rooms: one in five. With NIGHTPORTER_SOAK=1 there are four nights
// and 50 subsets of each, not two and 8, and all kept tips are verified.
func TestRemakeSubsets(t *testing.T) {
	soak := os.Getenv("NIGHTPORTER_SOAK") != ""
	nights, subsets := 2, 8
	if soak {
		nights, subsets = 4, 50
	}
	same, conflicts, verified := 0, 0, 0
	for night := range nights {
		rnd := rand.New(rand.NewPCG(uint64(night), 12))
		repo := shop(t)
		w := workspace(t, repo)
		base := begin(t, w, "r1")
		steps := nightOf(t, w, base, 12, rnd)
		tip := steps[len(steps)-1].Commit
		checkout := repoContent(t, repo)
		clone := filepath.Join(t.TempDir(), "clone")
		git(t, repo, "clone", "-q", "--no-checkout", "-b", base.Branch, repo, clone)
		for n := range subsets {
			picked := slices.Clone(steps)
			drop := 1 + rnd.IntN(12)
			for range drop {
				picked[1+rnd.IntN(12)].Drop = true
			}
			branch := fmt.Sprintf("%s.%d", base.Branch, n+1)
			request := ledger.RemakeBranch{Run: "r1", Branch: branch, From: base.Branch, Tip: tip, Base: base.Commit, Steps: picked, Author: base.Author, Time: "2026-11-21T08:00:00+01:00"}
			got, err := w.Remake(t.Context(), request)
			must(t, err)
			if diff := cmp.Diff(checkout, repoContent(t, repo)); diff != "" {
				t.Fatalf("night %d, %s: the checkout, its index or its branches changed (-before +after):\n%s", night, branch, diff)
			}
			want, needs := pickByHand(t, clone, base.Commit, picked)
			if diff := cmp.Diff(needs, needing(got.Needs)); diff != "" {
				t.Fatalf("night %d, %s: conflicts (-by hand +got):\n%s", night, branch, diff)
			}
			if len(needs) > 0 {
				conflicts++
				if _, err := tryGit(t, repo, "rev-parse", "--verify", "-q", branch); err == nil {
					t.Fatalf("%s was made although %v do not apply", branch, got.Needs)
				}
				continue
			}
			same++
			if got.Tree != want || git(t, repo, "rev-parse", branch+"^{tree}") != want {
				t.Fatalf("night %d, %s: tree %s, by hand %s", night, branch, got.Tree, want)
			}
			if n%5 > 0 && !soak {
				continue // the rest takes long, and says the same
			}
			verified++
			verifyKept(t, w, clone, got.Tip, want)
			if reverted, ok := revertByHand(t, clone, tip, picked); ok && reverted != want {
				t.Fatalf("night %d, %s: tree %s, reverted by hand %s", night, branch, got.Tree, reverted)
			}
			again, err := w.Remake(t.Context(), request)
			must(t, err)
			if diff := cmp.Diff(got, again); diff != "" {
				t.Fatalf("%s made again (-first +again):\n%s", branch, diff)
			}
		}
		git(t, repo, "fsck", "--strict", "--no-dangling")
	}
	t.Logf("%d subsets have the tree of git by hand, of which %d were verified in a room; %d name the conflict", same, verified, conflicts)
	if same < nights*subsets/3 || conflicts == 0 {
		t.Errorf("the nights are too much alike: %d without conflict, %d with", same, conflicts)
	}
}

// verifyKept lays a kept tip into a room and verifies it there, by a command that reads
// every file: they are those of the tree that was made by hand.
func verifyKept(t *testing.T, w *Workspace, clone, tip, tree string) {
	t.Helper()
	room, err := w.LayRoom(t.Context(), ledger.RoomUse{Tree: tip}, true)
	must(t, err)
	var paths, hashes []string
	for line := range strings.Lines(git(t, clone, "ls-tree", "-r", tree)) {
		if of, path, _ := strings.Cut(strings.TrimSpace(line), "\t"); strings.HasPrefix(of, "100") { // a file
			paths, hashes = append(paths, path), append(hashes, strings.Fields(of)[2])
		}
	}
	got := inRoom(t, room, `files() { find . -name .git -prune -o -type f -print | sed 's,^[.]/,,' | LC_ALL=C sort; }; files; files | git hash-object --no-filters --stdin-paths`)
	if diff := cmp.Diff(append(paths, hashes...), strings.Split(got, "\n")); diff != "" {
		t.Fatalf("the room of %s has other files (-by hand +there):\n%s", tip, diff)
	}
}

// needing returns the tasks that need others, with the files in conflict.
func needing(needs []ledger.RemakeNeed) []string {
	var out []string
	for _, n := range needs {
		out = append(out, n.Task+": "+strings.Join(n.Files, " "))
	}
	return out
}

// pickByHand picks the kept commits with git cherry-pick, and leaves out what
// conflicts.
func pickByHand(t *testing.T, clone, base string, steps []ledger.RemakeStep) (tree string, needs []string) {
	t.Helper()
	kept := 0
	for kept < len(steps) && !steps[kept].Drop {
		base = steps[kept].Commit
		kept++
	}
	git(t, clone, "checkout", "-q", "-f", "--detach", base)
	for _, s := range steps[kept:] {
		if s.Drop {
			continue
		}
		if _, err := tryGit(t, clone, "-c", "rerere.enabled=false", "cherry-pick", "--allow-empty", "--keep-redundant-commits", s.Commit); err != nil {
			files := strings.Fields(git(t, clone, "diff", "--name-only", "--diff-filter=U"))
			needs = append(needs, s.Task+": "+strings.Join(files, " "))
			git(t, clone, "cherry-pick", "--skip")
		}
	}
	return git(t, clone, "rev-parse", "HEAD^{tree}"), needs
}

// revertByHand takes the left out commits back with git revert, the last one first.
func revertByHand(t *testing.T, clone, tip string, steps []ledger.RemakeStep) (tree string, ok bool) {
	t.Helper()
	git(t, clone, "checkout", "-q", "-f", "--detach", tip)
	for _, s := range slices.Backward(steps) {
		if !s.Drop {
			continue
		}
		if _, err := tryGit(t, clone, "revert", "--no-edit", s.Commit); err != nil {
			git(t, clone, "revert", "--abort")
			return "", false
		}
	}
	return git(t, clone, "rev-parse", "HEAD^{tree}"), true
}

// remakeNight is a night of four tasks that touch different files, the third on top
// of the second.
func remakeNight(t *testing.T) (repo string, w *Workspace, base ledger.Base, request ledger.RemakeBranch) {
	t.Helper()
	repo = shop(t)
	w = workspace(t, repo)
	base = begin(t, w, "r1")
	tip, tree := base.Commit, base.Tree
	var steps []ledger.RemakeStep
	for n, text := range []string{"cart/a.go: a", "cart/b.go: b", "cart/b.go: b and more", "cart/d.go: d"} {
		path, content, _ := strings.Cut(text, ": ")
		next, err := w.withFiles(t.Context(), "r1", tree, map[string][]byte{path: []byte(content + "\n")})
		must(t, err)
		c := commitTask(base, tip, next)
		c.Subject = fmt.Sprintf("feat: Task %d - %s", n+1, path)
		c.Body, c.Footers = "What was done.", "Nightporter-Session: r1-1\nNightporter-Proof: proved\nNightporter-Batch: Task 9\nCo-authored-by: claude <claude@localhost>\n"
		made, err := w.Commit(t.Context(), c, nil)
		must(t, err)
		tip, tree = made.Commit, made.Tree
		steps = append(steps, ledger.RemakeStep{Task: fmt.Sprintf("Task %d", n+1), Commit: tip})
	}
	return repo, w, base, ledger.RemakeBranch{
		Run: "r1", Branch: base.Branch + ".1", From: base.Branch, Tip: tip, Base: base.Commit, Steps: steps,
		Author: base.Author, Time: "2026-11-21T08:00:00+01:00",
	}
}

func TestRemakeMessages(t *testing.T) {
	repo, w, base, b := remakeNight(t)
	b.Steps[0].Drop = true
	made, err := w.Remake(t.Context(), b)
	must(t, err)
	want := "Ada Example <ada@example.org> nightporter <nightporter@localhost> 2026-11-20T22:30:00+01:00\n" +
		"feat: Task 4 - cart/d.go\n\nWhat was done.\n\nNightporter-Session: r1-1\nNightporter-Kept: " + b.Steps[3].Commit + "\nCo-authored-by: claude <claude@localhost>"
	if got := git(t, repo, "show", "-s", "--format=%an <%ae> %cn <%ce> %cI%n%B", b.Branch); got != want {
		t.Errorf("commit is\n%s\nwant\n%s", got, want)
	}
	if got := git(t, repo, "ls-tree", "-r", "--name-only", b.Branch, "cart/"); got != "cart/b.go\ncart/cart.go\ncart/cart_test.go\ncart/d.go" {
		t.Errorf("files:\n%s", got)
	}
	if got := git(t, repo, "rev-parse", base.Branch); got != b.Tip {
		t.Error("the old branch moved")
	}
	if len(made.Commits) != 3 || made.Commits[2].Of != b.Steps[3].Commit || made.Commits[2].Commit != made.Tip {
		t.Errorf("commits %+v", made.Commits)
	}
}

// TestRemakeAll keeps all: the branch has the very same commits. So has one that
// leaves out the last task alone.
func TestRemakeAll(t *testing.T) {
	_, w, _, b := remakeNight(t)
	made, err := w.Remake(t.Context(), b)
	must(t, err)
	if made.Tip != b.Tip {
		t.Errorf("tip %s, want %s", made.Tip, b.Tip)
	}
	b.Branch, b.Steps[3].Drop = "nightporter/shop/r1.2", true
	if made, err = w.Remake(t.Context(), b); err != nil || made.Tip != b.Steps[2].Commit {
		t.Errorf("without the last: %s, %v", made.Tip, err)
	}
	for n := range b.Steps {
		b.Steps[n].Drop = true
	}
	b.Branch = "nightporter/shop/r1.3"
	if made, err = w.Remake(t.Context(), b); err != nil || made.Tip != b.Base {
		t.Errorf("without any: %s, %v", made.Tip, err)
	}
}

func TestRemakeNamesWhatIsNeeded(t *testing.T) {
	repo, w, _, b := remakeNight(t)
	b.Steps[1].Drop = true
	made, err := w.Remake(t.Context(), b)
	must(t, err)
	want := ledger.Remade{Needs: []ledger.RemakeNeed{{Task: "Task 3", On: []string{"Task 2"}, Files: []string{"cart/b.go"}}}}
	if diff := cmp.Diff(want, made); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if out, err := tryGit(t, repo, "rev-parse", "--verify", "-q", b.Branch); err == nil {
		t.Errorf("a branch was made: %s", out)
	}
}

// TestRemakeKeepsForeignCommits: somebody added commits, one of them a merge.
func TestRemakeKeepsForeignCommits(t *testing.T) {
	repo, w, base, b := remakeNight(t)
	other := filepath.Join(t.TempDir(), "other")
	git(t, repo, "worktree", "add", "-q", "--detach", other, base.Branch)
	writeFile(t, other, "cart/mine.go", "mine\n")
	git(t, other, "add", "-A")
	git(t, other, "commit", "-q", "-m", "Mine\n\nNot: a footer of ours")
	git(t, repo, "commit", "-q", "--allow-empty", "-m", "on main")
	git(t, other, "merge", "-q", "-m", "Merge main", "main")
	git(t, repo, "branch", "-f", base.Branch, git(t, other, "rev-parse", "HEAD"))
	tip := git(t, repo, "rev-parse", base.Branch)
	b.Steps[0].Drop = true
	made, err := w.Remake(t.Context(), b)
	must(t, err)
	if diff := cmp.Diff(&ledger.ForeignCommits{Since: b.Tip, Tip: tip}, made.Foreign); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	want := "Merge main|Ada Example\nMine|Ada Example\nfeat: Task 4 - cart/d.go|Ada Example\nfeat: Task 3 - cart/b.go|Ada Example\nfeat: Task 2 - cart/b.go|Ada Example"
	if got := git(t, repo, "log", "--first-parent", "--format=%s|%an", base.Commit+".."+b.Branch); got != want {
		t.Errorf("log:\n%s\nwant\n%s", got, want)
	}
	if got := git(t, repo, "rev-parse", b.Branch+"^2"); got != git(t, repo, "rev-parse", "main") {
		t.Error("the merge has lost its second parent")
	}
	if got := git(t, repo, "ls-tree", "-r", "--name-only", b.Branch, "cart/"); strings.Contains(got, "a.go") || !strings.Contains(got, "mine.go") {
		t.Errorf("files:\n%s", got)
	}
}

// TestRemakeForward takes a change back on a branch that was pushed: a commit on
// top, never another history.
func TestRemakeForward(t *testing.T) {
	repo, w, base, b := remakeNight(t)
	undo := b
	undo.Branch, undo.Base = b.From, b.Tip
	undo.Steps = []ledger.RemakeStep{{Task: "Task 1", Commit: b.Steps[0].Commit, Undo: true, Subject: "revert: Task 1 - A"}}
	made, err := w.Remake(t.Context(), undo)
	must(t, err)
	if git(t, repo, "rev-parse", base.Branch) != made.Tip || git(t, repo, "rev-parse", base.Branch+"^") != b.Tip {
		t.Error("the branch is not one commit further")
	}
	if got := git(t, repo, "show", "-s", "--format=%an %s%n%b", base.Branch); got != "Ada Example revert: Task 1 - A\nThis takes back commit "+b.Steps[0].Commit+"." {
		t.Errorf("message %q", got)
	}
	again, err := w.Remake(t.Context(), undo)
	must(t, err)
	if diff := cmp.Diff(made, again); diff != "" {
		t.Errorf("again (-first +again):\n%s", diff)
	}
	back := undo
	back.Tip, back.Base, back.Steps = made.Tip, made.Tip, []ledger.RemakeStep{{Task: "Task 1", Commit: b.Steps[0].Commit}}
	if made, err = w.Remake(t.Context(), back); err != nil || made.Tree != git(t, repo, "rev-parse", b.Tip+"^{tree}") {
		t.Errorf("brought back: %+v, %v", made, err)
	}
	needed := undo
	needed.Tip, needed.Base = made.Tip, made.Tip
	needed.Steps = []ledger.RemakeStep{{Task: "Task 2", Commit: b.Steps[1].Commit, Undo: true, Subject: "revert: Task 2"}}
	if made, err = w.Remake(t.Context(), needed); err != nil || len(made.Needs) != 1 || made.Needs[0].Files[0] != "cart/b.go" {
		t.Errorf("a change that another one is built on: %+v, %v", made, err)
	}
}

// TestRemakeRefuses: what a person did with the branch in between.
func TestRemakeRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		do   func(t *testing.T, repo string, b ledger.RemakeBranch)
		want string
	}{
		"merged": {func(t *testing.T, repo string, b ledger.RemakeBranch) {
			git(t, repo, "merge", "-q", "--ff-only", b.From)
		}, "is merged into the branch that is checked out"},
		"deleted": {func(t *testing.T, repo string, b ledger.RemakeBranch) { git(t, repo, "branch", "-q", "-D", b.From) }, "is gone"},
		"moved": {func(t *testing.T, repo string, b ledger.RemakeBranch) {
			git(t, repo, "branch", "-q", "-f", b.From, b.From+"~2")
		}, "without the commits of this run"},
		"in use": {func(t *testing.T, repo string, b ledger.RemakeBranch) { git(t, repo, "branch", "-q", b.Branch, "main") }, "is there already"},
		"unrelated": {func(t *testing.T, repo string, b ledger.RemakeBranch) {
			git(t, repo, "branch", "-q", "-f", b.From, "main")
		}, "without the commits of this run"},
	} {
		t.Run(name, func(t *testing.T) {
			repo, w, _, b := remakeNight(t)
			b.Steps[0].Drop = true
			c.do(t, repo, b)
			made, err := w.Remake(t.Context(), b)
			must(t, err)
			if made.Tip != "" || made.Refused == nil || !strings.Contains(made.Refused.Text, c.want) {
				t.Errorf("%+v %+v, want %q", made, made.Refused, c.want)
			}
		})
	}
	t.Run("checked out", func(t *testing.T) { // the old branch may be; one that moves forward may not
		repo, w, _, b := remakeNight(t)
		git(t, repo, "checkout", "-q", b.From)
		b.Steps[0].Drop = true
		made, err := w.Remake(t.Context(), b)
		if err != nil || made.Tip == "" {
			t.Errorf("%+v, %v", made, err)
		}
		b.Branch, b.Base = b.From, b.Tip
		b.Steps = []ledger.RemakeStep{{Task: "Task 1", Commit: b.Steps[0].Commit, Undo: true, Subject: "revert"}}
		_, err = w.Remake(t.Context(), b)
		var unusable *ledger.RepositoryError
		if !errors.As(err, &unusable) || !strings.Contains(unusable.Text, "is checked out") {
			t.Errorf("forward: %v", err)
		}
	})
	t.Run("away", func(t *testing.T) {
		repo, w, _, b := remakeNight(t)
		b.Steps[0].Drop = true
		must(t, os.Rename(repo, repo+"-away"))
		_, err := w.Remake(t.Context(), b)
		var unusable *ledger.RepositoryError
		if !errors.As(err, &unusable) {
			t.Errorf("%v", err)
		}
	})
}

// TestMergeOntoRemade: an attempt that began on the branch with a task goes on on the
// branch without it. Its merge must not bring the task back, although the attempt's
// history has it.
func TestMergeOntoRemade(t *testing.T) {
	_, w, _, b := remakeNight(t)
	attempt, err := w.withFiles(t.Context(), "r1", b.Tip, map[string][]byte{"cart/e.go": []byte("e\n")})
	must(t, err)
	b.Steps[0].Drop = true
	made, err := w.Remake(t.Context(), b)
	must(t, err)
	got, err := w.Merge(t.Context(), ledger.MergeTree{Run: "r1", Base: b.Tip, Tree: attempt, Onto: made.Tip})
	must(t, err)
	files, err := w.changed(t.Context(), made.Tip, got.Tree)
	must(t, err)
	if diff := cmp.Diff([]string{"cart/e.go"}, paths(files)); diff != "" {
		t.Errorf("merged (-want +got):\n%s", diff)
	}
}

// TestRemakeSigned checks that commits that are made again are signed as those of
// the run were.
func TestRemakeSigned(t *testing.T) {
	repo := shop(t)
	program := filepath.Join(t.TempDir(), "gpg.sh")
	must(t, os.WriteFile(program, []byte("#!/bin/sh\ncat >/dev/null\necho '[GNUPG:] SIG_CREATED ' >&2\necho signature\n"), 0o755))
	git(t, repo, "config", "gpg.program", program)
	w := workspace(t, repo, signs)
	base := begin(t, w, "r1")
	steps := nightOf(t, w, base, 3, rand.New(rand.NewPCG(4, 1)))
	for n := range steps {
		steps[n].Drop = n == 1
	}
	made, err := w.Remake(t.Context(), ledger.RemakeBranch{
		Run: "r1", Branch: base.Branch + ".1", From: base.Branch, Tip: steps[len(steps)-1].Commit, Base: base.Commit, Steps: steps,
		Author: base.Author, Committer: base.Committer, Time: "2026-11-21T07:30:00+01:00",
	})
	must(t, err)
	if made.Tip == "" || made.Tip == steps[len(steps)-1].Commit {
		t.Fatalf("nothing was made: %+v", made)
	}
	if text := git(t, repo, "cat-file", "commit", made.Tip); !strings.Contains(text, "\ngpgsig signature") || !strings.Contains(text, "\ncommitter Ada Example ") {
		t.Errorf("it is not signed:\n%s", text)
	}
}
