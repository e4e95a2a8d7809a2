package loop

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nightporter/nightporter/loop/ledger"
)

// TestRemakePushed: of a branch that was pushed no other one is made. Commits on top
// take changes back, the last one first, and bring others back.
func TestRemakePushed(t *testing.T) {
	n := playing(t, "tasks 1 2 3", "go quiet", "task", "task", "task", "greens", "/revert 3", "/answer q1 drop", "greens")
	d := &decision{State: n.s, in: Input{Time: n.now, Project: "shop", Actor: "mira"}}
	d.add(scope{}, ledger.RemakeAsked{Wish: ledger.RemakeWish{Drop: []string{"Task 1", "Task 2"}, Back: []string{"Task 3"}}})
	got := d.remakeRequest(true)
	if got.Branch != got.From || got.Base != got.Tip || got.Tip != n.s.Project.Run.Tip {
		t.Errorf("%s from %s, on %s, tip %s", got.Branch, got.From, got.Base, got.Tip)
	}
	want := []ledger.RemakeStep{
		{Task: "Task 2", Commit: "c2", Undo: true, Subject: "revert: Task 2 - Title 2"},
		{Task: "Task 1", Commit: "c1", Undo: true, Subject: "revert: Task 1 - Title 1"},
		{Task: "Task 3", Commit: "c3"},
	}
	if diff := cmp.Diff(want, got.Steps); diff != "" {
		t.Errorf("steps (-want +got):\n%s", diff)
	}
	d.remake(ledger.RemakeWish{}) // refused: one is asked for already
	if d.answer.Code != ledger.CodeBusy {
		t.Errorf("%+v", d.answer)
	}
	top := ledger.BranchRemade{Branch: got.Branch, From: got.From, Tip: "c9", Tree: "t9", Wish: d.run().Remake.Wish, Commits: []ledger.RemadeCommit{
		{Task: "Task 2", Of: "c2", Commit: "c7", Undo: true}, {Task: "Task 1", Of: "c1", Commit: "c8", Undo: true}, {Task: "Task 3", Of: "c3", Commit: "c9"},
	}}
	d.add(scope{}, top)
	if diff := cmp.Diff([]string{"Task 3"}, d.Project.Kept()); diff != "" || d.run().Base.Branch != got.From {
		t.Errorf("the branch %s has (-want +got):\n%s", d.run().Base.Branch, diff)
	}
	if c, _ := d.task("Task 3"); c.Commit != "c9" {
		t.Errorf("the commit of Task 3 is %s", c.Commit)
	}
}

// words are the words of proof of the tasks, "-" for none.
func words(n *director) string {
	var out []string
	for _, t := range n.s.Project.Tasks.All() {
		word := "-"
		if p := n.s.Project.TaskProof(*t); p != nil && t.Status == ledger.Done {
			word = string(p.Word)
		}
		out = append(out, ledger.ShortID(t.Task.ID)+" "+word)
	}
	return strings.Join(out, ", ")
}

// TestRemakeWords: a task that is taken out has no word, and gets the one that it had
// when it is brought back, also if it has two commits or parts.
func TestRemakeWords(t *testing.T) {
	inParts := []string{"tasks 1", "set consensus=yes stays=yes", "go quiet", "sections a b", "critic OKAY", "build", "greens", "ok", "build", "greens", "ok", "greens"}
	for name, c := range map[string]struct {
		script []string
		want   string
	}{
		"taken out":    {[]string{"tasks 1 2", "go quiet", "task", "task", "greens", "/revert 1", "/answer q1 drop", "greens"}, "#1 -, #2 tested"},
		"brought back": {[]string{"tasks 1 2", "go quiet", "task", "task", "greens", "/revert 1", "/answer q1 drop", "greens", "/keep all"}, "#1 tested, #2 tested"},
		"two commits, brought back": {[]string{"tasks 1 2", "go quiet", "task", "/retry 1", "task", "task", "greens", "/revert 1", "/answer q1 drop", "greens", "/keep all"},
			"#1 tested, #2 tested"},
		"in parts, taken out":    {append(slices.Clone(inParts), "/revert 1", "/answer q1 drop", "greens"), "#1 -, #1/a -, #1/b -"},
		"in parts, brought back": {append(slices.Clone(inParts), "/revert 1", "/answer q1 drop", "greens", "/keep all"), "#1 tested, #1/a tested, #1/b tested"},
		"twice out, brought back": {[]string{"tasks 1 2", "go quiet", "task", "task", "greens", "/revert 1", "/answer q1 drop", "greens", "/keep all", "/revert 1 2", "/answer q2 drop", "greens", "/keep all"},
			"#1 tested, #2 tested"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := words(playing(t, c.script...)); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}
