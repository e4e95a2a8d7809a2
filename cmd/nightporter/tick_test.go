package main_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nightporter/nightporter/internal/fake/github"
	"github.com/nightporter/nightporter/internal/programtest"
)

// ticker is a machine with a repository whose tasks go to a cloud agent.
type ticker struct {
	programtest.Machine
	*github.Server
	t     *testing.T
	state string
}

func newTicker(t *testing.T) *ticker {
	t.Helper()
	k := &ticker{Machine: programtest.Machine{Dir: t.TempDir()}, Server: github.New(), t: t}
	t.Cleanup(k.Close)
	if err := k.Furnish(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(k.CleanUp)
	if err := os.MkdirAll(k.Path("repo"), 0o755); err != nil {
		t.Fatal(err)
	}
	k.write("repo/plan.md", "- [ ] **Task 1: Count the guests**\n- [ ] **Task 2: Sum up**\n  - Depends on: Task 1\n- [ ] **Task 3: Print**\n- [ ] **Task 4: Send**\n")
	k.write("github.token", k.Token+"\n")
	if err := k.Repo(k.Path("repo")); err != nil {
		t.Fatal(err)
	}
	if out, code, err := k.Output("git", "-C", k.Path("repo"), "remote", "add", "origin", "https://github.com/acme/shop.git"); err != nil || code != 0 {
		t.Fatal(out, err)
	}
	k.state = k.Path("repo", ".wreck-it-state.json")
	return k
}

func (k *ticker) write(name, text string) {
	k.t.Helper()
	if err := os.WriteFile(k.Path(filepath.FromSlash(name)), []byte(text), 0o600); err != nil {
		k.t.Fatal(err)
	}
}

// tick calls the program and returns what it printed and its exit code, -9 for one
// that was killed.
func (k *ticker) tick(crash string, args ...string) (string, int) {
	k.t.Helper()
	args = append([]string{"tick", "--repo", "repo", "--source", "plan:plan.md", "--api", k.URL, "--token-file", k.Path("github.token")}, args...)
	cmd := k.Command(k.t.Context(), "nightporter", args...)
	cmd.Dir = k.Dir
	cmd.Env = append(cmd.Env, "NIGHTPORTER_CRASH="+crash)
	out, err := cmd.CombinedOutput()
	code := cmd.ProcessState.ExitCode()
	if code < 0 {
		code = -9
	} else if _, exited := err.(*exec.ExitError); err != nil && !exited { //nolint:errorlint // of os/exec itself
		k.t.Fatal(err)
	}
	if strings.Contains(string(out), k.Token) {
		k.t.Errorf("the token is in: %s", out)
	}
	return string(out), code
}

// phase returns the phase of the state file.
func (k *ticker) phase() string {
	k.t.Helper()
	text, err := os.ReadFile(k.state)
	if os.IsNotExist(err) {
		return ""
	}
	var s struct{ Phase string }
	if err != nil || json.Unmarshal(text, &s) != nil {
		k.t.Fatalf("%v\n%s", err, text)
	}
	return s.Phase
}

// tickPoints are all points at which a step is killed, in the order in which the
// steps of a task come to them.
var tickPoints = []string{
	"cloud-issue-opened", "cloud-dispatched", "cloud-before-write", "cloud-written",
	"cloud-polled", "cloud-before-write", "cloud-fetched", "cloud-sent-back", "cloud-dispatched",
	"cloud-written", "cloud-finished", "cloud-before-write", "cloud-merged", "cloud-written",
}

// TestTickKilled calls tick 40 times and more, and kills it at another point each
// time, while somebody else writes into the state file: one issue and one merge a
// task, one comment a round, and nothing of the other's text lost.
func TestTickKilled(t *testing.T) {
	k := newTicker(t)
	k.Protect("main", "build", false, true)
	reached := map[string]int{}
	rounds := map[int]int{}
	calls, phases := 0, []string{}
	target := 0
	for ; calls < 150; calls++ {
		point := tickPoints[target%len(tickPoints)]
		out, code := k.tick(point, "--allow-merge")
		switch code {
		case -9:
			reached[point]++
			target++
		case 0:
		default:
			t.Fatalf("call %d: exit %d: %s", calls, code, out)
		}
		phase := k.phase()
		if len(phases) == 0 || phases[len(phases)-1] != phase {
			phases = append(phases, phase)
		}
		if calls%7 == 3 && phase != "" { // a person adds a note
			text, err := os.ReadFile(k.state)
			if err != nil {
				t.Fatal(err)
			}
			k.write("repo/.wreck-it-state.json", strings.Replace(string(text), "{\n", fmt.Sprintf("{\n  \"note %d\": [1,  2],\n", calls), 1))
		}
		if done := k.play(rounds); done && strings.Contains(out, "every task is done") {
			break
		}
	}
	issues, pulls := k.Issues(), k.Pulls()
	if len(issues) != 4 || len(pulls) != 4 {
		t.Fatalf("%d issues, %d requests after %d calls: %v", len(issues), len(pulls), calls, phases)
	}
	for _, p := range pulls {
		if !p.Merged || len(p.Comments) != 1 {
			t.Errorf("request %d: merged %v, comments %q", p.Number, p.Merged, p.Comments)
		}
	}
	text, err := os.ReadFile(k.state)
	if err != nil {
		t.Fatal(err)
	}
	for n := 3; n < calls; n += 7 {
		if note := fmt.Sprintf("  \"note %d\": [1,  2],\n", n); !strings.Contains(string(text), note) && n > 3 {
			t.Errorf("lost: %s", note)
		}
	}
	if calls < 40 {
		t.Errorf("only %d calls", calls)
	}
	for _, point := range tickPoints {
		if reached[point] == 0 {
			t.Errorf("%s was never reached", point)
		}
	}
	merges := 0
	for _, c := range k.Calls() {
		if c.Method == "PUT" && strings.HasSuffix(c.Path, "/merge") && c.Status == 200 {
			merges++
		}
	}
	if merges != 4 {
		t.Errorf("%d merges", merges)
	}
	if left, _ := filepath.Glob(k.Path("repo", ".nightporter-*")); len(left) > 1 {
		t.Errorf("left behind: %v", left)
	}
	t.Logf("%d calls, killed at %v\n%s", calls, reached, text)
}

// play does what agent and checks do between two calls. The first session of each
// request leaves it red. It reports whether all requests are merged.
func (k *ticker) play(rounds map[int]int) (done bool) {
	issues, pulls := k.Issues(), k.Pulls()
	if len(issues) > len(pulls) {
		n := k.AgentStarts(issues[len(issues)-1].Number, "Copilot", false)
		k.AgentEnds(n, true, false)
		k.Run(k.Head(n), "build", "completed", "failure", "")
		k.Commit("main", "ada") // the base moves
		return false
	}
	done = len(pulls) == 4
	for _, p := range pulls {
		if len(p.Comments) > rounds[p.Number] {
			rounds[p.Number]++
			k.AgentWorks(p.Number)
			k.AgentEnds(p.Number, true, false)
		}
		if !p.Merged && rounds[p.Number] > 0 {
			k.Run(k.Head(p.Number), "build", "completed", "success", "")
		}
		done = done && p.Merged
	}
	return done
}

// TestTick holds what tick prints, its exit codes, and where it takes things from.
func TestTick(t *testing.T) {
	k := newTicker(t)
	expect := func(want string, wantCode int, args ...string) {
		t.Helper()
		if out, code := k.tick("", args...); code != wantCode || !strings.Contains(out, want) {
			t.Fatalf("exit %d, want %d: %s\nwant %s", code, wantCode, out, want)
		}
	}
	// Before anything is asked of the forge.
	expect("--state names a file here", 3, "--state", "repo")
	expect("is not there", 3, "--ralph", "docs")
	expect("no cloud agent", 3, "--agent", "nobody")
	expect("has no remote", 3, "--remote", "upstream")
	expect("no token", 3, "--token-env", "NO_SUCH_VARIABLE")
	expect("is not a source", 3, "--source", "plans:plan.md")
	k.write("repo/bad.json", "{\n  \"phase\": \"agent_workin\"\n}")
	expect("bad.json:2  phase: \"agent_workin\" is not one of", 3, "--state", "repo/bad.json")
	if err := os.Chmod(k.Path("github.token"), 0o644); err != nil {
		t.Fatal(err)
	}
	expect("can be read by others", 3)
	if err := os.Chmod(k.Path("github.token"), 0o600); err != nil {
		t.Fatal(err)
	}
	if len(k.Calls()) > 0 {
		t.Error("the forge was asked")
	}
	k.Fail(github.Fault{Status: 502})
	expect("has a fault", 75)
	// A repository's own list of loops.
	if err := os.MkdirAll(k.Path("repo", ".wreck-it", "state"), 0o755); err != nil {
		t.Fatal(err)
	}
	k.write("repo/.wreck-it/config.toml", "state_branch = \"s\"\n[[ralphs]]\nname = \"docs\"\nstate_file = \".docs.json\"\nbranch = \"develop\"\nreviewers = [\"a\"]\n[[ralphs]]\nname = \"out\"\nstate_file = \"../x\"\n")
	expect("lies outside", 3, "--ralph", "out")
	expect("meant docs?", 3, "--ralph", "doc")
	expect("needs_trigger → agent_working: #1 given to copilot (issue #1001)\n", 0, "--ralph", "docs")
	if i := k.Issues(); len(i) != 1 || i[0].Base != "develop" {
		t.Errorf("issues %+v", i)
	}
	if _, err := os.Stat(k.Path("repo", ".wreck-it", "state", ".docs.json")); err != nil {
		t.Error(err)
	}
	n := k.AgentStarts(1001, "Copilot", false)
	k.AgentEnds(n, true, false)
	k.Run(k.Head(n), "build", "completed", "success", "")
	expect("handed in request", 0, "--ralph", "docs")
	expect("yours to merge: allow_merge is off\n"+k.URL, 1, "--ralph", "docs")
	expect(`"to":"awaiting_review","reason":"yours","person":true,"task":"Task 1"`, 1, "--ralph", "docs", "--json")
	// The token from a variable, by its name alone.
	args := []string{"tick", "--repo", "repo", "--source", "plan:plan.md", "--api", k.URL, "--ralph", "docs"}
	for _, c := range []struct {
		args []string
		code int
	}{{args, 3}, {append(slices.Clone(args), "--token-env", "GITHUB_TOKEN"), 1}} {
		cmd := k.Command(t.Context(), "nightporter", c.args...)
		cmd.Dir = k.Dir
		cmd.Env = append(cmd.Env, "GITHUB_TOKEN="+k.Token)
		out, _ := cmd.CombinedOutput()
		if code := cmd.ProcessState.ExitCode(); code != c.code {
			t.Errorf("%v: exit %d, %s", c.args, code, out)
		}
	}
}

// TestTickOverlap starts two steps at once: one opens the issue, the other one
// finds the agent at work.
func TestTickOverlap(t *testing.T) {
	k := newTicker(t)
	type result struct {
		out  string
		code int
	}
	results := make(chan result, 4)
	for range 4 {
		go func() {
			out, code := k.tick("")
			results <- result{out, code}
		}()
	}
	given := 0
	for range 4 {
		select {
		case r := <-results:
			if strings.Contains(r.out, "given to copilot") {
				given++
			}
			if r.code != 0 {
				t.Errorf("exit %d: %s", r.code, r.out)
			}
		case <-time.After(time.Minute):
			t.Fatal("no end")
		}
	}
	if given != 1 || len(k.Issues()) != 1 {
		t.Errorf("given %d times, %d issues", given, len(k.Issues()))
	}
}
