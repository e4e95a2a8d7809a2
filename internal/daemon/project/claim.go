package project

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/nightporter/nightporter/internal/sleep"
	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/workspace"
)

// claims are the repositories that this process has claimed, by the path in the
// configuration. Two paths can have one claim.
type claims struct {
	mu     sync.Mutex
	byRepo map[string]*workspace.Claim
}

// claimTime is how long Claim waits for a holder that may be ending: a killed
// process leaves its locks to a child between fork and exec.
const claimTime = time.Second

// Claim claims a repository until Release, unless this process has it already.
// The error is a *ledger.InputError if another nightporter works on it. One that
// cannot be read is claimed by nobody.
func (c *Catalog) Claim(ctx context.Context, repo string) error {
	var held *workspace.HeldError
	for end := time.Now().Add(claimTime); ; {
		if c.claims.covers(ctx, repo) {
			return nil
		}
		claim, err := workspace.TakeClaim(ctx, repo)
		switch {
		case err == nil:
			c.claims.add(repo, claim)
			return nil
		case !errors.As(err, &held):
			return nil //nolint:nilerr // what is wrong with the repository is told by those who open it
		case time.Now().After(end), sleep.For(ctx, claimTime/10) != nil:
			return &ledger.InputError{Diagnostics: []ledger.Diagnostic{{
				Text: held.Error(), Remedy: "End the other one, take the repository out of its configuration, or give this one a clone.",
			}}}
		}
	}
}

// covers reports whether a claim of this process is one of the repository, and
// notes that. It runs git, which may hang with the repository's file system, so
// mu is not held meanwhile.
func (x *claims) covers(ctx context.Context, repo string) bool {
	x.mu.Lock()
	known, others := x.byRepo[repo] != nil, slices.Collect(maps.Values(x.byRepo))
	x.mu.Unlock()
	if known {
		return true
	}
	for _, other := range others {
		if other.Covers(ctx, repo) {
			x.add(repo, other)
			return true
		}
	}
	return false
}

func (x *claims) add(repo string, claim *workspace.Claim) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.byRepo == nil {
		x.byRepo = map[string]*workspace.Claim{}
	}
	x.byRepo[repo] = claim
}

// Release gives all claims back. Call it when no effect is carried out any more.
func (c *Catalog) Release() { c.keepClaims(nil) }

// keepClaims gives back all claims but those of the given repositories.
func (c *Catalog) keepClaims(repos []string) {
	c.claims.mu.Lock()
	defer c.claims.mu.Unlock()
	kept := map[*workspace.Claim]bool{}
	for repo, claim := range c.claims.byRepo {
		if slices.Contains(repos, repo) {
			kept[claim] = true
		}
	}
	for repo, claim := range c.claims.byRepo {
		if slices.Contains(repos, repo) {
			continue
		}
		delete(c.claims.byRepo, repo)
		if !kept[claim] {
			claim.Release()
			kept[claim] = true // released once
		}
	}
}
