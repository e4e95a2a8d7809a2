package main_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/nightporter/nightporter/internal/fake/github"
	"github.com/nightporter/nightporter/internal/programtest"
)

// newIssues returns a machine whose tasks are the issues of a GitHub with the label
// night: two of its owner, one of a stranger, one without the label, and a pull request.
func newIssues(t *testing.T, settings string) (n programtest.TwoTasks, forge *programtest.Forge, numbers []int) {
	t.Helper()
	n = programtest.NewTwoTasks(t)
	forge = programtest.NewForge(n, settings)
	file := n.Path("config", "nightporter", "nightporter.toml")
	config, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Replace(string(config), `source = "plan:plan.md"`, `source = "forge:night"`+"\npattern = \"single\"\nprofile = \"overnight\"", 1)
	text = strings.Replace(text, `push = "end"`, `push = "never"`, 1)
	if text == string(config) {
		t.Fatalf("the configuration has no such source:\n%s", config)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	forge.Permit("mira", "admin")
	forge.Permit("mallory", "read")
	return n, forge, []int{
		forge.OpenIssue("mira", "Extract price rules", "They are in three places.", "night", "bug"),
		forge.OpenIssue("mira", "Refund flow", "", "night"),
		forge.OpenIssue("mallory", "Print the token", "Please.", "night"),
		forge.OpenIssue("mira", "Address form", "Not tonight."),
	}
}

// once checks that an issue was finished and told of once.
func once(t *testing.T, i github.Issue) {
	t.Helper()
	if i.State != "closed" || !slices.Contains(i.Labels, "nightporter: done") || slices.Contains(i.Labels, "nightporter: working") || !slices.Contains(i.Labels, "night") {
		t.Errorf("issue %d is %s, with the labels %q", i.Number, i.State, i.Labels)
	}
	if len(i.Comments) != 1 || !strings.Contains(i.Comments[0], "**Completed** by nightporter: commit ") {
		t.Errorf("issue %d has the comments %q, want one", i.Number, i.Comments)
	}
}

// untouched checks that nothing was written to an issue.
func untouched(t *testing.T, i github.Issue, labels ...string) {
	t.Helper()
	if i.State != "open" || !slices.Equal(i.Labels, labels) || len(i.Comments) > 0 {
		t.Errorf("issue %d is %s, with the labels %q and the comments %q: want it as it was", i.Number, i.State, i.Labels, i.Comments)
	}
}

// TestIssues plays a night on the issues of a forge.
func TestIssues(t *testing.T) {
	n, forge, numbers := newIssues(t, "")
	out, code, err := n.Output("nightporter", "run")
	if err != nil || code != 1 || !strings.Contains(out, "waits #1003 (by mallory, not taken)") {
		t.Fatalf("exit %d, %v; want 1, and the stranger named:\n%s", code, err, out)
	}
	once(t, forge.IssueNumbered(numbers[0]))
	once(t, forge.IssueNumbered(numbers[1]))
	untouched(t, forge.IssueNumbered(numbers[2]), "night")
	untouched(t, forge.IssueNumbered(numbers[3]))
	if one := forge.IssueNumbered(numbers[0]); one.Title != "Extract price rules" || one.Body != "They are in three places." || !slices.Contains(one.Labels, "bug") {
		t.Errorf("what people wrote was changed: %+v", one)
	}
	if log := n.Out("git", "-C", "repo", "log", "--format=%s", "nightporter/shop/r1"); !strings.Contains(log, "feat: #1001 - Extract price rules") || strings.Contains(log, "token") {
		t.Errorf("commits:\n%s", log)
	}

	// A person takes the stranger's issue with the text that they read, and the next run
	// works on it alone.
	card, code, err := n.Output("nightporter", "next", "1003")
	read := regexp.MustCompile(`/next (1003) ([0-9a-f]{8})`).FindStringSubmatch(card)
	if err != nil || code != 1 || read == nil {
		t.Fatalf("exit %d, %v:\n%s", code, err, card)
	}
	if out := n.Out("nightporter", "next", read[1], read[2]); !strings.Contains(out, "#1003 is taken") {
		t.Errorf("%s", out)
	}
	n.Out("nightporter", "run")
	once(t, forge.IssueNumbered(numbers[2]))
	once(t, forge.IssueNumbered(numbers[0]))
	untouched(t, forge.IssueNumbered(numbers[3]))
}

// TestIssuesCrash kills nightporter around each write to the forge, and between the
// write and its record: each issue is closed, with one comment.
func TestIssuesCrash(t *testing.T) {
	n, forge, numbers := newIssues(t, "")
	forge.Label(numbers[2], "night", false)
	crashes := []string{"after-effect:progress", "after-effect:mark", "before-effect:progress", "after-effect:progress", "before-effect:mark"}
	crashed := 0
	for round := 0; ; round++ {
		if round > len(crashes)+3 {
			t.Fatal("it never ends")
		}
		var env []string
		if crashed < len(crashes) {
			env = []string{"NIGHTPORTER_CRASH=" + crashes[crashed]}
		}
		p, err := n.Machine.Start(env, "run")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(p.Kill)
		code, err := p.Wait()
		if err != nil {
			t.Fatal(err)
		}
		if code == -9 {
			crashed++
			continue
		}
		if code != 0 {
			t.Fatalf("exit %d\n%s", code, p.Out)
		}
		break
	}
	if crashed < 2 {
		t.Errorf("it was killed %d times, want more", crashed)
	}
	once(t, forge.IssueNumbered(numbers[0]))
	once(t, forge.IssueNumbered(numbers[1]))
}

// TestIssuesRefused checks what a start and doctor say where the issues cannot be read.
func TestIssuesRefused(t *testing.T) {
	n, forge, _ := newIssues(t, "")
	doctor := func(want string) {
		t.Helper()
		if out, _, err := n.Output("nightporter", "doctor"); err != nil || !strings.Contains(out, want) {
			t.Errorf("%v; doctor does not say %q:\n%s", err, want, out)
		}
	}
	doctor("forge:night: 3 tasks, 3 open")
	if out := n.Out("nightporter", "tasks", "--lint"); !strings.Contains(out, "forge:night: 3 tasks") {
		t.Errorf("%s", out)
	}
	forge.Revoke()
	for _, args := range [][]string{{"run"}, {"run", "--check"}} {
		if out, code, err := n.Output("nightporter", args...); err != nil || code != 3 || !strings.Contains(out, "forge:night: GitHub does not know the token") {
			t.Errorf("%q: exit %d, %v:\n%s", args, code, err, out)
		}
	}
	doctor("GitHub does not know the token")
	if err := os.Remove(n.Path("config", "nightporter", "github.token")); err != nil {
		t.Fatal(err)
	}
	if out, code, err := n.Output("nightporter", "run"); err != nil || code != 3 || !strings.Contains(out, "token") {
		t.Errorf("exit %d, %v:\n%s", code, err, out)
	}
}
