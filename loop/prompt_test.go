package loop

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nightporter/nightporter/guidance"
)

// promptNight is a night in front of a session of the given kind.
func promptNight(t *testing.T, script ...string) *director {
	t.Helper()
	d := newDirector(t, t.Name())
	d.settings.Hats["planner"] = promptHat(d.settings.Hats["planner"], "You are the planner. Your one job: a plan that somebody else can follow.")
	d.settings.Hats["builder"] = promptHat(d.settings.Hats["builder"], "You are the builder. Your one job: make the task true, tests included.")
	d.settings.Hats["reviewer"] = promptHat(d.settings.Hats["reviewer"], "You are the reviewer. Your one job: find what is wrong with the change.")
	d.settings.Hats["fixer"] = promptHat(d.settings.Hats["fixer"], "You are the fixer. Your one job: settle every issue of the review.")
	d.plan.Tasks = []Task{
		{ID: "Task 1", Title: "Extract the price rules", Mark: MarkOpen, Scope: "`internal/price`, `go.mod`", Acceptance: []string{"Rules are data", "`go test ./...` passes"},
			Body: "Move the rules out of the handler.\nKeep the old function names.", Notes: "See legacy/orders.go."},
		{ID: "Task 2", Title: "Use them", Mark: MarkOpen, DependsOn: []string{"Task 1"}},
	}
	for _, line := range script {
		d.play(line)
	}
	return d
}

func promptHat(h Hat, prompt string) Hat { h.Prompt = prompt; return h }

var promptMaterial = Material{
	Conventions: []File{{Path: "AGENTS.md", Text: "Run gofmt.\n"}},
	Loaded:      []File{{Path: ".ralph/agent/decisions.md", Text: "- 2026-11-18: money is int64 cents\n"}},
	Progress:    "Task 0 completed: the module is set up.",
}

// TestPrompts holds what an agent reads against goldens.
func TestPrompts(t *testing.T) {
	withDiff := promptMaterial
	withDiff.Diff = "--- a/internal/price/rules.go\n+++ b/internal/price/rules.go\n@@ -1 +1,2 @@\n package price\n+var Rules = 1\n"
	withDiff.Changed = []FileChange{{Path: "internal/price/rules.go", Added: 1}, {Path: "logo.png", Added: -1, Removed: -1}}
	many := []string{"go quiet", "plan", "build", "green", "issues"}
	for n := range 150 {
		many[4] += fmt.Sprintf(" major:rule-%d", n+1)
	}
	long := withDiff
	long.Conventions = []File{{Path: "AGENTS.md", Text: strings.Repeat("Mind the gap. ", 12000)}}
	for _, c := range []struct {
		name     string
		script   []string
		material Material
		tokens   int
	}{
		{name: "planner", script: []string{"go quiet"}, material: promptMaterial},
		{name: "builder", script: []string{"go quiet", "plan"}, material: promptMaterial},
		{name: "builder after red", script: []string{"go quiet", "plan", "build", "red"}, material: withDiff},
		{name: "builder after silence", script: []string{"go quiet", "plan", "exit silent"}, material: promptMaterial},
		{name: "builder with guidance", script: []string{"go quiet", "/guidance Wrap the existing code, don't replace it", "/guidance !sticky No new dependencies", "plan"}, material: promptMaterial},
		{name: "builder, second attempt, answered", script: []string{"go quiet", "exit silent", "exit silent", "exit silent", "plan", `ask {"text":"May an address be a PO box?","options":["Yes","No"]}`, "/answer q1 b"}, material: promptMaterial},
		{name: "reviewer", script: []string{"go quiet", "/guidance Wrap the existing code", "plan", `build ,"guidance":[{"id":"g1","done":true,"note":"adapter.go around it"}]`, "green"}, material: withDiff},
		{name: "fixer", script: []string{"go quiet", "plan", "build", "green", "issues major:unchecked-error minor:naming"}, material: withDiff},
		{name: "fixer with 150 issues", script: many, material: withDiff},
		{name: "reviewer of disputes", script: []string{"go quiet", "plan", "build", "green", "issues major:r1", "next same", `fix ,"no_change":"both are right","disputed":[{"issue":"r1","reason":"checked by the caller"}]`, "green"}, material: withDiff},
		{name: "fixer, trimmed", script: []string{"go quiet", "plan", "build", "green", "issues major:r1"}, material: long},
		{name: "reviewer, trimmed hard", script: []string{"go quiet", "plan", "build", "green"}, material: withDiff, tokens: 100},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := promptNight(t, c.script...)
			if c.tokens > 0 {
				h := d.s.Project.Run.Settings.Hats["reviewer"]
				h.MaxTokens = c.tokens
				d.s.Project.Run.Settings.Hats["reviewer"] = h
			}
			session := d.session().ID
			p, err := BuildPrompt(d.s, session, c.material)
			if err != nil {
				t.Fatal(err)
			}
			again, err := BuildPrompt(d.folded, session, c.material)
			if err != nil {
				t.Fatal(err)
			}
			if c.tokens == 0 {
				if diff := cmp.Diff(p, again); diff != "" {
					t.Errorf("after a restart the prompt is another one: %s", diff)
				}
			}
			golden(t, filepath.Join("testdata", "prompts", strings.ReplaceAll(strings.ReplaceAll(c.name, ",", ""), " ", "-")+".md"), p.Text)
			if _, ok := PromptNeeds(d.s, session); !ok {
				t.Error("the prompt needs nothing")
			}
		})
	}
}

