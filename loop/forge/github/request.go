package github

import (
	"context"
	"net/http"
	"slices"

	gh "github.com/google/go-github/v92/github"

	"github.com/nightporter/nightporter/loop/forge"
	"github.com/nightporter/nightporter/loop/forge/transport"
	"github.com/nightporter/nightporter/loop/ledger"
)

// Request implements forge.Forge.
func (f *Forge) Request(ctx context.Context, d ledger.RequestDraft) (ledger.Request, error) {
	d.Body = forge.Clip(d.Body, forge.MaxBody)
	return try(f, ctx, func(owner, name string) (ledger.Request, error) {
		pull, err := f.findOrCreate(ctx, owner, name, d)
		if err != nil {
			return ledger.Request{}, err
		}
		var missed []string
		if state(pull) == ledger.RequestOpen {
			if pull, missed, err = f.edit(ctx, owner, name, pull, d); err != nil {
				return ledger.Request{}, err
			}
		}
		r := request(pull)
		r.Missed = missed
		base, err := f.base(ctx, owner, name, r.Base, "")
		r.BaseCommit = base.tip
		return r, err
	})
}

// findOrCreate returns the pull request that a draft is about.
func (f *Forge) findOrCreate(ctx context.Context, owner, name string, d ledger.RequestDraft) (*gh.PullRequest, error) {
	if d.Number != 0 {
		return f.readable(f.api.PullRequests.Get(ctx, owner, name, d.Number))
	}
	if pull, err := f.find(ctx, owner, name, d); pull != nil || err != nil {
		return pull, err
	}
	pull, err := f.create(ctx, owner, name, d)
	if says(err, http.StatusUnprocessableEntity, "already exists") {
		// It was created in between, or find did not show it yet.
		if found, err := f.find(ctx, owner, name, d); found != nil || err != nil {
			return found, err
		}
	}
	return pull, err
}

// find returns the open pull request of a draft's head, nil = none. A branch can
// have one for each base; the one for the draft's base is preferred.
func (f *Forge) find(ctx context.Context, owner, name string, d ledger.RequestDraft) (*gh.PullRequest, error) {
	pulls, _, err := f.api.PullRequests.List(ctx, owner, name, &gh.PullRequestListOptions{
		State: "open", Head: owner + ":" + d.Head, ListOptions: gh.ListOptions{PerPage: perPage},
	})
	if err != nil {
		return nil, err
	}
	var found *gh.PullRequest
	for _, p := range transport.Present(pulls) {
		// A server that does not know the filter returns all of them.
		if p.GetHead().GetRef() == d.Head && isOwn(p) && (found == nil || p.GetBase().GetRef() == d.Base) {
			found = p
		}
	}
	if found == nil {
		return nil, nil
	}
	// A list leaves fields out.
	return f.readable(f.api.PullRequests.Get(ctx, owner, name, found.GetNumber()))
}

// create creates a pull request, as a draft where the repository's plan has them.
func (f *Forge) create(ctx context.Context, owner, name string, d ledger.RequestDraft) (*gh.PullRequest, error) {
	body := gh.CreatePullRequest{Title: &d.Title, Head: d.Head, Base: d.Base, Body: &d.Body, Draft: &d.Draft}
	pull, err := f.readable(f.api.PullRequests.Create(ctx, owner, name, body))
	if d.Draft && says(err, http.StatusUnprocessableEntity, "draft pull requests are not supported") {
		body.Draft = nil
		pull, err = f.readable(f.api.PullRequests.Create(ctx, owner, name, body))
	}
	if says(err, http.StatusUnprocessableEntity, "head invalid") || says(err, http.StatusUnprocessableEntity, "base invalid") {
		failed := f.line.Failure(mustAnswer(err))
		failed.Failure, failed.Remedy = ledger.ForgeMissing, "Look whether the branches "+d.Head+" and "+d.Base+" are on the remote"
		return nil, failed
	}
	return pull, err
}

// edit makes an open pull request what a draft says.
func (f *Forge) edit(ctx context.Context, owner, name string, pull *gh.PullRequest, d ledger.RequestDraft) (_ *gh.PullRequest, missed []string, err error) {
	d = forge.OnTop(d, pull.GetTitle(), pull.GetBody(), pull.GetBase().GetRef(), pull.GetDraft())
	if pull.GetTitle() != d.Title || !forge.SameText(pull.GetBody(), d.Body) || pull.GetBase().GetRef() != d.Base {
		pull, err = f.readable(f.api.PullRequests.Edit(ctx, owner, name, pull.GetNumber(), &gh.PullRequest{
			Title: &d.Title, Body: &d.Body, Base: &gh.PullRequestBranch{Ref: &d.Base},
		}))
		if err != nil {
			return nil, nil, err
		}
	}
	if pull.GetDraft() != d.Draft {
		if err := f.setDraft(ctx, pull, d.Draft); err != nil {
			return nil, nil, err
		}
	}
	labels, err := f.addLabels(ctx, owner, name, pull, d.Labels)
	if err != nil {
		return nil, nil, err
	}
	reviewers, err := f.askReviewers(ctx, owner, name, pull, d.Reviewers)
	return pull, slices.Concat(labels, reviewers), err
}

// request returns a pull request as the ledger has it, without the tip of its base:
// GitHub shows the one of its last push there.
func request(p *gh.PullRequest) ledger.Request {
	r := ledger.Request{
		Number: p.GetNumber(), URL: p.GetHTMLURL(), State: state(p),
		Head: p.GetHead().GetRef(), HeadCommit: p.GetHead().GetSHA(), Base: p.GetBase().GetRef(), Draft: p.GetDraft(),
	}
	switch r.State {
	case ledger.RequestOpen:
		r.Mergeable = mergeable(p)
	case ledger.RequestMerged:
		r.MergeCommit = p.GetMergeCommitSHA()
	}
	return r
}

// state returns the state of a pull request.
func state(p *gh.PullRequest) ledger.RequestState {
	switch {
	case p.GetMerged() || p.MergedAt != nil:
		return ledger.RequestMerged
	case p.GetState() == "closed":
		return ledger.RequestClosed
	}
	return ledger.RequestOpen
}

// mergeable returns whether GitHub would merge a pull request. Checks that are not
// required do not matter to it ("unstable").
func mergeable(p *gh.PullRequest) ledger.Mergeable {
	switch p.GetMergeableState() {
	case "clean", "unstable", "has_hooks":
		return ledger.MergeableClean
	case "behind":
		return ledger.MergeableBehind
	case "dirty":
		return ledger.MergeableConflict
	case "blocked", "draft":
		return ledger.MergeableBlocked
	}
	return ledger.MergeableUnknown
}

// isOwn reports whether the head of a pull request is a branch of the repository
// itself.
func isOwn(p *gh.PullRequest) bool {
	return p.GetHead().GetRepo().GetFullName() == p.GetBase().GetRepo().GetFullName()
}
