package github

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	gh "github.com/google/go-github/v92/github"

	"github.com/nightporter/nightporter/loop/forge"
	"github.com/nightporter/nightporter/loop/forge/transport"
	"github.com/nightporter/nightporter/loop/ledger"
)

// said is a comment and who wrote it.
type said struct {
	ledger.RequestComment
	user *gh.User
}

// comments returns the newest comments and reviews of a pull request, oldest
// first, and how many are left out.
func (f *Forge) comments(ctx context.Context, owner, name string, number int) ([]ledger.RequestComment, int, error) {
	var all []said
	more := 0
	for _, fetch := range []func(page int) ([]said, *gh.Response, error){
		func(page int) ([]said, *gh.Response, error) {
			list, resp, err := f.api.Issues.ListComments(ctx, owner, name, number, &gh.IssueListCommentsOptions{ListOptions: gh.ListOptions{PerPage: perPage, Page: page}})
			return mapped(transport.Present(list), plainComment), resp, err
		},
		func(page int) ([]said, *gh.Response, error) {
			list, resp, err := f.api.PullRequests.ListReviews(ctx, owner, name, number, &gh.ListOptions{PerPage: perPage, Page: page})
			return mapped(transport.Present(list), review), resp, err
		},
		func(page int) ([]said, *gh.Response, error) {
			list, resp, err := f.api.PullRequests.ListComments(ctx, owner, name, number, &gh.PullRequestListCommentsOptions{ListOptions: gh.ListOptions{PerPage: perPage, Page: page}})
			return mapped(transport.Present(list), lineComment), resp, err
		},
	} {
		list, left, err := newest(fetch)
		if err != nil {
			return nil, 0, err
		}
		all, more = append(all, list...), more+left
	}
	// Of a review without words only its lines say something.
	all = slices.DeleteFunc(all, func(c said) bool { return c.ID == "" || c.Kind == ledger.CommentPlain && c.Body == "" })
	slices.SortStableFunc(all, func(a, b said) int { return a.Time.Compare(b.Time) })
	if n := len(all) - forge.MaxComments; n > 0 {
		all, more = all[n:], more+n
	}
	if err := f.judge(ctx, owner, name, all); err != nil {
		return nil, 0, err
	}
	return mapped(all, func(c said) ledger.RequestComment { return c.RequestComment }), more, nil
}

// newest reads a list, which GitHub has from the oldest to the newest, from its
// end. It returns at most MaxComments and how many are left out.
func newest[T any](fetch func(page int) ([]T, *gh.Response, error)) (out []T, left int, err error) {
	first, resp, err := fetch(1)
	if err != nil || resp.LastPage <= 1 {
		return first, 0, err
	}
	page := resp.LastPage
	for ; page > 1 && len(out) < forge.MaxComments; page-- {
		list, _, err := fetch(page)
		if err != nil {
			return nil, 0, err
		}
		out = append(list, out...)
	}
	if page == 1 && len(out) < forge.MaxComments {
		out, page = append(first, out...), 0
	}
	return out, page * perPage, nil
}

// plainComment returns a comment on the pull request.
func plainComment(c *gh.IssueComment) said {
	return said{ledger.RequestComment{
		ID: fmt.Sprint("comment:", c.GetID()), Kind: ledger.CommentPlain, Body: forge.Unmark(c.GetBody()), Time: timeOf(c.CreatedAt),
	}, c.User}
}

// review returns a review. One that is not submitted has no ID.
func review(r *gh.PullRequestReview) said {
	c := said{ledger.RequestComment{ID: fmt.Sprint("review:", r.GetID()), Kind: ledger.CommentPlain, Body: forge.Unmark(r.GetBody()), Time: timeOf(r.SubmittedAt)}, r.User}
	switch r.GetState() {
	case "APPROVED":
		c.Kind = ledger.CommentApprove
	case "CHANGES_REQUESTED":
		c.Kind = ledger.CommentChanges
	case "PENDING":
		c.ID = ""
	}
	return c
}

// lineComment returns a comment on a line.
func lineComment(c *gh.PullRequestComment) said {
	out := said{ledger.RequestComment{
		ID: fmt.Sprint("line:", c.GetID()), Kind: ledger.CommentLine, Body: forge.Unmark(c.GetBody()), Time: timeOf(c.CreatedAt),
		Path: c.GetPath(), Line: cmp.Or(c.GetLine(), c.GetOriginalLine()),
	}, c.User}
	if to := c.GetInReplyTo(); to != 0 {
		out.ReplyTo = fmt.Sprint("line:", to)
	}
	return out
}

// mapped returns the results of a function for all of a list.
func mapped[T, U any](list []T, to func(T) U) []U {
	var out []U
	for _, one := range list {
		out = append(out, to(one))
	}
	return out
}
