package memory

import (
	"cmp"
	"slices"
	"testing"
	"time"

	"github.com/nightporter/nightporter/loop/forge"
	"github.com/nightporter/nightporter/loop/forge/forgetest"
	"github.com/nightporter/nightporter/loop/ledger"
)

var (
	_ forge.Watcher = (*Forge)(nil)
	_ forge.Tracker = (*Forge)(nil)
)

func TestConformance(t *testing.T) {
	forgetest.Run(t, func(t *testing.T) *forgetest.Fixture {
		f := New()
		f.Writer("writer", true)
		return &forgetest.Fixture{
			Forge: f, Kind: ledger.ForgeGitHub, Login: f.Repo.Login, Base: "main", Writer: "writer", Stranger: "stranger", Many: 620,
			Commit: f.Commit, Tip: func(branch string) string { return f.tip(branch) }, DeleteBranch: f.Delete,
			Check: func(number int, name string, state ledger.CheckState) {
				f.Check(number, ledger.ForgeCheck{Name: name, State: state})
			},
			Say:       func(number int, c ledger.RequestComment) { f.Comment(number, c) },
			Close:     func(number int) { f.Set(number, func(r *ledger.Request) { r.State = ledger.RequestClosed }) },
			Count:     func() int { return len(f.Requests()) },
			Comments:  func(number int) int { return len(f.requests[number-1].comments) },
			OpenIssue: f.OpenIssue,
			SetIssue: func(number int, by forgetest.IssueAct) {
				f.SetIssue(number, func(i *ledger.ForgeIssue) {
					i.Title = cmp.Or(by.Title, i.Title)
					i.Labels = slices.DeleteFunc(slices.Clone(i.Labels), func(l string) bool { return l == by.Unlabel })
					if by.Label != "" {
						i.Labels = append(i.Labels, by.Label)
					}
					if by.Assign != "" {
						i.Assignees = []string{by.Assign}
					}
					if by.State != ledger.IssueKept {
						i.Closed = by.State == ledger.IssueClosed
					}
				})
			},
			ShownIssue: f.ShownIssue,
			LabelPull:  func(int, string) {},
			Protect:    func(check string) { f.Require(check) },
			Archive:    func() { f.Repo.Archived = true },
			Revoke: func() {
				for range 3 {
					f.Fail(Fault{Err: &ledger.ForgeError{Failure: ledger.ForgeLogin, Text: "the token is revoked", Remedy: "Make another one"}})
				}
			},
			Fail: func(failure forgetest.Failure) {
				x := Fault{After: failure == forgetest.AnswerLost}
				if failure == forgetest.RateLimited {
					x.Err = &ledger.ForgeError{Failure: ledger.ForgeLimited, Text: "later", RetryAt: time.Now().Add(17 * time.Second)}
				}
				f.Fail(x)
			},
		}
	})
}
