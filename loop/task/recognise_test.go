package task

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/nightporter/nightporter/loop/task/form/formtest"
)

// TestRecognise: each text of each form is of exactly one kind, whatever its name says.
func TestRecognise(t *testing.T) {
	for _, group := range []struct {
		kind, ending string
		texts        []string
	}{
		{KindPlan, ".md", append([]string{formtest.SeedPlan}, formtest.Plans...)},
		{KindPlan, ".md", formtest.Headings},
		{KindPlan, ".md", formtest.Checklists},
		{KindBacklog, ".md", append([]string{formtest.SeedBacklog}, formtest.Backlogs...)},
		{KindTasks, ".json", formtest.WreckIt},
		{KindTasks, ".json", formtest.TaskMaster},
		{KindPRD, ".json", append([]string{formtest.PRDStatus}, formtest.PRDs...)},
		{KindBeads, ".jsonl", formtest.Beads},
	} {
		for i, text := range group.texts {
			for _, name := range []string{"list" + group.ending, "docs/tasks" + group.ending, "ai/backlog" + group.ending, "prd" + group.ending} {
				repo := t.TempDir()
				writeBelow(t, repo, ".git/HEAD", "")
				writeBelow(t, repo, name, text)
				found, err := Recognise(context.Background(), repo, name)
				if err != nil || len(found) != 1 || found[0].Kind.Name != group.kind || found[0].Why == "" {
					t.Errorf("%s %d as %s: recognised as %v, %v", group.kind, i, name, kindsOf(found), err)
					continue
				}
				source, err := Open(KindAuto, name, repo, Options{})
				if err != nil {
					t.Errorf("%s %d as %s: %v", group.kind, i, name, err)
					continue
				}
				if s, err := source.Read(context.Background()); err != nil || len(s.Tasks) == 0 {
					t.Errorf("%s %d as %s: %d tasks, %v", group.kind, i, name, len(s.Tasks), err)
				}
			}
		}
	}
}

func kindsOf(found []Recognised) (names []string) {
	for _, f := range found {
		names = append(names, f.Kind.Name)
	}
	return names
}

// TestRecogniseNone: what is no list of tasks, has a mistake, or could be two lists is
// refused, with what to do.
func TestRecogniseNone(t *testing.T) {
	const table = "| ID | Task | Status |\n|---|---|---|\n| A-1 | one | queued |\n"
	for _, c := range []struct{ path, text, want, remedy string }{
		{"notes.md", "# Notes\n\nProse alone.\n", "notes.md  has no tasks: expected boxes", "Write a box for each task"},
		{"steps.md", "# Plan\n\n## 1. One\n\n## 2. Two\n", "steps.md:3  has no tasks", "Write Task before the numbers"},
		{"fence.md", "- [ ] one\n\n```\n- [ ] two\n", "fence.md:3  this code block is never closed", "Close it"},
		{"empty.md", "", "has no tasks", "Write a box"},
		{"both.md", "- [ ] a box\n\n" + table, "can be read in more than one way: plan (boxes `- [ ]`), backlog (a table with ID and Status)", `Say which: source = "plan:both.md"`},
		{"two.md", "- [ ] **Task 1: a**\n\n### Task 2: b\n\n- [ ] c\n", "two.md:1  tasks as boxes here, and as headings in line 3", "Take the bold off the boxes"},
		{"list.json", `{"name": "shop"}`, "without tasks", "path"},
		{"list.json", "[\n {\"id\": \"1\",}\n]\n", "list.json:2  a comma before", "Remove the comma"},
		{"list.jsonl", "one\n", "list.jsonl:1  is no JSON", "Mend the line"},
		{"data.bin", "\x00\x01\x02", "a NUL byte", "check the path"},
		{"folder/a.txt", "x", "is no list of tasks", "Write tasks as"},
		{"folder", "", "is a folder", "Name the file in it"},
		{"gone.md", "", "there is no such file", "Check the path"},
		{"../out.md", "", "outside the repository", ""},
	} {
		repo := t.TempDir()
		switch c.path {
		case "folder":
			writeBelow(t, repo, "folder/a.txt", "x")
		case "gone.md", "../out.md":
		default:
			writeBelow(t, repo, c.path, c.text)
		}
		kind, path, err := Resolve(context.Background(), repo, KindAuto, c.path)
		if source, openErr := Open(kind, path, repo, Options{}); err == nil && openErr == nil {
			_, err = source.Read(context.Background())
		}
		text := fmt.Sprint(err)
		if err == nil || !strings.Contains(text, c.want) || !strings.Contains(text, c.remedy) {
			t.Errorf("%s %q: %s %s\n%v\nwant %s … %s", c.path, c.text, kind, path, err, c.want, c.remedy)
		}
	}
}

