//go:build e2e

package main_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nightporter/nightporter/internal/fake/models"
	"github.com/nightporter/nightporter/internal/programtest"
)

// formats are task files as other tools write them, in odd but valid layouts, with
// one open task each. What changes names is all that a night may change in them.
var formats = []struct {
	source  string            // KIND:PATH of the list
	files   map[string]string // by path
	changes []string          // old, new, …; in any of the files
}{
	{source: "plan:specs/001-till/tasks.md", files: map[string]string{
		"specs/001-till/tasks.md": "# Tasks: Till\r\n\r\n## Phase 1: Setup\r\n\r\n- [x] T001 Create lib/\r\n\r\n## Phase 2: Core\r\n\r\n- [ ] T002 [P] [US1] Round cents in lib/legacy.sh\r\n",
		"specs/001-till/spec.md":  "# Till\n\nCents are never lost.\n",
	}, changes: []string{"- [ ] T002", "- [x] T002"}},
	{source: "plan:.kiro/specs/till/tasks.md", files: map[string]string{
		".kiro/specs/till/tasks.md":        "# Implementation Plan\n\n- [x] 1. Read prices\n  - _Requirements: 1.1_\n\n- [ ] 2. Sum the basket\n  - [ ] 2.1 Add the lines in lib/legacy.sh\n    - _Requirements: 1.2_\n  - [x] 2.2 Round\n- [x]* 3. Colours\n",
		".kiro/specs/till/requirements.md": "# Requirements\n\n1.2 WHEN a line is added THEN the sum SHALL grow.\n",
	}, changes: []string{"- [ ] 2. Sum", "- [x] 2. Sum", "- [ ] 2.1", "- [x] 2.1"}},
	{source: "plan:openspec/changes/add-till/tasks.md", files: map[string]string{
		"openspec/changes/add-till/tasks.md":    "## 1. Till\n\n- [x] 1.1 Table\n- [ ] 1.2 Page\n",
		"openspec/changes/add-till/proposal.md": "## Why\n\nNobody can pay.\n",
	}, changes: []string{"- [ ] 1.2", "- [x] 1.2"}},
	{source: "plan:docs/superpowers/plans/till.md", files: map[string]string{
		"docs/superpowers/plans/till.md": "# Till Implementation Plan\n\n### Task 1: Prices\n\n- [x] **Step 1: Write the test**\n\n### Task 2: Sum\n\n**Files:**\n- Modify: `lib/legacy.sh`\n\n- [ ] **Step 1: Write the test**\n\n```sh\necho '- [ ] not a step'\n```\n\n- [ ] **Step 2: Make it pass**\n",
	}, changes: []string{"- [ ] **Step 1", "- [x] **Step 1", "- [ ] **Step 2", "- [x] **Step 2"}},
	{source: "tasks:tasks.json", files: map[string]string{
		"tasks.json": "[{\"id\":\"t-1\", \"description\":\"Prices\" ,\"status\" :\"completed\"},\n\t{ \"status\":\"pending\",\"id\":\"t-2\",\"description\":\"Sum\", \"mine\": {\"status\": \"pending\"}, \"attempt\": 1e0 }]",
	}, changes: []string{"\"status\":\"pending\",\"id\"", "\"status\":\"completed\",\"id\""}},
	{source: "tasks:.taskmaster/tasks/tasks.json", files: map[string]string{
		".taskmaster/tasks/tasks.json": "{\"master\":{\"tasks\":[{\"id\":1,\"title\":\"Prices\",\"status\":\"done\"},\n  {\"id\":2,\"title\":\"Sum\",\"status\":\"pending\",\"dependencies\":[1]}]}}\n",
	}, changes: []string{"\"pending\"", "\"done\""}},
	{source: "prd:prd.json", files: map[string]string{
		"prd.json": "{\"branchName\":\"ralph/till\",\"userStories\":[\n  {\"id\":\"US-001\",\"title\":\"Prices\",\"priority\":1,\"passes\":true},\n  {\"id\":\"US-002\",\"title\":\"Sum\",\"priority\":2,\"passes\":  false,\"notes\":\"\"}]}\n",
	}, changes: []string{"\"passes\":  false", "\"passes\":  true"}},
	{source: "backlog:ai/backlog.md", files: map[string]string{
		"ai/backlog.md":           "# Backlog\n\n| ID | Задача | Status | Priority | Feature.md |\n|---|---|---|---|---|\n| FTR-001 | Prices | done | P1 | – |\n| TECH-069 | Sum \\| round | queued | P0 | [spec](features/TECH-069.md) |\n",
		"ai/features/TECH-069.md": "# TECH-069: Sum\n\n**Status:** queued | **Priority:** P0\n\n## Allowed Files\n\n1. `lib/legacy.sh`\n",
	}, changes: []string{"| queued | P0 |", "| done | P0 |", "**Status:** queued", "**Status:** done"}},
	{source: "backlog:backlog", files: map[string]string{
		"backlog/config.yml":              "project_name: \"Till\"\nstatuses: [\"To Do\", \"In Progress\", \"Done\"]\ndefault_status: \"To Do\"\n",
		"backlog/tasks/task-1 - Price.md": "---\nid: task-1\ntitle: Price\nstatus: Done\n---\n",
		"backlog/tasks/task-2 - Sum.md":   "---\nid: task-2\ntitle: 'Sum: all lines'\nstatus:   To Do   # a remark\nassignee: []\nlabels: [till]\ndependencies:\n  - task-1\n---\n\n## Description\n\nAdd the lines in lib/legacy.sh.\n\n## Acceptance Criteria\n<!-- AC:BEGIN -->\n- [ ] #1 Cents are kept\n<!-- AC:END -->\n",
	}, changes: []string{"status:   To Do", "status:   Done", "- [ ] #1", "- [x] #1"}},
}

