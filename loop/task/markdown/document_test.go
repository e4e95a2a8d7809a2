package markdown

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/task/form/formtest"
)

// brief writes a task in one line: id, mark, phase, priority, title, dependencies.
func brief(t ledger.Task) string {
	s := t.ID + " " + string(t.Mark)
	if t.Phase > 0 {
		s += fmt.Sprintf(" phase %d", t.Phase)
	}
	if t.Priority > 0 {
		s += fmt.Sprintf(" prio %d", t.Priority)
	}
	s += ": " + t.Title
	if len(t.DependsOn) > 0 {
		s += " <- " + strings.Join(t.DependsOn, ", ")
	}
	if len(t.Labels) > 0 {
		s += " " + fmt.Sprint(t.Labels)
	}
	if t.Scope != "" {
		s += " in " + t.Scope
	}
	if len(t.Acceptance) > 0 {
		s += " accept " + strings.Join(t.Acceptance, "; ")
	}
	return s
}

// TestShapes reads the shapes that tools write.
func TestShapes(t *testing.T) {
	for _, c := range []struct {
		name, text, want string
		warn             int
	}{
		{"superpowers", formtest.Headings[0], `Task 1 open: Round half up in ` + "`price/round.go`, `cart/total.go`, `price/round_test.go`" + `
Task 2 open: Use it in ` + "`cart/total.go`" + `
Task 2.5 blocked: Clean up accept remove the old switch`, 0},
		{"ralphex", formtest.Headings[1], "Task 1 done: Writer accept create `export/csv.go`; write tests\nTask 2 open: [Final] Docs accept update README.md:; the flag; the sample\nTask 2a open: Look at it accept by eye", 0},
		{"dld", formtest.Headings[2], "Task 1 done: Logger in `hooks/log.mjs` accept silent without the flag; one line each\nTask 2 open: Use it <- Task 1\nTask 3 done: Last", 0},
		{"spec-kit", formtest.Checklists[0], "T001 done phase 1: Create `src/`\nT002 open phase 1: Add a linter in `lint.toml` [P]\nT003 open phase 2 prio 3: Contract test in `tests/pay_test.go` [P US1]\nT004 open phase 2 prio 3: Pay in `src/pay.go` (depends on T002, T003) <- T002, T003 [US1]", 0},
		{"kiro", formtest.Checklists[1], "1.1 done: Write the parser\n1.3 open: Write the printer\n2 open: Checkpoint\n3.1 open: In the command", 3},
		{"openspec", formtest.Checklists[2], "1.1 done: Add the table\n1.2 open: Read it\n2.1 open: Run `make test` accept with race; without\n2.2 open: Look at it", 0},
		{"gsd", formtest.Checklists[3], "Phase 2 open: More** - on it\nPhase 3 done: Done** - finished\n01-01 done phase 1: Scaffold\n01-02 open phase 1: Parser that reads what was written", 0},
		{"fix_plan", formtest.Checklists[4], "#1 open prio 3: Totals are wrong on **Sundays**\n#2 open prio 3: Login loops\n#3 manual_verify prio 2: Faster start\n#4 done prio 2: Smaller image\n#5 open prio 1: Rename `foo`\n#6 done: Project set up", 1},
		{"bmad and broken", formtest.Checklists[5], "Task 1 open: (AC: 1, 2) accept step one; step two\nTask 2 blocked: Task 2\nTask 3 done: tidy accept indented code", 1},
		{"ids", formtest.Checklists[6], "FTR-12 open: export\nFTR-13 open: import\nBUG-4 open: crash\n#1 open: UTF-8 names\n#2 open: S3 upload\n#3 open: 3 buttons more\n#4 open: Größe ✓ 🎉 emoji\n#5 open: Write tests\n#6 open: Write tests\n#7 open: gone\n#8 open: plus", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := Any{}.Parse("x.md", []byte(c.text))
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			made := 0
			for _, task := range s.Tasks {
				if madeID.MatchString(task.ID) { // made from the text
					made++
					task.ID = fmt.Sprintf("#%d", made)
				}
				got = append(got, brief(task))
			}
			if d := cmp.Diff(strings.Replace(c.want, "** - ", " - ", -1), strings.Replace(strings.Join(got, "\n"), "** - ", " - ", -1)); d != "" {
				t.Errorf("(-want +got)\n%s", d)
			}
			if len(s.Warnings) != c.warn {
				t.Errorf("warnings: %v", s.Warnings)
			}
		})
	}
}

