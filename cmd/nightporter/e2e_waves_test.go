//go:build e2e

package main_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	sdk "code.gitea.io/sdk/gitea"

	"github.com/nightporter/nightporter/internal/e2e/gitea"
	"github.com/nightporter/nightporter/internal/programtest"
)

// wavesAgent does its work, and breaks the check where a report says that it cannot be
// fixed.
const wavesAgent = `#!/bin/sh
. "$(dirname "$0")/lib.sh"
n=${HAT_TASK#\#}
if [ "$HAT_NAME" = builder ] && grep -q 'whatever anybody does' "$prompt"; then
	mkdir -p src
	echo BROKEN >src/broken.txt
	hat emit build.complete --data '{"summary":"tried it","files_modified":["src/broken.txt"]}'
	exit
fi
honest
`

const wavesProject = `timezone = "UTC"
[agents.waves]
command = ["DIR/agents/waves.sh", "DIR/notes"]
[[project]]
name = "shop"
repo = "DIR/repo"
source = "bugs:forge:bug"
profile = "overnight"
agent = "waves"
pattern = "plan-build-review"
verify = ["sh ./verify.sh"]
shared = ["DIR/notes"]
batch = 2
push = "task"
forge = "gitea"
base = "trunk"
`

// TestWavesGitea works through the bug reports of a real Gitea: three waves fix what can
// be fixed, each fix a request of its own with its evidence; one report fails, and its
// chain shows where; one that ann works on is left to her, and the run ends when nothing
// else is left. The file of the waves' state is deleted meanwhile, and is the same in the
// end.
func TestWavesGitea(t *testing.T) {
	s, err := gitea.Start(os.Getenv(gitea.Variable))
	if err != nil {
		t.Fatal(err)
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { must(s.Stop()) })
	acme, err := s.Account("acme")
	must(err)
	porter, err := s.Account("porter")
	must(err)
	ann, err := s.Account("ann")
	must(err)
	must(s.Repository(acme, "shop", porter.Login, ann.Login))

	n := programtest.NewTwoTasks(t)
	must(os.MkdirAll(n.Path("repo", "app", "cart"), 0o755))
	must(os.WriteFile(n.Path("repo", "app", "cart", "page.tsx"), []byte("export default function CartTotal() { return null }\n"), 0o644))
	n.Out("git", "-C", "repo", "add", "--all")
	n.Out("git", "-C", "repo", "commit", "--quiet", "--message=A cart")
	n.Out("git", "-C", "repo", "push", "-q", s.HTTP(acme, "acme", "shop"), "HEAD:refs/heads/trunk")
	n.Out("git", "-C", "repo", "remote", "add", "origin", s.URL+"/acme/shop.git")
	for file, text := range map[string]string{
		n.Path("config", "nightporter", "nightporter.toml"): strings.ReplaceAll(wavesProject, "DIR", n.Dir),
		n.Path("config", "nightporter", "gitea.token"):      porter.Token + "\n",
		n.Path("agents", "waves.sh"):                        wavesAgent,
	} {
		must(os.WriteFile(file, []byte(text), 0o600))
	}
	must(os.Chmod(n.Path("agents", "waves.sh"), 0o755))

	label, _, err := acme.CreateLabel("acme", "shop", sdk.CreateLabelOption{Name: "bug", Color: "#ff0000"})
	must(err)
	report := func(title, body string, assignees ...string) int64 {
		t.Helper()
		i, _, err := acme.CreateIssue("acme", "shop", sdk.CreateIssueOption{Title: title, Body: body, Labels: []int64{label.ID}, Assignees: assignees})
		must(err)
		return i.Index
	}
	report("Total is NaN", "I clicked Pay on the page /cart and saw NaN instead of the total.")
	report("Label says Pey", "The label of the button on /cart says Pey instead of Pay.")
	report("Receipt is empty", "I clicked Print on /cart and saw an empty sheet instead of the receipt.")
	broken := report("Photos are upside down", "I opened a photo on /cart and saw it upside down, whatever anybody does.")
	claimed := report("Coupon is refused", "I typed a coupon on /cart and saw an error 500 instead of the discount.", "ann")
	report("Date is of tomorrow", "I opened /cart at noon and saw the date of tomorrow instead of today.")
	report("Basket forgets", "I closed the page /cart, opened it again and saw an empty basket instead of mine.")
	vague := report("Everything", "It all feels somehow wrong lately and I do not like it.")

	p, err := n.Machine.Start(nil, "run")
	must(err)
	t.Cleanup(p.Kill)
	state := n.Path("repo", ".ralph", "autopilot-state.json")
	must(programtest.WaitFor("the second wave", func() (bool, error) {
		text, err := os.ReadFile(state)
		return err == nil && strings.Contains(string(text), `"currentWave": 2`), nil
	}))
	must(os.Remove(state))
	code, err := p.Wait()
	must(err)
	t.Logf("exit %d\n%s", code, p.Out)
	if code != 1 || !strings.Contains(p.Out.String(), "others work on what is left: #5 is claimed by ann") {
		t.Errorf("exit %d", code)
	}

	var waves struct {
		CurrentWave, ConsecutiveEmptyWaves int
		CompletedWaves                     []struct{ Passed, Failed []any }
	}
	text, err := os.ReadFile(state)
	must(err)
	must(json.Unmarshal(text, &waves))
	var each []string // fixed and failed, by wave
	for _, w := range waves.CompletedWaves {
		each = append(each, fmt.Sprint(len(w.Passed), " ", len(w.Failed)))
	}
	if !slices.Equal(each, []string{"2 0", "1 1", "2 0"}) || waves.CurrentWave != 3 || waves.ConsecutiveEmptyWaves != 0 {
		t.Errorf("the state of the waves: %q\n%s", each, text)
	}

	pulls, _, err := s.Admin.ListRepoPullRequests("acme", "shop", sdk.ListPullRequestsOptions{State: sdk.StateAll})
	must(err)
	var heads []string
	for _, pull := range pulls {
		heads = append(heads, pull.Head.Ref)
		if pull.Base.Ref != "trunk" || pull.State != sdk.StateOpen {
			t.Errorf("%s is %s and asks for %s", pull.Head.Ref, pull.State, pull.Base.Ref)
		}
		for _, want := range []string{"## Evidence", "Reviewed ", "intent ✓", "Stands alone", "nightporter evidence"} {
			if !strings.Contains(pull.Body, want) {
				t.Errorf("%s lacks %q:\n%s", pull.Head.Ref, want, pull.Body)
			}
		}
		commits, _, err := s.Admin.ListPullRequestCommits("acme", "shop", pull.Index, sdk.ListPullRequestCommitsOptions{})
		if err != nil || len(commits) != 1 {
			t.Errorf("%s has %d commits, %v", pull.Head.Ref, len(commits), err)
		}
	}
	slices.Sort(heads)
	if len(heads) != 5 {
		t.Errorf("requests: %q", heads)
	}
	t.Log(pulls[0].Body)

	chain := n.Out("nightporter", "evidence", fmt.Sprint("#", broken))
	if !regexp.MustCompile(`✗ build: .*exit 1`).MatchString(chain) || !strings.Contains(chain, "submit") {
		t.Errorf("the chain of what failed:\n%s", chain)
	}
	all := n.Out("nightporter", "tasks")
	for id, want := range map[int64]string{claimed: "ann", vague: "vague", broken: "blocked"} {
		line := regexp.MustCompile(fmt.Sprintf(`(?m)^.*#%d .*$`, id)).FindString(all)
		if !strings.Contains(line, want) {
			t.Errorf("#%d: %q lacks %q", id, line, want)
		}
	}
	t.Log(all, "\n", n.Out("nightporter", "waves"), "\n", chain)
	n.Out("nightporter", "verify")
	if issue, _, err := s.Admin.GetIssue("acme", "shop", claimed); err != nil || len(issue.Assignees) != 1 || issue.Comments != 0 {
		t.Errorf("ann's report: %+v, %v", issue, err)
	}
	built, err := filepath.Glob(filepath.Join(n.Path("repo"), ".ralph", "events", "shop-r1.jsonl"))
	if err != nil || len(built) != 1 {
		t.Errorf("the copy of the ledger: %v, %v", built, err)
	}
}
