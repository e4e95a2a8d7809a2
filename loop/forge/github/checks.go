package github

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	gh "github.com/google/go-github/v92/github"

	"github.com/nightporter/nightporter/loop/forge/transport"
	"github.com/nightporter/nightporter/loop/ledger"
)

// maxChecks limits how many checks of one kind are read: a matrix has hundreds.
const maxChecks = 1000

// check is a check run or a commit status.
type check struct {
	ledger.ForgeCheck
	job int64 // id of the job that has its log, 0 = none
}

// checkList are the checks of one kind.
type checkList struct {
	all  []check
	etag string // "" = there are more than one page has: an ETag would not see all
	same bool   // nothing changed since the ETag that was given; all else is empty
}

// pending reports whether one of them is still to come.
func (l checkList) pending() bool {
	return slices.ContainsFunc(l.all, func(c check) bool { return c.State == ledger.CheckPending })
}

// checks are the checks of a commit.
type checks struct{ runs, statuses checkList }

// pending returns the kind of which some are still to come, "" = none.
func (c checks) pending() string {
	switch {
	case c.runs.pending():
		return pollRuns
	case c.statuses.pending():
		return pollStatuses
	}
	return ""
}

// checks returns the checks of a commit.
func (f *Forge) checks(ctx context.Context, owner, name, commit string) (c checks, err error) {
	if c.runs, err = f.runs(ctx, owner, name, commit, ""); err != nil {
		return c, err
	}
	c.statuses, err = f.statuses(ctx, owner, name, commit, "")
	return c, err
}

// listChecks reads the checks of one kind page by page, each with read. An ETag is
// that of the only page.
func listChecks[T any](ctx context.Context, tag string, checkOf func(*T) check, read func(context.Context, gh.ListOptions) ([]*T, *gh.Response, error)) (l checkList, err error) {
	o := gh.ListOptions{PerPage: perPage, Page: 1}
	for ctx = transport.IfNoneMatch(ctx, tag); ; ctx = transport.IfNoneMatch(ctx, "") {
		page, resp, err := read(ctx, o)
		if same(err) {
			return checkList{same: true, etag: tag}, nil
		}
		if err != nil {
			return l, err
		}
		for _, one := range transport.Present(page) {
			l.all = append(l.all, checkOf(one))
		}
		if resp.NextPage == 0 || len(l.all) >= maxChecks {
			if o.Page == 1 {
				l.etag = etag(resp)
			}
			return l, nil
		}
		o.Page = resp.NextPage
	}
}

// runs returns the check runs of a commit, those of GitHub's actions among them.
func (f *Forge) runs(ctx context.Context, owner, name, commit, tag string) (checkList, error) {
	return listChecks(ctx, tag, runOf, func(ctx context.Context, o gh.ListOptions) ([]*gh.CheckRun, *gh.Response, error) {
		page, resp, err := f.api.Checks.ListCheckRunsForRef(ctx, owner, name, commit, &gh.ListCheckRunsOptions{ListOptions: o})
		if err == nil && page == nil {
			err = f.line.Unreadable()
		}
		return page.GetCheckRuns(), resp, err
	})
}

// runOf returns a check run as the ledger has it.
func runOf(r *gh.CheckRun) check {
	c := check{ForgeCheck: ledger.ForgeCheck{
		Name: r.GetName(), State: ledger.CheckPending, URL: cmp.Or(r.GetHTMLURL(), r.GetDetailsURL()),
		Summary: strings.TrimSpace(r.GetOutput().GetTitle() + "\n" + r.GetOutput().GetSummary()),
		Log:     r.GetOutput().GetText(), Since: r.GetStartedAt().Time,
	}}
	if r.GetApp().GetSlug() == "github-actions" {
		c.job = r.GetID()
	}
	if r.GetStatus() != "completed" {
		return c
	}
	switch r.GetConclusion() {
	case "success":
		c.State = ledger.CheckPassed
	case "neutral", "skipped", "cancelled", "stale":
		c.State = ledger.CheckNeutral
	default: // failure, timed_out, action_required, startup_failure, and what is new
		c.State = ledger.CheckFailed
	}
	return c
}

// statuses returns the commit statuses of a commit, the newest one of each name.
func (f *Forge) statuses(ctx context.Context, owner, name, commit, tag string) (checkList, error) {
	return listChecks(ctx, tag, statusOf, func(ctx context.Context, o gh.ListOptions) ([]*gh.RepoStatus, *gh.Response, error) {
		page, resp, err := f.api.Repositories.GetCombinedStatus(ctx, owner, name, commit, &o)
		if err == nil && page == nil {
			err = f.line.Unreadable()
		}
		return page.GetStatuses(), resp, err
	})
}

// statusOf returns a commit status as the ledger has it.
func statusOf(s *gh.RepoStatus) check {
	c := check{ForgeCheck: ledger.ForgeCheck{
		Name: s.GetContext(), State: ledger.CheckFailed, URL: s.GetTargetURL(), Summary: s.GetDescription(), Since: s.GetCreatedAt().Time,
	}}
	switch s.GetState() {
	case "success":
		c.State = ledger.CheckPassed
	case "pending":
		c.State = ledger.CheckPending
	}
	return c
}

// severity orders states: of several checks with one name, as two events of one
// workflow have, the worst one counts.
var severity = []ledger.CheckState{ledger.CheckNeutral, ledger.CheckPassed, ledger.CheckPending, ledger.CheckFailed}

// describe returns the checks by name, with those that are required and the logs
// of those that failed. A required check that has not begun is pending.
func (f *Forge) describe(ctx context.Context, owner, name string, c checks, required []string) ([]ledger.ForgeCheck, error) {
	byName := map[string]check{}
	for _, one := range slices.Concat(c.runs.all, c.statuses.all) {
		if was, ok := byName[one.Name]; !ok || slices.Index(severity, one.State) > slices.Index(severity, was.State) {
			byName[one.Name] = one
		}
	}
	for _, r := range required {
		one, ok := byName[r]
		if !ok {
			one.Name, one.State = r, ledger.CheckPending
		}
		one.Required = true
		byName[r] = one
	}
	var out []ledger.ForgeCheck
	for _, one := range byName {
		var err error
		if one.State != ledger.CheckFailed {
			one.Log = ""
		} else if one.Log, err = f.log(ctx, owner, name, one); err != nil {
			return nil, err
		}
		out = append(out, one.ForgeCheck)
	}
	slices.SortFunc(out, func(a, b ledger.ForgeCheck) int { return cmp.Compare(a.Name, b.Name) })
	return out, nil
}

// timeOf returns a time, zero for one that GitHub does not have.
func timeOf(t *gh.Timestamp) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.UTC()
}

// isAbsent reports whether an error says that something is not there, or not for
// this token.
func isAbsent(err error) bool {
	code := status(err)
	return code == http.StatusNotFound || code == http.StatusGone
}
