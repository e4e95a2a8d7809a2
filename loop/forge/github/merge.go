package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	gh "github.com/google/go-github/v92/github"

	"github.com/nightporter/nightporter/loop/ledger"
)

// Merge implements forge.Forge.
func (f *Forge) Merge(ctx context.Context, m ledger.MergeAsked) (ledger.Request, error) {
	return try(f, ctx, func(owner, name string) (ledger.Request, error) {
		pull, err := f.readable(f.api.PullRequests.Get(ctx, owner, name, m.Number))
		if err != nil {
			return ledger.Request{}, err
		}
		if err := refusal(pull, m); err != nil {
			return request(pull), err
		}
		if state(pull) == ledger.RequestOpen {
			if pull, err = f.merge(ctx, owner, name, pull, m); err != nil {
				return ledger.Request{}, err
			}
		}
		if m.DeleteBranch && state(pull) == ledger.RequestMerged {
			if err := f.deleteBranch(ctx, owner, name, pull, m); err != nil {
				return request(pull), err
			}
		}
		r := request(pull)
		b, err := f.base(ctx, owner, name, r.Base, "")
		r.BaseCommit = b.tip
		return r, err
	})
}

// refusal returns why a pull request is not merged as it is.
func refusal(p *gh.PullRequest, m ledger.MergeAsked) error {
	switch {
	case p.GetHead().GetSHA() != m.HeadCommit:
		return &ledger.ForgeError{
			Failure: ledger.ForgeMoved,
			Text:    fmt.Sprintf("the pull request is at %.9s now, not at %.9s", p.GetHead().GetSHA(), m.HeadCommit),
			Remedy:  "Look at what was added, then merge that",
		}
	case state(p) == ledger.RequestClosed:
		return &ledger.ForgeError{Failure: ledger.ForgeRefused, Text: "the pull request is closed", Remedy: "Reopen it: " + p.GetHTMLURL()}
	}
	return nil
}

// merge merges an open pull request and returns it as it is then: open, where a
// queue does it later.
func (f *Forge) merge(ctx context.Context, owner, name string, pull *gh.PullRequest, m ledger.MergeAsked) (*gh.PullRequest, error) {
	_, _, err := f.api.PullRequests.Merge(ctx, owner, name, m.Number, "", &gh.PullRequestOptions{
		CommitTitle: m.Subject, SHA: m.HeadCommit, MergeMethod: string(m.Method),
	})
	var later *gh.AcceptedError
	if err != nil && !errors.As(err, &later) {
		return nil, f.mergeFailure(err, pull)
	}
	return f.readable(f.api.PullRequests.Get(ctx, owner, name, m.Number))
}

// mergeFailure returns the error of a merge that GitHub refuses.
func (f *Forge) mergeFailure(err error, pull *gh.PullRequest) error {
	a, ok := answer(err)
	if !ok {
		return err
	}
	failed, said := f.line.Failure(a), strings.ToLower(a.Message)
	switch {
	case a.Status == http.StatusConflict:
		failed.Failure, failed.Remedy = ledger.ForgeMoved, "Look at what was added, then merge that"
	case a.Status != http.StatusMethodNotAllowed:
	case strings.Contains(said, "merge queue"):
		failed.Remedy = "Press Merge when ready on its page: " + pull.GetHTMLURL()
	case strings.Contains(said, "not allowed on this repository"):
		failed.Failure, failed.Remedy = ledger.ForgeRefused, "Choose a method that the repository permits"
	default:
		failed.Remedy = "Its page says what is missing: " + pull.GetHTMLURL()
	}
	return failed
}

// deleteBranch deletes the branch of a merged pull request. It stays where somebody
// has added commits, where another open pull request is based on it, and where it
// is another repository's.
func (f *Forge) deleteBranch(ctx context.Context, owner, name string, pull *gh.PullRequest, m ledger.MergeAsked) error {
	branch := pull.GetHead().GetRef()
	if !isOwn(pull) {
		return nil
	}
	now, err := f.base(ctx, owner, name, branch, "")
	if err != nil || now.tip != m.HeadCommit {
		return err
	}
	others, _, err := f.api.PullRequests.List(ctx, owner, name, &gh.PullRequestListOptions{State: "open", Base: branch})
	if err != nil || len(others) > 0 {
		return err
	}
	_, err = f.api.Git.DeleteRef(ctx, owner, name, "heads/"+branch)
	if code := status(err); code == http.StatusUnprocessableEntity || code == http.StatusNotFound {
		return nil // it is deleted already
	}
	return err
}
