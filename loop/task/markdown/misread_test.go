package markdown

import (
	"strings"
	"testing"

	"github.com/nightporter/nightporter/loop/ledger"
)

// TestUnsaidWork: what a person takes for a task, or for a finished one, and what is not
// read as that, is told. Nothing counts as done without a tick.
func TestUnsaidWork(t *testing.T) {
	for _, c := range []struct {
		name, text string
		tasks      string // ids and marks
		warning    string // a part of one; "" = none at all
	}{
		{"a heading with one #", "# Task 1: A\n\ntext\n\n## Task 2: B\n", "Task 2 open", `line 1: not read as a task: "Task 1: A" (1 such headings)`},
		{"one with five", "## Task 1: A\n\n## Notes\n\n##### Task 2: B\n", "Task 1 open", `line 5: not read as a task: "Task 2: B" (1 such headings)`},
		{"five, below a task", "## Task 1: A\n\n##### Task 1.1: B\n", "Task 1 open", ""},
		{"another word beside", "## Plan\n\n### Task 1: A\n\n### Aufgabe 2: B\n\n### Aufgabe 3: C\n", "Task 1 open", `line 5: not read as a task: "Aufgabe 2: B" (2 such headings)`},
		{"another word elsewhere", "## Ways\n\n### Way 1: A\n\n## Plan\n\n### Task 1: A\n", "Task 1 open", ""},
		{"phases around tasks", "## Phase 1: A\n\n### Task 1: A\n\n## Phase 2: B\n\n### Task 2: B\n", "Task 1 open, Task 2 open", ""},
		{"a phase beside a task", "## Task 1: A\n\n## Phase 2: B\n", "Task 1 open", `line 3: not read as a task: "Phase 2: B" (1 such headings)`},
		{"headings beside boxes", "# Task 1: A\n\ntext\n\n# Task 2: B\n\n- [ ] T001 c\n", "T001 open", `line 1: not read as a task: "Task 1: A" (1 such headings)`},

		{"(erledigt)", "### Task 1: A (erledigt)\n", "Task 1 open", "line 1: Task 1 is called finished here, and has no tick: it counts as open (1 such tasks)"},
		{"[done]", "### Task 1: A [DONE]\n", "Task 1 open", "Task 1 is called finished here"},
		{"– done", "### Task 1: A – done\n", "Task 1 open", "Task 1 is called finished here"},
		{"~~title~~", "### Task 1: ~~A~~\n", "Task 1 open", "Task 1 is called finished here"},
		{"a status line", "### Task 1: A\n\n**Status:** ✅ Done\n\n### Task 2: B\n\n- Status: completed\n", "Task 1 open, Task 2 open", "line 3: Task 1 is called finished here, and has no tick: it counts as open (2 such tasks)"},
		{"an open box", "- [ ] A ✅\n- [ ] B (done)\n- [x] C (done)\n", "c open, d open, e done", "line 1: c is called finished here, and has no tick: it counts as open (2 such tasks)"},
		{"words that say less", "- [ ] Say when it is done\n- [ ] Say (not done)\n- [ ] **Well-done**\n- [ ] Mark it: call done\n", "c open, d open, e open, f open", ""},
		{"(done)", "### Task 1: A (done)\n", "Task 1 done", ""},
		{"✅", "### Task 1: A ✅\n", "Task 1 done", ""},

		{"ticked optional boxes alone", "### Task 1: A\n\n- [x]* a look\n", "Task 1 open", ""},
		{"open optional boxes", "### Task 1: A\n\n- [x] b\n- [ ]* a look\n", "Task 1 done", "line 4: optional and left alone: 1 open boxes [ ]*, the first here"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := Any{}.Parse("list.md", []byte(c.text))
			if err != nil {
				t.Fatal(err)
			}
			var tasks, warnings []string
			made := map[string]string{}
			for _, task := range s.Tasks {
				id := task.ID
				if !strings.HasPrefix(id, "T") { // made of the text
					made[id] = string(rune('c' + len(made)))
					id = made[id]
				}
				tasks = append(tasks, id+" "+string(task.Mark))
			}
			for _, w := range s.Warnings {
				text := strings.TrimPrefix(w.String(), "list.md:")
				for id, short := range made {
					text = strings.ReplaceAll(text, id, short)
				}
				warnings = append(warnings, "line "+strings.Replace(text, "  ", ": ", 1))
			}
			if got := strings.Join(tasks, ", "); got != c.tasks {
				t.Errorf("tasks %s, want %s", got, c.tasks)
			}
			if got := strings.Join(warnings, "\n"); !strings.Contains(got, c.warning) || c.warning == "" && got != "" {
				t.Errorf("warnings %q, want %q", got, c.warning)
			}
		})
	}
}

