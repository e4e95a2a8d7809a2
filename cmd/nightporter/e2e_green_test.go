//go:build e2e

package main_test

import (
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "code.gitea.io/sdk/gitea"

	"github.com/nightporter/nightporter/config"
	"github.com/nightporter/nightporter/internal/daemon"
	"github.com/nightporter/nightporter/internal/e2e/gitea"
	"github.com/nightporter/nightporter/internal/programtest"
	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/request"
)

// keptAgent leaves a line per session, and what the check lint looks for where it is
// told that lint fails.
const keptAgent = `#!/bin/sh
. "$(dirname "$0")/lib.sh"
echo "$HAT_SESSION" >>src/sessions.txt
if grep -q 'check .lint. passes' "$prompt"; then echo ok >src/linted; fi
hat emit build.complete --data "{\"summary\":\"left a line\",\"files_modified\":[\"src/sessions.txt\"]$(heeded)}"
`

// keptProject is the configuration of a project that pushes to Gitea by itself.
const keptProject = `[agents.PROJECT]
command = ["DIR/agents/kept.sh", "DIR/notes/PROJECT"]
[[project]]
name = "PROJECT"
repo = "DIR/PROJECT"
source = "plan:plan.md"
agent = "PROJECT"
pattern = "single"
verify = ["sh ./verify.sh"]
shared = ["DIR/notes/PROJECT"]
start = "auto"
push = "end"
forge = "gitea"
base = "trunk"
`

// kept is a request that is kept green.
type kept struct {
	project, branch string // "" = the branch has no request yet
	number          int
	tips            []string                    // of the branch, in their order
	rounds          map[ledger.UpkeepReason]int // runs that were begun for it
	seen            string                      // tip of its base that was seen last
}

// keeping is a Gitea with requests of projects that share one repository there, and
// the daemon that keeps them green. Its clock is ahead of the machine's.
type keeping struct {
	programtest.TwoTasks
	*gitea.Server
	acme, porter, ann *gitea.Account

	daemon *daemon.Daemon
	ahead  time.Duration

	mu       sync.Mutex // of rounds and seen, which the daemon's goroutine changes
	requests map[string]*kept
}

// newKeeping returns one whose daemon has not started.
func newKeeping(t *testing.T, projects ...string) *keeping {
	t.Helper()
	s, err := gitea.Start(os.Getenv(gitea.Variable))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Stop(); err != nil {
			t.Error(err)
		}
	})
	k := &keeping{TwoTasks: programtest.NewTwoTasks(t), Server: s, requests: map[string]*kept{}}
	for login, a := range map[string]**gitea.Account{"acme": &k.acme, "porter": &k.porter, "ann": &k.ann} {
		if *a, err = s.Account(login); err != nil {
			t.Fatal(err)
		}
	}
	k.must(s.Repository(k.acme, "shop", "porter", "ann"))
	k.must(os.WriteFile(k.Path("repo", "plan.md"), []byte("- [ ] **Task 1: First**\n  - Scope: `src`\n"), 0o644))
	k.Out("git", "-C", "repo", "commit", "-qam", "One task")
	k.Out("git", "-C", "repo", "push", "-q", s.HTTP(k.acme, "acme", "shop"), "HEAD:refs/heads/trunk")
	text := "timezone = \"UTC\"\n"
	for _, p := range projects {
		k.requests[p] = &kept{project: p, rounds: map[ledger.UpkeepReason]int{}}
		k.Out("git", "clone", "-q", "repo", p)
		k.Out("git", "-C", p, "remote", "set-url", "origin", s.URL+"/acme/shop.git")
		k.Out("git", "-C", p, "config", "user.name", "porter")
		k.Out("git", "-C", p, "config", "user.email", gitea.Email("porter"))
		k.must(os.MkdirAll(k.Path("notes", p), 0o755))
		k.must(os.Chmod(k.Path("notes", p), 0o777)) // sessions may run as another user
		text += strings.NewReplacer("PROJECT", p, "DIR", k.Dir).Replace(keptProject)
	}
	k.must(os.WriteFile(k.file(), []byte(text), 0o600))
	k.must(os.WriteFile(k.Path("config", "nightporter", "gitea.token"), []byte(k.porter.Token+"\n"), 0o600))
	k.must(os.WriteFile(k.Path("agents", "kept.sh"), []byte(keptAgent), 0o755))
	for _, set := range k.Env() {
		name, value, _ := strings.Cut(set, "=")
		t.Setenv(name, value)
	}
	t.Cleanup(k.down)
	return k
}

func (k *keeping) must(err error) {
	k.T.Helper()
	if err != nil {
		k.T.Fatal(err)
	}
}