// TestRecogniseNamed: a backlog with boxes in its prose is a backlog by its name.
func TestRecogniseNamed(t *testing.T) {
	repo := t.TempDir()
	writeBelow(t, repo, "ai/backlog.md", formtest.SeedBacklog+"\n## Before launch\n\n- [ ] the link works\n")
	writeBelow(t, repo, "ai/notes.md", formtest.SeedBacklog+"\n## Before launch\n\n- [ ] the link works\n")
	if kind, _, err := Resolve(context.Background(), repo, KindAuto, "ai/backlog.md"); err != nil || kind != KindBacklog {
		t.Errorf("kind %q, %v", kind, err)
	}
	if kind, _, err := Resolve(context.Background(), repo, KindAuto, "ai/notes.md"); err == nil {
		t.Errorf("a file of two kinds with any name is taken for a %s", kind)
	}
}

// TestResolveAlone: "auto" without a path is the only list with open tasks, or an error
// that names what is there.
func TestResolveAlone(t *testing.T) {
	const open, done = "- [ ] one\n- [x] two\n", "- [x] one\n"
	prd := formtest.PRDs[0]
	for _, c := range []struct {
		files map[string]string
		want  string // KIND:PATH, or a part of the error
	}{
		{map[string]string{"TODO.md": open}, "plan:TODO.md"},
		{map[string]string{"prd.json": prd, "TODO.md": done}, "prd:prd.json"},
		{map[string]string{"ai/backlog.md": formtest.SeedBacklog, "README.md": "- [ ] no list"}, "backlog:ai/backlog.md"},
		{map[string]string{"TODO.md": done}, "plan:TODO.md"}, // a run of it adds nothing, and says so
		{map[string]string{"TODO.md": open, "prd.json": prd}, `several lists have open tasks: plan:TODO.md (1 open), prd:prd.json (2 open)`},
		{map[string]string{"TODO.md": done, "PLAN.md": done}, `no list has open tasks that can be read`},
		{map[string]string{"TODO.md": done, "tasks.json": "[{"}, `no list has open tasks that can be read`},
		{map[string]string{"README.md": "nothing"}, `has no list of tasks where they usually are`},
	} {
		repo := t.TempDir()
		for name, text := range c.files {
			writeBelow(t, repo, name, text)
		}
		kind, path, err := Resolve(context.Background(), repo, KindAuto, "")
		if got := kind + ":" + path; err == nil && got != c.want || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %s, %v; want %s", slices.Sorted(maps.Keys(c.files)), got, err, c.want)
		}
	}
}

// TestMistakenKind: a file of another kind than its source says is an error that names
// the right source.
func TestMistakenKind(t *testing.T) {
	texts := map[string]struct{ name, text string }{
		KindPlan:    {"a.md", formtest.Checklists[0]},
		KindBacklog: {"b.md", formtest.Backlogs[1]},
		KindTasks:   {"c.json", formtest.WreckIt[0]},
		KindPRD:     {"d.json", formtest.PRDs[0]},
		KindBeads:   {"e.jsonl", formtest.Beads[0]},
	}
	for right, f := range texts {
		repo := t.TempDir()
		writeBelow(t, repo, f.name, f.text)
		for wrong := range texts {
			if wrong == right {
				continue
			}
			source, err := Open(wrong, f.name, repo, Options{})
			if err != nil {
				t.Fatal(err)
			}
			_, err = source.Read(context.Background())
			if want := fmt.Sprintf("Write source = %q", right+":"+f.name); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), filepath.Base(f.name)) {
				t.Errorf("a %s as %s: %v, want %s", right, wrong, err, want)
			}
		}
	}
}

// TestRecogniseNoText: of a file that is no text, and of a folder, the reason is told.
func TestRecogniseNoText(t *testing.T) {
	repo := t.TempDir()
	for name, text := range map[string]string{"nul.md": "- [ ] a\n- [ ] b\x00\n", "latin.md": "- [ ] a\n\n- [ ] \xe9t\xe9\n", "wide.md": "\xff\xfe-\x00", "words.md": "Words.\n"} {
		if err := os.WriteFile(filepath.Join(repo, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(repo, "plans"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"nul.md": "nul.md:2  a NUL byte", "latin.md": "latin.md:3  is not UTF-8", "wide.md": "wide.md:1  is UTF-16", "plans": "plans  is a folder without a list of tasks",
		"words.md": "words.md  has no tasks",
	} {
		if _, _, err := Resolve(t.Context(), repo, KindAuto, name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}
