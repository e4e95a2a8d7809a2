package loop

import (
	"fmt"
	"testing"

	"github.com/nightporter/nightporter/loop/ledger"
)

// TestUndoneIsBounded checks that a session that installs packages into a
// folder that is not ignored fills neither the ledger nor the state, and does
// not stop the run.
func TestUndoneIsBounded(t *testing.T) {
	d := newDirector(t, "undone")
	var outside []string
	for n := range 20_000 {
		outside = append(outside, fmt.Sprintf("web/node_modules/package-%05d/index.js", n))
	}
	for _, line := range []string{"tasks 1", "go quiet", "plan", "build", "greens", "issues major:r", "fix", "greens"} {
		if line == "build" || line == "fix" {
			d.taken.Outside = outside
		}
		d.play(line)
	}
	if size := len(mustJSON(t, d.s)); size > 200<<10 {
		t.Errorf("the state has %d kB", size>>10)
	}
	if len(d.s.Project.Questions) != 1 {
		t.Fatalf("questions %v, want one", d.s.Project.Questions)
	}
	if q := d.s.Project.Questions[0]; q.Kind != ledger.AskAllow || len(q.Paths) > maxUndone || len(q.Text) > 2000 {
		t.Errorf("%s %s asks about %d paths in %d characters", q.ID, q.Kind, len(q.Paths), len(q.Text))
	}
}

// TestChangedFilesAreBounded checks that entries of a session with very many new
// files, which a person took over, have a part of them and the number of all.
func TestChangedFilesAreBounded(t *testing.T) {
	d := newDirector(t, "files")
	var files []ledger.FileChange
	for n := range 300_000 {
		files = append(files, ledger.FileChange{Path: fmt.Sprintf("data/%06d.json", n), Added: 1})
	}
	for _, line := range []string{"tasks 1", "go quiet", "plan", "build"} {
		if line == "build" {
			d.taken.Files = files
		}
		d.play(line)
	}
	task, _ := d.s.Project.Find("Task 1")
	if c := task.Attempt.Captured; c == nil || len(c.Files)+c.More != len(files) {
		t.Errorf("captured %+v", c)
	}
	if size := len(mustJSON(t, d.s)); size > 200<<10 {
		t.Errorf("the state has %d kB", size>>10)
	}
}
