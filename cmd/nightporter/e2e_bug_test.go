//go:build e2e

package main_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nightporter/nightporter/internal/fake/models"
	"github.com/nightporter/nightporter/loop/ledger"
)

// The bug of these tests: a sum that ignores amounts below ten cents.
const (
	bugPlan = `# Bugs

- [ ] **Task 1: Bug: sums lose cents**
  - Scope: ` + "`lib`, `tests`" + `
  - Acceptance:
    - 199 and 101 are 300
`
	bugLost   = `sum() { t=0; for n; do t=$((t + n / 10 * 10)); done; echo $t; }`
	bugFixed  = `sum() { t=0; for n; do t=$((t + n)); done; echo $t; }`
	bugGuard  = `sum() { t=0; for n; do t=$((t + ${n:-0})); done; echo "$t"; }`
	bugTest   = ". lib/sum.sh\n[ \"$(sum 199 101)\" = 300 ]"
	bugNoTest = ". lib/sum.sh\n[ \"$(sum 100 200)\" = 300 ]" // passes in spite of the bug
	bugRuns   = "sh -e tests/sum_cents.sh"
	bugCause  = "lib/sum.sh divides each amount by ten and multiplies it again"
)

// bugIssues are the reviewer's issues with the first fix.
var bugIssues = []ledger.Issue{
	{Severity: ledger.Major, File: "lib/sum.sh", Line: 1, Rule: "empty-amount", Text: "an empty amount ends the sum with a syntax error; take it as 0"},
	{Severity: ledger.Minor, File: "lib/sum.sh", Line: 1, Rule: "unquoted", Text: "the result is not quoted; a set IFS would split it"},
	{Severity: ledger.Suggestion, File: "tests/sum_cents.sh", Line: 2, Rule: "one-case", Text: "a second amount would show that it is no luck"},
}

// bugNight makes a repository with a reported bug, and a model that follows the
// pattern "bug". With passes, the first reproducer's test passes.
func bugNight(t *testing.T, passes bool) *nightFixture {
	t.Helper()
	e := newNightFixture(t, nightOptions{script: func(e *nightFixture, r models.Request) models.Turn {
		turns := append([]models.Turn{models.Use(e.noteSession())}, bugWork(r.Hat(), r.Prompt(), passes)...)
		if r.Step < len(turns) {
			return turns[r.Step]
		}
		return models.Say("Done.")
	}})
	for name, text := range map[string]string{planFile: bugPlan, "lib/sum.sh": bugLost + "\n", "tests/sum.sh": ". lib/sum.sh\n[ \"$(sum 120 130)\" = 250 ]\n"} {
		e.noError(os.WriteFile(e.Path("repo", name), []byte(text), 0o644))
	}
	e.git("add", "--all")
	e.git("commit", "--quiet", "--message=A sum and a report")
	return e
}

// bugWork returns the actions of each hat, which depend on the prompt alone.
func bugWork(hat models.Hat, prompt string, passes bool) []models.Turn {
	put := func(file, text string) models.Turn {
		return models.Use(models.Bash(fmt.Sprintf("cat > %s <<'END'\n%s\nEND", file, text)))
	}
	switch hat.Name {
	case "reproducer":
		test := bugTest
		if passes && !strings.Contains(prompt, "and it passed") {
			test = bugNoTest
		}
		return []models.Turn{put("tests/sum_cents.sh", test), models.Use(models.Bash(bugRuns + "; echo exit $?")), models.Use(hat.Emit(map[string]any{
			"command": bugRuns, "root_cause": bugCause, "affected_files": []string{"lib/sum.sh"}, "strategy": "add the amounts as they are",
		}))}
	case "fixer":
		text, resolved := bugFixed, []string{"the bug"}
		if strings.Contains(prompt, bugIssues[0].Text) {
			text, resolved = bugGuard, []string{bugIssues[0].Rule, bugIssues[1].Rule, bugIssues[2].Rule}
		}
		return []models.Turn{put("lib/sum.sh", text), models.Use(models.Bash("sh ./test.sh")), models.Use(hat.Emit(map[string]any{
			"summary": "No amount is rounded any more", "files_modified": []string{"lib/sum.sh"}, "resolved": resolved,
		}))}
	case "reviewer":
		issues := []ledger.Issue{}
		if strings.Contains(prompt, "+"+bugFixed) {
			issues = bugIssues
		}
		return []models.Turn{models.Use(hat.Emit(map[string]any{"summary": "Read it all", "issues": issues}))}
	case "verifier":
		return []models.Turn{models.Use(models.Bash(bugRuns)), models.Use(models.Emit("verification.passed", map[string]any{
			"checks": []any{map[string]any{"criterion": "199 and 101 are 300", "ok": true, "how": "ran " + bugRuns}},
		}))}
	}
	return nil
}

