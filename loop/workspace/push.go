package workspace

import (
	"context"
	"errors"
	"fmt"

	"github.com/nightporter/nightporter/loop/ledger"
)

// Push moves a branch of a remote forward to a commit of ours, from our repository:
// no hook and no setting of the user's repository takes part. It never moves a
// branch back and never away from commits of others; those are returned instead. A
// remote that has the commit already is left as it is. The error is a
// *ledger.ForgeError unless this machine failed.
func (w *Workspace) Push(ctx context.Context, r Remote, p ledger.Push) (ledger.Pushed, error) {
	return w.push(ctx, r, p)
}

// TryPush is Push without its effect, as far as a server says before that whether it
// takes a push.
func (w *Workspace) TryPush(ctx context.Context, r Remote, p ledger.Push) error {
	ctx, cancel := context.WithTimeoutCause(ctx, askTime, errRemoteSlow)
	defer cancel()
	_, err := w.push(ctx, r, p, "--dry-run")
	return err
}

func (w *Workspace) push(ctx context.Context, r Remote, p ledger.Push, options ...string) (ledger.Pushed, error) {
	if !fullHash.MatchString(p.Commit) {
		return ledger.Pushed{}, fmt.Errorf("push: %q is no commit", p.Commit)
	}
	if err := w.checkBranch(ctx, p.Branch); err != nil {
		return ledger.Pushed{}, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, pushTime, errRemoteSlow)
	defer cancel()
	args := append([]string{"push", "--porcelain", "--no-verify", "--no-signed"}, options...)
	_, _, err := w.remote(ctx, r, append(args, "--", r.URL, p.Commit+":refs/heads/"+p.Branch)...)
	moved, is := errors.AsType[*notForward](err)
	switch {
	case err == nil:
		return ledger.Pushed{Commit: p.Commit}, nil
	case !is:
		return ledger.Pushed{}, err
	}
	has, err := w.RemoteBranches(ctx, r, p.Branch)
	if err != nil {
		return ledger.Pushed{}, err
	}
	tip, there := has[p.Branch]
	if !there {
		return ledger.Pushed{}, moved.away(r)
	}
	there, err = w.onRemote(ctx, r, p, tip)
	if err != nil {
		return ledger.Pushed{}, err
	}
	if there {
		return ledger.Pushed{Commit: tip}, nil
	}
	return ledger.Pushed{Commit: tip, Theirs: tip}, nil
}

// onRemote reports whether the tip of a remote's branch has the commit that was to be
// pushed: a later push of ours was made first, or a person pushed it with commits of
// theirs. Commits that are not known here are fetched to find out, without a ref.
func (w *Workspace) onRemote(ctx context.Context, r Remote, p ledger.Push, tip string) (bool, error) {
	_, err := w.gitOurs(ctx, "cat-file", "-e", tip+"^{commit}")
	if exitCode(err) > 0 {
		err = w.fetchRemote(ctx, r, "refs/heads/"+p.Branch)
	}
	if err != nil {
		return false, err
	}
	return w.contains(ctx, tip, p.Commit)
}