// TestExamples: a box in code or HTML is neither work nor a proof that work is done, in
// any form, and doubtful boxes are named.
func TestExamples(t *testing.T) {
	for _, c := range []struct{ name, text, want, warn string }{
		{"code below a paragraph", "### Task 1: A\nA plan looks so:\n\n    - [x] example\n\n    - [x] more\n### Task 2: B\n- [x] b\n", "Task 1 open, Task 2 done", "x.md:4  boxes in an indented code block are an example, and no work (2 in this file)"},
		{"HTML", "### Task 1: A\n<PRE>\n\n- [x] example\n</Pre>\n### Task 2: B\n- [x] b\n", "Task 1 open, Task 2 done", ""},
		{"HTML in a line", "### Task 1: A\n<pre>a</pre>\n- [x] a\n", "Task 1 done", ""},
		{"HTML in a plan", "- [ ] **Task 1: A**\n<pre class=\"x\">\n- [ ] **Task 1: B**\n</pre>\n- [ ] **Task 2: C**\n", "Task 1 open, Task 2 open", ""},
		{"HTML in a checklist", "- [ ] T001 a\n\n<script>\n- [ ] T001 b\n</script>\n", "T001 open", ""},
		{"details", "- [ ] T001 a\n\n<details>\n\n- [x] T002 b\n\n</details>\n", "T001 open, T002 done", ""},
		{"no bullet", "- [ ] T001 a\n\n[ ] T002 b\n", "T001 open", "x.md:3  a box without a bullet is no task"},
		{"a step is open", "- [x] T001 a\n  - [ ] b\n", "T001 done", "x.md:1  T001 is ticked, and a step of it is open"},
		{"struck out", "- [ ] ~~a~~\n- [ ] ~~b~~ c\n- [x] ~~d~~\n", "", "x.md:1  an open box with a text that is struck out"},
		{"an indented list", "# Tasks\n\n\t- [x] T001 a\n\t\t- [x] b\n", "T001 done", ""},
		{"an indented list behind code", "```\ncode\n```\n    - [ ] T001 a\n", "T001 open", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := Any{}.Parse("x.md", []byte(c.text))
			var got []string
			for _, task := range s.Tasks {
				got = append(got, task.ID+" "+string(task.Mark))
			}
			if err != nil || c.want != "" && strings.Join(got, ", ") != c.want {
				t.Errorf("got %v %v, want %s", got, err, c.want)
			}
			if warned := fmt.Sprint(s.Warnings); c.warn == "" && len(s.Warnings) > 0 || !strings.Contains(warned, c.warn) {
				t.Errorf("warnings %v, want %q", warned, c.warn)
			}
		})
	}
	if _, err := (Any{}).Parse("x.md", []byte("- [ ] T001 a\n<pre>\n- [ ] T002 b\n")); err == nil || !strings.Contains(err.Error(), "x.md:2  this HTML block is never closed and hides line 3") {
		t.Errorf("an open HTML block: %v", err)
	}
}