// session is one conversation with the model, as of its first request.
type session struct {
	hat    models.Hat
	prompt string
}

// conversations returns the agent sessions in the order of their start.
func (e *nightFixture) conversations() []session {
	var out []session
	seen := map[string]bool{}
	for _, r := range e.models.Turns() {
		if !seen[r.Session] {
			seen[r.Session] = true
			out = append(out, session{r.Hat(), r.Prompt()})
		}
	}
	return out
}

// chain renders the evidence of a task and the routes after its sessions, a few
// words per entry.
func (e *nightFixture) chain(ledgerStore []entry, task string) []string {
	e.t.Helper()
	var out []string
	for _, x := range ledgerStore {
		if x.Task != task {
			continue
		}
		one := []entry{x}
		switch x.Type {
		case ledger.Commitment{}.EntryType(), ledger.Claim{}.EntryType():
			out = append(out, x.Type)
		case ledger.Evidence{}.EntryType():
			b := bodies[ledger.Evidence](e, one)[0]
			line := b.Kind
			switch b.Kind {
			case "build":
				line += fmt.Sprintf(" %s: exit %d", b.Command, b.ExitCode)
			case "review":
				line += fmt.Sprintf(" %s, %d issues", b.Verdict, len(b.Issues))
			case "investigation":
				line += ": " + b.RootCause
			}
			out = append(out, line)
		case ledger.Routed{}.EntryType():
			b := bodies[ledger.Routed](e, one)[0]
			out = append(out, fmt.Sprintf("%s → %s", b.On, b.To))
		case ledger.Redo{}.EntryType():
			out = append(out, "again: "+string(bodies[ledger.Redo](e, one)[0].Why))
		case ledger.Submit{}.EntryType():
			b := bodies[ledger.Submit](e, one)[0]
			out = append(out, fmt.Sprintf("submit %s %s", b.Result, b.Outcome))
		}
	}
	return out
}

// bugRun runs the task and returns its chain and sessions.
func (e *nightFixture) bugRun() ([]string, []session) {
	e.t.Helper()
	p, err := e.Start(e.Env(), "run", "--pattern", "bug")
	e.noError(err)
	e.t.Cleanup(p.Kill)
	code, err := p.Wait()
	e.noError(err)
	e.t.Logf("$ nightporter run --pattern bug\n%s", p.Out)
	if code != 0 {
		e.t.Errorf("exit %d", code)
	}
	sessions := e.conversations()
	for n, s := range sessions {
		var titles []string
		for line := range strings.Lines(s.prompt) {
			if strings.HasPrefix(line, "## ") {
				titles = append(titles, strings.TrimSpace(line[3:]))
			}
		}
		e.t.Logf("session %d, %s, %d bytes: %s", n+1, s.hat.Name, len(s.prompt), strings.Join(titles, " · "))
	}
	chain := e.chain(e.ledger(), "Task 1")
	e.t.Logf("chain:\n  %s", strings.Join(chain, "\n  "))

	if got := e.git("log", "--format=%s", "main..nightporter/shop/r1"); got != "fix: Task 1 - Bug: sums lose cents" {
		e.t.Errorf("commits: %q", got)
	}
	if diff := cmp.Diff("M\tlib/sum.sh\nA\ttests/sum_cents.sh", e.git("show", "--name-status", "--format=", "nightporter/shop/r1")); diff != "" {
		e.t.Errorf("the commit (-want +got):\n%s", diff)
	}
	if got := e.git("show", "nightporter/shop/r1:tests/sum_cents.sh"); got != bugTest {
		e.t.Errorf("the test is\n%s", got)
	}
	if data, err := os.ReadFile(e.Path("repo", filepath.FromSlash(planFile))); err != nil || string(data) != strings.Replace(bugPlan, "[ ]", "[x]", 1) {
		e.t.Errorf("the plan, %v:\n%s", err, data)
	}
	if out := e.runCommand("verify"); !strings.Contains(out, "ledger whole") {
		e.t.Errorf("verify: %s", out)
	}
	return chain, sessions
}

