package backlog

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/task/form/formtest"
)

// TestSpecStatus finds a spec's status in each of its forms, and nowhere else.
func TestSpecStatus(t *testing.T) {
	for text, want := range map[string]Status{
		"# x\n\n**Status:** queued | **Priority:** P1 | **Date:** 2026-02-02\n": Queued,
		"# x\n**Status**: done\n":                                   Done,
		"# x\n- **Status:** `blocked`\n":                            Blocked,
		"# x\n> Status: In Progress (E2E verified)\n":               InProgress,
		"---\nid: T-1\nstatus: draft\n---\n# x\n":                   Draft,
		"\ufeff# x\r\n\r\n**Status:** resumed\r\n":                  Resumed,
		"**Статус:** done\n":                                        Done,
		"# x\n**Status:** closed (duplicate)\n":                     "",
		"# x\n\n## Why\n\n**Status:** done\n":                       "",
		"# x\n\n| # | Status |\n|---|---|\n| 1 | done |\n":          "",
		"# x\nThis status is done.\n":                               "",
		"# x\n**Status:** queued\n**Status:** done\n":               Queued,
		"# x\n**Status:** queued\n\n### Task 1\n**Status:** done\n": Queued,
		"# Status: done\n":                                          "",
	} {
		sp := ReadSpec("s.md", []byte(text))
		if sp.Status != want {
			t.Errorf("%q says %q, want %q", text, sp.Status, want)
		}
		c := Change{Row{ID: "T-1", Status: want}, ManualVerify}
		got := string(MarkSpec("s.md", []byte(text), c))
		if want == "" && got != text || want != "" && (ReadSpec("s.md", []byte(got)).Status != ManualVerify || statusWord.ReplaceAllString(got, "") != statusWord.ReplaceAllString(text, "")) {
			t.Errorf("%q became %q", text, got)
		}
		if other := string(MarkSpec("s.md", []byte(text), Change{Row{Status: "other"}, Done})); other != text {
			t.Errorf("one that was different became %q", other)
		}
	}
}

// TestSpecScope reads "Allowed Files" in each of its forms.
func TestSpecScope(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"numbered, with remarks":           {"1. `a/b.go` — new: uses `fmt.Println()`\n2. **`c.md:10-20`** (modify)\n3) d/e.go — without backticks\n", "`a/b.go`, `c.md`, `d/e.go`"},
		"table":                            {"| # | File | Action |\n|---|------|--------|\n| 1 | `a.go` | edit `b.go` |\n| 2 | c/d.go | new |\n", "`a.go`, `c/d.go`"},
		"table without a header for files": {"| x | y |\n|---|---|\n| 1 | `a.go` |\n", "`a.go`"},
		"bullets and several in one":       {"- `a.go`, `b.go` and `c.go` — see `d.go`\n* [e.go](e.go) — linked\n", "`a.go`, `b.go`, `c.go`, `e.go`"},
		"mixed, new ones":                  {"**ONLY these files may be modified:**\n1. `a.go`\n\n**New files allowed:**\n- `b.go`\n\n**FORBIDDEN:** All other files.\n- `x.go`\n", "`a.go`, `b.go`"},
		"forbidden between":                {"**FORBIDDEN:**\n- `x.go`\n\n**New files allowed:**\n- `b.go`\n", "`b.go`"},
		"subsections":                      {"### Code\n1. `a.go`\n### Docs\n1. `b.md`\n", "`a.go`, `b.md`"},
		"code block":                       {"```\na/b.go   (create - Task 1)\nc.md\n```\n", "`a/b.go`, `c.md`"},
		"twice, folder, glob":              {"- `a/`\n- `a/`\n- `b/**/*.go`\n", "`a/`, `b/**/*.go`"},
		"prose":                            {"Whatever is needed.\n- some files of the service\n", ""},
		"a command is no path":             {"- `pip install --upgrade x`\n- `a.go`\n", "`a.go`"},
		"none":                             {"", ""},
	} {
		for _, eol := range []string{"\n", "\r\n"} {
			text := strings.ReplaceAll("# x\n\n## Allowed Files\n\n"+c.text+"\n## Next\n\n- `not/this.go`\n", "\n", eol)
			if sp := ReadSpec("s.md", []byte(text)); sp.Scope != c.want || len(sp.Errors) > 0 {
				t.Errorf("%s: %s, want %s (%v)", name, sp.Scope, c.want, sp.Errors)
			}
		}
	}
	if sp := ReadSpec("s.md", []byte("## Allowed Files\n- `../a`\n- `/b`\n- `c`\n")); len(sp.Errors) != 1 || sp.Errors[0].Line != 2 || sp.Scope != "`c`" {
		t.Errorf("paths outside: %s, %v", sp.Scope, sp.Errors)
	}
}

// TestSpecBody: the body says how, or else why, and is never longer than a prompt
// bears.
func TestSpecBody(t *testing.T) {
	for text, want := range map[string]string{
		"# x\n\n## Why\n\nOld.\n\n## Implementation Plan (draft)\n\nDo it.\n\n---\n\n## 3. Tasks\n\n- one\n": "Do it.\n\n- one",
		"# x\n\n## Problem\n\nBroken.\n\n## Notes\n\nNo.\n":                                                  "Broken.",
		"# x\n\n## Environment\n\n- docker: true\n\n## Autopilot Log\n\nlogged\n":                            "Environment: docker: true",
		"# x\n\n```\nnever closed\n\n## Implementation Plan\n\nDo it.\n":                                     "Do it.",
	} {
		if got := ReadSpec("f/s.md", []byte(text)).body(); got != "Spec: f/s.md\n\n"+want {
			t.Errorf("%q: %q", text, got)
		}
	}
	long := ReadSpec("f/s.md", []byte("## Tasks\n\n"+strings.Repeat("Größe ist wichtig.\n", 9999))).body()
	if len(long) > maxBody+100 || !strings.HasSuffix(long, "wichtig.\n… (the rest is in f/s.md)") {
		t.Errorf("%d bytes, … %q", len(long), long[len(long)-60:])
	}
}

