//go:build e2e

package main_test

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/nightporter/nightporter/internal/fake/models"
)

// TestLanes: three real Claude Codes are at work at the same time, each in a folder of
// its own, and each task becomes a commit that was verified with those before it. Two of
// them write the same line: the second of these does it again with both sides.
func TestLanes(t *testing.T) {
	t.Parallel()
	files := map[string]string{"Task 1": "lib/mail.sh", "Task 2": "lib/refund.sh", "T003": "CHANGES", "T004": "CHANGES"}
	var mu sync.Mutex
	met, together := map[string]bool{}, map[string]chan struct{}{"plan": make(chan struct{}), "spec": make(chan struct{})}
	again := ""
	e := newNightFixture(t, nightOptions{script: func(e *nightFixture, r models.Request) models.Turn {
		hat := r.Hat()
		turns := []models.Turn{
			models.Use(e.noteSession()),
			models.Use(models.Bash("echo '# " + hat.Task + "' >>" + files[hat.Task])),
			models.Use(hat.Emit(map[string]any{"summary": "Wrote a line", "files_modified": []string{files[hat.Task]}})),
		}
		if r.Step >= len(turns) {
			return models.Say("Done.")
		}
		turn := turns[r.Step]
		if r.Step > 0 {
			return turn
		}
		turn.Before = func() {
			mu.Lock()
			if sides := hat.Parts["Both sides"]; sides != "" {
				again += sides
				mu.Unlock()
				return
			}
			group := "plan"
			if strings.HasPrefix(hat.Task, "T00") {
				group = "spec"
			}
			if key := group + hat.Task; !met[key] {
				met[key] = true
				n := 0
				for k := range met {
					if strings.HasPrefix(k, group) {
						n++
					}
				}
				if n == 2 {
					close(together[group])
				}
			}
			mu.Unlock()
			select {
			case <-together[group]:
			case <-t.Context().Done():
			}
		}
		return turn
	}})
	run := func(plan, text string) string {
		e.noError(os.WriteFile(filepath.Join(e.Path("repo"), plan), []byte(text), 0o644))
		p, err := e.Start(e.Env(), "run", "--pattern", "single", "--parallel", "2", "--source", "plan:"+plan, "--profile", "overnight")
		e.noError(err)
		t.Cleanup(p.Kill)
		code, err := p.Wait()
		e.noError(err)
		t.Logf("$ nightporter run --pattern single --parallel 2 --source plan:%s\n%s", plan, p.Out)
		if code != 0 {
			t.Errorf("exit %d", code)
		}
		return p.Out.String()
	}
	run("lanes.md", "- [ ] **Task 1: Mail**\n  - Scope: `lib/mail.sh`\n- [ ] **Task 2: Refund**\n  - Scope: `lib/refund.sh`\n")
	if got := e.git("log", "--format=%s", "main..nightporter/shop/r1"); !strings.Contains(got, "Task 1 - Mail") || !strings.Contains(got, "Task 2 - Refund") {
		t.Errorf("commits: %q", got)
	}
	run("spec.md", "## Phase 1: Both\n\n- [ ] T003 [P] One line\n- [ ] T004 [P] Another line\n")
	text := e.git("show", "nightporter/shop/r2:CHANGES")
	if !strings.Contains(text, "# T003") || !strings.Contains(text, "# T004") {
		t.Errorf("a line is lost: %q", text)
	}
	if !strings.Contains(again, "conflicts with what was committed since in CHANGES") || !strings.Contains(again, "+# T003") || !strings.Contains(again, "+# T004") {
		t.Errorf("the second attempt was told: %q", again)
	}
	if out := e.runCommand("verify"); !strings.Contains(out, "ledger whole") {
		t.Errorf("verify: %s", out)
	}
}
