//go:build e2e

package gitea

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"sync"
	"testing"

	sdk "code.gitea.io/sdk/gitea"

	server "github.com/nightporter/nightporter/internal/e2e/gitea"
	"github.com/nightporter/nightporter/loop/forge"
	"github.com/nightporter/nightporter/loop/forge/forgetest"
	"github.com/nightporter/nightporter/loop/ledger"
)

// TestConformanceGitea runs the conformance suite against a real Gitea.
func TestConformanceGitea(t *testing.T) {
	s, err := server.Start(os.Getenv(server.Variable))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the server's log:\n%s", s.Log())
		}
		if err := s.Stop(); err != nil {
			t.Error(err)
		}
	})
	w := &realWorld{Server: s, accounts: map[string]*server.Account{}}
	for _, login := range []string{"acme", "writer", "stranger"} {
		if w.accounts[login], err = s.Account(login); err != nil {
			t.Fatal(err)
		}
	}
	forgetest.Run(t, w.open)
}

// realWorld is a Gitea with the accounts of all tests.
type realWorld struct {
	*server.Server
	accounts map[string]*server.Account
	tests    int
	commits  int
}

// open creates a repository and an account for a test.
func (w *realWorld) open(t *testing.T) *forgetest.Fixture {
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	w.tests++
	owner, name := w.accounts["acme"], fmt.Sprintf("shop%d", w.tests)
	porter, err := w.Account(fmt.Sprintf("porter%d", w.tests))
	must(err)
	must(w.Repository(owner, name, porter.Login, "writer"))
	by := func(login string) *server.Account {
		if login == "" || login == porter.Login {
			return porter
		}
		return w.accounts[login]
	}
	proxy := newProxy(t, w.URL)
	f, err := New(Options{API: proxy.URL, Owner: "acme", Name: name, Token: forge.Token(porter.Token)})
	must(err)
	head := func(number int) string {
		p, _, err := owner.GetPullRequest("acme", name, int64(number))
		must(err)
		return p.Head.Sha
	}
	return &forgetest.Fixture{
		Forge: f, Kind: ledger.ForgeGitea, Login: porter.Login, Secret: porter.Token, Base: "main", Writer: "writer", Stranger: "stranger", Many: 520,
		Commit: func(branch, login string) string {
			// A stranger's commit is pushed by somebody who may.
			pusher, file := by(login), "file.txt"
			if login == "stranger" {
				pusher = owner
			}
			if branch == "main" {
				pusher = owner // it may be protected
			}
			if w.Tip("acme", name, branch) != "" || branch == "main" {
				w.commits++
				file = fmt.Sprintf("file%d.txt", w.commits)
			}
			hash, err := w.Server.Commit(pusher, "acme", name, branch, file, "one\ntwo "+branch+"\n", by(login).Login)
			must(err)
			return hash
		},
		Tip: func(branch string) string { return w.Server.Tip("acme", name, branch) },
		DeleteBranch: func(branch string) {
			_, _, err := owner.DeleteRepoBranch("acme", name, branch)
			must(err)
		},
		Check: func(number int, check string, state ledger.CheckState) {
			must(w.Status(owner, "acme", name, head(number), check, map[ledger.CheckState]sdk.StatusState{
				ledger.CheckPending: sdk.StatusPending, ledger.CheckPassed: sdk.StatusSuccess, ledger.CheckFailed: sdk.StatusFailure,
			}[state]))
		},
		Say: func(number int, c ledger.RequestComment) {
			var err error
			switch c.Kind {
			case ledger.CommentLine:
				_, _, err = by(c.Author).CreatePullReview("acme", name, int64(number), sdk.CreatePullReviewOptions{
					State: sdk.ReviewStateComment, Comments: []sdk.CreatePullReviewComment{{Path: c.Path, Body: c.Body, NewLineNum: int64(c.Line)}},
				})
			case ledger.CommentChanges:
				_, _, err = by(c.Author).CreatePullReview("acme", name, int64(number), sdk.CreatePullReviewOptions{State: sdk.ReviewStateRequestChanges, Body: c.Body})
			case ledger.CommentApprove:
				_, _, err = by(c.Author).CreatePullReview("acme", name, int64(number), sdk.CreatePullReviewOptions{State: sdk.ReviewStateApproved, Body: c.Body})
			default:
				_, _, err = by(c.Author).CreateIssueComment("acme", name, int64(number), sdk.CreateIssueCommentOption{Body: c.Body})
			}
			must(err)
		},
		Close: func(number int) {
			closed := sdk.StateClosed
			_, _, err := owner.EditPullRequest("acme", name, int64(number), sdk.EditPullRequestOption{State: &closed})
			must(err)
		},
		Count: func() int {
			list, _, err := owner.ListRepoPullRequests("acme", name, sdk.ListPullRequestsOptions{State: sdk.StateAll})
			must(err)
			return len(list)
		},
		Comments: func(number int) int {
			p, _, err := owner.GetPullRequest("acme", name, int64(number))
			must(err)
			return p.Comments
		},
		OpenIssue: func(login, title, body string, labels ...string) int {
			i, _, err := by(login).CreateIssue("acme", name, sdk.CreateIssueOption{Title: title, Body: body})
			must(err)
			for _, l := range labels { // only those who may write can label
				_, _, err := owner.AddIssueLabels("acme", name, i.Index, sdk.IssueLabelsOption{Labels: []int64{w.label(t, owner, name, l)}})
				must(err)
			}
			return int(i.Index)
		},
		SetIssue: func(number int, act forgetest.IssueAct) {
			if act.Title != "" {
				_, _, err := owner.EditIssue("acme", name, int64(number), sdk.EditIssueOption{Title: act.Title})
				must(err)
			}
			if act.Label != "" {
				_, _, err := owner.AddIssueLabels("acme", name, int64(number), sdk.IssueLabelsOption{Labels: []int64{w.label(t, owner, name, act.Label)}})
				must(err)
			}
			if act.Unlabel != "" {
				_, err := owner.DeleteIssueLabel("acme", name, int64(number), w.label(t, owner, name, act.Unlabel))
				must(err)
			}
			if act.Assign != "" {
				_, _, err := owner.EditIssue("acme", name, int64(number), sdk.EditIssueOption{Assignees: []string{act.Assign}})
				must(err)
			}
			if state := sdk.StateType(act.State); state != "" {
				_, _, err := owner.EditIssue("acme", name, int64(number), sdk.EditIssueOption{State: &state})
				must(err)
			}
		},
		ShownIssue: func(number int) (ledger.ForgeIssue, []string) {
			i, _, err := owner.GetIssue("acme", name, int64(number))
			must(err)
			list, _, err := owner.ListIssueComments("acme", name, int64(number), sdk.ListIssueCommentOptions{})
			must(err)
			var comments []string
			for _, c := range list {
				comments = append(comments, c.Body)
			}
			return issueOf(i), comments
		},
		LabelPull: func(number int, label string) {
			_, _, err := owner.AddIssueLabels("acme", name, int64(number), sdk.IssueLabelsOption{Labels: []int64{w.label(t, owner, name, label)}})
			must(err)
		},
		Protect: func(check string) {
			_, _, err := owner.CreateBranchProtection("acme", name, sdk.CreateBranchProtectionOption{RuleName: "main", EnablePush: true, EnableStatusCheck: true, StatusCheckContexts: []string{check}})
			must(err)
		},
		Archive: func() {
			yes := true
			_, _, err := owner.EditRepo("acme", name, sdk.EditRepoOption{Archived: &yes})
			must(err)
		},
		Rename: func() string {
			was := name
			name = "store" + was
			_, _, err := owner.EditRepo("acme", was, sdk.EditRepoOption{Name: &name})
			must(err)
			return "acme/" + name
		},
		Revoke: func() { must(w.Revoke(porter)) },
		Fail:   proxy.fail,
	}
}

