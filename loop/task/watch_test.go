package task

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/nightporter/nightporter/internal/fault"
	"github.com/nightporter/nightporter/loop/ledger"
)

// TestWatchLostRepository renames the whole repository away, edits the plan there and
// brings it back: no event of its folders tells of that. A plan that is a folder for a
// while is told, too.
func TestWatchLostRepository(t *testing.T) {
	t.Parallel()
	dir, path := newRepo(t, twoTasks)
	s := openPlanT(t, "plan.md", dir)
	if _, err := s.Read(t.Context()); err != nil {
		t.Fatal(err)
	}
	changed, ended := make(chan struct{}, 100), make(chan error, 1)
	go func() { ended <- s.Watch(t.Context(), func() { changed <- struct{}{} }) }()
	do := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	told := func(what string) {
		t.Helper()
		select {
		case <-changed:
		case err := <-ended:
			t.Fatalf("%s: watching ended: %v", what, err)
		case <-time.After(3 * time.Minute):
			t.Fatalf("%s: not told", what)
		}
	}
	do(os.Rename(dir, dir+".away"))
	told("repository away")
	do(os.Rename(dir+".away", dir))
	told("repository back")
	write(t, path, []byte(twoTasks+"- [ ] **Task 3: Three**\n"))
	told("edited after that")
	do(os.Rename(path, path+".aside"))
	do(os.Mkdir(path, 0o755))
	told("a folder in its place")
	if _, err := s.Read(t.Context()); err == nil {
		t.Error("a folder was read as a plan")
	}
	do(os.Remove(path))
	do(os.Rename(path+".aside", path))
	told("the file again")
}

// TestWatchLateRepository watches a plan whose repository is not there yet.
func TestWatchLateRepository(t *testing.T) {
	t.Parallel()
	dir, _ := newRepo(t, twoTasks)
	s := openPlanT(t, "plan.md", dir)
	if err := os.Rename(dir, dir+".away"); err != nil {
		t.Fatal(err)
	}
	changed, ended := make(chan struct{}, 100), make(chan error, 1)
	go func() { ended <- s.Watch(t.Context(), func() { changed <- struct{}{} }) }()
	for _, what := range []string{"away", "there"} {
		select {
		case <-changed:
		case err := <-ended:
			t.Fatalf("%s: watching ended: %v", what, err)
		case <-time.After(3 * time.Minute):
			t.Fatalf("%s: not told", what)
		}
		if what == "away" {
			if err := os.Rename(dir+".away", dir); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestWriteAway marks and logs while the repository is renamed away, and while only
// the folder that it is mounted on is there: both are faults, which are tried again,
// and nothing is made in that folder.
func TestWriteAway(t *testing.T) {
	dir, _ := newRepo(t, twoTasks)
	if err := os.Mkdir(filepath.Join(dir, ".git"), 0o755); err != nil {
		t.Fatal(err)
	}
	s := openPlanT(t, "plan.md", dir)
	do := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	mark := func() error {
		return s.Mark(t.Context(), []ledger.Marking{{Task: "Task 1", Mark: ledger.MarkDone}})
	}
	log := func() error {
		return s.Log(t.Context(), ledger.Progress{Key: "k", Task: "Task 1"})
	}
	refused := func() {
		t.Helper()
		for name, err := range map[string]error{"mark": mark(), "log": log()} {
			if fault.Of(err) != ledger.FaultRepository {
				t.Errorf("%s: %v, want a fault of the repository", name, err)
			}
		}
	}
	do(os.Rename(dir, dir+".away"))
	refused()
	do(os.Mkdir(dir, 0o755))
	refused()
	if left := entries(t, dir); len(left) > 0 {
		t.Errorf("made in the empty folder: %q", left)
	}
	do(os.Remove(dir))
	do(os.Rename(dir+".away", dir))
	do(mark())
	do(log())
}
