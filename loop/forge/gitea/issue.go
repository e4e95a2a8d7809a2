package gitea

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	sdk "code.gitea.io/sdk/gitea"

	"github.com/nightporter/nightporter/loop/forge"
	"github.com/nightporter/nightporter/loop/forge/transport"
	"github.com/nightporter/nightporter/loop/ledger"
)

// Issues implements forge.Tracker. Gitea has no conditional calls: it reads all, and
// the tag is a hash of that.
func (f *Forge) Issues(ctx context.Context, q ledger.IssueQuery) (ledger.IssueList, error) {
	return try(f, ctx, func(c *call) (ledger.IssueList, error) {
		var out ledger.IssueList
		for _, state := range []sdk.StateType{sdk.StateOpen, sdk.StateClosed} {
			var since time.Time
			if state == sdk.StateClosed {
				if since = q.Since; since.IsZero() {
					continue
				}
			}
			if err := c.listIssues(&out, state, since, q.Label); err != nil {
				return ledger.IssueList{}, err
			}
		}
		slices.SortFunc(out.Issues, func(a, b ledger.ForgeIssue) int { return a.Number - b.Number })
		// One that was closed or opened between the pages is on both lists.
		out.Issues = slices.CompactFunc(out.Issues, func(a, b ledger.ForgeIssue) bool { return a.Number == b.Number })
		out.Tag = hash(out.Issues)
		if out.Tag == q.Tag {
			return ledger.IssueList{Tag: q.Tag, Unchanged: true}, nil
		}
		return out, nil
	})
}

// listIssues appends the issues of a state that have the label. Gitea answers with all
// issues where it does not know the label.
func (c *call) listIssues(out *ledger.IssueList, state sdk.StateType, since time.Time, label string) error {
	asked := -forge.MaxIssues // each author has to be known
	for page := 1; page != 0; {
		list, resp, err := c.ListRepoIssues(c.owner, c.name, sdk.ListIssueOption{
			ListOptions: sdk.ListOptions{Page: page, PageSize: perPage}, State: state, Type: sdk.IssueTypeIssue, Labels: []string{label}, Since: since,
		})
		if err := checked(resp, err); err != nil {
			return err
		}
		for _, i := range transport.Present(list) {
			if i.Index == 0 {
				return c.f.line.Unreadable()
			}
			one := issueOf(i)
			if i.PullRequest != nil || !slices.ContainsFunc(one.Labels, func(l string) bool { return strings.EqualFold(l, label) }) {
				continue
			}
			if one.Writer, err = c.mayWrite(one.Author, &asked); err != nil {
				return err
			}
			if one.Mine, err = c.isAssigned(one); err != nil {
				return err
			}
			if out.Issues = append(out.Issues, one); len(out.Issues) > forge.MaxIssues {
				return &ledger.ForgeError{Failure: ledger.ForgeRefused, Text: fmt.Sprintf("more than %d issues have the label %s", forge.MaxIssues, label), Remedy: "Choose a label of the issues that are to be worked on"}
			}
		}
		page = resp.NextPage
	}
	return nil
}

// issueOf returns an issue as the ledger has it, without the right of its author. Who
// wrote an issue that was brought from another server has no account here.
func issueOf(i *sdk.Issue) ledger.ForgeIssue {
	out := ledger.ForgeIssue{Number: int(i.Index), URL: i.HTMLURL, Title: i.Title, Body: i.Body, Closed: i.State == sdk.StateClosed}
	if i.Poster != nil && i.OriginalAuthor == "" && !strings.EqualFold(i.Poster.UserName, ghost) {
		out.Author = i.Poster.UserName
	}
	out.Created, out.Updated = i.Created.UTC(), i.Updated.UTC()
	if out.Closed && i.Closed != nil {
		out.Ended = i.Closed.UTC()
	}
	for _, l := range transport.Present(i.Labels) {
		out.Labels = append(out.Labels, l.Name)
	}
	for _, a := range transport.Present(i.Assignees) {
		out.Assignees = append(out.Assignees, a.UserName)
	}
	return out
}

// Issue implements forge.Tracker.
func (f *Forge) Issue(ctx context.Context, number int) (ledger.ForgeIssue, error) {
	return try(f, ctx, func(c *call) (ledger.ForgeIssue, error) {
		i, err := c.issue(number)
		if err != nil {
			return ledger.ForgeIssue{}, err
		}
		out, asked := issueOf(i), 0
		if out.Writer, err = c.mayWrite(out.Author, &asked); err != nil {
			return out, err
		}
		out.Mine, err = c.isAssigned(out)
		return out, err
	})
}