// label returns the id of a label, which it creates where it is missing.
func (w *realWorld) label(t *testing.T, owner *server.Account, name, label string) int64 {
	t.Helper()
	list, _, err := owner.ListRepoLabels("acme", name, sdk.ListLabelsOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range list {
		if l.Name == label {
			return l.ID
		}
	}
	made, _, err := owner.CreateLabel("acme", name, sdk.CreateLabelOption{Name: label, Color: "#336699"})
	if err != nil {
		t.Fatal(err)
	}
	return made.ID
}

// proxy stands between the adapter and the server, and makes calls fail.
type proxy struct {
	*httptest.Server
	to *httputil.ReverseProxy

	mu   sync.Mutex
	next []forgetest.Failure
}

func newProxy(t *testing.T, at string) *proxy {
	u, err := url.Parse(at)
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{to: httputil.NewSingleHostReverseProxy(u)}
	p.Server = httptest.NewServer(p)
	t.Cleanup(p.Close)
	return p
}

func (p *proxy) fail(f forgetest.Failure) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.next = append(p.next, f)
}

// ServeHTTP implements http.Handler.
func (p *proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	failure := forgetest.Failure(-1)
	if r.Method != http.MethodGet && len(p.next) > 0 {
		failure, p.next = p.next[0], p.next[1:]
	}
	p.mu.Unlock()
	switch failure {
	case forgetest.AnswerLost:
		p.to.ServeHTTP(httptest.NewRecorder(), r)
		panic(http.ErrAbortHandler)
	case forgetest.Down:
		w.WriteHeader(http.StatusServiceUnavailable)
	case forgetest.RateLimited:
		w.Header().Set("Retry-After", "17")
		w.WriteHeader(http.StatusTooManyRequests)
	default:
		p.to.ServeHTTP(w, r)
	}
}
