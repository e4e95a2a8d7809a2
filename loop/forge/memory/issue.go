package memory

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
)

// firstIssue is the number of the first issue: issues and requests have numbers of
// one row on forges, and requests begin at 1 here.
const firstIssue = 1001

// issue is an issue with all that it shows.
type issue struct {
	ledger.ForgeIssue
	comments []string
	keys     map[string]bool
}

// Issues implements forge.Tracker. A query with Since has all closed issues, and one
// without none.
func (f *Forge) Issues(ctx context.Context, q ledger.IssueQuery) (ledger.IssueList, error) {
	return call(f, ctx, Call{Method: "Issues"}, func() (ledger.IssueList, error) {
		var out ledger.IssueList
		for _, i := range f.issues {
			if hasLabel(i.Labels, q.Label) && (!i.Closed || !q.Since.IsZero()) {
				out.Issues = append(out.Issues, f.shownIssue(i))
			}
		}
		if out.Tag = hash(out.Issues); out.Tag == q.Tag {
			return ledger.IssueList{Tag: q.Tag, Unchanged: true}, nil
		}
		return out, nil
	})
}

// Issue implements forge.Tracker.
func (f *Forge) Issue(ctx context.Context, number int) (ledger.ForgeIssue, error) {
	return call(f, ctx, Call{"Issue", number}, func() (ledger.ForgeIssue, error) {
		i, err := f.issue(number)
		if err != nil {
			return ledger.ForgeIssue{}, err
		}
		return f.shownIssue(i), nil
	})
}

// ChangeIssue implements forge.Tracker.
func (f *Forge) ChangeIssue(ctx context.Context, c ledger.IssueChange) error {
	_, err := call(f, ctx, Call{"ChangeIssue", c.Number}, func() (struct{}, error) {
		i, err := f.issue(c.Number)
		if err == nil {
			err = f.writable()
		}
		if err != nil {
			return struct{}{}, err
		}
		before := f.shownIssue(i)
		for _, l := range c.Add {
			if !hasLabel(i.Labels, l) {
				i.Labels = append(slices.Clone(i.Labels), l)
			}
		}
		i.Labels = slices.DeleteFunc(slices.Clone(i.Labels), func(l string) bool { return hasLabel(c.Remove, l) })
		if c.State != ledger.IssueKept {
			i.Closed = c.State == ledger.IssueClosed
		}
		switch {
		case c.Assign && len(i.Assignees) == 0:
			i.Assignees = []string{f.Repo.Login}
		case c.Unassign:
			i.Assignees = slices.DeleteFunc(slices.Clone(i.Assignees), func(a string) bool { return a == f.Repo.Login })
		}
		f.changedIssue(i, before)
		return struct{}{}, nil
	})
	return err
}

// CommentIssue implements forge.Tracker.
func (f *Forge) CommentIssue(ctx context.Context, c ledger.IssueComment) error {
	_, err := call(f, ctx, Call{"CommentIssue", c.Number}, func() (struct{}, error) {
		i, err := f.issue(c.Number)
		if err == nil {
			err = f.writable()
		}
		if err != nil || i.keys[c.Key] {
			return struct{}{}, err
		}
		i.keys[c.Key], i.comments = true, append(i.comments, c.Body)
		i.Updated = f.second()
		return struct{}{}, nil
	})
	return err
}

// CreateIssue implements forge.Tracker.
func (f *Forge) CreateIssue(ctx context.Context, d ledger.IssueDraft) (ledger.ForgeIssue, error) {
	return call(f, ctx, Call{Method: "CreateIssue"}, func() (ledger.ForgeIssue, error) {
		if err := f.writable(); err != nil {
			return ledger.ForgeIssue{}, err
		}
		return f.shownIssue(f.openIssue(f.Repo.Login, d)), nil
	})
}

// issue returns an issue.
func (f *Forge) issue(number int) (*issue, error) {
	n := number - firstIssue
	if n < 0 || n >= len(f.issues) {
		return nil, fail(ledger.ForgeMissing, "there is no issue %d", number)
	}
	return f.issues[n], nil
}

// shownIssue returns an issue as it is now.
func (f *Forge) shownIssue(i *issue) ledger.ForgeIssue {
	out := i.ForgeIssue
	out.Labels, out.Assignees, out.Writer = slices.Clone(out.Labels), slices.Clone(out.Assignees), f.mayWrite(out.Author)
	out.Mine = slices.Contains(out.Assignees, f.Repo.Login) && f.Repo.Login != ""
	return out
}

// changedIssue notes the times of a change.
func (f *Forge) changedIssue(i *issue, before ledger.ForgeIssue) {
	if i.Updated.Equal(before.Updated) && !reflect.DeepEqual(f.shownIssue(i), before) {
		i.Updated = f.second()
	}
	switch {
	case i.Closed && !before.Closed:
		i.Ended = i.Updated
	case !i.Closed:
		i.Ended = time.Time{}
	}
}

// second returns the time in full seconds, as issues have it.
func (f *Forge) second() time.Time { return f.now().UTC().Truncate(time.Second) }

func (f *Forge) openIssue(login string, d ledger.IssueDraft) *issue {
	i := &issue{ForgeIssue: ledger.ForgeIssue{Number: firstIssue + len(f.issues), Title: d.Title, Body: d.Body, Labels: slices.Clone(d.Labels), Author: login, Created: f.second(), Updated: f.second()}, keys: map[string]bool{}}
	f.issues = append(f.issues, i)
	return i
}

func hasLabel(labels []string, name string) bool {
	return slices.ContainsFunc(labels, func(l string) bool { return strings.EqualFold(l, name) })
}

// OpenIssue opens an issue of an account and returns its number.
func (f *Forge) OpenIssue(login, title, body string, labels ...string) (number int) {
	f.do(func() {
		number = f.openIssue(login, ledger.IssueDraft{Title: title, Body: body, Labels: labels}).Number
	})
	return number
}

// SetIssue changes an issue as a person would.
func (f *Forge) SetIssue(number int, change func(*ledger.ForgeIssue)) {
	f.do(func() {
		i, err := f.issue(number)
		if err != nil {
			panic(errors.Join(errors.New("memory: a test names an issue that is not there"), err))
		}
		before := f.shownIssue(i)
		change(&i.ForgeIssue)
		f.changedIssue(i, before)
	})
}

// ShownIssue returns an issue and its comments as people see them.
func (f *Forge) ShownIssue(number int) (i ledger.ForgeIssue, comments []string) {
	f.do(func() {
		one, err := f.issue(number)
		if err != nil {
			panic(errors.Join(errors.New("memory: a test names an issue that is not there"), err))
		}
		i, comments = f.shownIssue(one), slices.Clone(one.comments)
	})
	return i, comments
}