// issue returns an issue that is no pull request.
func (c *call) issue(number int) (*sdk.Issue, error) {
	i, resp, err := c.GetIssue(c.owner, c.name, int64(number))
	switch err := checked(resp, err); {
	case err != nil:
		return nil, err
	case i == nil || int(i.Index) != number:
		return nil, c.f.line.Unreadable()
	case i.PullRequest != nil:
		return nil, &ledger.ForgeError{Failure: ledger.ForgeMissing, Text: fmt.Sprintf("%d is a pull request, not an issue", number)}
	}
	return i, nil
}

// ChangeIssue implements forge.Tracker.
func (f *Forge) ChangeIssue(ctx context.Context, ch ledger.IssueChange) error {
	_, err := try(f, ctx, func(c *call) (struct{}, error) { return struct{}{}, c.changeIssue(ch) })
	return err
}

func (c *call) changeIssue(ch ledger.IssueChange) error {
	i, err := c.issue(ch.Number)
	if err != nil {
		return err
	}
	missed, err := c.addLabelsTo(i.Index, i.Labels, ch.Add)
	if err != nil {
		return err
	}
	if len(missed) > 0 {
		return c.notTaken(missed)
	}
	for _, l := range transport.Present(i.Labels) {
		if !slices.ContainsFunc(ch.Remove, func(r string) bool { return strings.EqualFold(r, l.Name) }) {
			continue
		}
		// Somebody may have taken it away in between.
		resp, err := c.DeleteIssueLabel(c.owner, c.name, i.Index, l.ID)
		if err := checked(resp, err); err != nil && status(err) != http.StatusNotFound {
			return err
		}
	}
	if err := c.assign(i, ch); err != nil {
		return err
	}
	if ch.State == ledger.IssueKept || (i.State == sdk.StateClosed) == (ch.State == ledger.IssueClosed) {
		return nil
	}
	// The SDK's call would send a title, too.
	return c.send(http.MethodPatch, map[string]string{"state": string(ch.State)}, "issues", fmt.Sprint(ch.Number))
}

// isAssigned reports whether the token's account has an issue.
func (c *call) isAssigned(i ledger.ForgeIssue) (bool, error) {
	if len(i.Assignees) == 0 {
		return false, nil
	}
	self, err := c.self()
	return slices.ContainsFunc(i.Assignees, func(a string) bool { return strings.EqualFold(a, self) }), err
}

// assign changes who an issue is assigned to. Gitea takes the whole list.
func (c *call) assign(i *sdk.Issue, ch ledger.IssueChange) error {
	now := issueOf(i).Assignees
	if !(ch.Assign && len(now) == 0) && !(ch.Unassign && len(now) > 0) {
		return nil
	}
	self, err := c.self()
	if err != nil {
		return err
	}
	want := []string{self}
	if ch.Unassign {
		want = without(now, self)
	}
	if len(want) == len(now) {
		return nil
	}
	err = c.send(http.MethodPatch, map[string][]string{"assignees": want}, "issues", fmt.Sprint(i.Index))
	switch status(err) {
	case http.StatusNotFound, http.StatusUnprocessableEntity:
		return nil
	}
	return err
}

// notTaken is the error of labels that were refused.
func (*call) notTaken(labels []string) error {
	return &ledger.ForgeError{Failure: ledger.ForgeRights, Text: "Gitea did not take the " + strings.Join(labels, ", "), Remedy: "Give the token write access to issues"}
}

// CommentIssue implements forge.Tracker.
func (f *Forge) CommentIssue(ctx context.Context, m ledger.IssueComment) error {
	_, err := try(f, ctx, func(c *call) (struct{}, error) {
		self, err := c.self()
		if err != nil {
			return struct{}{}, err
		}
		if _, err := c.issue(m.Number); err != nil { // the list of comments answers with a fault (500) for one that is not there
			return struct{}{}, err
		}
		_, err = c.reply(ledger.RequestReply{Number: m.Number, Key: m.Key, Body: m.Body}, self)
		return struct{}{}, err
	})
	return err
}

// CreateIssue implements forge.Tracker.
func (f *Forge) CreateIssue(ctx context.Context, d ledger.IssueDraft) (ledger.ForgeIssue, error) {
	return try(f, ctx, func(c *call) (ledger.ForgeIssue, error) {
		ids, missed, err := c.labelIDs(d.Labels)
		if err != nil {
			return ledger.ForgeIssue{}, err
		}
		if len(missed) > 0 {
			return ledger.ForgeIssue{}, c.notTaken(missed)
		}
		i, resp, err := c.Client.CreateIssue(c.owner, c.name, sdk.CreateIssueOption{Title: d.Title, Body: forge.Clip(d.Body, forge.MaxBody), Labels: ids})
		if err = checked(resp, err); err != nil || i == nil || i.Index == 0 {
			return ledger.ForgeIssue{}, cmp.Or(err, error(c.f.line.Unreadable()))
		}
		out := issueOf(i)
		out.Writer = true
		return out, nil
	})
}
