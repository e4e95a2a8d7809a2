package task

import (
	"os"
	"testing"
	"time"
)

// TestWatchLostRepository renames the whole repository away, edits the plan there and
// brings it back: no event of its folders tells of that. A plan that is a folder for a
// while is told, too.
func TestWatchLostRepository(t *testing.T) {
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
		case <-time.After(20 * time.Second):
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
		case <-time.After(20 * time.Second):
			t.Fatalf("%s: not told", what)
		}
		if what == "away" {
			if err := os.Rename(dir+".away", dir); err != nil {
				t.Fatal(err)
			}
		}
	}
}
