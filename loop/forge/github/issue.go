package github

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	gh "github.com/google/go-github/v92/github"

	"github.com/nightporter/nightporter/loop/forge"
	"github.com/nightporter/nightporter/loop/forge/transport"
	"github.com/nightporter/nightporter/loop/ledger"
)

// issueTag is what a list of issues leaves for the next one.
type issueTag struct {
	V     int       `json:"v"`
	Label string    `json:"label"`
	Since time.Time `json:"since"` // day of the query
	Etag  string    `json:"etag"`  // of the issue that changed last
}

// Issues implements forge.Tracker. Whether anything changed shows the issue of the
// repository that changed last, whatever its labels: a list of a label does not show
// that an issue left it.
func (f *Forge) Issues(ctx context.Context, q ledger.IssueQuery) (ledger.IssueList, error) {
	f.forgetPermissions()
	return try(f, ctx, func(owner, name string) (ledger.IssueList, error) {
		want := issueTag{V: tagVersion, Label: q.Label, Since: q.Since.UTC().Truncate(24 * time.Hour)}
		var was issueTag
		if json.Unmarshal([]byte(q.Tag), &was) != nil || was.V != want.V || was.Label != want.Label || !was.Since.Equal(want.Since) {
			was = issueTag{}
		}
		_, resp, err := f.api.Issues.ListByRepo(transport.IfNoneMatch(ctx, was.Etag), owner, name, &gh.IssueListByRepoOptions{
			State: "all", Sort: "updated", Direction: "desc", ListOptions: gh.ListOptions{PerPage: 1},
		})
		if same(err) {
			return ledger.IssueList{Tag: q.Tag, Unchanged: true}, nil
		}
		if err != nil {
			return ledger.IssueList{}, err
		}
		want.Etag = etag(resp)
		text, err := json.Marshal(want)
		if err != nil {
			return ledger.IssueList{}, err
		}
		out := ledger.IssueList{Tag: string(text)}
		for _, state := range []string{"open", "closed"} {
			o := &gh.IssueListByRepoOptions{State: state, Labels: []string{q.Label}, Sort: "created", Direction: "asc", ListOptions: gh.ListOptions{PerPage: perPage, Page: 1}}
			if state == "closed" {
				if o.Since = q.Since; q.Since.IsZero() {
					continue
				}
			}
			if out.Issues, err = f.listIssues(ctx, owner, name, o, out.Issues, q.Label); err != nil {
				return ledger.IssueList{}, err
			}
		}
		slices.SortFunc(out.Issues, func(a, b ledger.ForgeIssue) int { return a.Number - b.Number })
		// One that was closed or opened between the pages is on both lists.
		out.Issues = slices.CompactFunc(out.Issues, func(a, b ledger.ForgeIssue) bool { return a.Number == b.Number })
		return out, nil
	})
}

// listIssues appends the issues of a list that have the label.
func (f *Forge) listIssues(ctx context.Context, owner, name string, o *gh.IssueListByRepoOptions, out []ledger.ForgeIssue, label string) ([]ledger.ForgeIssue, error) {
	asked := -forge.MaxIssues // each author has to be known
	for {
		list, resp, err := f.api.Issues.ListByRepo(ctx, owner, name, o)
		if err != nil {
			return nil, err
		}
		for _, i := range transport.Present(list) {
			if i.GetNumber() == 0 {
				return nil, f.line.Unreadable()
			}
			one := issueOf(i)
			if i.IsPullRequest() || !slices.ContainsFunc(one.Labels, func(l string) bool { return strings.EqualFold(l, label) }) {
				continue
			}
			if one.Writer, err = f.mayWrite(ctx, owner, name, i.User, &asked); err != nil {
				return nil, err
			}
			if one.Mine, err = f.isAssigned(ctx, one); err != nil {
				return nil, err
			}
			if out = append(out, one); len(out) > forge.MaxIssues {
				return nil, &ledger.ForgeError{Failure: ledger.ForgeRefused, Text: fmt.Sprintf("more than %d issues have the label %s", forge.MaxIssues, label), Remedy: "Choose a label of the issues that are to be worked on"}
			}
		}
		if resp.NextPage == 0 {
			return out, nil
		}
		o.ListOptions.Page = resp.NextPage
	}
}

// issueOf returns an issue as the ledger has it, without the right of its author.
func issueOf(i *gh.Issue) ledger.ForgeIssue {
	out := ledger.ForgeIssue{
		Number: i.GetNumber(), URL: i.GetHTMLURL(), Title: i.GetTitle(), Body: i.GetBody(), Author: i.GetUser().GetLogin(), Closed: i.GetState() == "closed",
	}
	out.Created, out.Updated = i.GetCreatedAt().UTC(), i.GetUpdatedAt().UTC()
	if out.Closed {
		out.Ended = i.GetClosedAt().UTC()
	}
	for _, l := range transport.Present(i.Labels) {
		out.Labels = append(out.Labels, l.GetName())
	}
	for _, a := range transport.Present(i.Assignees) {
		out.Assignees = append(out.Assignees, a.GetLogin())
	}
	return out
}

