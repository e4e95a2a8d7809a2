package copilot

import (
	"context"
	"errors"
	"fmt"

	gh "github.com/google/go-github/v92/github"

	"github.com/nightporter/nightporter/internal/crash"
	"github.com/nightporter/nightporter/loop/cloud"
	"github.com/nightporter/nightporter/loop/ledger"
)

// Fetch implements cloud.Agent.
func (a *Agent) Fetch(ctx context.Context, w cloud.Work) (cloud.Result, error) {
	view, err := a.forge.Look(ctx, w.Request, "")
	if err != nil {
		return cloud.Result{}, err
	}
	r := cloud.Result{Request: view.Request, Checks: view.Checks, ChangesRequested: changesRequested(view.Comments)}
	if r.Request.State != ledger.RequestOpen {
		return r, nil
	}
	err = a.forge.Call(ctx, func(api *gh.Client, owner, name string) error {
		pull, _, err := api.PullRequests.Get(ctx, owner, name, w.Request)
		if err != nil {
			return err
		}
		if r.Session, err = a.session(ctx, api, owner, name, pull); err != nil {
			return err
		}
		r.Approval, err = approval(ctx, api, owner, name, r.Request.HeadCommit)
		return err
	})
	return r, err
}

// changesRequested reports whether somebody who may write requests changes and has
// not approved since.
func changesRequested(all []ledger.RequestComment) bool {
	last := map[string]ledger.CommentKind{}
	for _, c := range all {
		if c.Writer && (c.Kind == ledger.CommentChanges || c.Kind == ledger.CommentApprove) {
			last[c.Author] = c.Kind
		}
	}
	for _, kind := range last {
		if kind == ledger.CommentChanges {
			return true
		}
	}
	return false
}

// approval returns the names of the workflows that do not run for a commit before
// a person permits it, as GitHub wants it for those of its agent. They have no
// checks.
func approval(ctx context.Context, api *gh.Client, owner, name, commit string) (names []string, err error) {
	runs, _, err := api.Actions.ListRepositoryWorkflowRuns(ctx, owner, name, &gh.ListWorkflowRunsOptions{
		HeadSHA: commit, Status: "action_required", ListOptions: gh.ListOptions{PerPage: perPage},
	})
	if err != nil {
		return nil, err
	}
	for _, r := range runs.WorkflowRuns {
		names = append(names, r.GetName())
	}
	return names, nil
}

// Finish implements cloud.Agent.
func (a *Agent) Finish(ctx context.Context, m cloud.Merge) (cloud.Result, error) {
	var pull *gh.PullRequest
	get := func(api *gh.Client, owner, name string) (err error) {
		pull, _, err = api.PullRequests.Get(ctx, owner, name, m.Request)
		return err
	}
	if err := a.forge.Call(ctx, get); err != nil {
		return cloud.Result{}, err
	}
	is := request(pull)
	switch {
	case is.State != ledger.RequestOpen:
		return cloud.Result{Request: *is}, nil
	case is.HeadCommit != m.Head:
		return cloud.Result{}, &ledger.ForgeError{Failure: ledger.ForgeMoved, Text: fmt.Sprintf("pull request #%d got commits while it was judged", m.Request)}
	case is.Draft:
		return a.ready(ctx, pull)
	case pull.GetMergeableState() == "behind":
		return a.update(ctx, *is)
	}
	return a.merge(ctx, *is, m)
}

// ready ends the draft. Title and description stay as they are.
func (a *Agent) ready(ctx context.Context, pull *gh.PullRequest) (cloud.Result, error) {
	r, err := a.forge.Request(ctx, ledger.RequestDraft{
		Number: pull.GetNumber(), Head: pull.GetHead().GetRef(), Base: pull.GetBase().GetRef(), Title: pull.GetTitle(), Body: pull.GetBody(),
	})
	return cloud.Result{Request: r}, err
}

// update merges the base into the head, which GitHub does in the background.
func (a *Agent) update(ctx context.Context, r ledger.Request) (cloud.Result, error) {
	err := a.forge.Call(ctx, func(api *gh.Client, owner, name string) error {
		_, _, err := api.PullRequests.UpdateBranch(ctx, owner, name, r.Number, &gh.PullRequestBranchUpdateOptions{ExpectedHeadSHA: &r.HeadCommit})
		var later *gh.AcceptedError
		if errors.As(err, &later) {
			return nil
		}
		return err
	})
	return cloud.Result{Request: r}, err
}

// merge merges the request by the first method that the repository permits.
func (a *Agent) merge(ctx context.Context, r ledger.Request, m cloud.Merge) (cloud.Result, error) {
	info, err := a.about(ctx)
	if err != nil {
		return cloud.Result{}, err
	}
	method := ledger.MergeCommit
	if len(info.Methods) > 0 {
		method = info.Methods[0]
	}
	merged, err := a.forge.Merge(ctx, ledger.MergeAsked{Number: r.Number, HeadCommit: m.Head, Method: method})
	crash.Point("cloud-merged")
	var failed *ledger.ForgeError
	if errors.As(err, &failed) {
		switch failed.Failure {
		case ledger.ForgeProtected, ledger.ForgeRefused, ledger.ForgeRights:
			return cloud.Result{Request: r, Refusal: failed.Text}, nil
		}
	}
	return cloud.Result{Request: merged, Queued: merged.State == ledger.RequestOpen}, err
}