// TestStepsTicked: the tick of a step changes nothing that a session was told.
func TestStepsTicked(t *testing.T) {
	for _, text := range []string{
		"### Task 1: A\nWhy.\n- [ ] a\n  ```\n  - [x] code\n  ```\n- [ ] b\n",
		"- [ ] T001 a\n  - [ ] b\n    - [ ] c\n- [ ] T002 d\n",
	} {
		before, err := Any{}.Parse("x.md", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		at := strings.LastIndex(text, "[ ] b")
		after, err := Any{}.Parse("x.md", []byte(text[:at]+"[x]"+text[at+3:]))
		if d := cmp.Diff(before.Tasks, after.Tasks); err != nil || d != "" {
			t.Errorf("%q: %v\n%s", text, err, d)
		}
	}
}

var madeID = regexp.MustCompile(`^[bcdfghjkmnpqrstvwxyz]{2}[bcdfghjkmnpqrstvwxyz2-9]{3}$`)

// TestRecognise tells the forms apart, and refuses what could be two.
func TestRecognise(t *testing.T) {
	for _, c := range []struct{ name, text, why, err string }{
		{"plan", formtest.SeedPlan, "boxes with a bold `Task N:`", ""},
		{"plan with a mistake", "- [~] **Task 5: A**", "boxes with a bold `Task N:`", "x.md:1  broken mark [~]"},
		{"headings", "### Task 1: A\n", "headings `### Task N:`", ""},
		{"a list of progress above headings", "- [ ] **Task 1: A**\n\n### Task 1: A\n- [ ] do\n", "headings `### Task N:`", ""},
		{"both", "- [ ] **Task 2: A**\n\n### Task 1: A\n- [ ] do\n", "", "x.md:1  tasks as boxes here, and as headings in line 3"},
		{"checklist", "- [ ] a\n", "boxes `- [ ]`", ""},
		{"prose", "# A\n\nWords.\n", "", "has no tasks: expected boxes"},
		{"bullets", "# A\n- one\n- two\n", "", "sed -E -i 's/^([-*+]) /"},
		{"numbered headings", "# A\n### 1. One\ntext\n### 2. Two\n", "", "Write Task before the numbers"},
		{"only criteria", "## Definition of Done\n- [ ] green\n", "boxes `- [ ]`", "has no tasks: none of its boxes is work"},
		{"only criteria below bold words", "## Story 1.1: Pay\n\n**Acceptance Criteria:**\n\n- [ ] it pays\n- [ ] twice\n", "boxes `- [ ]`", "has no tasks: none of its boxes is work"},
		{"a task below criteria below bold words", "**Acceptance Criteria**:\n- [ ] green\n\n**Tasks:**\n- [ ] pay\n", "boxes `- [ ]`", ""},
		{"a rule above prose", "---\n# A\n\nWords.\n\n- [ ] a\n\n---\n", "boxes `- [ ]`", ""},
		{"front matter", "---\ntitle: a\nlist:\n  - b\n# c\n- [ ] d\n---\n", "", "has no tasks"},
		{"empty", "", "", "has no tasks"},
		{"ids twice", "- [ ] T001 a\n- [ ] T001 b\n", "boxes `- [ ]`", "x.md:2  T001 is there twice: line 1 and line 2"},
		{"texts twice", "- [ ] a b\n- [ ] A  b\n", "boxes `- [ ]`", ""},
		{"headings twice", "## Task 1: a\n## Task 1: b\n", "headings `### Task N:`", "x.md:2  Task 1 is there twice"},
		{"cycle", "### Task 1: a\n**Depends on:** Task 2\n### Task 2: b\n**Depends on:** Task 1\n", "headings `### Task N:`", "tasks wait for each other: Task 1 → Task 2 → Task 1"},
		{"unknown dependency", "- [ ] T001 a (depends on T009)\n", "boxes `- [ ]`", "x.md:1  T001 depends on T009, which this file lacks"},
		{"odd box", "- [ ] a\n- [?] b\n", "boxes `- [ ]`", "x.md:2  broken box [?]"},
		{"box without its space", "- [ ] a\n- [] b\n", "boxes `- [ ]`", "x.md:2  broken box []"},
		{"odd box of another alphabet", "- [ ] a\n- [✔️] b\n", "boxes `- [ ]`", "x.md:2  broken box [✔️]"},
		{"no space behind the box", "- [ ] a\n- [ ]b\n", "boxes `- [ ]`", "x.md:2  no space after the box"},
		{"no space before the box", "- [ ] a\n-[ ] b\n", "boxes `- [ ]`", "x.md:2  no space between the bullet and the box"},
		{"another bullet", "- [ ] a\n• [ ] b\n", "boxes `- [ ]`", "x.md:2  • is no bullet"},
		{"bold box", "- [ ] a\n- **[ ] b**\n", "boxes `- [ ]`", "x.md:2  a box in emphasis"},
		{"links and citations", "- [ ] a\n- [x](u)\n- [x]: u\n- [x][y]\n[x]: u\n- [x], y\n- see [ ] there\n", "boxes `- [ ]`", ""},
		{"carriage returns", "- [ ] a\r- [ ] b\n", "", "x.md:1  a line ends with a carriage return alone"},
		{"carriage returns of a plan", "- [ ] **Task 1: A**\r\n- [ ] **Task 2: B**\r- [ ] **Task 3: C**\r\n", "", "x.md:2  a line ends with a carriage return alone"},
		{"carriage returns too many", "- [ ] a\r\r\n- [ ] b\r", "boxes `- [ ]`", ""},
		{"open fence", "- [ ] a\n```\n- [ ] b\n", "boxes `- [ ]`", "x.md:2  this code block is never closed and hides line 3"},
		{"both marks", "- [ ] a (blocked) (manual-verify)\n", "boxes `- [ ]`", "marked both"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if why := (Any{}).Recognise("a/x.md", []byte(c.text)); why != c.why {
				t.Errorf("recognised by %q, want %q", why, c.why)
			}
			_, err := Any{}.Parse("a/x.md", []byte(c.text))
			if c.err == "" && err != nil || c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err) || !errors.As(err, new(*ledger.InputError))) {
				t.Errorf("got %v, want %q", err, c.err)
			}
		})
	}
}

