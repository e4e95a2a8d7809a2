package engine

import (
	"context"

	"github.com/nightporter/nightporter/loop"
	"github.com/nightporter/nightporter/loop/ledger"
)

// lift carries out an EffectLift: it fetches the branch that the request will ask to be
// merged into, and lays the commit on its tip. No base is no error: the run's own commit
// is pushed then.
func lift(ctx context.Context, ports Ports, b ledger.EffectLift) (loop.InputBody, error) {
	result := loop.LiftFinished{Run: b.Run, N: b.N}
	if b.Lift.Onto == "" {
		tip, why, err := liftBase(ctx, ports, b.Lift)
		if err != nil {
			return nil, err
		}
		if result.Lifted.Why = why; why != "" {
			return result, nil
		}
		b.Lift.Onto = tip
	}
	lifted, err := ports.Repository.Lift(ctx, b.Lift)
	result.Lifted = lifted
	return result, err
}

// liftBase fetches the base of a lifted commit, and returns its tip, or why there is
// none.
func liftBase(ctx context.Context, ports Ports, l ledger.LiftCommit) (tip, why string, err error) {
	remote, forge, err := ports.publisher(ctx)
	if err != nil {
		return "", "", err
	}
	var info ledger.ForgeInfo
	if forge != nil {
		if info, err = forge.Info(ctx); err != nil {
			return "", "", err
		}
	}
	base, err := requestBase(ctx, remote, info, l.Base, l.Head)
	if err != nil {
		return "", "", err
	}
	if base == "" {
		return "", "it is not known what the remote merges into: base is not set", nil
	}
	has, err := remote.Fetch(ctx, l.Run, base)
	if err != nil {
		return "", "", err
	}
	if has[base] == "" {
		return "", "the remote has no branch " + base, nil
	}
	return has[base], "", nil
}
