package gitea

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	sdk "code.gitea.io/sdk/gitea"

	"github.com/nightporter/nightporter/loop/ledger"
)

// Merge implements forge.Forge.
func (f *Forge) Merge(ctx context.Context, m ledger.MergeAsked) (ledger.Request, error) {
	return try(f, ctx, func(c *call) (ledger.Request, error) {
		pull, err := c.pull(m.Number)
		if err != nil {
			return ledger.Request{}, err
		}
		if err := refusalOf(pull, m); err != nil {
			return request(pull, branch{}), err
		}
		if state(pull) == ledger.RequestOpen {
			if err := c.merge(pull, m); err != nil {
				return ledger.Request{}, err
			}
			if pull, err = c.pull(m.Number); err != nil {
				return ledger.Request{}, err
			}
		}
		if m.DeleteBranch && state(pull) == ledger.RequestMerged {
			if err := c.deleteBranch(pull, m); err != nil {
				return request(pull, branch{}), err
			}
		}
		base, err := c.base(pull.Base.Ref)
		return request(pull, base), err
	})
}

// refusalOf returns why a pull request is not merged as it is.
func refusalOf(p *sdk.PullRequest, m ledger.MergeAsked) error {
	switch {
	case p.Head.Sha != m.HeadCommit:
		return &ledger.ForgeError{
			Failure: ledger.ForgeMoved,
			Text:    fmt.Sprintf("the pull request is at %.9s now, not at %.9s", p.Head.Sha, m.HeadCommit),
			Remedy:  "Look at what was added, then merge that",
		}
	case state(p) == ledger.RequestClosed:
		return &ledger.ForgeError{Failure: ledger.ForgeRefused, Text: "the pull request is closed", Remedy: "Reopen it: " + p.HTMLURL}
	}
	return nil
}

// soon is how long Gitea may look whether a request can be merged.
const soon = 5 * time.Second

// merge merges an open pull request.
func (c *call) merge(pull *sdk.PullRequest, m ledger.MergeAsked) error {
	err := c.send(http.MethodPost, sdk.MergePullRequestOption{Style: styles[m.Method], Title: m.Subject, HeadCommitId: m.HeadCommit},
		"pulls", strconv.Itoa(m.Number), "merge")
	var answer *refusal
	if !errors.As(err, &answer) {
		return err
	}
	failed, said := c.f.line.Failure(answer.Answer), strings.ToLower(answer.Message)
	switch {
	case answer.Status == http.StatusMethodNotAllowed && strings.Contains(said, "try again later"):
		failed.Failure, failed.RetryAt = ledger.ForgeAway, c.f.line.Now().Add(soon)
	case answer.Status == http.StatusMethodNotAllowed && strings.Contains(said, "merge style"):
		failed.Failure, failed.Remedy = ledger.ForgeRefused, "Choose a method that the repository permits"
	case answer.Status == http.StatusMethodNotAllowed:
		failed.Remedy = "Its page says what is missing: " + pull.HTMLURL
	case answer.Status == http.StatusConflict && strings.Contains(said, "out of date"):
		failed.Failure, failed.Remedy = ledger.ForgeMoved, "Look at what was added, then merge that"
	case answer.Status == http.StatusConflict:
		failed.Remedy = "Its page says what is wrong: " + pull.HTMLURL
	}
	return failed
}

// deleteBranch deletes the branch of a merged pull request. It stays where somebody
// has added commits, where another open pull request is based on it, and where it
// is another repository's.
func (c *call) deleteBranch(pull *sdk.PullRequest, m ledger.MergeAsked) error {
	if !isOwn(pull) {
		return nil
	}
	now, err := c.base(pull.Head.Ref)
	if err != nil || now.tip != m.HeadCommit {
		return err
	}
	for page := 1; page != 0 && page <= maxPages; {
		list, resp, err := c.ListRepoPullRequests(c.owner, c.name, sdk.ListPullRequestsOptions{ListOptions: sdk.ListOptions{Page: page, PageSize: perPage}, State: sdk.StateOpen})
		if err := checked(resp, err); err != nil {
			return err
		}
		for _, p := range list {
			if isWhole(p) && p.Base.Ref == pull.Head.Ref {
				return nil
			}
		}
		page = resp.NextPage
	}
	_, resp, err := c.DeleteRepoBranch(c.owner, c.name, pull.Head.Ref)
	if err := checked(resp, err); err != nil && status(err) != http.StatusNotFound {
		return err
	}
	return nil
}
