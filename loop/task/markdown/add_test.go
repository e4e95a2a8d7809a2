package markdown

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/task/form/formtest"
)

// TestAdd writes a task at the end of each kind of list, as its own are written.
func TestAdd(t *testing.T) {
	for _, c := range []struct {
		name, in string
		task     ledger.Task
		id, want string
	}{
		{"plan", "- [ ] **Task 1: A**\n\n- [x] **Task 2.5: B**\n  - Scope: a/\n\n## Notes\n", ledger.Task{Title: "C", Body: "first\nsecond", DependsOn: []string{"Task 1"}, Acceptance: []string{"it is"}},
			"Task 3", "- [ ] **Task 1: A**\n\n- [x] **Task 2.5: B**\n  - Scope: a/\n\n- [ ] **Task 3: C**\n  - Depends on: Task 1\n  - Acceptance:\n    - it is\n  - Notes: first\n    second\n\n## Notes\n"},
		{"plan without gaps, CRLF", "* [ ] **Task 1: A**\r\n* [ ] **Task 2: B**", ledger.Task{Title: "C"}, "Task 3", "* [ ] **Task 1: A**\r\n* [ ] **Task 2: B**\r\n* [ ] **Task 3: C**\r\n"},
		{"headings", "## Task 1: A\n- [x] a\n\n## Notes\nx\n", ledger.Task{Title: "B", Scope: "`a/b.go`", Body: "## how\nso", Acceptance: []string{"c"}},
			"Task 2", "## Task 1: A\n- [x] a\n\n## Task 2: B\n\n**Files:**\n- `a/b.go`\n\n\\## how\nso\n\n- [ ] c\n\n## Notes\nx\n"},
		{"headings without criteria", "### Task 1: A\n- [x] a\n", ledger.Task{Title: "B"}, "Task 2", "### Task 1: A\n- [x] a\n\n### Task 2: B\n\n- [ ] B\n"},
		{"spec-kit", "## Phase 1: S\n- [x] T009 [P] a\n\n## Notes\n- n\n", ledger.Task{Title: "B", DependsOn: []string{"T009"}}, "T010", "## Phase 1: S\n- [x] T009 [P] a\n- [ ] T010 B\n  - Depends on: T009\n\n## Notes\n- n\n"},
		{"kiro", "- [ ] 1. A\n  - [ ] 1.1 a\n  - [ ] 1.2 b\n", ledger.Task{Title: "B"}, "2", "- [ ] 1. A\n  - [ ] 1.1 a\n  - [ ] 1.2 b\n- [ ] 2. B\n"},
		{"openspec", "## 1. A\n- [x] 1.1 a\n- [x] 1.9 b\n", ledger.Task{Title: "B"}, "1.10", "## 1. A\n- [x] 1.1 a\n- [x] 1.9 b\n- [ ] 1.10 B\n"},
		{"gsd", "- [ ] **Phase 1: A**\n\nPlans:\n- [ ] 01-01-PLAN.md -- a\n", ledger.Task{Title: "B"}, "Phase 2", ""},
		{"priority", "## High\n- [ ] a\n\n## Low\n- [ ] d\n\n## Completed\n- [x] c\n", ledger.Task{Title: "B", Priority: 3}, "", "## High\n- [ ] a\n- [ ] B\n  - Priority: 3\n\n## Low\n- [ ] d\n\n## Completed\n- [x] c\n"},
		{"not below finished work", "## Low\n- [ ] a\n\n## Completed\n- [x] c\n", ledger.Task{Title: "B"}, "", "## Low\n- [ ] a\n- [ ] B\n\n## Completed\n- [x] c\n"},
		{"empty list", "# TODO\n", ledger.Task{Title: "B"}, "", "# TODO\n\n- [ ] B\n"},
		{"empty file", "", ledger.Task{Title: "B"}, "", "- [ ] B\n"},
		{"id of its own", "- [ ] T001 a\n", ledger.Task{ID: "T050", Title: "B"}, "T050", "- [ ] T001 a\n- [ ] T050 B\n"},
		{"a mark in the title", "- [ ] a\n", ledger.Task{Title: "b (blocked)"}, "", "- [ ] a\n- [ ] b blocked\n"},
		{"an id in a list without ids", "- [ ] a\n", ledger.Task{Title: "BUG-12: crash"}, "", "- [ ] a\n- [ ] \"BUG-12\": crash\n"},
		{"a number in a list without ids", "- [ ] a\n", ledger.Task{Title: "1. crash"}, "", "- [ ] a\n- [ ] \"1\". crash\n"},
		{"a second id in a list without ids", "- [ ] a\n- [ ] BUG-12 b\n", ledger.Task{Title: "BUG-13 crash"}, "", "- [ ] a\n- [ ] BUG-12 b\n- [ ] \"BUG-13\" crash\n"},
		{"a title that is struck out", "- [ ] a\n", ledger.Task{Title: "~~b~~"}, "", "- [ ] a\n- [ ] b\n"},
		{"a backslash at the end", "- [ ] **Task 1: A**\n", ledger.Task{Title: `b\`}, "Task 2", "- [ ] **Task 1: A**\n- [ ] **Task 2: b**\n"},
		{"HTML that hides what follows", "### Task 1: A\n- [x] a\n", ledger.Task{Title: "B", Body: "x\n<pre>\n<details>"}, "Task 2", "### Task 1: A\n- [x] a\n\n### Task 2: B\n\nx ‹pre> ‹details>\n\n- [ ] B\n"},
		{"title of two lines", "- [ ] a\n", ledger.Task{Title: " B\n  c "}, "", "- [ ] a\n- [ ] B c\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, ids, err := Any{}.Add("x.md", []byte(c.in), []ledger.Task{c.task})
			if err != nil {
				t.Fatal(err)
			}
			if c.want != "" && string(got) != c.want {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
			if len(ids) != 1 || c.id != "" && ids[0] != c.id {
				t.Errorf("ids %q, want %q", ids, c.id)
			}
		})
	}
	for name, c := range map[string]struct {
		in   string
		task ledger.Task
		err  string
	}{
		"id that is there":   {"- [ ] T001 a\n", ledger.Task{ID: "t001", Title: "b"}, "t001 is there already"},
		"unknown dependency": {"- [ ] T001 a\n", ledger.Task{Title: "b", DependsOn: []string{"T9"}}, "depends on T9, which this file lacks"},
		"no title":           {"- [ ] T001 a\n", ledger.Task{Title: " "}, "has no title"},
		"prose":              {"Words.\n", ledger.Task{Title: "a"}, "has no tasks"},
	} {
		if _, _, err := (Any{}).Add("x.md", []byte(c.in), []ledger.Task{c.task}); err == nil || !strings.Contains(err.Error(), c.err) || !errors.As(err, new(*ledger.InputError)) {
			t.Errorf("%s: %v, want %q", name, err, c.err)
		}
	}
}

// TestAddToShapes adds three tasks to every shape: all other bytes stay, in order.
func TestAddToShapes(t *testing.T) {
	for _, text := range slices.Concat(formtest.Headings, formtest.Checklists, formtest.Plans[:2]) {
		before, err := Any{}.Parse("x.md", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		got, ids, err := Any{}.Add("x.md", []byte(text), []ledger.Task{
			{Title: "Say hello", Body: "To all.\n\nLoudly."}, {Title: "Say goodbye", Acceptance: []string{"heard"}, Scope: "`a.go`"}, {Title: "Leave", Priority: 2}})
		if err != nil {
			t.Errorf("%v\n%s", err, text)
			continue
		}
		after, err := Any{}.Parse("x.md", got)
		if err != nil || len(after.Tasks) != len(before.Tasks)+3 || len(ids) != 3 {
			t.Errorf("%d tasks, ids %q, %v", len(after.Tasks), ids, err)
		}
		rest := got
		for _, line := range bytes.SplitAfter([]byte(text), []byte("\n")) {
			n := bytes.Index(rest, line)
			if n < 0 {
				t.Fatalf("the line %q is gone from\n%s", line, got)
			}
			rest = rest[n+len(line):]
		}
	}
}
