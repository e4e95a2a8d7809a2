package gitea

import (
	"context"
	"net/http"
	"slices"
	"strings"

	sdk "code.gitea.io/sdk/gitea"

	"github.com/nightporter/nightporter/loop/forge"
	"github.com/nightporter/nightporter/loop/forge/transport"
	"github.com/nightporter/nightporter/loop/ledger"
)

// perPage is the largest page of a Gitea with its usual settings.
const perPage = 50

// maxPages limits how many pages of open pull requests are searched for a branch.
const maxPages = 40

// wip begins the title of a draft: Gitea has no other sign of one.
const wip = "WIP: "

// Request implements forge.Forge.
func (f *Forge) Request(ctx context.Context, d ledger.RequestDraft) (ledger.Request, error) {
	d.Body = forge.Clip(d.Body, forge.MaxBody)
	if d.Title = strings.TrimPrefix(d.Title, wip); d.Draft {
		d.Title = wip + d.Title
	}
	return try(f, ctx, func(c *call) (ledger.Request, error) {
		pull, err := c.findOrCreate(d)
		if err != nil {
			return ledger.Request{}, err
		}
		var missed []string
		if state(pull) == ledger.RequestOpen {
			if pull, missed, err = c.edit(pull, d); err != nil {
				return ledger.Request{}, err
			}
		}
		base, err := c.base(pull.Base.Ref)
		r := request(pull, base)
		r.Missed = missed
		return r, err
	})
}

// findOrCreate returns the pull request that a draft is about.
func (c *call) findOrCreate(d ledger.RequestDraft) (*sdk.PullRequest, error) {
	if d.Number != 0 {
		return c.pull(d.Number)
	}
	if pull, err := c.find(d); pull != nil || err != nil {
		return pull, err
	}
	pull, resp, err := c.CreatePullRequest(c.owner, c.name, sdk.CreatePullRequestOption{Head: d.Head, Base: d.Base, Title: d.Title, Body: d.Body})
	err = checked(resp, err)
	if status(err) == http.StatusConflict {
		if found, err := c.find(d); found != nil || err != nil {
			return found, err
		}
	}
	return c.readable(pull, err)
}

// pull returns a pull request.
func (c *call) pull(number int) (*sdk.PullRequest, error) {
	pull, resp, err := c.GetPullRequest(c.owner, c.name, int64(number))
	return c.readable(pull, checked(resp, err))
}

// readable returns a pull request of a call, or an error for one that has not what
// all have.
func (c *call) readable(p *sdk.PullRequest, err error) (*sdk.PullRequest, error) {
	if err != nil {
		return nil, err
	}
	if !isWhole(p) {
		return nil, c.f.line.Unreadable()
	}
	p.Labels, p.RequestedReviewers, p.RequestedReviewersTeams = transport.Present(p.Labels), transport.Present(p.RequestedReviewers), transport.Present(p.RequestedReviewersTeams)
	return p, nil
}

// isWhole reports whether a pull request has what all have.
func isWhole(p *sdk.PullRequest) bool {
	return p != nil && p.Index != 0 && p.Head != nil && p.Base != nil && p.Head.Sha != "" && p.Base.Ref != ""
}

// find returns the open pull request of a draft's head, nil = none. A branch can
// have one for each base; the one for the draft's base is preferred. Gitea has no
// filter for heads.
func (c *call) find(d ledger.RequestDraft) (found *sdk.PullRequest, err error) {
	for page := 1; page <= maxPages; page++ {
		list, resp, err := c.ListRepoPullRequests(c.owner, c.name, sdk.ListPullRequestsOptions{
			ListOptions: sdk.ListOptions{Page: page, PageSize: perPage}, State: sdk.StateOpen, Sort: "recentupdate",
		})
		if err := checked(resp, err); err != nil {
			return nil, err
		}
		for _, p := range list {
			if isWhole(p) && p.Head.Ref == d.Head && isOwn(p) && (found == nil || p.Base.Ref == d.Base) {
				found = p
			}
		}
		if found != nil && found.Base.Ref == d.Base || len(list) == 0 || resp.NextPage == 0 {
			break
		}
	}
	return found, nil
}

// edit makes an open pull request what a draft says.
func (c *call) edit(pull *sdk.PullRequest, d ledger.RequestDraft) (_ *sdk.PullRequest, missed []string, err error) {
	d = forge.OnTop(d, pull.Title, pull.Body, pull.Base.Ref, pull.Draft)
	if pull.Title != d.Title || !forge.SameText(pull.Body, d.Body) || pull.Base.Ref != d.Base {
		o := sdk.EditPullRequestOption{Title: d.Title, Body: &d.Body}
		if pull.Base.Ref != d.Base {
			o.Base = d.Base
		}
		_, resp, err := c.EditPullRequest(c.owner, c.name, pull.Index, o)
		if err := checked(resp, err); err != nil {
			return nil, nil, err
		}
		// The answer of an edit still shows the base before it.
		if pull, err = c.pull(int(pull.Index)); err != nil {
			return nil, nil, err
		}
	}
	labels, err := c.addLabels(pull, d.Labels)
	if err != nil {
		return nil, nil, err
	}
	reviewers, err := c.askReviewers(pull, d.Reviewers)
	return pull, slices.Concat(labels, reviewers), err
}

// request returns a pull request as the ledger has it. Whether it can be merged is
// for a look to say.
func request(p *sdk.PullRequest, base branch) ledger.Request {
	r := ledger.Request{
		Number: int(p.Index), URL: p.HTMLURL, State: state(p), Head: p.Head.Ref, HeadCommit: p.Head.Sha,
		Base: p.Base.Ref, BaseCommit: base.tip, Draft: p.Draft,
	}
	if r.State == ledger.RequestMerged && p.MergedCommitID != nil {
		r.MergeCommit = *p.MergedCommitID
	}
	return r
}

// state returns the state of a pull request.
func state(p *sdk.PullRequest) ledger.RequestState {
	switch {
	case p.HasMerged:
		return ledger.RequestMerged
	case p.State == sdk.StateClosed:
		return ledger.RequestClosed
	}
	return ledger.RequestOpen
}

// isOwn reports whether the head of a pull request is a branch of the repository
// itself.
func isOwn(p *sdk.PullRequest) bool { return p.Head.RepoID == p.Base.RepoID }
