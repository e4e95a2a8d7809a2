package operator

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/workspace"
	"github.com/nightporter/nightporter/store"
)

// anchored is what the commits of a project say about its ledger.
type anchored struct {
	workspace *workspace.Workspace // nil for a project without a run
	heads     []commitHead         // newest first, each commit once
	foreign   []commitHead         // commits of other people whose head this ledger does not have
	unread    []string             // repositories that could not be read, for people
}

// commitHead is a head of the ledger that a commit names.
type commitHead struct {
	store.Anchor
	commit string
}

// anchors reads the heads that the commits of a project name, in both
// repositories. A repository that cannot be read is told, not an error.
func (svc *Service) anchors(ctx context.Context, project string) (anchored, error) {
	var out anchored
	s, ok := svc.State(project)
	if !ok || s.Project.Run == nil {
		return out, nil
	}
	w, err := svc.o.Projects.Workspace(ctx, s.Project.Run.Settings, nil)
	if err != nil {
		return out, err
	}
	out.workspace = w
	since, err := svc.began(ctx, project)
	if err != nil {
		return out, err
	}
	var found []workspace.HeadCommit
	for _, read := range []struct {
		name  string
		heads func(context.Context, time.Time) ([]workspace.HeadCommit, error)
	}{{"nightporter's repository", w.OwnHeads}, {s.Project.Run.Settings.Repo, w.UserHeads}} {
		heads, err := read.heads(ctx, since)
		if err != nil {
			if ctx.Err() != nil {
				return out, context.Cause(ctx)
			}
			svc.o.Log.Warn("heads in commits", "project", project, "error", err)
			out.unread = append(out.unread, unreadRepository(project, read.name, err))
		}
		found = append(found, heads...)
	}
	seen := map[string]bool{}
	for _, h := range found {
		if seen[h.Commit] {
			continue
		}
		seen[h.Commit] = true
		a, err := store.ParseAnchor(h.Head)
		if err != nil {
			return out, err // workspace returns heads of that form only
		}
		a.Source = fmt.Sprintf("commit %.12s", h.Commit)
		if !h.Own {
			hash, err := svc.o.Store.Hash(ctx, a.Stream, a.Seq)
			if err != nil {
				return out, err
			}
			if string(hash) != string(a.Hash) {
				out.foreign = append(out.foreign, commitHead{a, h.Commit})
				continue
			}
		}
		out.heads = append(out.heads, commitHead{a, h.Commit})
	}
	return out, nil
}

// unreadRepository describes for people why a repository was not looked at.
func unreadRepository(project, name string, err error) string {
	if errors.Is(err, fs.ErrNotExist) {
		return project + ": " + name + " does not exist"
	}
	return project + ": " + name + " cannot be read: " + err.Error()
}

// began returns the time of a project's first entry. An older commit names the
// head of an earlier ledger: its state folder was removed, and its commits were
// merged.
func (svc *Service) began(ctx context.Context, project string) (began time.Time, err error) {
	err = svc.o.Store.Records(ctx, ledger.ProjectStream(project), 0, func(r ledger.Record) error {
		began = r.Time.Truncate(time.Second) // as commits have it
		return errPastLimit
	})
	if errors.Is(err, errPastLimit) {
		err = nil
	}
	return began, err
}

// known returns the heads as anchors.
func (a anchored) known() []store.Anchor {
	out := make([]store.Anchor, len(a.heads))
	for n, h := range a.heads {
		out[n] = h.Anchor
	}
	return out
}
