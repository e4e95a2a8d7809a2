package gitea

import (
	"context"
	"strings"

	sdk "code.gitea.io/sdk/gitea"

	"github.com/nightporter/nightporter/loop/forge"
	"github.com/nightporter/nightporter/loop/forge/transport"
	"github.com/nightporter/nightporter/loop/ledger"
)

// Reply implements forge.Forge. A thread is the comments on a line; a reply to
// anything else is a comment on the pull request.
func (f *Forge) Reply(ctx context.Context, r ledger.RequestReply) (ledger.RequestComment, error) {
	return try(f, ctx, func(c *call) (ledger.RequestComment, error) {
		// The lists below answer with a fault (500) for a request that is not there.
		if _, err := c.pull(r.Number); err != nil {
			return ledger.RequestComment{}, err
		}
		self, err := c.self()
		if err != nil {
			return ledger.RequestComment{}, err
		}
		out, err := c.reply(r, self)
		out.Author, out.Writer, out.Ours = self, true, true
		return out, err
	})
}

func (c *call) reply(r ledger.RequestReply, self string) (ledger.RequestComment, error) {
	if strings.HasPrefix(r.ReplyTo, "line:") {
		out, ok, err := c.answer(r, self)
		if ok || err != nil {
			return out, err
		}
	}
	list, _, err := c.plainComments(r.Number)
	if err != nil {
		return ledger.RequestComment{}, err
	}
	for _, one := range transport.Present(list) {
		if isOurs(one.Poster, self) && forge.HasMark(one.Body, r.Key) {
			return plainComment(one), nil
		}
	}
	made, resp, err := c.CreateIssueComment(c.owner, c.name, int64(r.Number), sdk.CreateIssueCommentOption{Body: forge.Mark(r.Body, r.Key)})
	if err := checked(resp, err); err != nil {
		return ledger.RequestComment{}, err
	}
	if made == nil {
		return ledger.RequestComment{}, c.f.line.Unreadable()
	}
	return plainComment(made), nil
}

// answer writes a comment on the line of another one, unless it is there. ok is
// false if the other one is not. Released versions of Gitea have no call for a
// reply: a review with a comment on the same line joins its thread.
func (c *call) answer(r ledger.RequestReply, self string) (_ ledger.RequestComment, ok bool, err error) {
	reviews, err := c.reviews(r.Number)
	if err != nil {
		return ledger.RequestComment{}, false, err
	}
	var to *sdk.PullReviewComment
	for _, review := range reviews {
		if review.CodeCommentsCount == 0 {
			continue
		}
		list, resp, err := c.ListPullReviewComments(c.owner, c.name, int64(r.Number), review.ID)
		if err := checked(resp, err); err != nil {
			return ledger.RequestComment{}, false, err
		}
		for _, one := range transport.Present(list) {
			if isOurs(one.Reviewer, self) && forge.HasMark(one.Body, r.Key) {
				return lineComment(one), true, nil
			}
			if lineComment(one).ID == r.ReplyTo {
				to = one
			}
		}
	}
	if to == nil {
		return ledger.RequestComment{}, false, nil
	}
	made, resp, err := c.CreatePullReview(c.owner, c.name, int64(r.Number), sdk.CreatePullReviewOptions{
		State: sdk.ReviewStateComment,
		Comments: []sdk.CreatePullReviewComment{{
			Path: to.Path, Body: forge.Mark(r.Body, r.Key), NewLineNum: int64(to.LineNum), OldLineNum: int64(to.OldLineNum),
		}},
	})
	if err := checked(resp, err); err != nil {
		return ledger.RequestComment{}, false, err
	}
	if made == nil {
		return ledger.RequestComment{}, false, c.f.line.Unreadable()
	}
	list, resp, err := c.ListPullReviewComments(c.owner, c.name, int64(r.Number), made.ID)
	if err := checked(resp, err); err != nil {
		return ledger.RequestComment{}, false, err
	}
	for _, one := range transport.Present(list) {
		if forge.HasMark(one.Body, r.Key) {
			return lineComment(one), true, nil
		}
	}
	return ledger.RequestComment{}, false, nil
}

// isOurs reports whether an account is that of the token.
func isOurs(u *sdk.User, self string) bool { return u != nil && strings.EqualFold(u.UserName, self) }
