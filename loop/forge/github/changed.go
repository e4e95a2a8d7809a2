package github

import (
	"context"
	"maps"
	"slices"
	"time"

	gh "github.com/google/go-github/v92/github"

	"github.com/nightporter/nightporter/loop/forge/transport"
)

// list is the page of the pull requests that changed last.
type list struct {
	etag  string
	pulls map[int]listed
	tips  map[string]string // of the branches that they come from
	whole bool              // it has all pull requests of the repository
	back  time.Time         // when the oldest change on it was
}

// listed is a pull request on the list.
type listed struct {
	updated time.Time
	head    string
}

// Changed implements forge.Watcher, with one call for the list, one for each base
// that no pull request of the list comes from, one for each request with pending
// checks, and one for the finished checks of one request, in turn: somebody may
// have started them anew.
func (f *Forge) Changed(ctx context.Context, looks map[int]string) ([]int, error) {
	f.forgetPermissions()
	return try(f, ctx, func(owner, name string) ([]int, error) { return f.changed(ctx, owner, name, looks) })
}

func (f *Forge) changed(ctx context.Context, owner, name string, looks map[int]string) ([]int, error) {
	if len(looks) == 0 {
		return nil, nil
	}
	l, err := f.newList(ctx, owner, name)
	if err != nil {
		return nil, err
	}
	f.mu.Lock()
	f.turn++
	turn := f.turn
	f.mu.Unlock()
	var out, still []int
	tags := map[int]tag{}
	for _, n := range slices.Sorted(maps.Keys(looks)) {
		t, ok := parseTag(looks[n], n)
		if !ok || t.again(f.line.Now()) || l.changed(t) {
			out = append(out, n)
			continue
		}
		tags[n], still = t, append(still, n)
	}
	for _, n := range still {
		moved, err := f.baseMoved(ctx, owner, name, l, tags[n])
		if err != nil {
			return nil, err
		}
		if !moved {
			moved, err = f.checksMoved(ctx, owner, name, tags[n], tags[n].polls(f.line.Now(), turn))
			if err != nil {
				return nil, err
			}
		}
		if moved {
			out = append(out, n)
		}
	}
	again, err := f.inTurn(ctx, owner, name, still, tags, turn)
	if err != nil {
		return nil, err
	}
	out = append(out, again...)
	slices.Sort(out)
	return slices.Compact(out), nil
}

// newList returns the list as it is now.
func (f *Forge) newList(ctx context.Context, owner, name string) (list, error) {
	f.mu.Lock()
	l := f.list
	f.tips = keepPolled(f.tips)
	f.mu.Unlock()
	pulls, resp, err := f.api.PullRequests.List(transport.IfNoneMatch(ctx, l.etag), owner, name, &gh.PullRequestListOptions{
		State: "all", Sort: "updated", Direction: "desc", ListOptions: gh.ListOptions{PerPage: perPage},
	})
	if same(err) {
		return l, nil
	}
	if err != nil {
		return list{}, err
	}
	l = list{etag: etag(resp), pulls: map[int]listed{}, tips: map[string]string{}, whole: resp.NextPage == 0}
	for _, p := range transport.Present(pulls) {
		l.back = p.GetUpdatedAt().Time
		l.pulls[p.GetNumber()] = listed{l.back, p.GetHead().GetSHA()}
		if ref := p.GetHead().GetRef(); isOwn(p) && p.GetState() == "open" && l.tips[ref] == "" {
			l.tips[ref] = p.GetHead().GetSHA()
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.list = l
	return l, nil
}

// changed reports whether a pull request may have changed since its look. One that
// is not on the list has not, if the list reaches back to before the look.
func (l list) changed(t tag) bool {
	if p, ok := l.pulls[t.Number]; ok {
		return !p.updated.Equal(t.Updated) || p.head != t.Head
	}
	return l.whole || !l.back.Before(t.Seen)
}

// baseMoved reports whether the base of an open pull request has another tip. A
// branch is asked for once in a call of Changed.
func (f *Forge) baseMoved(ctx context.Context, owner, name string, l list, t tag) (bool, error) {
	if !t.Open {
		return false, nil
	}
	if now, ok := l.tips[t.Base]; ok {
		return now != t.Tip, nil
	}
	f.mu.Lock()
	known := f.tips[t.Base]
	f.mu.Unlock()
	if !known.same {
		now, err := f.base(ctx, owner, name, t.Base, known.etag)
		if err != nil {
			return false, err
		}
		if !now.same {
			known = now
		}
		known.same = true
		f.mu.Lock()
		f.tips[t.Base] = known
		f.mu.Unlock()
	}
	return known.tip != t.Tip, nil
}

// keepPolled returns the tips of the branches that the last call of Changed needed,
// to be asked for anew.
func keepPolled(tips map[string]tip) map[string]tip {
	out := map[string]tip{}
	for branch, t := range tips {
		if t.same {
			t.same = false
			out[branch] = t
		}
	}
	return out
}

// checksMoved reports whether checks of a kind are others than at the look.
func (f *Forge) checksMoved(ctx context.Context, owner, name string, t tag, kind string) (bool, error) {
	switch kind {
	case pollRuns:
		l, err := f.runs(ctx, owner, name, t.Head, t.Runs)
		return err == nil && !l.same, err
	case pollStatuses:
		l, err := f.statuses(ctx, owner, name, t.Head, t.Statuses)
		return err == nil && !l.same, err
	}
	return false, nil
}

// inTurn looks whether the finished checks of one open pull request changed, and
// returns it then.
func (f *Forge) inTurn(ctx context.Context, owner, name string, still []int, tags map[int]tag, turn int) ([]int, error) {
	still = slices.DeleteFunc(slices.Clone(still), func(n int) bool { return !tags[n].Open || tags[n].polls(f.line.Now(), turn) != "" })
	if len(still) == 0 {
		return nil, nil
	}
	// Each pull request has a turn for each kind.
	n, kind := still[turn/len(kinds)%len(still)], kinds[turn%len(kinds)]
	moved, err := f.checksMoved(ctx, owner, name, tags[n], kind)
	if err != nil || !moved {
		return nil, err
	}
	return []int{n}, nil
}
