package workspace

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nightporter/nightporter/loop/ledger"
)

// liftNight is a night of four tasks, of which the third changes the file of the second,
// and main as it is after somebody pushed to it meanwhile.
func liftNight(t *testing.T) (repo string, w *Workspace, b ledger.RemakeBranch, main string) {
	t.Helper()
	repo, w, _, b = remakeNight(t)
	writeFile(t, repo, "docs/news.md", "new on main\n")
	git(t, repo, "add", "-A")
	git(t, repo, "commit", "-q", "-m", "On main")
	has, err := w.FetchBranches(t.Context(), Remote{URL: repo}, "r1", "main")
	must(t, err)
	return repo, w, b, has["main"]
}

func under(b ledger.RemakeBranch, n int, tip string, has ...string) ledger.LiftUnder {
	return ledger.LiftUnder{ID: "r1-" + b.Steps[n].Task, Task: b.Steps[n].Task, Commit: b.Steps[n].Commit, Tip: tip, Has: has}
}

// ours runs git in nightporter's own repository: no ref leads to what is lifted.
func ours(t *testing.T, w *Workspace, args ...string) string {
	t.Helper()
	return git(t, w.gitDir, args...)
}

// TestLiftApart lays tasks that share no file on the base as it is now: one commit each,
// with the change of the task and what is new on the base, and nothing else.
func TestLiftApart(t *testing.T) {
	repo, w, b, main := liftNight(t)
	before := repoContent(t, repo)
	var over []ledger.LiftUnder
	for n, path := range map[int]string{0: "cart/a.go", 1: "cart/b.go", 3: "cart/d.go"} {
		request := ledger.LiftCommit{Run: "r1", Task: b.Steps[n].Task, Commit: b.Steps[n].Commit, Onto: main, Over: over}
		got, err := w.Lift(t.Context(), request)
		must(t, err)
		if got.Onto != main || got.On != "" || len(got.Files) > 0 || got.Why != "" || ours(t, w, "rev-parse", got.Tip+"^") != main {
			t.Fatalf("%s: %+v", path, got)
		}
		if files := ours(t, w, "diff", "--name-only", main, got.Tip); files != path {
			t.Errorf("%s changes %s", path, files)
		}
		again, err := w.Lift(t.Context(), request)
		must(t, err)
		if diff := cmp.Diff(got, again); diff != "" {
			t.Errorf("again (-first +again):\n%s", diff)
		}
		over = append(over, under(b, n, got.Tip))
	}
	if diff := cmp.Diff(before, repoContent(t, repo)); diff != "" {
		t.Errorf("the user's repository changed (-before +after):\n%s", diff)
	}
}

// TestLiftFirst lays the first commit on the commit that the run began with: it is that
// commit, with its proof.
func TestLiftFirst(t *testing.T) {
	_, w, b, _ := liftNight(t)
	got, err := w.Lift(t.Context(), ledger.LiftCommit{Run: "r1", Task: "Task 1", Commit: b.Steps[0].Commit, Onto: b.Base})
	must(t, err)
	if diff := cmp.Diff(ledger.Lifted{Tip: b.Steps[0].Commit, Onto: b.Base}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestLiftOver lays a task on the branch of the one that changes the same file, also
// where another one stands between them.
func TestLiftOver(t *testing.T) {
	_, w, b, main := liftNight(t)
	below, err := w.Lift(t.Context(), ledger.LiftCommit{Run: "r1", Task: "Task 2", Commit: b.Steps[1].Commit, Onto: main})
	must(t, err)
	request := ledger.LiftCommit{Run: "r1", Task: "Task 3", Commit: b.Steps[2].Commit, Onto: main, Over: []ledger.LiftUnder{under(b, 0, b.Steps[0].Commit), under(b, 1, below.Tip)}}
	got, err := w.Lift(t.Context(), request)
	must(t, err)
	if got.Onto != below.Tip || got.On != "r1-Task 2" || cmp.Diff([]string{"cart/b.go"}, got.Files) != "" || ours(t, w, "rev-parse", got.Tip+"^") != below.Tip {
		t.Errorf("%+v", got)
	}
	if files := ours(t, w, "diff", "--name-only", main, got.Tip); files != "cart/b.go" {
		t.Errorf("changed: %s", files)
	}
	if text := ours(t, w, "show", "-s", "--format=%b", got.Tip); !strings.Contains(text, KeptFooter+": "+b.Steps[2].Commit) || strings.Contains(text, "Nightporter-Proof") {
		t.Errorf("its message speaks of another tree: %s", text)
	}
}

// TestLiftNot says why a commit stands on no branch alone.
func TestLiftNot(t *testing.T) {
	_, w, b, main := liftNight(t)
	conflicts := ledger.LiftCommit{Run: "r1", Task: "Task 3", Commit: b.Steps[2].Commit, Onto: main}
	got, err := w.Lift(t.Context(), conflicts)
	must(t, err)
	if diff := cmp.Diff(ledger.Lifted{Why: "without the rest of the run its change conflicts in cart/b.go"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	two := under(b, 1, b.Steps[1].Commit)
	two.ID, two.Task = "r1-b9", "B9"
	apart := conflicts
	apart.Over = []ledger.LiftUnder{under(b, 1, b.Steps[1].Commit), two}
	got, err = w.Lift(t.Context(), apart)
	must(t, err)
	if diff := cmp.Diff(ledger.Lifted{Why: "it changes files of Task 2 and B9, which do not stand on each other"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	apart.Over[1].Has = []string{"r1-Task 2"} // it does now
	if got, err = w.Lift(t.Context(), apart); err != nil || got.On != "r1-b9" {
		t.Errorf("%+v, %v", got, err)
	}
	same := ledger.LiftCommit{Run: "r1", Task: "Task 1", Commit: b.Steps[0].Commit, Onto: b.Steps[0].Commit}
	if got, err = w.Lift(t.Context(), same); err != nil || got.Tip != "" || got.Why != "the branch that it would stand on has its whole change" {
		t.Errorf("%+v, %v", got, err)
	}
	same.Onto = "0123456789012345678901234567890123456789"
	if got, err = w.Lift(t.Context(), same); err == nil {
		t.Errorf("onto a commit that is not there: %+v", got)
	}
}

// TestLiftBack takes a lifted change back on its own branch, and brings it back again.
func TestLiftBack(t *testing.T) {
	_, w, b, main := liftNight(t)
	up, err := w.Lift(t.Context(), ledger.LiftCommit{Run: "r1", Task: "Task 1", Commit: b.Steps[0].Commit, Onto: main})
	must(t, err)
	undo := ledger.LiftCommit{Run: "r1", Task: "Task 1", Commit: up.Tip, Onto: up.Tip, Undo: true, Subject: "revert: Task 1 - A", Author: b.Author, Time: b.Time}
	down, err := w.Lift(t.Context(), undo)
	must(t, err)
	if down.Onto != up.Tip || ours(t, w, "diff", "--name-only", main, down.Tip) != "" {
		t.Errorf("%+v", down)
	}
	back, err := w.Lift(t.Context(), ledger.LiftCommit{Run: "r1", Task: "Task 1", Commit: up.Tip, Onto: down.Tip})
	must(t, err)
	if back.Onto != down.Tip || ours(t, w, "diff", "--name-only", up.Tip, back.Tip) != "" {
		t.Errorf("%+v", back)
	}
}
