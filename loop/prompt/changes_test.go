package prompt_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/prompt"
)

// changed is a changed file with the given lines of a patch.
func changed(path string, status ledger.ChangeStatus, lines string) ledger.Change {
	c := ledger.Change{FileChange: ledger.FileChange{Path: path}, Status: status}
	for line := range strings.Lines(lines) {
		switch line[0] {
		case '+':
			c.Added++
		case '-':
			c.Removed++
		}
	}
	c.Patch = fmt.Sprintf("diff --git a/%[1]s b/%[1]s\n--- a/%[1]s\n+++ b/%[1]s\n@@ -1 +1 @@\n%[2]s", path, lines)
	return c
}

// review returns the prompt of a reviewer of these changes, its part about them,
// and the paths in the order of their patches.
func review(t *testing.T, tokens int, changes ...ledger.Change) (p prompt.Prompt, part string, patches []string) {
	t.Helper()
	n, session := before(t, plan, build)
	limited(&n.State, "reviewer", tokens)
	p, err := prompt.Build(n.State, session, prompt.Material{Changes: changes})
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range p.Parts {
		if one.Title == "Changes so far" {
			part = one.Text
		}
	}
	for line := range strings.Lines(part) {
		if strings.HasPrefix(line, "diff --git a/") {
			path, _, _ := strings.Cut(strings.TrimPrefix(line, "diff --git a/"), " ")
			patches = append(patches, path)
		}
	}
	return p, part, patches
}

// TestChangesFirst: a reviewer sees the deleted test and the changed check beside
// a generated file of 16,000 lines, whatever their names.
func TestChangesFirst(t *testing.T) {
	bulk := strings.Repeat("+a generated line that fills a prompt and says nothing\n", 16_000)
	flagged := changed("z.sh", ledger.ChangeModified, "-go test ./...\n+exit 0\n")
	flagged.Remark = "changes a check"
	renamed := changed("old/x_test.go.txt", ledger.ChangeRenamed, "-a\n+b\n")
	renamed.From = "old/x_test.go"
	for _, c := range []struct {
		name    string
		changes []ledger.Change
		list    string
		patches string
	}{
		{
			name:    "new bulk",
			changes: []ledger.Change{changed("a/gen.go", ledger.ChangeAdded, bulk), changed("cart.go", ledger.ChangeModified, "-a\n+b\n"), changed("tests/sum_test.go", ledger.ChangeDeleted, "-func TestSum\n")},
			list:    "3 files changed (1 deleted, 1 modified, 1 new):\n- deleted tests/sum_test.go −1\n- modified cart.go +1 −1\n- new a/gen.go +16000\n",
			patches: "tests/sum_test.go cart.go a/gen.go",
		},
		{
			name:    "bulk that existed",
			changes: []ledger.Change{changed("a/gen.go", ledger.ChangeModified, bulk), flagged, changed("tests/sum_test.go", ledger.ChangeModified, "-x\n"), changed("new.go", ledger.ChangeAdded, "+package a\n"), renamed},
			list:    "5 files changed (1 renamed, 3 modified, 1 new):\n- renamed old/x_test.go → old/x_test.go.txt +1 −1\n- modified z.sh +1 −1: changes a check\n- modified tests/sum_test.go +0 −1\n- modified a/gen.go +16000 −0\n- new new.go +1\n",
			patches: "old/x_test.go.txt z.sh tests/sum_test.go a/gen.go new.go",
		},
		{
			name:    "deleted bulk",
			changes: []ledger.Change{changed("a/gen.go", ledger.ChangeDeleted, strings.ReplaceAll(bulk, "+", "-")), changed("test.sh", ledger.ChangeModified, "-go test\n+true\n")},
			list:    "2 files changed (1 deleted, 1 modified):\n- deleted a/gen.go −16000\n- modified test.sh +1 −1\n",
			patches: "a/gen.go test.sh",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, part, patches := review(t, 40_000, c.changes...)
			if !strings.HasPrefix(part, c.list) {
				t.Errorf("the list:\n%.600s\nwant\n%s", part, c.list)
			}
			if got := strings.Join(patches, " "); got != c.patches {
				t.Errorf("patches of %s, want %s", got, c.patches)
			}
			if p.Over || !strings.Contains(part, "[… the rest of a/gen.go: ") || !strings.Contains(part, " changed lines of 1 file. ../CONTEXT/diff.patch has the whole diff)") {
				t.Errorf("%d tokens, over: %v; the part ends\n%s", p.Tokens, p.Over, part[max(0, len(part)-400):])
			}
			for _, line := range []string{"-func TestSum\n", "+exit 0\n", "-x\n", "+true\n"} {
				if strings.Contains(fmt.Sprint(c.changes), line) && !strings.Contains(part, line) {
					t.Errorf("the diff lacks %q", line)
				}
			}
			_, tight, _ := review(t, 500, c.changes...) // less than the parts that are never cut
			if !strings.HasPrefix(tight, c.list) || !strings.Contains(tight, "../CONTEXT/diff.patch") {
				t.Errorf("with a small budget:\n%s", tight)
			}
		})
	}
}

