package markdown

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/task/form/formtest"
)

func TestParsePlan(t *testing.T) {
	got, err := ParsePlan("plans/checkout.md", []byte(formtest.SeedPlan))
	if err != nil {
		t.Fatal(err)
	}
	want := ledger.Snapshot{Name: "checkout", Path: "plans/checkout.md", Tasks: []ledger.Task{
		{ID: "Task 1", Title: "Order schema", Scope: "`db/migrations`", Acceptance: []string{"orders table exists", "migration runs twice"},
			Notes: "Optional", Mark: ledger.MarkDone, Line: 13,
			Body: "  - Scope: `db/migrations`\n  - Depends on: none\n  - Acceptance:\n    - orders table exists\n    - migration runs twice\n  - Notes: Optional"},
		{ID: "Task 2", Title: "Order service", Scope: "`order/`, `go.mod`", DependsOn: []string{"Task 1"}, Acceptance: []string{"totals are right"},
			Mark: ledger.MarkOpen, Line: 21, Body: "  - Scope: `order/`, `go.mod`\n  - Depends on: Task 1\n  - Acceptance: totals are right"},
		{ID: "Task 5", Title: "Integrate payment API", Scope: "`cloud/functions/payments`", DependsOn: []string{"Task 1", "Task 2"},
			Acceptance: []string{"Payment webhook handler works"}, Notes: "Blocked - need API credentials from finance team", Mark: ledger.MarkBlocked, Line: 26,
			Body: "  - Scope: `cloud/functions/payments`\n  - Depends on: Task 1, Task 2\n  - Acceptance: Payment webhook handler works\n  - Notes: Blocked - need API credentials\n    from finance team"},
		{ID: "Task 6", Title: "Look at it", Acceptance: []string{"the total shows in euros", "buttons: pay; cancel"}, Mark: ledger.MarkManualVerify, Line: 32,
			Body: "  - Acceptance:\n    - [ ] the total shows\n      in euros\n    - [x] buttons:\n      - pay\n      - cancel"},
	}}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}

// TestLineEnds: line ends, a byte order mark and a missing final newline do not
// change the tasks that are read.
func TestLineEnds(t *testing.T) {
	want, err := ParsePlan("p.md", []byte(formtest.SeedPlan))
	if err != nil {
		t.Fatal(err)
	}
	crlf := strings.ReplaceAll(formtest.SeedPlan, "\n", "\r\n")
	for name, in := range map[string]string{
		"CRLF": crlf, "BOM": "\ufeff" + formtest.SeedPlan, "no final newline": strings.TrimSuffix(crlf, "\r\n"), "blank end": crlf + "\r\n\t \r\n",
	} {
		got, err := ParsePlan("p.md", []byte(in))
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s: (-want +got)\n%s", name, d)
		}
	}
}

// parseOne parses a valid plan and returns its first task.
func parseOne(t *testing.T, text string) ledger.Task {
	t.Helper()
	s, err := ParsePlan("p.md", []byte(text))
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return s.Tasks[0]
}