func (k *keeping) file() string { return k.Path("config", "nightporter", "nightporter.toml") }

// up starts the daemon, which looks at all requests at once.
func (k *keeping) up() {
	k.T.Helper()
	read := func() (*config.Config, error) { return config.Load(k.file()) }
	cfg, err := read()
	k.must(err)
	ahead := k.ahead
	k.daemon = daemon.New(daemon.Options{
		State: k.State(), Config: cfg, Hat: filepath.Join(programtest.BinDir(), "hat"), Shim: filepath.Join(programtest.BinDir(), "nightporter-shim"), Person: "Mira", Stays: true, Reload: read,
		Clock: func() time.Time { return time.Now().Add(ahead) }, Observe: k.observe,
	})
	k.must(k.daemon.Start(k.T.Context()))
}

func (k *keeping) down() {
	if k.daemon != nil {
		k.daemon.Stop()
		k.daemon = nil
	}
}

// observe counts what is begun for the requests.
func (k *keeping) observe(_, after loop.State, e ledger.Entry) {
	k.mu.Lock()
	defer k.mu.Unlock()
	r := k.requests[after.Project.Name]
	switch b := e.Body.(type) {
	case ledger.RunPlanned:
		if b.Upkeep != nil {
			r.rounds[b.Upkeep.Reason]++
		}
	case ledger.RequestSeen:
		r.seen = b.Now.BaseCommit
	}
}

// base returns the tip of a request's base that was seen last.
func (k *keeping) base(r *kept) string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return r.seen
}

// check does what the repository's checks do: each new tip of a branch gets the status
// of lint, which fails on the branch of the project red as long as src/linted is
// missing.
func (k *keeping) check() {
	k.T.Helper()
	for _, r := range k.requests {
		if r.branch == "" {
			continue
		}
		tip := k.Tip("acme", "shop", r.branch)
		if slices.Contains(r.tips, tip) {
			continue
		}
		state := sdk.StatusSuccess
		if r.project == "red" && !k.has(tip, "src/linted") {
			state = sdk.StatusFailure
		}
		k.must(k.Status(k.acme, "acme", "shop", tip, "lint", state))
		r.tips = append(r.tips, tip)
	}
}

// has reports whether a commit or branch has a file.
func (k *keeping) has(ref, file string) bool {
	k.T.Helper()
	_, resp, err := k.Admin.GetContents("acme", "shop", ref, file)
	if err != nil && (resp == nil || resp.StatusCode != http.StatusNotFound) {
		k.T.Fatal(err)
	}
	return err == nil
}

// until waits until something is so of each request.
func (k *keeping) until(what string, is func(*kept) bool) {
	k.T.Helper()
	left := slices.Sorted(maps.Keys(k.requests))
	err := programtest.WaitFor(what, func() (bool, error) {
		k.check()
		left = slices.DeleteFunc(left, func(p string) bool { return is(k.requests[p]) })
		return len(left) == 0, nil
	})
	if err != nil {
		for _, p := range left {
			out, _, _ := k.Output("nightporter", "status", "--project", p)
			k.T.Errorf("%s", out)
		}
		log, _ := os.ReadFile(filepath.Join(k.State(), "nightporter.log")) // what is there helps
		k.T.Fatalf("%v of %q\n%s", err, left, log)
	}
}

// opened finds the request of a project, and reports whether there is one.
func (k *keeping) opened(r *kept) bool {
	k.T.Helper()
	list, _, err := k.Admin.ListRepoPullRequests("acme", "shop", sdk.ListPullRequestsOptions{State: sdk.StateOpen})
	k.must(err)
	for _, p := range list {
		if strings.HasPrefix(p.Head.Ref, "nightporter/"+r.project+"/") {
			r.branch, r.number = p.Head.Ref, int(p.Index)
		}
	}
	return r.number > 0
}

// again lets the daemon end, something happen, and the daemon start that much later.
func (k *keeping) again(later time.Duration, happens func()) {
	k.T.Helper()
	k.down()
	happens()
	k.ahead += later
	k.up()
}

// commits lets an account commit a file to a branch.
func (k *keeping) commits(by *gitea.Account, branch, file string) string {
	k.T.Helper()
	commit, err := k.Commit(by, "acme", "shop", branch, file, "x\n", by.Login)
	k.must(err)
	return commit
}

