package markdown

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/task/form/formtest"
)

func TestMarkPlan(t *testing.T) {
	for _, c := range []struct {
		in   string
		mark ledger.Mark
		want string
	}{
		{"- [ ] **Task 5: A**", ledger.MarkDone, "- [x] **Task 5: A**"},
		{"- [x] **Task 5: A**", ledger.MarkOpen, "- [ ] **Task 5: A**"},
		{"- [X] **Task 5: A**", ledger.MarkDone, "- [X] **Task 5: A**"},
		{"- [ ] **Task 5: A**", ledger.MarkBlocked, "- [ ] (blocked) **Task 5: A**"},
		{"- [x] **Task 5: A**", ledger.MarkManualVerify, "- [ ] (manual-verify) **Task 5: A**"},
		{"- [ ]\t **Task 5: A**", ledger.MarkBlocked, "- [ ] (blocked)\t **Task 5: A**"},
		{"- [ ] (blocked) **Task 5: A**", ledger.MarkDone, "- [x] **Task 5: A**"},
		{"- [ ] (blocked) **Task 5: A**", ledger.MarkManualVerify, "- [ ] (manual-verify) **Task 5: A**"},
		{"- [ ] (Blocked) **Task 5: A**", ledger.MarkBlocked, "- [ ] (Blocked) **Task 5: A**"},
		{"- [ ] **Task 5: A** (blocked)  ", ledger.MarkOpen, "- [ ] **Task 5: A**  "},
		{"- [ ] **Task 5: A** (blocked)", ledger.MarkManualVerify, "- [ ] **Task 5: A** (manual-verify)"},
		{"- [ ] **Task 5: A (blocked)**", ledger.MarkManualVerify, "- [ ] **Task 5: A (manual-verify)**"},
		{"- [ ] **Task 5: A (blocked)**", ledger.MarkDone, "- [x] **Task 5: A**"},
		{"- [ ] **(blocked) Task 5: A**", ledger.MarkOpen, "- [ ] **Task 5: A**"},
		{"- [ ] (blocked) **Task 5: A** (blocked)", ledger.MarkDone, "- [x] **Task 5: A**"},
		{"- [ ]  (blocked)  **Task 5: A**", ledger.MarkOpen, "- [ ]   **Task 5: A**"}, // one of the spaces belonged to the mark
		{"- [ ] **Task 5: A (blocked) (Blocked)**", ledger.MarkDone, "- [x] **Task 5: A**"},
		{"- [ ] **Task 5: A** (blocked) (blocked) x", ledger.MarkManualVerify, "- [ ] **Task 5: A** (manual-verify) x"},
		{"- [ ] (blocked)**Task 5: A**", ledger.MarkOpen, "- [ ] **Task 5: A**"},
		{"- [ ] **Task 5: A**(blocked)", ledger.MarkOpen, "- [ ] **Task 5: A**"},
		// A broken text is marked as long as each task's line is unambiguous.
		{"- [~] **Task 5: A**", ledger.MarkDone, "- [x] **Task 5: A**"},
		{"- [] **Task 5: A**", ledger.MarkDone, "- [x] **Task 5: A**"},
		{"- [ ] Task 5: A", ledger.MarkDone, "- [x] Task 5: A"},
		{"- [ ] **Task 5: A**\n- [~] **Task 6:**\n  - Depends on: Task 70", ledger.MarkDone, "- [x] **Task 5: A**\n- [~] **Task 6:**\n  - Depends on: Task 70"},
		{"- [ ] **Task 5: A**\n- [ ] **Task 6: B**\n- [ ] **Task 6: C**", ledger.MarkDone, "- [x] **Task 5: A**\n- [ ] **Task 6: B**\n- [ ] **Task 6: C**"},
	} {
		got, gone, err := MarkPlan("p.md", []byte(c.in), []ledger.Marking{{Task: "task  5", Mark: c.mark}})
		if err != nil || len(gone) > 0 || string(got) != c.want {
			t.Errorf("%q %s:\ngot  %q %v %v\nwant %q", c.in, c.mark, got, gone, err, c.want)
		}
	}
	for name, in := range map[string]string{
		"double id": "- [ ] **Task 5: A**\n- [ ] **Task 5: B**\n", "not text": "- [ ] **Task 5: A**\n\x00",
	} {
		_, _, err := MarkPlan("p.md", []byte(in), []ledger.Marking{{Task: "Task 5", Mark: ledger.MarkDone}})
		if !errors.As(err, new(*ledger.InputError)) {
			t.Errorf("%s: got %v, want an InputError", name, err)
		}
	}
	if _, _, err := MarkPlan("p.md", []byte("- [ ] **Task 5: A**"), []ledger.Marking{{Task: "Task 5", Mark: "finished"}}); err == nil {
		t.Error("an unknown mark was taken")
	}
	if _, gone, err := MarkPlan("p.md", nil, []ledger.Marking{{Task: "Task 5", Mark: ledger.MarkDone}}); err != nil || len(gone) != 1 {
		t.Errorf("empty text: got %v %v", gone, err)
	}
}