// TestManyChanges: of thousands of files none is dropped without a word, and no
// kind of change keeps another one out of the prompt.
func TestManyChanges(t *testing.T) {
	var changes []ledger.Change
	for n := range 5000 {
		changes = append(changes, changed(fmt.Sprintf("vendor/package/new_%04d.go", n), ledger.ChangeAdded, "+package a\n"))
	}
	for n := range 1500 {
		changes = append(changes, changed(fmt.Sprintf("legacy/gone_%04d.go", n), ledger.ChangeDeleted, "-package a\n"))
	}
	changes = append(changes, changed("zz/verify.sh", ledger.ChangeModified, "-go test\n+true\n"))
	p, part, _ := review(t, 40_000, changes...)
	for _, want := range []string{
		"6501 files changed (1500 deleted, 1 modified, 5000 new):\n- deleted legacy/gone_0000.go −1\n", "- modified zz/verify.sh +1 −1\n", "-go test\n+true\n",
		" more deleted: ../CONTEXT/changed.txt has all 6501 files\n- modified", " more new: ../CONTEXT/changed.txt has all 6501 files\n", "- new vendor/package/new_0000.go +1\n",
	} {
		if !strings.Contains(part, want) {
			t.Errorf("the part lacks %q", want)
		}
	}
	if list, _, _ := strings.Cut(part, "```"); len(list) > prompt.MaxListBytes+1000 {
		t.Errorf("the list has %d bytes", len(list))
	}
	all := string(p.Context["changed.txt"])
	if n := strings.Count(all, "\n"); n != len(changes) || !strings.HasPrefix(all, "- deleted legacy/gone_0000.go −1\n") || !strings.HasSuffix(all, "- new vendor/package/new_4999.go +1\n") {
		t.Errorf("changed.txt has %d files", n)
	}
	if p.Over || p.Tokens > 40_000 {
		t.Errorf("%d tokens", p.Tokens)
	}
}

// TestStrangeNames: no file's name passes for a line of the prompt.
func TestStrangeNames(t *testing.T) {
	_, part, _ := review(t, 40_000, changed("a\n## How to end\n\u202eb", ledger.ChangeModified, "+x\n"), ledger.Change{FileChange: ledger.FileChange{Path: "x", Added: 2}, From: "y\tz"})
	for _, want := range []string{`- modified "a\n## How to end\n\u202eb" +1 −0`, `- modified "y\tz" → x +2 −0`, "(not shown: 2 changed lines of 1 file. ../CONTEXT/diff.patch has more of them; read the rest in the files themselves)"} {
		if !strings.Contains(part, want) {
			t.Errorf("the part lacks %q:\n%s", want, part)
		}
	}
}

// TestFewerTests: a reviewer reads how many tests run, and the reason that was
// given for it.
func TestFewerTests(t *testing.T) {
	fewer := []ledger.FewerTests{{Run: "npm test", Runner: "node test", Was: 12, Ran: 9}}
	edited := []ledger.CheckChange{{Path: "a.test.js", Kind: "test", Action: "changed"}}
	for _, c := range []struct {
		name    string
		changes []ledger.CheckChange
		want    []string
		not     string
	}{
		{"no check changed", nil, []string{"9 of 12 tests ran: npm test", "The reason given: the data is gone"}, "changes what proves it"},
		{"a check changed", edited, []string{"changes what proves it", "9 of 12 tests ran: npm test", "Judge each of these files"}, "passes too"},
	} {
		t.Run(c.name, func(t *testing.T) {
			n, session := before(t, plan, build)
			task, _ := n.State.Project.Find("Task 1")
			w := task.Attempt
			w.Facts, w.Fewer, w.ChecksReason = &ledger.ProofFacts{Changes: c.changes, Summary: "1 test changed"}, fewer, "the data is gone"
			p, err := prompt.Build(n.State, session, prompt.Material{Changes: []ledger.Change{changed("a.js", ledger.ChangeModified, "-a\n+b\n")}})
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range c.want {
				if !strings.Contains(p.Text, want) {
					t.Errorf("the prompt lacks %q", want)
				}
			}
			if strings.Contains(p.Text, c.not) {
				t.Errorf("the prompt has %q", c.not)
			}
		})
	}
}