// replies returns what the account of the daemon wrote on a request.
func (k *keeping) replies(number int) (bodies []string) {
	k.T.Helper()
	plain, _, err := k.Admin.ListIssueComments("acme", "shop", int64(number), sdk.ListIssueCommentOptions{})
	k.must(err)
	for _, c := range plain {
		if c.Poster.UserName == "porter" {
			bodies = append(bodies, c.Body)
		}
	}
	reviews, _, err := k.Admin.ListPullReviews("acme", "shop", int64(number), sdk.ListPullReviewsOptions{})
	k.must(err)
	for _, r := range reviews {
		if r.Reviewer.UserName != "porter" {
			continue
		}
		lines, _, err := k.Admin.ListPullReviewComments("acme", "shop", int64(number), r.ID)
		k.must(err)
		for _, c := range lines {
			bodies = append(bodies, c.Body)
		}
	}
	return bodies
}

// TestKeptGreenGitea keeps three requests on a real Gitea green: one with a red check,
// one with a comment of a person who may write, one to which that person pushes a
// commit, while the base of all three moves five times.
func TestKeptGreenGitea(t *testing.T) {
	k := newKeeping(t, "red", "comment", "human")
	k.up()
	k.until("a request", func(r *kept) bool { return k.opened(r) && len(r.tips) > 0 })

	said := k.requests["comment"]
	k.again(0, func() {
		_, _, err := k.ann.CreatePullReview("acme", "shop", int64(said.number), sdk.CreatePullReviewOptions{
			State: sdk.ReviewStateComment, Comments: []sdk.CreatePullReviewComment{{Path: "src/sessions.txt", Body: "Use cents here", NewLineNum: 1}},
		})
		k.must(err)
	})
	k.until("what was asked for", func(r *kept) bool {
		return (r.project != "red" || k.has(r.branch, "src/linted")) && (r != said || len(k.replies(r.number)) > 0)
	})

	human := ""
	for move := 1; move <= 5; move++ {
		file, base := fmt.Sprintf("moved%d.txt", move), ""
		moves := func() {
			base = k.commits(k.acme, "trunk", file)
			if move == 3 {
				human = k.commits(k.ann, k.requests["human"].branch, "human.txt")
			}
		}
		if move%2 == 0 { // within ten minutes of a merge: it is taken in with the next move
			k.again(0, moves)
			k.until("a look at its base", func(r *kept) bool { return k.base(r) == base })
			continue
		}
		k.again(request.MergePause+time.Minute, moves)
		k.until(file, func(r *kept) bool { return k.has(r.branch, file) })
	}
	k.again(0, func() {})
	k.until("checks that pass", func(r *kept) bool {
		out, _, err := k.Output("nightporter", "status", "--project", r.project)
		k.must(err)
		return strings.Contains(out, fmt.Sprintf("PR %d, checks pass", r.number))
	})
	k.down()

	k.Out("git", "-C", "repo", "fetch", "-q", k.HTTP(k.acme, "acme", "shop"), "+refs/heads/*:refs/remotes/gitea/*")
	for _, r := range k.requests {
		last := "refs/remotes/gitea/" + r.branch
		for _, c := range append(slices.Clone(r.tips), k.Tip("acme", "shop", "trunk")) {
			k.Out("git", "-C", "repo", "merge-base", "--is-ancestor", c, last)
		}
		for n, tip := range r.tips[1:] {
			k.Out("git", "-C", "repo", "merge-base", "--is-ancestor", r.tips[n], tip)
		}
		if merges := strings.Count(k.Out("git", "-C", "repo", "log", "--merges", "--format=%h", last), "\n"); merges != 3 || r.rounds[ledger.UpkeepBase] != 3 {
			t.Errorf("%s: %d merges of five moves, %v", r.project, merges, r.rounds)
		}
		want := map[string]ledger.UpkeepReason{"red": ledger.UpkeepChecks, "comment": ledger.UpkeepComments}[r.project]
		for _, reason := range []ledger.UpkeepReason{ledger.UpkeepChecks, ledger.UpkeepComments} {
			if n := r.rounds[reason]; reason == want && (n < 1 || n > request.MaxRounds) || reason != want && n != 0 {
				t.Errorf("%s: %d rounds for %s", r.project, n, reason)
			}
		}
	}
	k.Out("git", "-C", "repo", "merge-base", "--is-ancestor", human, "refs/remotes/gitea/"+k.requests["human"].branch)
	if list, _, err := k.Admin.ListRepoPullRequests("acme", "shop", sdk.ListPullRequestsOptions{State: sdk.StateAll}); err != nil || len(list) != 3 {
		t.Errorf("%d requests, %v", len(list), err)
	}
	if replies := k.replies(said.number); len(replies) != 1 || !strings.Contains(replies[0], ": heeded g1 in ") {
		t.Errorf("replies: %q", replies)
	}
	k.Out("grep", "-rlF", fmt.Sprintf("on src/sessions.txt:1 of PR %d, ann writes: Use cents here", said.number), k.Path("notes", "comment"))
}