// TestCheck: the check before writing detects every wrong change.
func TestCheck(t *testing.T) {
	p := newPlan("p.md", []byte("- [ ] **Task 1: A**\n- [ ] **Task 2: B**\n")).scan()
	want := map[int]ledger.Mark{0: ledger.MarkDone}
	for text, ok := range map[string]bool{
		"- [x] **Task 1: A**\n- [ ] **Task 2: B**\n":   true,
		"- [ ] **Task 1: A**\n- [ ] **Task 2: B**\n":   false, // the mark is missing
		"- [x] **Task 1: A**\n- [x] **Task 2: B**\n":   false, // another task is marked, too
		"- [x] **Task 1: C**\n- [ ] **Task 2: B**\n":   false,
		"- [x] **Task 1: A**\n":                        false,
		"- [x] **Task 1: A**\n\n- [ ] **Task 2: B**\n": false,
	} {
		if err := p.check([]byte(text), want); (err == nil) != ok {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func FuzzParsePlan(f *testing.F) {
	for _, s := range formtest.Plans {
		f.Add([]byte(s))
	}
	for _, s := range []string{
		"", "\ufeff", "\r ", "- [ ] **Task 1: A** (blocked) (blocked)\r", "* [X] **TAsk 0:0*(mAnuAl verifY)**", "- [x] (blocked) **Task 6: F** (blocked)*0000",
		"* [X] (blocked)**Task 0:0**", "* [ ] **Task 1: A\\ (blocked)**", "- [ ] **Task 1: A` (blocked)** `", "- [ ](blocked)**Task 1: A**", "- [ ] ****Task 1: A**",
		"- [ ] **Task 1: A\\** b**\n\t- Depends on: Tasks 1–1\n- [x]\t(manual verify)(blocked)**Task 2: `**", "~~~\n- [ ] **Task 1: A**",
		"- [ ] **Task 1: A**\n  - **Scope**: a\n  - __Depends on:__ #2\n* [X] **task\t2 : B (manual_verify)** (x)", "- [ ] **Task 1: ()** ( ) (blocked)",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		before := bytes.Clone(data)
		s, err := ParsePlan("p.md", data)
		if !bytes.Equal(before, data) {
			t.Fatal("parsing changed its input")
		}
		if err != nil {
			if !errors.As(err, new(*ledger.InputError)) {
				t.Fatalf("not an InputError: %v", err)
			}
			// An invalid plan is marked or refused, without a panic.
			MarkPlan("p.md", data, []ledger.Marking{{Task: "Task 1", Mark: ledger.MarkBlocked}})
			return
		}
		for _, m := range []ledger.Mark{ledger.MarkDone, ledger.MarkBlocked, ledger.MarkManualVerify, ledger.MarkOpen} {
			var marks []ledger.Marking
			for _, task := range s.Tasks {
				marks = append(marks, ledger.Marking{Task: task.ID, Mark: m})
			}
			marked, gone, err := MarkPlan("p.md", data, marks)
			if err != nil || len(gone) > 0 {
				t.Fatalf("%v %v", gone, err)
			}
			again, err := ParsePlan("p.md", marked)
			if err != nil {
				if strings.Contains(err.Error(), "scope of ") {
					return // scopes of done tasks are not checked
				}
				t.Fatalf("%v\n%q", err, marked)
			}
			for i := range s.Tasks {
				want := s.Tasks[i]
				want.Mark = m
				if d := cmp.Diff(want, again.Tasks[i]); d != "" {
					t.Fatalf("%s\n%q", d, marked)
				}
			}
			if same, _, err := MarkPlan("p.md", marked, marks); err != nil || !bytes.Equal(same, marked) {
				t.Fatalf("not idempotent: %v\n%q\n%q", err, marked, same)
			}
		}
	})
}