func TestTaskLines(t *testing.T) {
	for _, c := range []struct {
		in, id, title string
		mark          ledger.Mark
	}{
		{"- [ ] **Task 5: A**", "Task 5", "A", ledger.MarkOpen},
		{"* [x] **Task 2.5: A**", "Task 2.5", "A", ledger.MarkDone},
		{"+ [X] **task 2a:A**", "task 2a", "A", ledger.MarkDone},
		{"-\t[ ]\t**Task\t5 :  A b **\t", "Task 5", "A b", ledger.MarkOpen},
		{"  - [ ] **Task 5: A**", "Task 5", "A", ledger.MarkOpen},
		{"- [ ] (blocked) **Task 5: A**", "Task 5", "A", ledger.MarkBlocked},
		{"- [ ] (Manual-Verify) **Task 5: A**", "Task 5", "A", ledger.MarkManualVerify},
		{"- [ ] (manual verify) **Task 5: A**", "Task 5", "A", ledger.MarkManualVerify},
		{"- [ ] **(blocked) Task 5: A**", "Task 5", "A", ledger.MarkBlocked},
		{"- [ ] **Task 5: A (blocked)**", "Task 5", "A", ledger.MarkBlocked},
		{"- [ ] **Task 5: A** (blocked)  ", "Task 5", "A", ledger.MarkBlocked},
		{"- [ ] **Task 5: A** (manual-verify) see below", "Task 5", "A", ledger.MarkManualVerify},
		{"- [ ] **Task 5: A** for today (blocked)", "Task 5", "A", ledger.MarkBlocked},
		{"- [ ] **Task 5: A (blocked users)**", "Task 5", "A (blocked users)", ledger.MarkOpen},
		{"- [ ] **Task 5: A** (blocker)", "Task 5", "A", ledger.MarkOpen},
		{"- [ ] **Task 5: use `**kw` (x)**", "Task 5", "use `**kw` (x)", ledger.MarkOpen},
		{"- [ ] **Task 5: Größe ✓**", "Task 5", "Größe ✓", ledger.MarkOpen},
		{"- [x] (blocked) **Task 5: A**", "Task 5", "A", ledger.MarkDone},
		{"\ufeff- [ ] **Task 5: A**\r", "Task 5", "A", ledger.MarkOpen},
	} {
		got := parseOne(t, c.in+"\n")
		if got.ID != c.id || got.Title != c.title || got.Mark != c.mark {
			t.Errorf("%q: got %q %q %s", c.in, got.ID, got.Title, got.Mark)
		}
	}
}

func TestFields(t *testing.T) {
	for _, c := range []struct {
		name, in string
		want     ledger.Task
	}{
		{"bold, case, aliases", "  * **SCOPE:** a/b\n  * **Depends on**: none\n  * __acceptance criteria:__ works\n  * *Notes*: n",
			ledger.Task{Scope: "a/b", Acceptance: []string{"works"}, Notes: "n"}},
		{"tabs and CRLF", "\t- Scope: a/b\r\n\t- Acceptance:\r\n\t\t- one\r\n\t\t- two\r\n\t- Notes: n  \r",
			ledger.Task{Scope: "a/b", Acceptance: []string{"one", "two"}, Notes: "n"}},
		{"no bullets", "  Scope: a/b\n  Notes: n", ledger.Task{Scope: "a/b", Notes: "n"}},
		{"nested scope", "  - Scope:\n    - `a/b`\n    - `c/d`", ledger.Task{Scope: "`a/b`\n`c/d`"}},
		{"scope none", "  - Scope: none\n  - Acceptance: -", ledger.Task{}},
		{"wrapped and lazy", "  - Scope: a/b,\n    c/d,\ne/f\n  - Notes: x", ledger.Task{Scope: "a/b, c/d, e/f", Notes: "x"}},
		{"a criterion named like a field", "  - Acceptance:\n    - Notes: are shown\n    - Scope: is kept", ledger.Task{Acceptance: []string{"Notes: are shown", "Scope: is kept"}}},
		{"inline and nested", "  - Acceptance: first\n    - second\n      - deeper\n    - third", ledger.Task{Acceptance: []string{"first", "second; deeper", "third"}}},
		{"numbered", "  - Acceptance:\n    1. one\n    2. two", ledger.Task{Acceptance: []string{"one", "two"}}},
		{"twice", "  - Scope: a/b\n  - Scope: c/d\n  - Notes: n", ledger.Task{Scope: "a/b\nc/d", Notes: "n"}},
		{"unknown fields are body", "  - Estimate: 2h\n    - Notes: inner\n  - Notes: n", ledger.Task{Notes: "n"}},
		{"priority and complexity", "  - Priority: P1\n  - Complexity: 7", ledger.Task{Priority: 3, Complexity: 7}},
		{"threshold, one word", "  - Threshold: minor", ledger.Task{Threshold: []ledger.Severity{ledger.Critical, ledger.Major, ledger.Minor}}},
		{"threshold, several", "  - Threshold: critical, minor", ledger.Task{Threshold: []ledger.Severity{ledger.Critical, ledger.Minor}}},
		{"second review", "  - Second review: yes", ledger.Task{SecondReview: true}},
		{"no second review", "  - Second review: no", ledger.Task{}},
		{"consensus", "  - Consensus: yes\n  - Threshold: none", ledger.Task{Consensus: true}},
		{"priority in words", "  - **Priority**: Critical", ledger.Task{Priority: 4}},
		{"blank lines", "\n  - Scope: a/b\n\n\n  - Notes: n\n\n    more\n", ledger.Task{Scope: "a/b", Notes: "n more"}},
		{"comments", "  - Scope: a/b <!-- not c/d -->\n  <!-- - Notes: no -->\n  <!--\n  - Notes: no\n  -->\n  - Notes: yes", ledger.Task{Scope: "a/b", Notes: "yes"}},
		{"code", "  - Notes: run\n    ```sh\n    - Scope: no\n    make\n    ```\n  - Scope: a/b", ledger.Task{Notes: "run\n```sh\n- Scope: no\nmake\n```", Scope: "a/b"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := parseOne(t, "- [ ] **Task 1: A**\n"+c.in)
			c.want.ID, c.want.Title, c.want.Mark, c.want.Line, c.want.Body = "Task 1", "A", ledger.MarkOpen, 1, got.Body
			if d := cmp.Diff(c.want, got); d != "" {
				t.Errorf("(-want +got)\n%s", d)
			}
		})
	}
}