// TestAppendSpecLog: an entry is at the end of the log's section, wherever that is,
// and once.
func TestAppendSpecLog(t *testing.T) {
	for text, want := range map[string]string{
		formtest.SeedSpec: formtest.SeedSpec + "\nE\nK\n",
		"# x\n":           "# x\n\n## Autopilot Log\n\nE\nK\n",
		"# x":             "# x\n\n## Autopilot Log\n\nE\nK\n",
		"# x\r\n\r\n## Autopilot Log\r\n\r\nold\r\n":   "# x\r\n\r\n## Autopilot Log\r\n\r\nold\r\n\r\nE\r\nK\r\n",
		"## Autopilot Log\n\n### old\n\n## Why\n\nx\n": "## Autopilot Log\n\n### old\n\nE\nK\n\n## Why\n\nx\n",
		"## Autopilot Log\n\nold\n\n---\n\n## Why\n":   "## Autopilot Log\n\nold\n\nE\nK\n\n---\n\n## Why\n",
		"": "## Autopilot Log\n\nE\nK\n",
	} {
		got := AppendSpecLog("s.md", []byte(text), "E\nK", "K")
		if d := cmp.Diff(want, string(got)); d != "" {
			t.Errorf("%q:\n%s", text, d)
		}
		if again := AppendSpecLog("s.md", got, "E\nK", "K"); string(again) != string(got) {
			t.Errorf("%q: appended twice", text)
		}
	}
	if text := "\xff\x00"; string(AppendSpecLog("s.md", []byte(text), "E", "K")) != text {
		t.Error("appended to something that is no text")
	}
}

// TestNewSpec: a spec that is written for a task reads back as that task.
func TestNewSpec(t *testing.T) {
	task := ledger.Task{ID: "T-7", Title: "Round totals", Body: "Do it.\n## Part\nMore.", Scope: "`a/b.go`, docs/", Acceptance: []string{"1.005 becomes 1.01"}, DependsOn: []string{"T-1"}, Priority: 4}
	sp := ReadSpec("T-7.md", NewSpec(task, "2026-02-02"))
	got := Row{ID: "T-7", Title: "Round totals", Status: Queued}.Task(sp)
	want := task
	want.Body, want.Scope, want.Mark, want.Material = "Spec: T-7.md\n\nDo it.\n#### Part\nMore.", "`a/b.go`, `docs/**`", ledger.MarkOpen, []string{"T-7.md"}
	if d := cmp.Diff(want, got); d != "" || sp.Status != Queued {
		t.Errorf("%s\n%s", sp.Status, d)
	}
}

// TestNextIDs continues the prefix that most rows have.
func TestNextIDs(t *testing.T) {
	rows := []Row{{ID: "TECH-008"}, {ID: "BUG-100"}, {ID: "TECH-069a"}, {ID: "GROWTH-1"}}
	for name, c := range map[string]struct {
		rows []Row
		used []string
		want string
	}{
		"most":              {rows, nil, "TECH-070 mine-1 TECH-071"},
		"also specs":        {rows, []string{"TECH-070", "BUG-200"}, "TECH-071 mine-1 TECH-072"},
		"an empty table":    {nil, nil, "TASK-1 mine-1 TASK-2"},
		"plain numbers":     {[]Row{{ID: "1"}, {ID: "2"}}, nil, "3 mine-1 4"},
		"of two, the later": {[]Row{{ID: "A-01"}, {ID: "B-09"}}, nil, "B-10 mine-1 B-11"},
	} {
		ids, err := NextIDs("b.md", c.rows, c.used, []ledger.Task{{}, {ID: "mine-1"}, {}})
		if got := strings.Join(ids, " "); got != c.want || err != nil {
			t.Errorf("%s: %s, %v, want %s", name, got, err, c.want)
		}
	}
}

// TestAddRows: rows are written like those above them.
func TestAddRows(t *testing.T) {
	row := []NewRow{{Task: ledger.Task{ID: "N-1", Title: "x|y"}}}
	for text, want := range map[string]string{
		header:                                 header + "| N-1 | x\\|y | queued | — |\n",
		header + "| A-1 | a | done | |\n\nend": header + "| A-1 | a | done | |\n| N-1 | x\\|y | queued | — |\n\nend",
		header + "| A-1 | a | done | |":        header + "| A-1 | a | done | |\n| N-1 | x\\|y | queued | — |",
		"ID | Status | What\r\n---|---|---\r\nA-1 | done | a\r\n": "ID | Status | What\r\n---|---|---\r\nA-1 | done | a\r\nN-1 | queued | x\\|y\r\n",
	} {
		got, err := AddRows("b.md", []byte(text), row)
		if err != nil || string(got) != want {
			t.Errorf("%q: %v\n got %q\nwant %q", text, err, got, want)
		}
	}
}
