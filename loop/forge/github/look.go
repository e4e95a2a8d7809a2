package github

import (
	"context"
	"net/http"
	"slices"
	"time"

	gh "github.com/google/go-github/v92/github"

	"github.com/nightporter/nightporter/loop/forge/transport"
	"github.com/nightporter/nightporter/loop/ledger"
)

// perPage is GitHub's largest page.
const perPage = 100

// Look implements forge.Forge. It asks first whether the pull request, the tip of
// its base and its checks are as they were. Comments and reviews change the pull
// request.
func (f *Forge) Look(ctx context.Context, number int, text string) (ledger.RequestView, error) {
	return try(f, ctx, func(owner, name string) (ledger.RequestView, error) {
		if t, ok := parseTag(text, number); ok {
			if t, same, err := f.unchanged(ctx, owner, name, t); same || err != nil {
				return ledger.RequestView{Tag: t.String(), Unchanged: true}, err
			}
		}
		return f.look(ctx, owner, name, number, text)
	})
}

// unchanged reports whether a pull request is as its tag has it, and returns the
// next tag then.
func (f *Forge) unchanged(ctx context.Context, owner, name string, t tag) (_ tag, unchanged bool, err error) {
	_, resp, err := f.api.PullRequests.Get(transport.IfNoneMatch(ctx, t.Pull), owner, name, t.Number)
	if !same(err) {
		return t, false, err
	}
	t.Seen = f.date(resp)
	if t.Open {
		b, err := f.base(ctx, owner, name, t.Base, t.Branch)
		if err != nil || !b.same && b.tip != t.Tip {
			return t, false, err
		}
	}
	runs, err := f.runs(ctx, owner, name, t.Head, t.Runs)
	if err != nil || !runs.same {
		return t, false, err
	}
	statuses, err := f.statuses(ctx, owner, name, t.Head, t.Statuses)
	if err != nil || !statuses.same {
		return t, false, err
	}
	return t, true, nil
}

// look returns all that a pull request shows.
func (f *Forge) look(ctx context.Context, owner, name string, number int, text string) (ledger.RequestView, error) {
	var v ledger.RequestView
	pull, resp, err := f.api.PullRequests.Get(ctx, owner, name, number)
	if pull, err = f.readable(pull, resp, err); err != nil {
		return v, err
	}
	t := tag{
		V: tagVersion, Number: number, Pull: etag(resp), Seen: f.date(resp), Updated: pull.GetUpdatedAt().Time,
		Open: state(pull) == ledger.RequestOpen, Head: pull.GetHead().GetSHA(), Base: pull.GetBase().GetRef(), Since: f.line.Now(),
	}
	v.Request, v.Next = request(pull), f.next(resp)
	b, err := f.base(ctx, owner, name, t.Base, "")
	if err != nil {
		return v, err
	}
	v.Request.BaseCommit, t.Tip, t.Branch = b.tip, b.tip, b.etag
	if before, ok := parseTag(text, number); ok && before.Head == t.Head && before.Tip == t.Tip {
		t.Since = before.Since
	}
	c, err := f.checks(ctx, owner, name, t.Head)
	if err != nil {
		return v, err
	}
	t.Runs, t.Statuses = c.runs.etag, c.statuses.etag
	t.Poll, t.Empty = c.pending(), len(c.runs.all)+len(c.statuses.all) == 0
	t.Unsure = v.Request.Mergeable == ledger.MergeableUnknown && t.Tip != ""
	required, err := f.required(ctx, owner, name, t.Base, b)
	if err != nil {
		return v, err
	}
	if v.Checks, err = f.describe(ctx, owner, name, c, required); err != nil {
		return v, err
	}
	if t.Poll == "" && slices.ContainsFunc(v.Checks, func(c ledger.ForgeCheck) bool { return c.State == ledger.CheckPending }) {
		t.Poll = pollEither
	}
	if v.Comments, v.More, err = f.comments(ctx, owner, name, number); err != nil {
		return v, err
	}
	if v.Strangers, v.Writers, err = f.strangers(ctx, owner, name, pull); err != nil {
		return v, err
	}
	v.Tag = t.String()
	return v, nil
}

// next returns when calls are possible again, if GitHub will take no more before.
func (f *Forge) next(r *gh.Response) time.Time {
	if r.Header.Get("X-RateLimit-Remaining") == "0" {
		return f.line.Reset(r.Header)
	}
	return time.Time{}
}

// tip is the tip of a branch and what its protection demands.
type tip struct {
	tip      string // "" = no such branch
	required []string
	etag     string
	same     bool // nothing changed since the ETag that was given; all else is empty
}

// base returns the tip of a branch.
func (f *Forge) base(ctx context.Context, owner, name, branch, tag string) (tip, error) {
	b, resp, err := f.api.Repositories.GetBranch(transport.IfNoneMatch(ctx, tag), owner, name, branch, 1)
	switch {
	case same(err) || resp != nil && resp.StatusCode == http.StatusNotModified:
		return tip{same: true, etag: tag}, nil
	case status(err) == http.StatusNotFound || resp != nil && resp.StatusCode == http.StatusNotFound:
		return tip{}, nil
	case err != nil:
		return tip{}, err
	}
	out := tip{tip: b.GetCommit().GetSHA(), etag: etag(resp)}
	if out.tip == "" {
		return tip{}, f.line.Unreadable()
	}
	if s := b.GetProtection().GetRequiredStatusChecks(); s != nil {
		out.required = append(out.required, s.GetContexts()...)
		for _, c := range transport.Present(s.GetChecks()) {
			out.required = append(out.required, c.Context)
		}
	}
	return out, nil
}

// required returns the names of the checks that a base demands, by its protection
// and by the rules of the repository, which older servers do not have.
func (f *Forge) required(ctx context.Context, owner, name, branch string, b tip) ([]string, error) {
	out := slices.Clone(b.required)
	if b.tip == "" {
		return out, nil
	}
	rules, _, err := f.api.Repositories.ListRulesForBranch(ctx, owner, name, branch, nil)
	if err != nil {
		if code := status(err); code == http.StatusNotFound || code == http.StatusForbidden {
			return out, nil
		}
		return nil, err
	}
	if rules == nil {
		return nil, f.line.Unreadable()
	}
	for _, r := range transport.Present(rules.RequiredStatusChecks) {
		for _, c := range transport.Present(r.Parameters.RequiredStatusChecks) {
			out = append(out, c.Context)
		}
	}
	return out, nil
}