// TestMarkDocuments shows what a mark writes.
func TestMarkDocuments(t *testing.T) {
	for _, c := range []struct {
		in, id string
		mark   ledger.Mark
		want   string
	}{
		{"### Task 1: A\n- [ ] a\n  - [x] b\n\n### Task 2: B\n- [ ] c\n", "task 1", ledger.MarkDone, "### Task 1: A\n- [x] a\n  - [x] b\n\n### Task 2: B\n- [ ] c\n"},
		{"### Task 1: A\n- [x] a\n- [X] b\n", "Task 1", ledger.MarkOpen, "### Task 1: A\n- [ ] a\n- [ ] b\n"},
		{"### Task 1: A\n- [x] a\n- [ ] b\n", "Task 1", ledger.MarkOpen, "### Task 1: A\n- [x] a\n- [ ] b\n"},
		{"### Task 1: A ##\n- [x] a\n- [ ] b\n", "Task 1", ledger.MarkBlocked, "### Task 1: A (blocked) ##\n- [x] a\n- [ ] b\n"},
		{"### Task 1: A (blocked)\n- [ ] a\n", "Task 1", ledger.MarkDone, "### Task 1: A\n- [x] a\n"},
		{"### Task 1: A (blocked)\n", "Task 1", ledger.MarkManualVerify, "### Task 1: A (manual-verify)\n"},
		{"### Task 1: A  \r\n", "Task 1", ledger.MarkDone, "### Task 1: A (done)  \r\n"},
		{"### Task 1: A ✅\n", "Task 1", ledger.MarkOpen, "### Task 1: A\n"},
		{"### [ ] Task 1: A\n", "Task 1", ledger.MarkDone, "### [x] Task 1: A\n"},
		{"- [ ] Task 1: A\n\n### Task 1: A\n- [ ] a\n", "Task 1", ledger.MarkDone, "- [x] Task 1: A\n\n### Task 1: A\n- [x] a\n"},
		{"- [ ] T001 [P] a  \n  - [ ] b\n- [ ] T002 c", "t001", ledger.MarkDone, "- [x] T001 [P] a  \n  - [x] b\n- [ ] T002 c"},
		{"- [x] T001 a\n  - [x] b\n", "T001", ledger.MarkOpen, "- [ ] T001 a\n  - [ ] b\n"},
		{"- [ ] T001 a  \n", "T001", ledger.MarkBlocked, "- [ ] T001 a (blocked)  \n"},
		{"- [ ] (blocked) T001 a\n", "T001", ledger.MarkOpen, "- [ ] T001 a\n"},
		{"- [ ] T001 (blocked) a\n", "T001", ledger.MarkManualVerify, "- [ ] T001 (manual-verify) a\n"},
		{"- [-] T001 a\n", "T001", ledger.MarkDone, "- [x] T001 a\n"},
		{"- [-] T001 a\n", "T001", ledger.MarkOpen, "- [-] T001 a\n"},
		{"- [ ] 1. A\n  - [x] 1.1 a\n  - [ ] 1.2 b\n  - [ ]* 1.3 c\n", "1.2", ledger.MarkDone, "- [x] 1. A\n  - [x] 1.1 a\n  - [x] 1.2 b\n  - [ ]* 1.3 c\n"},
		{"- [x] 1. A\n  - [x] 1.1 a\n  - [x] 1.2 b\n", "1.1", ledger.MarkOpen, "- [ ] 1. A\n  - [ ] 1.1 a\n  - [x] 1.2 b\n"},
		{"- [ ] 1. A\n  - [ ] 1.1 a\n  - [ ] 1.2 b\n", "1.1", ledger.MarkDone, "- [ ] 1. A\n  - [x] 1.1 a\n  - [ ] 1.2 b\n"},
		{"- [ ] **Phase 1: A**\n\n- [ ] 01-01: a\n", "01-01", ledger.MarkDone, "- [x] **Phase 1: A**\n\n- [x] 01-01: a\n"},
	} {
		got, gone, err := Any{}.Mark("x.md", []byte(c.in), []ledger.Marking{{Task: c.id, Mark: c.mark}})
		if err != nil || len(gone) > 0 || string(got) != c.want {
			t.Errorf("%q %s:\ngot  %q %v %v\nwant %q", c.in, c.mark, got, gone, err, c.want)
		}
	}
	if got, gone, err := (Any{}).Mark("x.md", []byte("Words.\n"), []ledger.Marking{{Task: "T001", Mark: ledger.MarkDone}}); err != nil || len(gone) != 1 || string(got) != "Words.\n" {
		t.Errorf("a text without tasks: %q %v %v", got, gone, err)
	}
}