// Issue implements forge.Tracker.
func (f *Forge) Issue(ctx context.Context, number int) (ledger.ForgeIssue, error) {
	return try(f, ctx, func(owner, name string) (ledger.ForgeIssue, error) {
		i, err := f.issue(ctx, owner, name, number)
		if err != nil {
			return ledger.ForgeIssue{}, err
		}
		out, asked := issueOf(i), 0
		if out.Writer, err = f.mayWrite(ctx, owner, name, i.User, &asked); err != nil {
			return out, err
		}
		out.Mine, err = f.isAssigned(ctx, out)
		return out, err
	})
}

// issue returns an issue that is no pull request.
func (f *Forge) issue(ctx context.Context, owner, name string, number int) (*gh.Issue, error) {
	i, _, err := f.api.Issues.Get(ctx, owner, name, number)
	switch {
	case err != nil:
		return nil, err
	case i.GetNumber() != number: // an issue of another repository, where it was moved to
		if i.GetNumber() == 0 {
			return nil, f.line.Unreadable()
		}
		return nil, &ledger.ForgeError{Failure: ledger.ForgeMissing, Text: fmt.Sprintf("issue %d was moved", number)}
	case i.IsPullRequest():
		return nil, &ledger.ForgeError{Failure: ledger.ForgeMissing, Text: fmt.Sprintf("%d is a pull request, not an issue", number)}
	}
	return i, nil
}

// ChangeIssue implements forge.Tracker.
func (f *Forge) ChangeIssue(ctx context.Context, c ledger.IssueChange) error {
	_, err := try(f, ctx, func(owner, name string) (struct{}, error) {
		return struct{}{}, f.changeIssue(ctx, owner, name, c)
	})
	return err
}

func (f *Forge) changeIssue(ctx context.Context, owner, name string, c ledger.IssueChange) error {
	i, err := f.issue(ctx, owner, name, c.Number)
	if err != nil {
		return err
	}
	now := issueOf(i)
	add := slices.Clone(c.Add)
	for _, l := range now.Labels {
		add = without(add, l)
	}
	if len(add) > 0 {
		if _, _, err := f.api.Issues.AddLabelsToIssue(ctx, owner, name, c.Number, add); err != nil {
			return err
		}
	}
	for _, l := range now.Labels {
		if !slices.ContainsFunc(c.Remove, func(r string) bool { return strings.EqualFold(r, l) }) {
			continue
		}
		// Somebody may have taken it away in between.
		if _, err := f.api.Issues.RemoveLabelForIssue(ctx, owner, name, c.Number, l); err != nil && status(err) != http.StatusNotFound {
			return err
		}
	}
	if err := f.assign(ctx, owner, name, now, c); err != nil {
		return err
	}
	if c.State == ledger.IssueKept || now.Closed == (c.State == ledger.IssueClosed) {
		return nil
	}
	state := string(c.State)
	_, _, err = f.api.Issues.Update(ctx, owner, name, c.Number, gh.UpdateIssueRequest{State: &state})
	return err
}

// isAssigned reports whether the token's account has an issue.
func (f *Forge) isAssigned(ctx context.Context, i ledger.ForgeIssue) (bool, error) {
	if len(i.Assignees) == 0 {
		return false, nil
	}
	self, err := f.self(ctx)
	return slices.ContainsFunc(i.Assignees, func(a string) bool { return strings.EqualFold(a, self) }), err
}

// assign changes who an issue is assigned to. GitHub leaves out accounts that cannot be
// assigned, without an error.
func (f *Forge) assign(ctx context.Context, owner, name string, now ledger.ForgeIssue, c ledger.IssueChange) error {
	if !(c.Assign && len(now.Assignees) == 0) && !(c.Unassign && len(now.Assignees) > 0) {
		return nil
	}
	self, err := f.self(ctx)
	if err != nil {
		return err
	}
	mine, err := f.isAssigned(ctx, now)
	switch {
	case c.Assign:
		_, _, err = f.api.Issues.AddAssignees(ctx, owner, name, c.Number, []string{self})
	case mine:
		_, _, err = f.api.Issues.RemoveAssignees(ctx, owner, name, c.Number, []string{self})
	}
	switch status(err) {
	case http.StatusNotFound, http.StatusUnprocessableEntity:
		return nil
	}
	return err
}

// CommentIssue implements forge.Tracker.
func (f *Forge) CommentIssue(ctx context.Context, c ledger.IssueComment) error {
	_, err := try(f, ctx, func(owner, name string) (struct{}, error) {
		self, err := f.self(ctx)
		if err != nil {
			return struct{}{}, err
		}
		_, err = f.comment(ctx, owner, name, ledger.RequestReply{Number: c.Number, Key: c.Key, Body: c.Body}, 0, self)
		return struct{}{}, err
	})
	return err
}

// CreateIssue implements forge.Tracker.
func (f *Forge) CreateIssue(ctx context.Context, d ledger.IssueDraft) (ledger.ForgeIssue, error) {
	return try(f, ctx, func(owner, name string) (ledger.ForgeIssue, error) {
		i, _, err := f.api.Issues.Create(ctx, owner, name, gh.CreateIssueRequest{Title: d.Title, Body: new(forge.Clip(d.Body, forge.MaxBody)), Labels: d.Labels})
		if err != nil || i.GetNumber() == 0 {
			return ledger.ForgeIssue{}, cmp.Or(err, error(f.line.Unreadable()))
		}
		out := issueOf(i)
		out.Writer = true
		return out, nil
	})
}