func golden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s: (-want +got), -update writes it anew\n%s", file, diff)
	}
}

// TestPromptContext: what does not fit into the prompt is whole in CONTEXT.
func TestPromptContext(t *testing.T) {
	script := []string{"go quiet", "plan", "build", "green", "issues"}
	for n := range 150 {
		script[4] += fmt.Sprintf(" major:rule-%d", n+1)
	}
	d := promptNight(t, script...)
	p, err := BuildPrompt(d.s, d.session().ID, Material{Diff: "+x\n"})
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(string(p.Context["issues.json"]), `"rule"`); got != 150 {
		t.Errorf("issues.json has %d issues, want 150", got)
	}
	if !strings.Contains(p.Text, "rule-100)") || strings.Contains(p.Text, "rule-101)") || !strings.Contains(p.Text, "150 issues in all") {
		t.Error("the prompt has not the first 100 issues and the count")
	}
	if string(p.Context["diff.patch"]) != "+x\n" || !strings.Contains(string(p.Context["task.md"]), "Extract the price rules") || len(p.Context["plan.json"]) == 0 {
		t.Errorf("CONTEXT lacks something: %v", p.Context)
	}
}

// TestGuidanceFits: 16k tokens a session; the rest stays queued, in order.
func TestGuidanceFits(t *testing.T) {
	d := promptNight(t, "go quiet")
	words := strings.Repeat("word ", 799) + "end." // 3,999 characters
	for range 20 {
		d.play("/guidance " + words)
	}
	d.play("plan")
	bound := d.session().Planned.Guidance.Bound
	if len(bound) != 13 || bound[0] != "g1" || bound[12] != "g13" {
		t.Fatalf("bound %v", bound)
	}
	d.play("/guidance short")
	d.play("exit stall")
	if again := d.session().Planned.Guidance.Bound; len(again) != 13 || again[12] != "g13" {
		t.Errorf("the session that replaces it has %v", again)
	}
	for _, i := range d.s.Project.Guidance.Items[13:] {
		if i.State != guidance.Queued {
			t.Errorf("%s is %s", i.ID, i.State)
		}
	}
}

// TestTwentySessions: an attempt that only asks ends, too (SPEC 2.5).
func TestTwentySessions(t *testing.T) {
	d := promptNight(t, "go quiet")
	for n := range MaxSessions {
		if d.s.Project.Tasks[0].Attempts != 1 {
			t.Fatalf("attempt %d after %d sessions", d.s.Project.Tasks[0].Attempts, n)
		}
		d.play(`ask {"text":"which?","options":["x"],"choice":"x"}`)
		d.play(fmt.Sprintf("/answer q%d a", n+1))
	}
	if got := d.s.Project.Tasks[0]; got.Attempts != 2 || got.Failed != 1 || !strings.Contains(got.LastFail, "20 sessions") {
		t.Errorf("after 20 sessions: %+v", got)
	}
}
