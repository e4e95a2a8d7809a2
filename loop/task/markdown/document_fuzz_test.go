package markdown

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/task/form/formtest"
)

// FuzzAny: whatever the text, a mark of all tasks reads back as intended, changes
// nothing the second time, and never panics; an added task leaves the others as they
// are.
func FuzzAny(f *testing.F) {
	for _, s := range slices.Concat(formtest.Headings, formtest.Checklists, formtest.Plans) {
		f.Add([]byte(s))
	}
	for _, s := range []string{
		"", "\ufeff", "---\n- [ ] a", "---\n- [ ] a\n---\n- [ ] b", "- [ ]", "- [ ] \n", "- [ ]*", "### Task 1:", "### Task 1: (blocked)", "### ✅ Task 1: a ✅ (done) ##",
		"- [ ] (blocked)", "- [ ] 1.", "- [ ] **1.1** a", "- [ ] **T001: a**", "- [ ] `T01` a (blocked) ", "1) [ ] a\n   - [x] b", "- [ ] 1. a\n- [ ] 1.1. b\n  - [ ] 1.1.1 c", "### [x] Task 1: a\n- [ ] b",
		"- [ ] a\n\t- [ ] b\n \t - [X] c", "```markdown\n```sh\n```\n- [ ] a\n```\n- [ ] b", "<!-- - [ ] a\n--> \n- [ ] b", "- [ ] Phase 1: a\n- [ ] 01-01 b", "- [ ] a\\ (blocked)", "- [ ] a` (blocked)` (done)",
		"- [ ] **Task 1: A**\n### Task 1: B\n- [ ] c", "# High\r- [ ] a\r\n## P1: x\r\n- [~] b", "- [ ] T01 [P] [US1] (blocked) a", "- [ ] ~~**a**~~\n  > q\n  _R: 1_", "- [x] a\n- [x] a\n- [x] a",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		before := bytes.Clone(data)
		s, err := Any{}.Parse("p.md", data)
		if !bytes.Equal(before, data) {
			t.Fatal("parsing changed its input")
		}
		if err != nil {
			if !errors.As(err, new(*ledger.InputError)) {
				t.Fatalf("not an InputError: %v", err)
			}
			Any{}.Mark("p.md", data, []ledger.Marking{{Task: "Task 1", Mark: ledger.MarkBlocked}})
			return
		}
		for _, m := range []ledger.Mark{ledger.MarkDone, ledger.MarkBlocked, ledger.MarkManualVerify, ledger.MarkOpen} {
			var marks []ledger.Marking
			for _, task := range s.Tasks {
				marks = append(marks, ledger.Marking{Task: task.ID, Mark: m})
			}
			marked, gone, err := Any{}.Mark("p.md", data, marks)
			if err != nil || len(gone) > 0 {
				t.Fatalf("%s: %v %v\n%q", m, gone, err, data)
			}
			again, err := Any{}.Parse("p.md", marked)
			if err != nil {
				if strings.Contains(err.Error(), "scope of ") {
					return // scopes of done tasks are not checked
				}
				t.Fatalf("%v\n%q", err, marked)
			}
			for i := range s.Tasks {
				want := s.Tasks[i]
				want.Mark = m
				// Bodies have the boxes of steps and groups in them.
				if d := cmp.Diff(want, again.Tasks[i], cmpopts.IgnoreFields(ledger.Task{}, "Notes")); d != "" {
					t.Fatalf("%s\n%q", d, marked)
				}
			}
			if same, _, err := (Any{}).Mark("p.md", marked, marks); err != nil || !bytes.Equal(same, marked) {
				t.Fatalf("not idempotent: %v\n%q\n%q", err, marked, same)
			}
		}
		if _, _, err := (Any{}).Add("p.md", data, []ledger.Task{{Title: "Say hello"}}); err != nil && !errors.As(err, new(*ledger.InputError)) {
			t.Fatalf("add: %v", err)
		}
	})
}

// largeLists are lists of n tasks of each form.
func largeLists(n int) map[string]string {
	var plan, headings, spec, plain strings.Builder
	for i := 1; i <= n; i++ {
		fmt.Fprintf(&plan, "- [ ] **Task %d: Part %d of it**\n  - Scope: `src/a%d/`\n  - Depends on: Task %d\n  - Acceptance: it works\n", i, i, i, max(1, i-1))
		fmt.Fprintf(&headings, "### Task %d: Part %d of it\n\n**Files:**\n- Modify: `src/a%d.go`\n\n- [ ] do it\n- [ ] test it\n\n", i, i, i)
		fmt.Fprintf(&spec, "- [ ] T%06d [P] [US1] Part %d in `src/a%d.go` (depends on T%06d)\n", i, i, i, max(1, i-1))
		fmt.Fprintf(&plain, "- [ ] Part %d of it\n  - a remark\n", i)
	}
	return map[string]string{"plan": strings.Replace(plan.String(), "  - Depends on: Task 1\n", "", 1), "headings": "## Tasks\n\n" + headings.String(),
		"spec-kit": strings.Replace(spec.String(), " (depends on T000001)", "", 1), "plain": plain.String()}
}

// TestLargeLists reads and marks lists that are larger than any that a person writes.
func TestLargeLists(t *testing.T) {
	for name, text := range largeLists(20_000) {
		s, err := Any{}.Parse("p.md", []byte(text))
		if err != nil || len(s.Tasks) != 20_000 {
			t.Fatalf("%s: %d tasks, %v", name, len(s.Tasks), err)
		}
		marked, gone, err := Any{}.Mark("p.md", []byte(text), []ledger.Marking{{Task: s.Tasks[12_345].ID, Mark: ledger.MarkDone}})
		if err != nil || len(gone) > 0 || len(marked) != len(text) {
			t.Errorf("%s: %v %v", name, gone, err)
		}
	}
}

// BenchmarkLarge reads 100,000 tasks and writes one status.
func BenchmarkLarge(b *testing.B) {
	for name, text := range largeLists(100_000) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			data := []byte(text)
			for b.Loop() {
				s, err := Any{}.Parse("p.md", data)
				if err != nil {
					b.Fatal(err)
				}
				if _, _, err := (Any{}).Mark("p.md", data, []ledger.Marking{{Task: s.Tasks[50_000].ID, Mark: ledger.MarkDone}}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
