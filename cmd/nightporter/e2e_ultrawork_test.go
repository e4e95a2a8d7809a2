//go:build e2e

package main_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/nightporter/nightporter/internal/fake/models"
)

// TestUltrawork: a planner divides five endpoints into sections, and five real Claude
// Codes build them at the same time, each in a folder of its own. One reviewer sees the
// whole, a fixer mends it, and the task becomes one commit.
func TestUltrawork(t *testing.T) {
	t.Parallel()
	endpoints := []string{"a", "b", "c", "d", "e"}
	var mu sync.Mutex
	met, all := map[string]bool{}, make(chan struct{})
	var reviewed []string
	e := newNightFixture(t, nightOptions{script: func(e *nightFixture, r models.Request) models.Turn {
		hat := r.Hat()
		var turns []models.Turn
		switch hat.Name {
		case "planner":
			var sections []map[string]any
			for _, id := range endpoints {
				sections = append(sections, map[string]any{
					"id": id, "title": "Endpoint " + id, "tasks": []string{"it answers"}, "files": []string{"api/" + id + ".sh"}, "steps": []string{"write it"}, "depends_on": []string{},
				})
			}
			turns = []models.Turn{models.Use(hat.Emit(map[string]any{"summary": "Five pieces", "sections": sections}))}
		case "builder":
			id := hat.Task[strings.LastIndex(hat.Task, "/")+1:]
			file := "api/" + id + ".sh"
			meet := models.Use(e.noteSession())
			meet.Before = func() {
				mu.Lock()
				if !met[id] {
					if met[id] = true; len(met) == len(endpoints) {
						close(all)
					}
				}
				mu.Unlock()
				select {
				case <-all:
				case <-t.Context().Done():
				}
			}
			turns = []models.Turn{
				meet,
				models.Use(models.Bash("mkdir -p api && echo 'echo " + id + "' >" + file)),
				models.Use(hat.Emit(map[string]any{"summary": "Wrote endpoint " + id, "files_modified": []string{file}})),
			}
		case "reviewer":
			data := map[string]any{"summary": "Fine", "issues": []any{}}
			mu.Lock()
			if r.Step == 0 {
				reviewed = append(reviewed, hat.Parts["Changes so far"])
			}
			if len(reviewed) == 1 {
				data = map[string]any{"summary": "c says nothing", "issues": []any{map[string]any{"severity": "major", "file": "api/c.sh", "rule": "answer", "text": "it has to answer in full"}}}
			}
			mu.Unlock()
			turns = []models.Turn{models.Use(hat.Emit(data))}
		case "fixer":
			turns = []models.Turn{
				models.Use(models.Bash("echo 'echo in full' >>api/c.sh")),
				models.Use(hat.Emit(map[string]any{"summary": "c answers in full", "files_modified": []string{"api/c.sh"}, "resolved": []string{"answer"}})),
			}
		}
		if r.Step >= len(turns) {
			return models.Say("Done.")
		}
		return turns[r.Step]
	}})
	e.noError(os.WriteFile(filepath.Join(e.Path("repo"), "api.md"), []byte("- [ ] **Task 1: Five endpoints**\n  - Scope: `api/`\n"), 0o644))
	p, err := e.Start(e.Env(), "run", "--pattern", "ultrawork", "--parallel", "5", "--source", "plan:api.md", "--profile", "overnight")
	e.noError(err)
	t.Cleanup(p.Kill)
	code, err := p.Wait()
	e.noError(err)
	t.Logf("$ nightporter run --pattern ultrawork --parallel 5 --source plan:api.md\n%s", p.Out)
	if code != 0 {
		t.Errorf("exit %d", code)
	}
	if got := e.git("log", "--format=%s", "main..nightporter/shop/r1"); strings.TrimSpace(got) != "feat: Task 1 - Five endpoints" {
		t.Errorf("commits: %q", got)
	}
	for _, id := range endpoints {
		want := "echo " + id
		if id == "c" {
			want += "\necho in full"
		}
		if got := e.git("show", "nightporter/shop/r1:api/"+id+".sh"); strings.TrimSpace(got) != want {
			t.Errorf("endpoint %s: %q, want %q", id, got, want)
		}
		if len(reviewed) > 0 && !strings.Contains(reviewed[0], fmt.Sprintf("api/%s.sh", id)) {
			t.Errorf("the review does not see endpoint %s:\n%s", id, reviewed[0])
		}
	}
	if len(reviewed) != 2 || !slices.ContainsFunc(reviewed, func(s string) bool { return strings.Contains(s, "in full") }) {
		t.Errorf("%d reviews, want one before and one after the fix", len(reviewed))
	}
	t.Logf("$ nightporter log\n%s", e.runCommand("log"))
	if out := e.runCommand("verify"); !strings.Contains(out, "ledger whole") {
		t.Errorf("verify: %s", out)
	}
}
