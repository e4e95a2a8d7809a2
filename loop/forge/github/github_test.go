package github

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	fake "github.com/nightporter/nightporter/internal/fake/github"
	"github.com/nightporter/nightporter/loop/forge"
	"github.com/nightporter/nightporter/loop/forge/forgetest"
	"github.com/nightporter/nightporter/loop/ledger"
)

// newRequest creates a request for a new branch.
func newRequest(t *testing.T, s *fake.Server, f *forgetest.Fixture, branch string) ledger.Request {
	t.Helper()
	s.Commit(branch, s.Login)
	r, err := f.Forge.Request(t.Context(), ledger.RequestDraft{Head: branch, Base: "main", Title: "t", Body: "b"})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// look returns a view of a request.
func look(t *testing.T, f *forgetest.Fixture, number int) ledger.RequestView {
	t.Helper()
	v, err := f.Forge.Look(t.Context(), number, "")
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// failure returns what an error is.
func failure(t *testing.T, err error) *ledger.ForgeError {
	t.Helper()
	var f *ledger.ForgeError
	if !errors.As(err, &f) {
		t.Fatalf("%v is no ForgeError", err)
	}
	return f
}

// TestFigures counts the calls for fifty open requests while nothing changes: three
// a round, all conditional, and one more for each with pending checks.
func TestFigures(t *testing.T) {
	s, f := open(t)
	watcher := f.Forge.(forge.Watcher)
	looks := map[int]string{}
	for n := 1; n <= 50; n++ {
		r := newRequest(t, s, f, fmt.Sprint("night/", n))
		s.Run(r.HeadCommit, "test", "completed", "success", "")
	}
	for n := 1; n <= 50; n++ {
		looks[n] = look(t, f, n).Tag
	}
	round := func(want int) {
		t.Helper()
		s.Calls()
		changed, err := watcher.Changed(t.Context(), looks)
		if err != nil || len(changed) != 0 {
			t.Errorf("%v, %v", changed, err)
		}
		calls, conditional := s.Calls(), 0
		for _, c := range calls {
			if c.Conditional && c.Status == http.StatusNotModified {
				conditional++
			}
		}
		if len(calls) > want || conditional != len(calls) {
			t.Errorf("%d calls, %d of them conditional; want at most %d, all conditional: %v", len(calls), conditional, want, calls)
		}
	}
	if _, err := watcher.Changed(t.Context(), looks); err != nil { // the first one reads the list
		t.Fatal(err)
	}
	for range 10 {
		round(3)
	}
	for n := 1; n <= 2; n++ {
		s.Run(s.Tip(fmt.Sprint("night/", n)), "slow", "in_progress", "", "")
		looks[n] = look(t, f, n).Tag
	}
	for range 10 {
		round(3 + 2)
	}
}

// TestInTurn checks that a check that somebody starts anew is seen, although
// nothing else of its request changes.
func TestInTurn(t *testing.T) {
	s, f := open(t)
	looks := map[int]string{}
	for n := 1; n <= 3; n++ {
		r := newRequest(t, s, f, fmt.Sprint("night/", n))
		s.Run(r.HeadCommit, "test", "completed", "success", "")
		looks[n] = look(t, f, n).Tag
	}
	s.Run(s.Tip("night/2"), "test", "in_progress", "", "")
	for range 2 * len(looks) {
		changed, err := f.Forge.(forge.Watcher).Changed(t.Context(), looks)
		if err != nil {
			t.Fatal(err)
		}
		if len(changed) == 1 && changed[0] == 2 {
			return
		}
	}
	t.Error("it was never seen")
}

// TestAwaited checks that a required check is seen soon after it began, of whatever
// kind it is.
func TestAwaited(t *testing.T) {
	s, f := open(t)
	s.Protect("main", "awaited", true, false)
	looks := map[int]string{}
	var commits []string
	for n := 1; n <= 10; n++ {
		r := newRequest(t, s, f, fmt.Sprint("night/", n))
		s.Run(r.HeadCommit, "test", "completed", "success", "")
		looks[n], commits = look(t, f, n).Tag, append(commits, r.HeadCommit)
	}
	s.Run(commits[7], "awaited", "in_progress", "", "")
	s.Status(commits[8], "awaited", "pending")
	seen := map[int]bool{}
	for range 2 {
		changed, err := f.Forge.(forge.Watcher).Changed(t.Context(), looks)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range changed {
			seen[n] = true
		}
	}
	if !seen[8] || !seen[9] || len(seen) != 2 {
		t.Errorf("after two rounds: %v, want 8 and 9", seen)
	}
}

// TestBusyRepository checks that a request that is not among those that changed
// last is looked at only if the list does not reach back to its look.
func TestBusyRepository(t *testing.T) {
	s, f := open(t)
	newRequest(t, s, f, "night/1")
	for n := 2; n <= 110; n++ {
		newRequest(t, s, f, fmt.Sprint("other/", n))
	}
	s.Run(s.Tip("night/1"), "test", "completed", "success", "")
	old := look(t, f, 1).Tag
	changed := func(tag string) int {
		out, err := f.Forge.(forge.Watcher).Changed(t.Context(), map[int]string{1: tag})
		if err != nil {
			t.Fatal(err)
		}
		return len(out)
	}
	if changed(old) != 0 {
		t.Error("changes before its look count as its own")
	}
	for n := 2; n <= 110; n++ {
		s.Comment(n, "writer", "x")
	}
	if changed(old) != 1 {
		t.Error("a hundred changes later it may be one of them")
	}
	next, err := f.Forge.Look(t.Context(), 1, old)
	if err != nil || !next.Unchanged || changed(next.Tag) != 0 {
		t.Errorf("%+v, %v; looked at again, it is not", next, err)
	}
}

// TestLogs checks that the end of a failed job's log is fetched, without the token
// and without the times of its lines.
func TestLogs(t *testing.T) {
	s, f := open(t)
	r := newRequest(t, s, f, "night/1")
	var log strings.Builder
	for n := range 20_000 {
		fmt.Fprintf(&log, "2026-11-20T22:00:00.0000000Z line %d\n", n)
	}
	log.WriteString("2026-11-20T22:00:00.0000000Z --- FAIL: TestTotal\n")
	s.Run(r.HeadCommit, "job", "completed", "failure", log.String())
	s.Run(r.HeadCommit, "green", "completed", "success", "nothing to see")
	s.Run(r.HeadCommit, "other", "completed", "timed_out", "")
	got := map[string]ledger.ForgeCheck{}
	for _, c := range look(t, f, r.Number).Checks {
		got[c.Name] = c
	}
	if end := got["job"].Log; !strings.HasSuffix(end, "\n--- FAIL: TestTotal\n") || !strings.HasPrefix(end, "line ") || len(end) > forge.MaxLog || strings.Contains(end, "2026-11-20T") {
		t.Errorf("%d bytes: %.60q … %q", len(end), end, end[max(0, len(end)-60):])
	}
	if got["green"].Log != "" || got["other"].Log != "what other says" || got["other"].State != ledger.CheckFailed || got["job"].Summary != "the tests of job" {
		t.Errorf("%+v", got)
	}
	if a := s.Foreign(); len(a) > 0 {
		t.Errorf("the storage got %q", a)
	}
}

// TestConclusions checks what each conclusion of a check run counts as.
func TestConclusions(t *testing.T) {
	s, f := open(t)
	r := newRequest(t, s, f, "night/1")
	want := map[string]ledger.CheckState{
		"success": ledger.CheckPassed, "failure": ledger.CheckFailed, "timed_out": ledger.CheckFailed, "action_required": ledger.CheckFailed, "startup_failure": ledger.CheckFailed,
		"neutral": ledger.CheckNeutral, "skipped": ledger.CheckNeutral, "cancelled": ledger.CheckNeutral, "stale": ledger.CheckNeutral, "something_new": ledger.CheckFailed,
	}
	for c := range want {
		s.Run(r.HeadCommit, c, "completed", c, "")
	}
	s.Run(r.HeadCommit, "both", "completed", "success", "")
	s.Status(r.HeadCommit, "both", "error")
	want["both"] = ledger.CheckFailed
	for _, c := range look(t, f, r.Number).Checks {
		if c.State != want[c.Name] {
			t.Errorf("%s is %s, want %s", c.Name, c.State, want[c.Name])
		}
		delete(want, c.Name)
	}
	if len(want) > 0 {
		t.Errorf("missing: %v", want)
	}
}

// TestManyChecks checks that all pages are read, and that no ETag of the first page
// stands for the others.
func TestManyChecks(t *testing.T) {
	s, f := open(t)
	r := newRequest(t, s, f, "night/1")
	for n := range 150 {
		s.Run(r.HeadCommit, fmt.Sprintf("job%03d", n), "completed", "success", "")
	}
	v := look(t, f, r.Number)
	if len(v.Checks) != 150 {
		t.Fatalf("%d checks", len(v.Checks))
	}
	s.Run(r.HeadCommit, "job149", "completed", "failure", "")
	if v, err := f.Forge.Look(t.Context(), r.Number, v.Tag); err != nil || v.Unchanged {
		t.Errorf("%+v, %v: the change on the second page is not seen", v, err)
	}
}

// TestProtection checks rules of both kinds, and a base that has to be merged
// first.
func TestProtection(t *testing.T) {
	s, f := open(t)
	s.Protect("main", "old", false, false)
	s.Protect("main", "new", true, true)
	r := newRequest(t, s, f, "night/1")
	v := look(t, f, r.Number)
	if len(v.Checks) != 2 || !v.Checks[0].Required || !v.Checks[1].Required || v.Request.Mergeable != ledger.MergeableBlocked {
		t.Errorf("%+v", v)
	}
	for _, name := range []string{"old", "new"} {
		s.Run(r.HeadCommit, name, "completed", "success", "")
	}
	s.Commit("main", "writer")
	if v := look(t, f, r.Number); v.Request.Mergeable != ledger.MergeableBehind {
		t.Errorf("%+v", v.Request)
	}
	s.Mergeable(r.Number, true, true)
	if v := look(t, f, r.Number); v.Request.Mergeable != ledger.MergeableConflict {
		t.Errorf("%+v", v.Request)
	}
	s.Mergeable(r.Number, false, false)
	v = look(t, f, r.Number)
	if v.Request.Mergeable != ledger.MergeableUnknown {
		t.Errorf("%+v", v.Request)
	}
	// Nothing on the list shows when it is worked out, so it has to be looked at.
	if out, err := f.Forge.(forge.Watcher).Changed(t.Context(), map[int]string{r.Number: v.Tag}); err != nil || len(out) != 1 {
		t.Errorf("%v, %v", out, err)
	}
}

// TestQueue checks a base with a merge queue.
func TestQueue(t *testing.T) {
	s, f := open(t)
	r := newRequest(t, s, f, "night/1")
	m := ledger.MergeAsked{Number: r.Number, HeadCommit: r.HeadCommit, Method: ledger.MergeSquash, DeleteBranch: true}
	s.Queue("main", "405")
	_, err := f.Forge.Merge(t.Context(), m)
	if e := failure(t, err); e.Failure != ledger.ForgeProtected || !strings.Contains(e.Remedy, "Merge when ready") {
		t.Errorf("%+v", e)
	}
	s.Queue("main", "202")
	if got, err := f.Forge.Merge(t.Context(), m); err != nil || got.State != ledger.RequestOpen || s.Tip("night/1") == "" {
		t.Errorf("%+v, %v; want it open until the queue is done", got, err)
	}
}

// TestMethods checks a method that the repository does not permit.
func TestMethods(t *testing.T) {
	s, f := open(t)
	s.Settings([]string{"squash"}, true, false)
	if info, err := f.Forge.Info(t.Context()); err != nil || len(info.Methods) != 1 || info.Methods[0] != ledger.MergeSquash || !info.DeletesBranch {
		t.Errorf("%+v, %v", info, err)
	}
	r := newRequest(t, s, f, "night/1")
	_, err := f.Forge.Merge(t.Context(), ledger.MergeAsked{Number: r.Number, HeadCommit: r.HeadCommit, Method: ledger.MergeRebase})
	if e := failure(t, err); e.Failure != ledger.ForgeRefused || e.Remedy == "" {
		t.Errorf("%+v", e)
	}
	// The plan of the repository has no drafts either.
	s.Commit("night/2", s.Login)
	if r, err := f.Forge.Request(t.Context(), ledger.RequestDraft{Head: "night/2", Base: "main", Title: "t", Body: "b", Draft: true}); err != nil || r.Draft || r.Number == 0 {
		t.Errorf("%+v, %v; want a request that is no draft", r, err)
	}
}

// TestStackedBranch checks that a branch stays that another request is based on.
func TestStackedBranch(t *testing.T) {
	s, f := open(t)
	first := newRequest(t, s, f, "night/1")
	s.Commit("night/2", s.Login)
	if _, err := f.Forge.Request(t.Context(), ledger.RequestDraft{Head: "night/2", Base: "night/1", Title: "t", Body: "b"}); err != nil {
		t.Fatal(err)
	}
	m := ledger.MergeAsked{Number: first.Number, HeadCommit: first.HeadCommit, Method: ledger.MergeCommit, DeleteBranch: true}
	if _, err := f.Forge.Merge(t.Context(), m); err != nil || s.Tip("night/1") == "" {
		t.Errorf("%v; the branch is %q", err, s.Tip("night/1"))
	}
}

// TestExtras checks labels and reviewers: added once, never removed, and what is
// refused costs nothing else.
func TestExtras(t *testing.T) {
	s, f := open(t)
	r := newRequest(t, s, f, "night/1")
	d := ledger.RequestDraft{Head: "night/1", Base: "main", Title: "t", Body: "b", Labels: []string{"Night"}, Reviewers: []string{"Writer", s.Login, "nobody", "acme/core"}}
	for range 2 {
		got, err := f.Forge.Request(t.Context(), d)
		if err != nil || got.Number != r.Number || len(got.Missed) != 1 || !strings.Contains(got.Missed[0], "nobody") {
			t.Errorf("%+v, %v", got, err)
		}
	}
	d.Labels, d.Reviewers = nil, nil
	if _, err := f.Forge.Request(t.Context(), d); err != nil {
		t.Fatal(err)
	}
	if p := s.Pulls()[0]; fmt.Sprint(p.Labels, p.Reviewers) != "[Night] [Writer core]" {
		t.Errorf("%q, %q", p.Labels, p.Reviewers)
	}
	// Somebody who reviewed is not asked again.
	s.Permit("other", "write")
	s.Review(r.Number, "other", "APPROVED", "")
	d.Reviewers = []string{"other"}
	if _, err := f.Forge.Request(t.Context(), d); err != nil || len(s.Pulls()[0].Reviewers) != 2 {
		t.Errorf("%v, %q", err, s.Pulls()[0].Reviewers)
	}
}

// TestTemplate checks where a template is found.
func TestTemplate(t *testing.T) {
	s, f := open(t)
	s.File("README.md", "hello")
	if info, err := f.Forge.Info(t.Context()); err != nil || info.Template != "" {
		t.Errorf("%+v, %v", info, err)
	}
	s.File(".github/PULL_REQUEST_TEMPLATE.md", "## Why\n")
	if info, err := f.Forge.Info(t.Context()); err != nil || info.Template != "## Why\n" {
		t.Errorf("%+v, %v", info, err)
	}
}

// TestLimits checks the limits of an hour: nothing is guessed, and a view says when
// the next look is possible.
func TestLimits(t *testing.T) {
	s, f := open(t)
	r := newRequest(t, s, f, "night/1")
	reset := s.Now().Add(time.Hour)
	s.Fail(fake.Fault{Status: http.StatusForbidden, Body: `{"message":"API rate limit exceeded"}`, Header: http.Header{
		"X-Ratelimit-Remaining": {"0"}, "X-Ratelimit-Limit": {"5000"}, "X-Ratelimit-Reset": {strconv.FormatInt(reset.Unix(), 10)},
	}, Times: 2})
	began := time.Now()
	for range 2 { // the second one is sent as well: the caller waits, not the adapter
		_, err := f.Forge.Look(t.Context(), r.Number, "")
		if e := failure(t, err); e.Failure != ledger.ForgeLimited || e.RetryAt.Sub(began) < 59*time.Minute || e.RetryAt.Sub(began) > 61*time.Minute {
			t.Errorf("%+v, in %s", e, e.RetryAt.Sub(began))
		}
	}
	look(t, f, r.Number)
}

// TestBroken checks answers that are none.
func TestBroken(t *testing.T) {
	s, f := open(t)
	r := newRequest(t, s, f, "night/1")
	for _, fault := range []fake.Fault{
		{Status: 200, Body: "<html>Please log in to the hotel's network</html>"},
		{Status: 200, Body: ""},
		{Status: 200, Body: `{"number": "x"}`},
		{Status: 200, Body: "null"},
		{Status: 500, Body: strings.Repeat("x", 1<<20)},
		{Drop: true, Times: 5}, // a client repeats a GET by itself when an old connection breaks
	} {
		fault.Method, fault.Path = http.MethodGet, "/pulls/"
		s.Fail(fault)
		v, err := f.Forge.Look(t.Context(), r.Number, "")
		if err == nil {
			t.Errorf("%.40q: taken for a view of %d", fault.Body, v.Request.Number)
		} else if e := failure(t, err); !e.Passes() || len(e.Text) > 500 {
			t.Errorf("%.40q: %+v", fault.Body, e)
		}
	}
}

// TestEnterprise checks an interface in a folder.
func TestEnterprise(t *testing.T) {
	s, _ := open(t)
	f, err := New(Options{API: s.URL + "api/v3", Owner: "acme", Name: "shop", Token: forge.Token(s.Token)})
	if err != nil {
		t.Fatal(err)
	}
	s.Commit("night/1", s.Login)
	d := ledger.RequestDraft{Head: "night/1", Base: "main", Title: "t", Body: "b"}
	for _, draft := range []bool{false, true, false} { // GraphQL is beside the folder
		d.Draft = draft
		if r, err := f.Request(t.Context(), d); err != nil || r.Draft != draft {
			t.Errorf("%+v, %v", r, err)
		}
	}
}

// TestUnknownAuthors checks that a bot, a deleted account and one without an
// account do not count as writers.
func TestUnknownAuthors(t *testing.T) {
	s, f := open(t)
	r := newRequest(t, s, f, "night/1")
	s.Permit("helper[bot]", "write")
	s.Comment(r.Number, "helper[bot]", "a bot")
	s.Comment(r.Number, "", "a ghost")
	unknown := s.Commit("night/1", "")
	v := look(t, f, r.Number)
	if len(v.Comments) != 2 || v.Comments[0].Writer || v.Comments[1].Writer || v.Comments[1].Author != "" {
		t.Errorf("%+v", v.Comments)
	}
	if v.Writers || len(v.Strangers) != 1 || v.Strangers[0] != unknown {
		t.Errorf("%v, %q", v.Writers, v.Strangers)
	}
}