// TestBug takes a reported bug through the pattern "bug" in a real repository,
// with a real Claude Code. nightporter sees the test fail before a session may
// fix the bug, the reviewer's issues decide the routes, and the evidence proves
// each step.
func TestBug(t *testing.T) {
	t.Parallel()
	e := bugNight(t, false)
	chain, sessions := e.bugRun()
	const green = "build sh ./test.sh: exit 0"
	want := []string{
		"commit", "claim",
		"fix-applied", "build " + bugRuns + ": exit 1", "investigation: " + bugCause, "repro.complete → fixer",
		"fix-applied", green, "build " + bugRuns + ": exit 0", "fix.complete → reviewer",
		"review issues, 3 issues", "review.verdict → fixer",
		"fix-applied", green, "build " + bugRuns + ": exit 0", "fix.complete → reviewer",
		"review converged, 0 issues", "review.verdict → verifier",
		"verification", "verification.passed → converged",
		"submit pass converged",
	}
	if diff := cmp.Diff(want, chain); diff != "" {
		t.Errorf("the chain (-want +got):\n%s", diff)
	}
	var hats []string
	for _, s := range sessions {
		hats = append(hats, s.hat.Name)
	}
	if diff := cmp.Diff([]string{"reproducer", "fixer", "reviewer", "fixer", "reviewer", "verifier"}, hats); diff != "" {
		t.Fatalf("sessions (-want +got):\n%s", diff)
	}
	wantPrompt := func(n int, texts ...string) {
		t.Helper()
		for _, text := range texts {
			if !strings.Contains(sessions[n].prompt, text) {
				t.Errorf("session %d, %s, was not told %q:\n%s", n+1, hats[n], text, sessions[n].prompt)
			}
		}
	}
	wantPrompt(0, "Bug: sums lose cents", "199 and 101 are 300")
	wantPrompt(1, bugRuns, bugCause, "add the amounts as they are")
	wantPrompt(2, "+"+bugFixed, "-"+bugLost, "sh ./test.sh", bugRuns, bugCause)
	for _, issue := range bugIssues {
		wantPrompt(3, string(issue.Severity), fmt.Sprintf("%s:%d", issue.File, issue.Line), issue.Rule, issue.Text)
	}
	wantPrompt(4, "+"+bugGuard, "-"+bugLost)
	wantPrompt(5, "199 and 101 are 300", "+"+bugGuard)
	if got := e.git("show", "nightporter/shop/r1:lib/sum.sh"); got != bugGuard {
		t.Errorf("the fix is\n%s", got)
	}
}

// TestBugThatPasses: a reproducer whose command passes has proved nothing. It
// is asked again with the reason, and no session fixes anything before that.
func TestBugThatPasses(t *testing.T) {
	t.Parallel()
	e := bugNight(t, true)
	chain, sessions := e.bugRun()
	want := []string{
		"commit", "claim", "fix-applied", "build " + bugRuns + ": exit 0", "again: not reproduced",
		"fix-applied", "build " + bugRuns + ": exit 1", "investigation: " + bugCause, "repro.complete → fixer",
	}
	if diff := cmp.Diff(want, chain[:min(len(want), len(chain))]); diff != "" {
		t.Errorf("the chain begins (-want +got):\n%s", diff)
	}
	if len(sessions) < 3 || sessions[0].hat.Name != "reproducer" || sessions[1].hat.Name != "reproducer" || sessions[2].hat.Name != "fixer" {
		t.Fatalf("%d sessions: %v", len(sessions), sessions)
	}
	if second := sessions[1].prompt; !strings.Contains(second, bugRuns) || !strings.Contains(second, "it passed") {
		t.Errorf("it was not told why it has to do it again:\n%s", second)
	}
	if last := chain[len(chain)-1]; last != "submit pass converged" || slices.Contains(chain, "submit fail failed") {
		t.Errorf("it ended with %q", last)
	}
}
