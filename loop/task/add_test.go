package task

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/task/markdown"
)

// TestAddToEmptyList adds the first tasks to lists that have none.
func TestAddToEmptyList(t *testing.T) {
	for text, want := range map[string]string{
		"":           "- [ ] Zoom on a tap\n",
		"# Plan\n":   "# Plan\n\n- [ ] Zoom on a tap\n",
		"# Plan\r\n": "# Plan\r\n\r\n- [ ] Zoom on a tap\r\n",
	} {
		grown, done, err := AddToText(markdown.Any{}, "plan.md", []byte(text), ledger.AddTasks{Tasks: []ledger.Task{{Title: "Zoom on a tap"}}})
		if err != nil || string(grown) != want || len(done.IDs) != 1 || len(done.Snapshot.Tasks) != 1 {
			t.Errorf("%q: %q, %+v, %v", text, grown, done, err)
		}
	}
}

// TestAddToBrokenText adds a task to a text that cannot be read. Where an addition that
// was cut off may have written it, nobody is told that it is not there.
func TestAddToBrokenText(t *testing.T) {
	const twice = "- [ ] **Task 1: One**\n- [ ] **Task 1: Again**\n"
	for text, want := range map[string]bool{twice: false, twice + "- [ ] **Task 2: Zoom on a tap**\n": true} {
		_, _, err := AddToText(markdown.Any{}, "plan.md", []byte(text), ledger.AddTasks{Tasks: []ledger.Task{{Title: "Zoom on a tap"}}})
		input := (*ledger.InputError)(nil)
		if !errors.As(err, &input) {
			t.Fatalf("%q: %v", text, err)
		}
		if remedy := input.Diagnostics[0].Remedy; strings.HasSuffix(remedy, InFile) != want {
			t.Errorf("%q: remedy %q", text, remedy)
		}
	}
}

// TestAddTable: a table in the text of a new task makes no backlog of a list.
func TestAddTable(t *testing.T) {
	for name, text := range map[string]string{"plan": "- [ ] **Task 1: A**\n", "headings": "### Task 1: A\n\n- [ ] a\n", "checklist": "- [ ] A\n"} {
		repo := t.TempDir()
		write(t, filepath.Join(repo, "list.md"), []byte(text))
		source, err := Open(KindPlan, "list.md", repo, Options{})
		if err != nil {
			t.Fatal(err)
		}
		body := "before\n| ID | Status |\n|:--|---|\n| X-1 | queued |\nafter"
		if _, err := AddOnce(t.Context(), source, ledger.AddTasks{Tasks: []ledger.Task{{Title: "B", Body: body}}}); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(filepath.Join(repo, "list.md"))
		if kind, _, bad := Resolve(t.Context(), repo, KindAuto, "list.md"); kind != KindPlan {
			t.Errorf("%s: %q %v\n%s", name, kind, bad, got)
		}
		if err != nil || !strings.Contains(string(got), "| X-1 | queued |") || !strings.Contains(string(got), "| ID | Status |") {
			t.Errorf("%s: %v\n%s", name, err, got)
		}
	}
}