func TestDependsOn(t *testing.T) {
	var plan strings.Builder
	for n := range 14 {
		fmt.Fprintf(&plan, "- [ ] **Task %d: T**\n", n+1)
	}
	plan.WriteString("- [ ] **Task 2.5: T**\n- [ ] **Task 2a: T**\n- [ ] **Task 99: T**\n  - Depends on: ")
	ids := func(s string) []string {
		var out []string
		for _, n := range strings.Fields(s) {
			out = append(out, "Task "+n)
		}
		return out
	}
	for in, want := range map[string]string{
		"none": "", "None.": "", "-": "", "": "", "n/a": "", "none (first)": "", "none - can start at once": "",
		"Task 8, Task 9": "8 9", "Tasks 7, 8": "7 8", "Tasks 7 and 8": "7 8", "#3 and #4": "3 4", "3": "3", "3, 4 & 5": "3 4 5",
		"Tasks 1-3": "1 2 3 2.5 2a", "Tasks 12–14": "12 13 14", "Tasks 12 to 14": "12 13 14", "Task 12 - Task 14": "12 13 14",
		"#12-#14": "12 13 14", "Tasks 12 through 13, and Task 1": "1 12 13", "Tasks 3-5, 9": "3 4 5 9",
		"Task 1 (schema), Task 2 (the service, too)": "1 2", "**Task 3**": "3", "`Task 3`": "3", "task 2A": "2a", "Task 2.5.": "2.5",
		"Task 3, Task 3": "3", "\n    - Task 3\n    - Task 4": "3 4", "Task 3,\n    Task 4": "3 4",
	} {
		s, err := ParsePlan("p.md", []byte(plan.String()+in+"\n"))
		if err != nil {
			t.Errorf("%q: %v", in, err)
			continue
		}
		if d := cmp.Diff(ids(want), s.Tasks[16].DependsOn); d != "" {
			t.Errorf("%q: (-want +got)\n%s", in, d)
		}
	}
}

