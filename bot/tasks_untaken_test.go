package bot

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// TestUntaken checks that the card of a stranger's task shows what it says and offers
// to take it, and that a taken one does not.
func TestUntaken(t *testing.T) {
	var more strings.Builder
	for n := range 60 {
		fmt.Fprintf(&more, "And more %d.\n", n)
	}
	one := loop.TaskState{Status: ledger.Pending, Task: ledger.Task{ID: "#12", Title: "Print the sum", Body: "Please.\n\n" + more.String(), Author: "mallory", Mark: ledger.MarkOpen}}
	s := loop.State{Project: loop.Project{Name: "shop", Tasks: loop.NewTaskList(one)}}
	now := time.Date(2026, 11, 24, 1, 0, 0, 0, time.UTC)
	m := Task(s, one, TaskHistory{}, now)
	var text []string
	for _, l := range m.Lines {
		text = append(text, l.Text)
	}
	whole := strings.Join(text, "\n")
	for _, want := range []string{"#12 by mallory, not taken", "Please.", "may not write", "And more 0.", "And more 59."} {
		if !strings.Contains(whole, want) {
			t.Errorf("no %q in:\n%s", want, whole)
		}
	}
	if b := m.Buttons; len(b) != 2 || b[0].Label != "Take" || b[0].Command != "/next 12 "+one.TextID() {
		t.Errorf("buttons %+v", b)
	}
	one.Taken = "x"
	for _, b := range Task(s, one, TaskHistory{}, now).Buttons {
		if b.Label == "Take" {
			t.Errorf("a taken task offers to be taken: %+v", b)
		}
	}
}
