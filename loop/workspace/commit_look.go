package workspace

import (
	"context"
	"fmt"
	"strconv"
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