func TestMalformed(t *testing.T) {
	const ok = "- [ ] **Task 1: A**\n"
	for _, c := range []struct{ name, in, want string }{
		{"double id", ok + "- [x] **task  1: B**\n", "p.md:2  task 1 is there twice: line 1 and line 2"},
		{"unknown dependency", ok + "- [ ] **Task 7: B**\n  - Depends on: Task 70\n", "p.md:3  Task 7 depends on Task 70, which this plan lacks"},
		{"unknown end of a range", ok + "- [ ] **Task 7: B**\n  - Depends on: Tasks 1-4\n", "p.md:3  Task 7 depends on Task 4, which this plan lacks"},
		{"backward range", ok + "- [ ] **Task 2: B**\n- [ ] **Task 7: B**\n  - Depends on: Tasks 2-1\n", "p.md:4  Task 7 depends on Tasks 2-1, which runs backwards"},
		{"not a dependency", ok + "- [ ] **Task 7: B**\n  - Depends on: all but Task 1\n", `p.md:3  Task 7 depends on "all but Task 1": expected none`},
		{"itself", "- [ ] **Task 1: A**\n  - Depends on: Task 1\n", "p.md:2  Task 1 depends on itself"},
		{"circle", "- [ ] **Task 1: A**\n  - Depends on: Task 3\n- [ ] **Task 2: B**\n  - Depends on: Task 1\n- [ ] **Task 3: C**\n  - Depends on: Task 2\n",
			"p.md:1  tasks wait for each other: Task 1 → Task 3 → Task 2 → Task 1"},
		{"[~]", "- [~] **Task 1: A**\n", "p.md:1  broken mark [~]: expected [ ] or [x]"},
		{"[ x]", "- [ x] **Task 1: A**\n", "p.md:1  broken mark [ x]"},
		{"[]", "- [] **Task 1: A**\n", "p.md:1  broken mark []"},
		{"[✓]", "- [✓] **Task 1: A**\n", "p.md:1  broken mark [✓]"},
		{"no-break space", "- [\u00a0] **Task 1: A**\n", "p.md:1  broken mark ["},
		{"unknown mark", "- [ ] (blokced) **Task 1: A**\n", "p.md:1  unknown mark (blokced): meant (blocked)?"},
		{"unknown mark far away", "- [ ] (wip) **Task 1: A**\n", "p.md:1  unknown mark (wip)\n"},
		{"mark with a reason", "- [ ] (blocked - no keys) **Task 1: A**\n", "p.md:1  unknown mark (blocked - no keys): meant (blocked)?"},
		{"near manual-verify", "- [ ] (manual-verfy) **Task 1: A**\n", "meant (manual-verify)?"},
		{"both marks", "- [ ] (blocked) **Task 1: A** (manual-verify)\n", "p.md:1  Task 1 is marked both"},
		{"no tasks", "# Plan\n\ntext\n", "p.md  has no tasks: expected `- [ ] **Task N: Title**`"},
		{"empty", "", "p.md  has no tasks"},
		{"no title", "- [ ] **Task 1:**\n", "p.md:1  Task 1 has no title"},
		{"only a mark for a title", "- [ ] **Task 1: (blocked)**\n", "p.md:1  Task 1 has no title"},
		{"no colon", "- [ ] **Task 1 A**\n", "p.md:1  Task 1 has no colon"},
		{"not bold", "- [ ] Task 1: A\n", "p.md:1  Task 1 is not bold"},
		{"bold not closed", "- [ ] **Task 1: A\n", "p.md:1  the bold title of Task 1 does not end"},
		{"no space after the box", "- [ ]**Task 1: A**\n", "p.md:1  no space after the box"},
		{"no space before the box", "-[ ] **Task 1: A**\n", "p.md:1  no space between"},
		{"odd number", "- [ ] **Task 1-2: A**\n", "p.md:1  Task 1 has no colon"},
		{"no box", "## Tasks\n- **Task 1: A**\n", "p.md:2  looks like a task: expected"},
		{"box that is no task", ok + "## Tasks\n- [ ] tidy up\n", "p.md:3  a box that is no task: expected"},
		{"nested task", ok + "  - [ ] **Task 2: B**\n", "p.md:2  Task 2 is indented below Task 1"},
		{"field not indented", ok + "- Depends on: none\n", "p.md:2  Depends on belongs to Task 1 but is not indented"},
		{"field misspelt", ok + "  - Depnds on: Task 3\n", `p.md:2  unknown field "Depnds on": meant "Depends on"?`},
		{"priority", ok + "  - Priority: soon\n", `p.md:2  priority "soon": expected`},
		{"complexity", ok + "  - Complexity: 11\n", `p.md:2  complexity "11": expected a number from 1 to 10`},
		{"threshold", ok + "  - Threshold: blocker\n", `p.md:2  threshold "blocker": expected critical, major, minor or suggestion`},
		{"second review", ok + "  - Second review: codex\n", `p.md:2  second review "codex": expected yes or no`},
		{"consensus", ok + "  - Consensus: perhaps\n", `p.md:2  consensus "perhaps": expected yes or no`},
		{"scope outside", ok + "  - Scope: `../other`\n", `p.md:2  scope of Task 1: "../other" is not a path below the repository`},
		{"code block never closed", ok + "\n```\n- [ ] **Task 2: B**\n", "p.md:3  this code block is never closed"},
		{"comment never closed", ok + "<!--\n- [ ] **Task 2: B**\n", "p.md:2  this comment is never closed"},
		{"not UTF-8", ok + "caf\xe9\n", "p.md:2  is not UTF-8"},
		{"UTF-16", "\xff\xfe-\x00", "p.md:1  is UTF-16"},
		{"NUL", ok + "\x00\n", "p.md:2  a NUL byte"},
		{"too large", ok + strings.Repeat("x", 64<<20), "p.md  is larger than 64 MB"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := ParsePlan("plans/p.md", []byte(c.in))
			input := (*ledger.InputError)(nil)
			if !errors.As(err, &input) {
				t.Fatalf("got %v, want an InputError", err)
			}
			if !strings.Contains(err.Error()+"\n", c.want) {
				t.Errorf("got  %s\nwant %s", err, c.want)
			}
			if len(input.Diagnostics) != 1 {
				t.Errorf("%d findings, want 1:\n%s", len(input.Diagnostics), err)
			}
		})
	}
}

