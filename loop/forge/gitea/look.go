package gitea

import (
	"context"
	"net/http"
	"time"

	sdk "code.gitea.io/sdk/gitea"

	"github.com/nightporter/nightporter/loop/ledger"
)

// Look implements forge.Forge. Gitea has no conditional calls: it reads all, and
// says that nothing changed if that is as it was.
func (f *Forge) Look(ctx context.Context, number int, text string) (ledger.RequestView, error) {
	return try(f, ctx, func(c *call) (ledger.RequestView, error) {
		before, known := parseTag(text, number)
		v, t, err := c.look(number, before)
		if err != nil {
			return ledger.RequestView{}, err
		}
		if known && t.View == before.View {
			return ledger.RequestView{Tag: t.String(), Unchanged: true}, nil
		}
		v.Tag = t.String()
		return v, nil
	})
}

// look returns all that a pull request shows.
func (c *call) look(number int, before tag) (v ledger.RequestView, t tag, err error) {
	pull, resp, err := c.GetPullRequest(c.owner, c.name, int64(number))
	if pull, err = c.readable(pull, checked(resp, err)); err != nil {
		return v, t, err
	}
	base, err := c.base(pull.Base.Ref)
	if err != nil {
		return v, t, err
	}
	v.Request = request(pull, base)
	t = tag{
		V: tagVersion, Number: number, Open: v.Request.State == ledger.RequestOpen, Head: v.Request.HeadCommit, Tip: base.tip,
		Updated: timeOf(pull.Updated), Seen: c.date(resp), Since: c.f.line.Now(),
	}
	if before.Head == t.Head && before.Tip == t.Tip {
		t.Since = before.Since
	}
	all, err := c.checks(t.Head)
	if err != nil {
		return v, t, err
	}
	v.Checks = demand(all, base.required)
	t.Checks, t.Pending, t.Empty = hashChecks(all), pending(v.Checks), len(all) == 0
	if v.Comments, v.More, err = c.comments(number); err != nil {
		return v, t, err
	}
	if base.tip != "" { // without its base a request has no list of commits
		if v.Strangers, err = c.strangers(number); err != nil {
			return v, t, err
		}
		v.Writers = len(v.Strangers) == 0
	}
	if t.Open {
		if v.Request.Mergeable, err = c.mergeable(pull, base, v.Checks, c.f.line.Now().Sub(t.Since)); err != nil {
			return v, t, err
		}
		t.Unsure = v.Request.Mergeable == ledger.MergeableUnknown && base.tip != ""
	}
	t.View = hashView(v)
	return v, t, nil
}

// mergeable returns whether Gitea would merge a pull request. since is how long its
// head and base have been as they are.
func (c *call) mergeable(p *sdk.PullRequest, base branch, checks []ledger.ForgeCheck, since time.Duration) (ledger.Mergeable, error) {
	switch {
	case base.tip == "":
		return ledger.MergeableUnknown, nil
	case p.Draft:
		return ledger.MergeableBlocked, nil
	case !p.Mergeable && since < deciding:
		return ledger.MergeableUnknown, nil
	case !p.Mergeable:
		return ledger.MergeableConflict, nil
	}
	for _, check := range checks {
		if check.Required && check.State != ledger.CheckPassed && check.State != ledger.CheckNeutral {
			return ledger.MergeableBlocked, nil
		}
	}
	if base.approvals > 0 {
		reviews, err := c.reviews(int(p.Index))
		if err != nil {
			return ledger.MergeableUnknown, err
		}
		if approvals(reviews) < base.approvals {
			return ledger.MergeableBlocked, nil
		}
	}
	return ledger.MergeableClean, nil
}

// approvals counts the people whose last review that counts is an approval.
func approvals(reviews []*sdk.PullReview) int64 {
	last := map[string]bool{}
	for _, r := range reviews {
		if r.Reviewer == nil || !r.Official || r.Dismissed {
			continue
		}
		switch r.State {
		case sdk.ReviewStateApproved:
			last[r.Reviewer.UserName] = true
		case sdk.ReviewStateRequestChanges:
			last[r.Reviewer.UserName] = false
		}
	}
	n := int64(0)
	for _, yes := range last {
		if yes {
			n++
		}
	}
	return n
}

// branch is a branch and what its protection demands.
type branch struct {
	tip       string // "" = no such branch
	required  []string
	approvals int64
}

// base returns a branch.
func (c *call) base(name string) (branch, error) {
	b, resp, err := c.GetRepoBranch(c.owner, c.name, name)
	if err := checked(resp, err); status(err) == http.StatusNotFound {
		return branch{}, nil
	} else if err != nil {
		return branch{}, err
	}
	if b == nil || b.Commit == nil || b.Commit.ID == "" {
		return branch{}, c.f.line.Unreadable()
	}
	out := branch{tip: b.Commit.ID, approvals: b.RequiredApprovals}
	if b.EnableStatusCheck {
		out.required = b.StatusCheckContexts
	}
	return out, nil
}

// timeOf returns a time, zero for one that Gitea does not have.
func timeOf(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.UTC()
}
