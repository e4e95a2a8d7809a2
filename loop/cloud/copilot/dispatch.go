package copilot

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	gh "github.com/google/go-github/v92/github"

	"github.com/nightporter/nightporter/internal/crash"
	"github.com/nightporter/nightporter/loop/cloud"
	"github.com/nightporter/nightporter/loop/forge"
	"github.com/nightporter/nightporter/loop/ledger"
)

const (
	perPage = 100
	// maxPages limits the search for an issue, newest first: a job that is looked
	// for was dispatched by the step before, or the one before that.
	maxPages = 10
)

// assignment is the part of a call that assigns an issue to an agent.
type assignment struct {
	Assignees []string      `json:"assignees"`
	Agent     *instructions `json:"agent_assignment,omitempty"`
}

type instructions struct {
	Repository string `json:"target_repo"`
	Base       string `json:"base_branch"`
}

// Dispatch implements cloud.Agent.
func (a *Agent) Dispatch(ctx context.Context, j cloud.Job) (cloud.Dispatched, error) {
	info, err := a.about(ctx)
	if err != nil {
		return cloud.Dispatched{}, err
	}
	if info.Archived {
		return cloud.Dispatched{}, &ledger.ForgeError{Failure: ledger.ForgeArchived, Text: "the repository is archived: it is read-only", Remedy: "Unarchive it, or take the task elsewhere"}
	}
	if j.Request != 0 {
		return a.sendBack(ctx, j)
	}
	var issue *gh.Issue
	err = a.forge.Call(ctx, func(api *gh.Client, owner, name string) error {
		var err error
		if issue, err = a.find(ctx, api, owner, name, info.Login, j.Key); err != nil {
			return err
		}
		if issue == nil {
			issue, err = a.open(ctx, api, owner, name, j)
			crash.Point("cloud-issue-opened")
			return err
		}
		if issue.GetState() == "open" && !a.assigned(issue) {
			return a.assign(ctx, api, owner, name, issue.GetNumber())
		}
		return nil
	})
	if err != nil {
		return cloud.Dispatched{}, a.refusal(err)
	}
	return cloud.Dispatched{Issue: issue.GetNumber(), Prompt: j.Prompt(), At: issue.GetCreatedAt().Time}, nil
}

// find returns the issue of a key, nil = none. The list is complete, which the
// search of GitHub is not for some minutes. An issue that another account wrote is
// none, whatever it contains.
func (a *Agent) find(ctx context.Context, api *gh.Client, owner, name, login, key string) (*gh.Issue, error) {
	o := &gh.IssueListByRepoOptions{State: "all", Creator: login, Sort: "created", Direction: "desc", ListOptions: gh.ListOptions{PerPage: perPage, Page: 1}}
	for range maxPages {
		issues, resp, err := api.Issues.ListByRepo(ctx, owner, name, o)
		if err != nil {
			return nil, err
		}
		for _, i := range issues {
			if !i.IsPullRequest() && strings.EqualFold(i.GetUser().GetLogin(), login) && forge.HasMark(i.GetBody(), key) {
				return i, nil
			}
		}
		if resp.NextPage == 0 {
			break
		}
		o.ListOptions.Page = resp.NextPage
	}
	return nil, nil
}

// open creates the issue of a job, assigned to the agent in the same call.
func (a *Agent) open(ctx context.Context, api *gh.Client, owner, name string, j cloud.Job) (*gh.Issue, error) {
	body := struct {
		Title string `json:"title"`
		Body  string `json:"body"`
		assignment
	}{j.Title(), forge.Mark(j.Prompt(), j.Key), a.assignment(owner, name)}
	issue := new(gh.Issue)
	return issue, post(ctx, api, fmt.Sprintf("repos/%s/%s/issues", owner, name), body, issue)
}

// assign assigns an issue to the agent. Others stay assigned.
func (a *Agent) assign(ctx context.Context, api *gh.Client, owner, name string, number int) error {
	return post(ctx, api, fmt.Sprintf("repos/%s/%s/issues/%d/assignees", owner, name, number), a.assignment(owner, name), nil)
}

func (a *Agent) assignment(owner, name string) assignment {
	out := assignment{Assignees: []string{a.kind.Assignee}}
	if a.base != "" {
		out.Agent = &instructions{Repository: owner + "/" + name, Base: a.base}
	}
	return out
}

// post makes a call that go-github has no method for with these fields.
func post(ctx context.Context, api *gh.Client, path string, body, out any) error {
	req, err := api.NewRequest(ctx, http.MethodPost, path, body)
	if err != nil {
		return err
	}
	_, err = api.Do(req, out)
	return err
}

// refusal adds to an error what to do about it.
func (a *Agent) refusal(err error) error {
	var failed *ledger.ForgeError
	if !errors.As(err, &failed) || failed.Passes() || failed.Failure == ledger.ForgeLogin || failed.Failure == ledger.ForgeArchived {
		return err
	}
	with := *failed
	with.Remedy = fmt.Sprintf("Enable the coding agent for the repository and for the token's account, which must be a person's. The token writes issues, pull requests, contents and actions; assigning %s needs all of them", a.kind.Assignee)
	return &with
}

// assigned reports whether an issue is assigned to the agent.
func (a *Agent) assigned(i *gh.Issue) bool {
	return slices.ContainsFunc(i.Assignees, a.kind.is)
}

// sendBack writes a comment that makes the agent work on its request again.
func (a *Agent) sendBack(ctx context.Context, j cloud.Job) (cloud.Dispatched, error) {
	text := a.kind.Mention + " " + j.Prompt()
	c, err := a.forge.Reply(ctx, ledger.RequestReply{Number: j.Request, Key: j.Key, Body: text})
	if err != nil {
		return cloud.Dispatched{}, err
	}
	crash.Point("cloud-sent-back")
	return cloud.Dispatched{Prompt: text, At: c.Time}, nil
}
