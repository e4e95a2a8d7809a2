package markdown

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/task/form"
)

// TestLargeTexts reads and marks texts on which a walk over all earlier lines for each
// line would take hours: 100,000 tasks of one name, in a chain or in a circle, boxes
// 5,000 deep with a million lines below the last, and groups with much text.
func TestLargeTexts(t *testing.T) {
	lines := func(n int, line func(n int) string) string {
		var b strings.Builder
		for i := range n {
			b.WriteString(line(i + 1))
		}
		return b.String()
	}
	const n = 100_000
	for _, c := range []struct {
		name  string
		text  string
		tasks int
		err   string // of the parse; "" = none
	}{
		{"one name", lines(n, func(int) string { return "- [ ] Round totals\n" }), n, ""},
		{"one name, two headings", lines(2, func(h int) string {
			return fmt.Sprintf("# Part %d\n\n%s\n", h, lines(n/2, func(int) string { return "- [ ] Round totals\n" }))
		}), n, ""},
		{"one id", lines(n, func(int) string { return "- [ ] T001 Round totals\n" }), 0, "T001 is there twice: line 1 and line 2"},
		{"one id in a plan", lines(n, func(int) string { return "- [ ] **Task 1: Round totals**\n" }), 0, "Task 1 is there twice: line 1 and line 2"},
		{"one heading", lines(n, func(int) string { return "### Task 1: Round totals\n" }), 0, "Task 1 is there twice: line 1 and line 2"},
		{"a chain", lines(n, func(i int) string { return fmt.Sprintf("- [ ] T%06d Do it (depends on T%06d)\n", i, i+1) }) + "- [ ] T100001 The last\n", n + 1, ""},
		{"a chain in a plan", lines(n, func(i int) string { return fmt.Sprintf("- [ ] **Task %d: Do it**\n  - Depends on: Task %d\n", i, i+1) }) + "- [ ] **Task 100001: The last**\n", n + 1, ""},
		{"a circle in a plan", lines(n, func(i int) string {
			return fmt.Sprintf("- [ ] **Task %d: Do it**\n  - Depends on: Task %d\n", i, i%n+1)
		}), 0, "tasks wait for each other: Task 1 → Task 2 → "},
		{"deep", lines(5_000, func(i int) string { return strings.Repeat(" ", i-1) + "- [ ] a\n" }) + lines(1_000_000, func(int) string { return "b\n" }), 1, ""},
		{"deep groups", lines(5_000, func(i int) string { return strings.Repeat(" ", i-1) + "- [ ] a\n" }) + strings.Repeat(" ", 5_000) + "- [ ] T001 The work\n", 1, ""},
		{"a group with much text", "- [ ] 1. All of it\n" + lines(n, func(int) string { return "  - a line of it\n" }) + lines(n, func(i int) string { return fmt.Sprintf("  - [ ] 1.%d a\n", i) }), n, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := Any{}.Parse("list.md", []byte(c.text))
			if c.err != "" {
				input := (*ledger.InputError)(nil)
				if !errors.As(err, &input) || !strings.HasPrefix(input.Diagnostics[0].Text, c.err) || len(input.Diagnostics) > form.MaxFindings+1 {
					t.Fatalf("%.200v", err)
				}
				return
			}
			if err != nil || len(s.Tasks) != c.tasks || len(s.Warnings) > form.MaxFindings+1 {
				t.Fatalf("%d tasks, %d warnings, %.200v", len(s.Tasks), len(s.Warnings), err)
			}
			size := 0
			for _, task := range s.Tasks {
				size += len(task.Body)
			}
			if size > 8192*n {
				t.Errorf("bodies of %d bytes in a text of %d", size, len(c.text))
			}
			marked, gone, err := Any{}.Mark("list.md", []byte(c.text), []ledger.Marking{{Task: s.Tasks[c.tasks-1].ID, Mark: ledger.MarkDone}})
			if err != nil || len(gone) > 0 || len(marked) != len(c.text) {
				t.Errorf("%d bytes of %d, %v %v", len(marked), len(c.text), gone, err)
			}
		})
	}
}
