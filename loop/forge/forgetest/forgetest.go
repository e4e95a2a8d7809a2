package forgetest

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/nightporter/nightporter/loop/forge"
	"github.com/nightporter/nightporter/loop/ledger"
)

// Fixture is an adapter with a repository of its own on a server. A nil function
// is something that the server cannot do: its tests say so and end.
type Fixture struct {
	Forge  forge.Forge
	Kind   ledger.ForgeKind
	Login  string // the account of the token
	Secret string // the token; no error may contain it
	Base   string // the default branch

	Writer   string // an account that may write
	Stranger string // one that may not

	// Commit adds a commit to a branch, by the token's account where login is "",
	// and returns it. A new branch begins at Base.
	Commit       func(branch, login string) string
	Tip          func(branch string) string // "" = no such branch
	DeleteBranch func(branch string)
	Check        func(number int, name string, state ledger.CheckState)
	// Say writes a comment or a review, and returns what a view shows of it but ID
	// and Time.
	Say   func(number int, c ledger.RequestComment)
	Close func(number int)
	// Count returns how many requests the repository has, and how many comments a
	// request shows.
	Count    func() int
	Comments func(number int) int

	// OpenIssue opens an issue of an account and returns its number. SetIssue does what
	// a person does to it; ShownIssue returns it with its comments, as people see them.
	OpenIssue  func(login, title, body string, labels ...string) int
	SetIssue   func(number int, by IssueAct)
	ShownIssue func(number int) (i ledger.ForgeIssue, comments []string)
	LabelPull  func(number int, label string) // gives a request a label

	Protect func(check string) // demands a check for Base
	Archive func()
	Rename  func() (name string) // returns "owner/name"
	Revoke  func()
	Fail    func(f Failure) // makes the next call that writes fail

	// Many is how many comments the test of long requests writes, and how many issues
	// that of long lists.
	Many int
}

// IssueAct is what a person does to an issue. Empty fields change nothing.
type IssueAct struct {
	Title, Label, Unlabel string
	Assign                string // the only assignee from now on
	State                 ledger.IssueState
}

// Failure is a failure of a call.
type Failure int

// Failures of a call.
const (
	AnswerLost  Failure = iota // the call has its effect, and its answer is lost
	Down                       // status 503, without effect
	RateLimited                // the server asks for a pause of 17 s
)

// Limits of the tests' own waits.
const (
	callTimeout = 30 * time.Second
	settleTime  = 20 * time.Second // until a server's clock has another second
)

// Run runs all tests, each with its own Fixture.
func Run(t *testing.T, open func(t *testing.T) *Fixture) {
	for _, c := range []struct {
		name string
		test func(w *world)
	}{
		{"info", testInfo},
		{"create", testCreate}, {"find", testFind}, {"edit", testEdit}, {"base", testBase}, {"create lost", testCreateLost}, {"branches missing", testBranchesMissing},
		{"look", testLook}, {"look notices", testLookNotices}, {"foreign tags", testForeignTags}, {"checks", testChecks}, {"people", testPeople},
		{"strangers", testStrangers}, {"many comments", testManyComments}, {"base deleted", testBaseDeleted}, {"changed", testChanged},
		{"reply", testReply}, {"reply lost", testReplyLost}, {"thread", testThread}, {"hostile text", testHostileText},
		{"merge", testMerge}, {"merge lost", testMergeLost}, {"merge refused", testMergeRefused}, {"branch kept", testBranchKept},
		{"down", testDown}, {"limited", testLimited}, {"revoked", testRevoked}, {"archived", testArchived}, {"renamed", testRenamed}, {"cancelled", testCancelled},
		{"issues", testIssues}, {"many issues", testManyIssues}, {"issue changed", testIssueChanged}, {"issue assigned", testIssueAssigned}, {"issue changed lost", testIssueChangedLost}, {"issue commented", testIssueCommented},
		{"issue created", testIssueCreated}, {"issue missing", testIssueMissing}, {"issue limited", testIssueLimited},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(&world{t, t.Context(), open(t)}) })
	}
}

// world is a test with its fixture.
type world struct {
	*testing.T
	ctx context.Context
	*Fixture
}

// skip ends a test of something that the server cannot do.
func (w *world) skip(can bool, what string) {
	w.Helper()
	if !can {
		w.Skip("this server cannot " + what)
	}
}

// draft returns a draft for a new branch with one commit.
func (w *world) draft(branch string) ledger.RequestDraft {
	w.Commit(branch, "")
	return ledger.RequestDraft{Head: branch, Base: w.Base, Title: "Night 14", Body: "What was done.\n\n- all of it"}
}

// request creates a request for a new branch.
func (w *world) request(branch string) ledger.Request {
	w.Helper()
	r, err := w.Forge.Request(w.ctx, w.draft(branch))
	if err != nil {
		w.Fatal(err)
	}
	return r
}

// look returns a view of a request.
func (w *world) look(number int) ledger.RequestView {
	w.Helper()
	v, err := w.Forge.Look(w.ctx, number, "")
	if err != nil {
		w.Fatal(err)
	}
	return v
}

// until looks at a request until it shows something, which a server may have to
// work out.
func (w *world) until(number int, shows func(ledger.RequestView) bool) ledger.RequestView {
	w.Helper()
	for end := time.Now().Add(settleTime); ; {
		if v := w.look(number); shows(v) || time.Now().After(end) {
			return v
		}
	}
}

// merge merges a request as soon as the server knows whether it can be merged.
func (w *world) merge(m ledger.MergeAsked) (ledger.Request, error) {
	for end := time.Now().Add(settleTime); ; {
		r, err := w.Forge.Merge(w.ctx, m)
		var f *ledger.ForgeError
		if !errors.As(err, &f) || !f.Passes() || time.Now().After(end) {
			return r, err
		}
	}
}

// fails checks that an error is a failure of a kind, that it has a text and none
// of the token.
func (w *world) fails(err error, want ...ledger.ForgeFailure) *ledger.ForgeError {
	w.Helper()
	var f *ledger.ForgeError
	if !errors.As(err, &f) {
		w.Fatalf("the error is %v, want a ForgeError of %q", err, want)
	}
	known := false
	for _, k := range want {
		known = known || f.Failure == k
	}
	if !known || f.Text == "" {
		w.Errorf("failure %q, text %q; want one of %q and a text", f.Failure, f.Text, want)
	}
	if w.Secret != "" && strings.Contains(f.Text+f.Remedy, w.Secret) {
		w.Errorf("the error has the token: %+v", f)
	}
	return f
}
