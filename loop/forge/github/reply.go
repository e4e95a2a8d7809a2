package github

import (
	"cmp"
	"context"
	"strconv"
	"strings"

	gh "github.com/google/go-github/v92/github"

	"github.com/nightporter/nightporter/loop/forge"
	"github.com/nightporter/nightporter/loop/forge/transport"
	"github.com/nightporter/nightporter/loop/ledger"
)

// Reply implements forge.Forge. A thread is one of a line's; a reply to anything
// else is a comment on the pull request.
func (f *Forge) Reply(ctx context.Context, r ledger.RequestReply) (ledger.RequestComment, error) {
	return try(f, ctx, func(owner, name string) (ledger.RequestComment, error) {
		self, err := f.self(ctx)
		if err != nil {
			return ledger.RequestComment{}, err
		}
		write := f.comment
		thread, ok := threadOf(r.ReplyTo)
		if ok {
			write = f.answer
		}
		c, err := write(ctx, owner, name, r, thread, self)
		if err != nil && ok && isAbsent(err) {
			// The comment on the line was deleted.
			c, err = f.comment(ctx, owner, name, r, 0, self)
		}
		c.Author, c.Writer, c.Ours = self, true, true
		return c.RequestComment, err
	})
}

// threadOf returns the comment on a line that an ID names.
func threadOf(id string) (int64, bool) {
	text, ok := strings.CutPrefix(id, "line:")
	n, err := strconv.ParseInt(text, 10, 64)
	return n, ok && err == nil
}

// comment writes a comment on the pull request, unless it is there.
func (f *Forge) comment(ctx context.Context, owner, name string, r ledger.RequestReply, _ int64, self string) (said, error) {
	list, _, err := newest(func(page int) ([]*gh.IssueComment, *gh.Response, error) {
		return f.api.Issues.ListComments(ctx, owner, name, r.Number, &gh.IssueListCommentsOptions{ListOptions: gh.ListOptions{PerPage: perPage, Page: page}})
	})
	if err != nil {
		return said{}, err
	}
	for _, c := range transport.Present(list) {
		if strings.EqualFold(c.GetUser().GetLogin(), self) && forge.HasMark(c.GetBody(), r.Key) {
			return plainComment(c), nil
		}
	}
	c, _, err := f.api.Issues.CreateComment(ctx, owner, name, r.Number, gh.IssueCommentRequest{Body: forge.Mark(r.Body, r.Key)})
	if err != nil || c == nil {
		return said{}, cmp.Or(err, error(f.line.Unreadable()))
	}
	return plainComment(c), nil
}

// answer writes a comment in the thread of a line, unless it is there.
func (f *Forge) answer(ctx context.Context, owner, name string, r ledger.RequestReply, thread int64, self string) (said, error) {
	list, _, err := newest(func(page int) ([]*gh.PullRequestComment, *gh.Response, error) {
		return f.api.PullRequests.ListComments(ctx, owner, name, r.Number, &gh.PullRequestListCommentsOptions{ListOptions: gh.ListOptions{PerPage: perPage, Page: page}})
	})
	if err != nil {
		return said{}, err
	}
	for _, c := range transport.Present(list) {
		if strings.EqualFold(c.GetUser().GetLogin(), self) && forge.HasMark(c.GetBody(), r.Key) {
			return lineComment(c), nil
		}
		if c.GetID() == thread && c.GetInReplyTo() != 0 {
			thread = c.GetInReplyTo() // GitHub takes only the first of a thread
		}
	}
	c, _, err := f.api.PullRequests.CreateCommentInReplyTo(ctx, owner, name, r.Number, forge.Mark(r.Body, r.Key), thread)
	if err != nil || c == nil {
		return said{}, cmp.Or(err, error(f.line.Unreadable()))
	}
	return lineComment(c), nil
}