// TestOptionalBoxesAreLeftAlone: marks do not change a box [ ]*.
func TestOptionalBoxesAreLeftAlone(t *testing.T) {
	for _, c := range []struct{ text, id, done string }{
		{"### Task 1: A\n\n- [ ] b\n- [ ]* a look\n", "Task 1", "### Task 1: A\n\n- [x] b\n- [ ]* a look\n"},
		{"### Task 1: A\n\n- [ ]* a look\n", "Task 1", "### Task 1: A (done)\n\n- [ ]* a look\n"},
		{"- [ ] T001 A\n  - [ ] b\n  - [ ]* a look\n", "T001", "- [x] T001 A\n  - [x] b\n  - [ ]* a look\n"},
	} {
		marked, _, err := Any{}.Mark("list.md", []byte(c.text), []ledger.Marking{{Task: c.id, Mark: ledger.MarkDone}})
		if err != nil || string(marked) != c.done {
			t.Errorf("done: %q, %v", marked, err)
		}
		open, _, err := Any{}.Mark("list.md", marked, []ledger.Marking{{Task: c.id, Mark: ledger.MarkOpen}})
		if err != nil || string(open) != c.text {
			t.Errorf("open again: %q, %v", open, err)
		}
	}
}

// TestLabelBehindRemark: a label may stand behind the id of another tool.
func TestLabelBehindRemark(t *testing.T) {
	s, err := Any{}.Parse("tasks.md", []byte("- [ ] T004 (ant-77ha.1) [P] [US1] Create it\n- [ ] T005 (later) Create more [P]\n"))
	if err != nil {
		t.Fatal(err)
	}
	if got := s.Tasks[0]; got.Title != "(ant-77ha.1) Create it" || strings.Join(got.Labels, " ") != "P US1" {
		t.Errorf("%q %q", got.Title, got.Labels)
	}
	if got := s.Tasks[1]; got.Title != "(later) Create more [P]" || len(got.Labels) > 0 {
		t.Errorf("%q %q", got.Title, got.Labels)
	}
}

// TestDoneCycle: tasks that wait for each other are a warning where all are done.
func TestDoneCycle(t *testing.T) {
	const circle = "- [x] T001 A (depends on T002)\n- [x] T002 B (depends on T001)\n- [ ] T003 C\n"
	s, err := Any{}.Parse("tasks.md", []byte(circle))
	if err != nil || len(s.Warnings) != 1 || !strings.Contains(s.Warnings[0].Text, "T001 → T002 → T001; all of them are done") {
		t.Errorf("%v %v", s.Warnings, err)
	}
	if _, err := (Any{}).Parse("tasks.md", []byte(strings.Replace(circle, "[x] T002", "[ ] T002", 1))); err == nil || !strings.Contains(err.Error(), "tasks wait for each other") {
		t.Errorf("one is open: %v", err)
	}
}

// TestWrongLevel: a text with nothing but headings of another level is refused with its
// line.
func TestWrongLevel(t *testing.T) {
	_, err := Any{}.Parse("plan.md", []byte("text\n\n# Task 1: A\n\n# Task 2: B\n"))
	if err == nil || !strings.Contains(err.Error(), "plan.md:3") || !strings.Contains(err.Error(), "two to four #") {
		t.Error(err)
	}
}
