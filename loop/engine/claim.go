package engine

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// mostClaiming limits the branches of a remote that are fetched for their age.
const mostClaiming = 20

// Dater is Files that know when a commit was made, and whether another one has its work.
type Dater interface {
	CommitTime(ctx context.Context, commit string) (time.Time, error)
	Merged(ctx context.Context, base, commit string) (bool, error)
}

// branchClaims returns the reports that somebody works on on a branch of the remote. One
// without a commit for long is a stale claim; one that was merged is none. A run that pushes nothing asks no remote,
// and a remote that is away shows nothing: claims are a courtesy, and no reason to wait.
func branchClaims(ctx context.Context, ports Ports, s loop.State, stale time.Duration, now time.Time) (claims []ledger.Claimed) {
	dates, ok := ports.Files.(Dater)
	if !ok || ports.Publisher == nil || s.Project.Run.Settings.Push == ledger.PushNever {
		return nil
	}
	remote, _, err := ports.Publisher.Open(ctx)
	if err != nil {
		return nil
	}
	all, err := remote.Branches(ctx, "*")
	if err != nil {
		return nil
	}
	by := s.ClaimingBranches(slices.Collect(maps.Keys(all)))
	var names []string
	for _, id := range slices.Sorted(maps.Keys(by)) {
		names = append(names, by[id]...)
	}
	slices.Sort(names)
	if names = slices.Compact(names); len(names) == 0 {
		return nil
	}
	has, err := remote.Fetch(ctx, s.Project.Run.ID, names[:min(len(names), mostClaiming)]...)
	if err != nil {
		return nil
	}
	run := s.Project.Run
	base, _, err := liftBase(ctx, ports, ledger.LiftCommit{Run: run.ID, Base: run.Settings.Base, Head: run.Base.HeadName})
	if err != nil || base == "" {
		base = run.Base.Head
	}
	for _, id := range slices.Sorted(maps.Keys(by)) {
		newest := ledger.Claimed{Task: id, How: ledger.ClaimBranch}
		for _, branch := range by[id] {
			if merged, err := dates.Merged(ctx, base, has[branch]); err == nil && merged {
				continue
			}
			at, err := dates.CommitTime(ctx, has[branch])
			if has[branch] != "" && err == nil && at.After(newest.Last) {
				newest.By, newest.Last = "branch "+branch, at
			}
		}
		if newest.By != "" {
			newest.Stale = now.Sub(newest.Last) > stale
			claims = append(claims, newest)
		}
	}
	return claims
}

// withBranches adds the claims of branches to those that the source shows, which say more.
func withBranches(claims, branches []ledger.Claimed) []ledger.Claimed {
	for _, b := range branches {
		if !slices.ContainsFunc(claims, func(c ledger.Claimed) bool { return ledger.SameID(c.Task, b.Task) && !c.Stale }) {
			claims = append(slices.DeleteFunc(claims, func(c ledger.Claimed) bool { return ledger.SameID(c.Task, b.Task) && !b.Stale }), b)
		}
	}
	return claims
}
