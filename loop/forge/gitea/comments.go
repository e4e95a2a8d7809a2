package gitea

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	sdk "code.gitea.io/sdk/gitea"

	"github.com/nightporter/nightporter/loop/forge"
	"github.com/nightporter/nightporter/loop/forge/transport"
	"github.com/nightporter/nightporter/loop/ledger"
)

// comments returns the newest comments and reviews of a pull request, oldest
// first, and how many are left out.
func (c *call) comments(number int) ([]ledger.RequestComment, int, error) {
	plain, more, err := c.plainComments(number)
	if err != nil {
		return nil, 0, err
	}
	reviews, err := c.reviews(number)
	if err != nil {
		return nil, 0, err
	}
	var all []ledger.RequestComment
	for _, one := range plain {
		all = append(all, plainComment(one))
	}
	for _, r := range reviews {
		if one, ok := review(r); ok {
			all = append(all, one)
		}
	}
	lines, err := c.lineComments(number, reviews)
	if err != nil {
		return nil, 0, err
	}
	all = append(all, lines...)
	slices.SortStableFunc(all, func(a, b ledger.RequestComment) int { return a.Time.Compare(b.Time) })
	if n := len(all) - forge.MaxComments; n > 0 {
		all, more = all[n:], more+n
	}
	return all, more, c.judge(all)
}

// plainComments returns the newest comments on the pull request and how many are
// left out.
func (c *call) plainComments(number int) ([]*sdk.Comment, int, error) {
	fetch := func(page int) ([]*sdk.Comment, *sdk.Response, error) {
		list, resp, err := c.ListIssueComments(c.owner, c.name, int64(number), sdk.ListIssueCommentOptions{ListOptions: sdk.ListOptions{Page: page, PageSize: perPage}})
		return transport.Present(list), resp, checked(resp, err)
	}
	first, resp, err := fetch(1)
	if err != nil {
		return nil, 0, err
	}
	// A server without pages returns all, and says so by the length.
	total, err := strconv.Atoi(resp.Header.Get("X-Total-Count"))
	if err != nil || len(first) >= total || len(first) == 0 {
		return first, 0, nil
	}
	per := len(first)
	last := (total + per - 1) / per
	var out []*sdk.Comment
	for ; last > 1 && len(out) < forge.MaxComments; last-- {
		list, _, err := fetch(last)
		if err != nil {
			return nil, 0, err
		}
		out = append(list, out...)
	}
	if last == 1 && len(out) < forge.MaxComments {
		return append(first, out...), 0, nil
	}
	return out, max(0, total-len(out)), nil
}

// reviews returns the reviews of a pull request.
func (c *call) reviews(number int) ([]*sdk.PullReview, error) {
	var out []*sdk.PullReview
	for page := 1; page != 0 && page <= maxPages; {
		list, resp, err := c.ListPullReviews(c.owner, c.name, int64(number), sdk.ListPullReviewsOptions{ListOptions: sdk.ListOptions{Page: page, PageSize: perPage}})
		if err := checked(resp, err); err != nil {
			return nil, err
		}
		out, page = append(out, transport.Present(list)...), resp.NextPage
	}
	return out, nil
}

// lineComments returns the comments on lines. Gitea's threads have no name: they
// are the comments on one line.
func (c *call) lineComments(number int, reviews []*sdk.PullReview) ([]ledger.RequestComment, error) {
	var out []ledger.RequestComment
	reviews = slices.DeleteFunc(slices.Clone(reviews), func(r *sdk.PullReview) bool { return r.CodeCommentsCount == 0 })
	if n := len(reviews) - forge.MaxComments; n > 0 {
		reviews = reviews[n:]
	}
	for _, r := range reviews {
		list, resp, err := c.ListPullReviewComments(c.owner, c.name, int64(number), r.ID)
		if err := checked(resp, err); err != nil {
			return nil, err
		}
		for _, one := range transport.Present(list) {
			out = append(out, lineComment(one))
		}
	}
	slices.SortStableFunc(out, func(a, b ledger.RequestComment) int { return a.Time.Compare(b.Time) })
	first := map[string]string{}
	for n, one := range out {
		at := fmt.Sprint(one.Path, ":", one.Line)
		if first[at] == "" {
			first[at] = one.ID
		} else {
			out[n].ReplyTo = first[at]
		}
	}
	return out, nil
}

// plainComment returns a comment on the pull request.
func plainComment(c *sdk.Comment) ledger.RequestComment {
	return comment("comment", c.ID, ledger.CommentPlain, c.Poster, c.Body, c.Created)
}

// review returns a review. ok is false for one that says nothing by itself: it was
// only asked for, is not submitted, or has words on lines alone. A dismissed
// approval counts no more; a request for changes is dismissed by every later review
// of its author, and was one all the same.
func review(r *sdk.PullReview) (c ledger.RequestComment, ok bool) {
	c = comment("review", r.ID, ledger.CommentPlain, r.Reviewer, r.Body, r.Submitted)
	switch r.State {
	case sdk.ReviewStateApproved:
		c.Kind, ok = ledger.CommentApprove, true
	case sdk.ReviewStateRequestChanges:
		c.Kind, ok = ledger.CommentChanges, true
	case sdk.ReviewStateComment:
		ok = c.Body != ""
	}
	if r.Dismissed && c.Kind == ledger.CommentApprove {
		c.Kind, ok = ledger.CommentPlain, c.Body != ""
	}
	return c, ok
}

// lineComment returns a comment on a line.
func lineComment(r *sdk.PullReviewComment) ledger.RequestComment {
	c := comment("line", r.ID, ledger.CommentLine, r.Reviewer, r.Body, r.Created)
	c.Path, c.Line = r.Path, int(max(r.LineNum, r.OldLineNum))
	return c
}

// comment returns a comment of any kind.
func comment(prefix string, id int64, kind ledger.CommentKind, user *sdk.User, body string, at time.Time) ledger.RequestComment {
	c := ledger.RequestComment{ID: fmt.Sprint(prefix, ":", id), Kind: kind, Body: forge.Unmark(body), Time: at.UTC()}
	if user != nil && !strings.EqualFold(user.UserName, ghost) {
		c.Author = user.UserName
	}
	return c
}

// ghost is the account that Gitea shows for one that is deleted.
const ghost = "Ghost"