// TestMadeIDs: the id of a task without one stays when lines around it change, when it
// is ticked or marked, and when it moves.
func TestMadeIDs(t *testing.T) {
	idOf := func(text, title string) string {
		t.Helper()
		s, err := Any{}.Parse("x.md", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		n := slices.IndexFunc(s.Tasks, func(t ledger.Task) bool { return t.Title == title })
		if n < 0 {
			t.Fatalf("%q has no %q", text, title)
		}
		return s.Tasks[n].ID
	}
	want := idOf("- [ ] Fix the login\n", "Fix the login")
	if !madeID.MatchString(want) {
		t.Errorf("id %q", want)
	}
	for _, text := range []string{
		"- [x] Fix the login\n", "- [ ] Fix the login (blocked)\n", "## Completed\n* [x] **Fix the login**\n",
		"- [ ] Other\n- [ ] Fix the login\n  - a note\n", "- [ ] Fix the login\n\n## More\n- [ ] Fix the login\n",
	} {
		if got := idOf(text, "Fix the login"); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

// statusBytes are all that a mark may change.
var statusBytes = regexp.MustCompile(`(?i)[ \t]*(?:\((?:blocked|manual[ _-]verify|done)\)|✅|✓)|\[[ xX~/-]\]`)

// TestDocumentBytes: of every shape and every task, each mark changes only status
// characters, is read back, and changes nothing the second time.
func TestDocumentBytes(t *testing.T) {
	marks := []ledger.Mark{ledger.MarkOpen, ledger.MarkDone, ledger.MarkBlocked, ledger.MarkManualVerify}
	for _, text := range slices.Concat(formtest.Headings, formtest.Checklists) {
		s, err := Any{}.Parse("x.md", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		for n := range s.Tasks {
			data := []byte(text)
			for _, first := range marks {
				for _, m := range marks {
					for _, m := range []ledger.Mark{first, m} {
						next, gone, err := Any{}.Mark("x.md", data, []ledger.Marking{{Task: s.Tasks[n].ID, Mark: m}})
						if err != nil || len(gone) > 0 {
							t.Fatalf("%s %q %s: %v %v\n%s", s.Tasks[n].ID, s.Tasks[n].Title, m, gone, err, data)
						}
						if a, b := statusBytes.ReplaceAll(data, nil), statusBytes.ReplaceAll(next, nil); !bytes.Equal(a, b) {
							t.Fatalf("%s %s:\n%s", s.Tasks[n].ID, m, cmp.Diff(string(a), string(b)))
						}
						data = next
					}
					if again, _, _ := (Any{}).Mark("x.md", data, []ledger.Marking{{Task: s.Tasks[n].ID, Mark: m}}); !bytes.Equal(again, data) {
						t.Fatalf("%s %s twice changed it", s.Tasks[n].ID, m)
					}
				}
			}
		}
	}
}
