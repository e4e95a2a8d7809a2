package workspace

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// CommitTime returns when a commit of our repository was made, as its committer says.
func (w *Workspace) CommitTime(ctx context.Context, commit string) (time.Time, error) {
	if !fullHash.MatchString(commit) {
		return time.Time{}, fmt.Errorf("%q is no commit", commit)
	}
	out, err := w.gitOurs(ctx, "show", "--no-patch", "--format=%ct", "--end-of-options", commit)
	if err != nil {
		return time.Time{}, fmt.Errorf("read the time of a commit: %w", err)
	}
	seconds, err := strconv.ParseInt(out, 10, 64)
	if err != nil {
		return time.Time{}, fmt.Errorf("read the time of a commit: %w", err)
	}
	return time.Unix(seconds, 0).UTC(), nil
}

// mostMainline limits the commits of a base among which a branch without commits of its
// own is looked for.
const mostMainline = 10000

// Merged reports whether base has the work of a branch, whose tip is commit: by a merge,
// a squash or a rebase. A branch without work of its own is not merged. Nor is one that
// base was moved forward to, which cannot be told from one that begins there.
func (w *Workspace) Merged(ctx context.Context, base, commit string) (bool, error) {
	for _, c := range []string{base, commit} {
		if !fullHash.MatchString(c) {
			return false, fmt.Errorf("%q is no commit", c)
		}
	}
	if in, err := w.isAncestor(ctx, commit, base); err != nil {
		return false, err
	} else if in {
		line, err := w.gitOurs(ctx, "rev-list", "--first-parent", "--max-count="+strconv.Itoa(mostMainline), base)
		if err != nil {
			return false, fmt.Errorf("read the commits of %.12s: %w", base, err)
		}
		return !slices.Contains(strings.Fields(line), commit), nil
	}
	from, err := w.gitOurs(ctx, "merge-base", base, commit)
	if exitCode(err) == 1 {
		return false, nil // they have nothing in common
	}
	if err != nil {
		return false, fmt.Errorf("compare %.12s and %.12s: %w", base, commit, err)
	}
	trees := map[string]string{}
	for _, c := range []string{from, base, commit} {
		if trees[c], err = w.tree(ctx, c); err != nil {
			return false, err
		}
	}
	if trees[from] == trees[commit] {
		return false, nil
	}
	merged, err := w.mergeCommits(ctx, base, commit)
	if err != nil {
		return false, fmt.Errorf("compare %.12s and %.12s: %w", base, commit, err)
	}
	return len(merged.conflicts) == 0 && merged.tree == trees[base], nil
}
