package project

import (
	"context"
	"errors"
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
	c.claims.mu.Lock()
	defer c.claims.mu.Unlock()
	x := &c.claims
	if x.byRepo[repo] != nil {
		return nil
	}
	for _, other := range x.byRepo {
		if other.Covers(ctx, repo) {
			x.byRepo[repo] = other
			return nil
		}
	}
	claim, err := workspace.TakeClaim(ctx, repo)
	var held *workspace.HeldError
	for end := time.Now().Add(claimTime); errors.As(err, &held) && time.Now().Before(end); {
		if sleep.For(ctx, claimTime/10) != nil {
			break
		}
		claim, err = workspace.TakeClaim(ctx, repo)
	}
	switch {
	case errors.As(err, &held):
		return &ledger.InputError{Diagnostics: []ledger.Diagnostic{{
			Text: held.Error(), Remedy: "End the other one, take the repository out of its configuration, or give this one a clone.",
		}}}
	case err != nil:
		return nil //nolint:nilerr // what is wrong with the repository is told by those who open it
	}
	if x.byRepo == nil {
		x.byRepo = map[string]*workspace.Claim{}
	}
	x.byRepo[repo] = claim
	return nil
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
