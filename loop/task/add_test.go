package task

import (
	"errors"
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
