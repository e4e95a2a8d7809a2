package github

import (
	"net/http"
	"testing"

	fake "github.com/nightporter/nightporter/internal/fake/github"
	"github.com/nightporter/nightporter/loop/forge"
	"github.com/nightporter/nightporter/loop/forge/forgetest"
	"github.com/nightporter/nightporter/loop/ledger"
)

var (
	_ forge.Watcher = (*Forge)(nil)
	_ forge.Tracker = (*Forge)(nil)
)

func TestConformance(t *testing.T) {
	forgetest.Run(t, func(t *testing.T) *forgetest.Fixture { _, fixture := open(t); return fixture })
}

// open starts a server and an adapter to it.
func open(t *testing.T) (*fake.Server, *forgetest.Fixture) {
	s := fake.New()
	t.Cleanup(s.Close)
	s.Permit("writer", "write")
	s.Permit("stranger", "read")
	f, err := New(Options{API: s.URL, Owner: "acme", Name: "shop", Token: forge.Token(s.Token)})
	if err != nil {
		t.Fatal(err)
	}
	head := func(number int) string {
		v, err := f.Look(t.Context(), number, "")
		if err != nil {
			t.Fatal(err)
		}
		return v.Request.HeadCommit
	}
	return s, &forgetest.Fixture{
		Forge: f, Kind: ledger.ForgeGitHub, Login: s.Login, Secret: s.Token, Base: "main", Writer: "writer", Stranger: "stranger", Many: 620,
		Commit: func(branch, login string) string {
			if login == "" {
				login = s.Login
			}
			return s.Commit(branch, login)
		},
		Tip: s.Tip, DeleteBranch: s.DeleteBranch,
		Check: func(number int, name string, state ledger.CheckState) { setCheck(s, head(number), name, state) },
		Say: func(number int, c ledger.RequestComment) {
			switch c.Kind {
			case ledger.CommentLine:
				s.Line(number, c.Author, c.Body, c.Path, c.Line, 0)
			case ledger.CommentChanges:
				s.Review(number, c.Author, "CHANGES_REQUESTED", c.Body)
			case ledger.CommentApprove:
				s.Review(number, c.Author, "APPROVED", c.Body)
			default:
				s.Comment(number, c.Author, c.Body)
			}
		},
		Close:     func(number int) { s.SetState(number, "closed") },
		Count:     func() int { return len(s.Pulls()) },
		Comments:  func(number int) int { return len(s.Pulls()[number-1].Comments) },
		OpenIssue: s.OpenIssue,
		SetIssue: func(number int, by forgetest.IssueAct) {
			if by.Title != "" {
				s.EditIssue(number, by.Title, s.IssueNumbered(number).Body)
			}
			if by.Label != "" {
				s.Label(number, by.Label, true)
			}
			if by.Unlabel != "" {
				s.Label(number, by.Unlabel, false)
			}
			if by.Assign != "" {
				s.Assign(number, by.Assign)
			}
			switch by.State {
			case ledger.IssueClosed:
				s.CloseIssue(number, "not_planned")
			case ledger.IssueOpen:
				s.ReopenIssue(number)
			}
		},
		ShownIssue: func(number int) (ledger.ForgeIssue, []string) {
			i := s.IssueNumbered(number)
			return ledger.ForgeIssue{Number: i.Number, Title: i.Title, Body: i.Body, Labels: i.Labels, Assignees: i.Assignees, Closed: i.State == "closed"}, i.Comments
		},
		LabelPull: func(number int, label string) { s.Label(number, label, true) },
		Protect:   func(check string) { s.Protect("main", check, true, false) },
		Archive:   s.Archive, Revoke: s.Revoke,
		Rename: func() string { s.Rename("acme/store", true); return "acme/store" },
		Fail:   func(failure forgetest.Failure) { s.Fail(faults[failure]) },
	}
}

// faults is what the server does for a failure.
var faults = map[forgetest.Failure]fake.Fault{
	forgetest.AnswerLost:  {Writes: true, Status: http.StatusBadGateway, Body: "<html>bad gateway</html>", After: true},
	forgetest.Down:        {Writes: true, Status: http.StatusServiceUnavailable, Body: "{}"},
	forgetest.RateLimited: {Writes: true, Status: http.StatusForbidden, Body: `{"message":"You have exceeded a secondary rate limit"}`, Header: http.Header{"Retry-After": {"17"}}},
}

// setCheck sets a check run, or a status for names that begin with b.
func setCheck(s *fake.Server, commit, name string, state ledger.CheckState) {
	if name[0] == 'b' {
		s.Status(commit, name, map[ledger.CheckState]string{ledger.CheckPending: "pending", ledger.CheckPassed: "success", ledger.CheckFailed: "failure"}[state])
		return
	}
	switch state {
	case ledger.CheckPending:
		s.Run(commit, name, "in_progress", "", "")
	case ledger.CheckFailed:
		s.Run(commit, name, "completed", "failure", "")
	default:
		s.Run(commit, name, "completed", "success", "")
	}
}
