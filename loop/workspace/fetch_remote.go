package workspace

import (
	"context"
	"fmt"
	"strconv"
)

// FetchBranches fetches branches of a remote into our repository, for a run, and
// returns their commits. A branch that the remote lacks is left out. The user's
// repository gets nothing, not even a remote-tracking branch. The error is a
// *ledger.ForgeError unless this machine failed.
func (w *Workspace) FetchBranches(ctx context.Context, r Remote, run string, branches ...string) (map[string]string, error) {
	if !runName.MatchString(run) {
		return nil, fmt.Errorf("fetch: %q is no name of a run", run)
	}
	has, err := w.RemoteBranches(ctx, r, branches...)
	if err != nil || len(has) == 0 {
		return has, err
	}
	if err := w.makeRepository(ctx); err != nil {
		return nil, err
	}
	var specs []string
	refs := map[string]string{}
	for n, branch := range branches {
		if has[branch] != "" && refs[branch] == "" {
			refs[branch] = w.hiddenRef(run, "remote/"+strconv.Itoa(n))
			specs = append(specs, "+refs/heads/"+branch+":"+refs[branch])
		}
	}
	ctx, cancel := context.WithTimeoutCause(ctx, pushTime, errRemoteSlow)
	defer cancel()
	if err := w.fetchRemote(ctx, r, specs...); err != nil {
		return nil, err
	}
	for branch, ref := range refs { // it may have moved since it was asked for
		if has[branch], err = w.gitOurs(ctx, "rev-parse", "--verify", "--quiet", ref+"^{commit}"); err != nil {
			return nil, fmt.Errorf("fetch %s: %w", branch, err)
		}
	}
	return has, nil
}

// fetchRemote fetches what refspecs name of a remote, and nothing else.
func (w *Workspace) fetchRemote(ctx context.Context, r Remote, specs ...string) error {
	args := []string{"fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-auto-maintenance", "--no-recurse-submodules", "--", r.URL}
	_, _, err := w.remote(ctx, r, append(args, specs...)...)
	return err
}

// makeRepository makes our repository, if there is none yet.
func (w *Workspace) makeRepository(ctx context.Context) error {
	defer w.lock()()
	t, err := w.inspect(ctx)
	if err != nil {
		return err
	}
	return w.ensure(ctx, t.format)
}
