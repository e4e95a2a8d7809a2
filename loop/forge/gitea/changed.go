package gitea

import (
	"context"
	"maps"
	"slices"
	"time"

	sdk "code.gitea.io/sdk/gitea"

	"github.com/nightporter/nightporter/loop/forge/transport"
)

// Changed implements forge.Watcher, with one call for the pull requests that
// changed last, one for each request with pending checks, and one for the finished
// checks of one request, in turn: somebody may have started them anew.
func (f *Forge) Changed(ctx context.Context, looks map[int]string) ([]int, error) {
	if len(looks) == 0 {
		return nil, nil
	}
	return try(f, ctx, func(c *call) ([]int, error) { return c.changed(looks) })
}

func (c *call) changed(looks map[int]string) ([]int, error) {
	pulls, back, err := c.list()
	if err != nil {
		return nil, err
	}
	var out, still []int
	tags := map[int]tag{}
	for _, n := range slices.Sorted(maps.Keys(looks)) {
		t, ok := parseTag(looks[n], n)
		if !ok || t.again() || moved(pulls[n], back, t) {
			out = append(out, n)
			continue
		}
		tags[n], still = t, append(still, n)
	}
	turn := c.f.inTurn(still, tags)
	for _, n := range still {
		t := tags[n]
		if n != turn && !t.polls(c.f.line.Now()) {
			continue
		}
		checks, err := c.checks(t.Head)
		if err != nil {
			return nil, err
		}
		if hashChecks(checks) != t.Checks {
			out = append(out, n)
		}
	}
	slices.Sort(out)
	return out, nil
}

// list returns the pull requests that changed last, by number, and how far the
// list reaches back: zero = to the beginning.
func (c *call) list() (map[int]*sdk.PullRequest, time.Time, error) {
	list, resp, err := c.ListRepoPullRequests(c.owner, c.name, sdk.ListPullRequestsOptions{
		ListOptions: sdk.ListOptions{Page: 1, PageSize: perPage}, State: sdk.StateAll, Sort: "recentupdate",
	})
	if err := checked(resp, err); err != nil {
		return nil, time.Time{}, err
	}
	out := map[int]*sdk.PullRequest{}
	var back time.Time
	for _, p := range transport.Present(list) {
		out[int(p.Index)] = p
		if resp.NextPage != 0 {
			back = timeOf(p.Updated)
		}
	}
	return out, back, nil
}

// moved reports whether a pull request may have changed since its look. One that is
// not on the list has not, if the list reaches back to before the look; its base
// may have, so an open one is looked at.
func moved(p *sdk.PullRequest, back time.Time, t tag) bool {
	if p == nil {
		return t.Open || back.IsZero() || !back.Before(t.Seen)
	}
	if !timeOf(p.Updated).Equal(t.Updated) {
		return true
	}
	return t.Open && (p.Head == nil || p.Base == nil || p.Head.Sha != t.Head || p.Base.Sha != t.Tip)
}

// inTurn returns the open pull request whose finished checks are looked at now.
func (f *Forge) inTurn(still []int, tags map[int]tag) int {
	still = slices.DeleteFunc(slices.Clone(still), func(n int) bool { return !tags[n].Open || tags[n].polls(f.line.Now()) })
	if len(still) == 0 {
		return 0
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.turn++
	return still[f.turn%len(still)]
}
