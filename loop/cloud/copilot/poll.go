package copilot

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"

	gh "github.com/google/go-github/v92/github"

	"github.com/nightporter/nightporter/internal/regexp"
	"github.com/nightporter/nightporter/loop/cloud"
	"github.com/nightporter/nightporter/loop/ledger"
)

// maxEvents limits the events of an issue or a pull request that are read. There
// are more where somebody comments without end.
const maxEvents = 3000

// Poll implements cloud.Agent.
func (a *Agent) Poll(ctx context.Context, w cloud.Work) (cloud.Progress, error) {
	var p cloud.Progress
	err := a.forge.Call(ctx, func(api *gh.Client, owner, name string) error {
		p = cloud.Progress{}
		issue, _, err := api.Issues.Get(ctx, owner, name, w.Issue)
		if gone(err) {
			p.Issue = cloud.ClosedRefused // it was deleted
			return nil
		}
		if err != nil {
			return err
		}
		p.Issue, p.Assigned = closing(issue), a.assigned(issue)
		pull, err := a.linked(ctx, api, owner, name, w.Issue)
		if pull == nil || err != nil {
			return err
		}
		p.Request = request(pull)
		p.Session, err = a.session(ctx, api, owner, name, pull)
		return err
	})
	return p, err
}

func gone(err error) bool {
	var e *gh.ErrorResponse
	return errors.As(err, &e) && e.Response != nil && e.Response.StatusCode == http.StatusGone
}

func closing(i *gh.Issue) cloud.Closing {
	switch {
	case i.GetState() != "closed":
		return cloud.StillOpen
	case i.GetStateReason() == "not_planned" || i.GetStateReason() == "duplicate":
		return cloud.ClosedRefused
	}
	return cloud.ClosedDone
}

// linked returns the pull request that the agent opened for an issue, nil = none.
// It is one that refers to the issue and closes it, else one that refers to it and
// closes none; of several the newest.
func (a *Agent) linked(ctx context.Context, api *gh.Client, owner, name string, issue int) (*gh.PullRequest, error) {
	events, err := timeline(ctx, api, owner, name, issue)
	if err != nil {
		return nil, err
	}
	var numbers []int
	strong, address := map[int]bool{}, map[int]string{}
	for _, e := range events {
		from := e.GetSource().GetIssue()
		if e.GetEvent() != "cross-referenced" || !from.IsPullRequest() || !a.kind.is(from.GetUser()) {
			continue
		}
		closes := closed(from.GetBody())
		if len(closes) > 0 && !slices.Contains(closes, issue) {
			continue // it is about another one
		}
		numbers = append(numbers, from.GetNumber())
		strong[from.GetNumber()], address[from.GetNumber()] = len(closes) > 0, from.GetHTMLURL()
	}
	slices.SortFunc(numbers, func(x, y int) int {
		if strong[x] != strong[y] {
			return map[bool]int{true: -1, false: 1}[strong[x]]
		}
		return cmp.Compare(y, x)
	})
	for _, n := range slices.Compact(numbers) {
		pull, _, err := api.PullRequests.Get(ctx, owner, name, n)
		var missing *gh.ErrorResponse
		if errors.As(err, &missing) && missing.Response.StatusCode == http.StatusNotFound {
			continue
		}
		if err != nil {
			return nil, err
		}
		// The reference may come from another repository. The name of this one is no
		// help, because it may have had another name when it was configured.
		if pull.GetHTMLURL() != address[n] {
			continue
		}
		if a.kind.is(pull.GetUser()) && pull.GetHead().GetRepo().GetFullName() == pull.GetBase().GetRepo().GetFullName() {
			return pull, nil
		}
	}
	return nil, nil
}

// closes matches the words by which a pull request closes an issue of its
// repository.
var closes = regexp.MustCompile(`(?i)\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?):?\s+(?:[\w.-]+/[\w.-]+)?#(\d+)\b`)

// closed returns the numbers of the issues that a description closes.
func closed(body string) (numbers []int) {
	for _, m := range closes.FindAllStringSubmatch(body, -1) {
		if n, err := strconv.Atoi(m[1]); err == nil {
			numbers = append(numbers, n)
		}
	}
	return numbers
}

// timeline returns the events of an issue or a pull request.
func timeline(ctx context.Context, api *gh.Client, owner, name string, number int) (events []*gh.Timeline, err error) {
	o := &gh.ListOptions{PerPage: perPage, Page: 1}
	for {
		page, resp, err := api.Issues.ListIssueTimeline(ctx, owner, name, number, o)
		if err != nil {
			return nil, err
		}
		events = append(events, page...)
		if resp.NextPage == 0 {
			return events, nil
		}
		if len(events) >= maxEvents { // the end tells most
			if resp.LastPage <= o.Page {
				return events, nil
			}
			events, o.Page = events[:0], max(resp.NextPage, resp.LastPage-maxEvents/perPage+1)
			continue
		}
		o.Page = resp.NextPage
	}
}

// session returns what a pull request's timeline says of the agent's latest
// session. An agent without such events works as long as its title says so.
func (a *Agent) session(ctx context.Context, api *gh.Client, owner, name string, pull *gh.PullRequest) (cloud.Session, error) {
	events, err := timeline(ctx, api, owner, name, pull.GetNumber())
	if err != nil {
		return cloud.Session{}, err
	}
	s, known := cloud.Session{}, false
	for _, e := range events {
		switch e.GetEvent() {
		case "copilot_work_started":
			s, known = cloud.Session{Working: true}, true
		case "copilot_work_finished":
			s, known = cloud.Session{Ended: e.GetCreatedAt().Time}, true
		case "copilot_work_finished_failure":
			s, known = cloud.Session{Ended: e.GetCreatedAt().Time, Failed: true}, true
		}
	}
	if !known {
		s.Working = strings.HasPrefix(strings.ToLower(strings.TrimSpace(pull.GetTitle())), "[wip]")
	}
	return s, nil
}

// request returns a pull request without what Fetch adds.
func request(p *gh.PullRequest) *ledger.Request {
	r := &ledger.Request{
		Number: p.GetNumber(), URL: p.GetHTMLURL(), State: ledger.RequestOpen,
		Head: p.GetHead().GetRef(), HeadCommit: p.GetHead().GetSHA(), Base: p.GetBase().GetRef(), Draft: p.GetDraft(),
	}
	switch {
	case p.GetMerged() || p.MergedAt != nil:
		r.State = ledger.RequestMerged
	case p.GetState() == "closed":
		r.State = ledger.RequestClosed
	}
	return r
}