// allDone matches the end of a run with every task done, one of them in it.
var allDone = regexp.MustCompile(`ended: (1/1|2/2|3/3) done .* 1 session `)

// TestFormats: a real Claude Code does the open task of a list in each form that
// other tools have, and of the list's file only the status changes.
func TestFormats(t *testing.T) {
	t.Parallel()
	e := newNightFixture(t, nightOptions{script: func(_ *nightFixture, r models.Request) models.Turn {
		hat := r.Hat()
		turns := []models.Turn{
			models.Use(models.Bash(fmt.Sprintf("echo '# %s' >> lib/legacy.sh", hat.Task))),
			models.Use(hat.Emit(map[string]any{"summary": "wrote it", "files_modified": []string{"lib/legacy.sh"}})),
		}
		if r.Step < len(turns) {
			return turns[r.Step]
		}
		return models.Say("Done.")
	}})
	for _, f := range formats {
		for name, text := range f.files {
			e.noError(os.MkdirAll(filepath.Dir(e.Path("repo", name)), 0o755))
			e.noError(os.WriteFile(e.Path("repo", name), []byte(text), 0o644))
		}
		e.git("add", "--all")
		e.git("commit", "--quiet", "--message=A list")
		ctx, cancel := context.WithTimeout(t.Context(), 2*programtest.Patience)
		cmd := e.Command(ctx, "nightporter", "run", "--new", "--source", f.source, "--pattern", "single")
		cmd.Env = e.Env()
		out, err := cmd.CombinedOutput()
		cancel()
		t.Logf("$ nightporter run --source %s\n%s", f.source, out)
		if err != nil || !allDone.Match(out) {
			t.Errorf("%s: %v", f.source, err)
		}
		for name, text := range f.files {
			got, err := os.ReadFile(e.Path("repo", name))
			e.noError(err)
			own, _, _ := strings.Cut(string(got), "\n## Autopilot Log\n") // the protocol that a spec gets
			if diff := cmp.Diff(strings.NewReplacer(f.changes...).Replace(text), own); diff != "" {
				t.Errorf("%s (-want +got):\n%s", name, diff)
			}
		}
		t.Logf("$ git status --short; git diff\n%s\n%s", e.git("status", "--short"), e.git("diff"))
		e.git("reset", "--quiet", "--hard", "HEAD^")
		e.git("clean", "--quiet", "--force", "-dx")
	}
}