func TestMalformedAllAtOnce(t *testing.T) {
	_, err := ParsePlan("p.md", []byte("- [~] **Task 1: A**\n  - Depends on: Task 9\n- [ ] **Task 2:**\n- [ ] **Task 2: B**\n  - Depends on: Task 2\n"))
	var lines []int
	if input := (*ledger.InputError)(nil); errors.As(err, &input) {
		for _, f := range input.Diagnostics {
			lines = append(lines, f.Line)
		}
	}
	if d := cmp.Diff([]int{1, 2, 3, 4}, lines); d != "" {
		t.Errorf("lines of findings (-want +got)\n%s\n%v", d, err)
	}
}

func TestNotTasks(t *testing.T) {
	s, err := ParsePlan("p.md", []byte("```md\n- [ ] **Task 8: in code**\n```\n"+
		"~~~~\n~~~\n- [ ] **Task 9: in code**\n~~~~\n<!-- - [ ] **Task 7: out** -->\n<!--\n- [ ] **Task 6: out**\n-->\n"+
		"text\n\n    - [ ] **Task 5: indented code**\n\n"+
		"- [ ] **Task 1: A**\n  - [ ] write it\n  - [ ] test it\n  ```\n- [ ] **Task 2: B**\n  - Notes:\n    ```\n    - [ ] **Task 3: code**\n    ```\n"+
		"## Verification\n- [ ] go test\n- [ ] lint Task 1\n"))
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, t := range s.Tasks {
		ids = append(ids, t.ID)
	}
	if d := cmp.Diff([]string{"Task 1", "Task 2"}, ids); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	if want := "  - [ ] write it\n  - [ ] test it\n  ```"; s.Tasks[0].Body != want {
		t.Errorf("body %q, want %q", s.Tasks[0].Body, want)
	}
}

func TestGroupedTasks(t *testing.T) {
	s, err := ParsePlan("p.md", []byte("## Tasks (2)\n\n- Phase one\n    - [ ] **Task 1: A**\n        - Scope: a/b\n\n    - [ ] **Task 2: B**\n      - Depends on: Task 1\n- Phase two\n"))
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Tasks) != 2 || s.Tasks[0].Scope != "a/b" || len(s.Tasks[1].DependsOn) != 1 {
		t.Errorf("got %+v", s.Tasks)
	}
}

func TestWarnings(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"fine", "- [ ] **Task 1: A**\n  - Scope: `a/b`\n", ""},
		{"prose", "- [ ] **Task 1: A**\n  - Scope: whatever it takes\n", `p.md:2  scope of Task 1: "whatever it takes" is prose`},
		{"ticked and marked", "- [x] (blocked) **Task 1: A**\n", "p.md:1  Task 1 is ticked and marked (blocked)"},
		{"large body", "- [ ] **Task 1: A**\n  - Notes: " + strings.Repeat("word ", 130), "p.md:1  Task 1 is large: 6"},
		{"large, but done", "- [x] **Task 1: A**\n  - Notes: " + strings.Repeat("word ", 130), ""},
		{"many criteria", "- [ ] **Task 1: A**\n  - Acceptance:\n" + strings.Repeat("    - c\n", 9), "p.md:1  Task 1 is large: 9 acceptance criteria"},
		{"odd order", "- [ ] **Task 1: Cart page**\n- [ ] **Task 2: Cart migration**\n", "p.md:2  odd order: Task 2 (schema) comes after Task 1 (UI)"},
		{"odd dependency", "- [ ] **Task 1: Order schema**\n- [ ] **Task 2: Order endpoint**\n- [ ] **Task 3: Cart table**\n  - Depends on: Task 2\n", "p.md:3  odd order: Task 3 (schema) depends on Task 2 (API)"},
		{"usual order twice", "- [ ] **Task 1: Order schema**\n- [ ] **Task 2: Order page**\n- [ ] **Task 3: Cart schema**\n- [ ] **Task 4: Cart page**\n", ""},
		{"near mark behind the title", "- [ ] **Task 1: A** (blocker)\n", "p.md:1  (blocker) behind Task 1 is no mark: meant (blocked)?"},
		{"mark with a reason behind the title", "- [ ] **Task 1: A** (blocked: no keys)\n", "p.md:1  (blocked: no keys) behind Task 1 is no mark"},
		{"other words behind the title", "- [ ] **Task 1: A** (urgent)\n", ""},
		{"near field", "- [ ] **Task 1: A**\n  - Compexity: 3\n", `p.md:2  unknown field "Compexity": meant "Complexity"?`},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := ParsePlan("p.md", []byte(c.in))
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, w := range append(s.Warnings, Lint(s)...) {
				got = append(got, w.String())
			}
			text := strings.Join(got, "\n")
			if c.want == "" && text != "" || !strings.HasPrefix(text, c.want) || len(got) > 1 {
				t.Errorf("got  %s\nwant %s", text, c.want)
			}
		})
	}
}

// TestParsePlanLong: parsing hostile text takes linear time.
func TestParsePlanLong(t *testing.T) {
	start := time.Now()
	size, tasks := 256<<10, 500
	if os.Getenv("NIGHTPORTER_SOAK") != "" {
		size, tasks = 2<<20, 2000
	}
	for _, s := range []string{"- [ ] **Task 1: ", "- [ ] (", "- (", "`", "- [ ] **Task 1: A** (blocked) ", "<!--", "> ", "- a:\n", "  - Depends on: 1-2, ", "\n"} {
		text := "- [ ] **Task 1: A**\n- [ ] **Task 2: B**\n  - Notes: " + strings.Repeat(s, size/len(s))
		ParsePlan("p.md", []byte(text))
	}
	var chain strings.Builder
	for n := range tasks {
		fmt.Fprintf(&chain, "- [ ] **Task %d: T**\n  - Depends on: Tasks 1-%d\n", n+1, tasks)
	}
	ParsePlan("p.md", []byte(chain.String()))
	t.Log(time.Since(start))
}
