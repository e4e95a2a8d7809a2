package operator

import (
	"context"
	"fmt"

	"github.com/nightporter/nightporter/internal/api"
	"github.com/nightporter/nightporter/store"
)

// verify recomputes the hash chain of every stream and compares it with the
// ledger heads recorded in the task commits of each project's branches.
func (svc *Service) verify(ctx context.Context) (api.Reply, error) {
	var known []store.Anchor
	for _, name := range svc.Projects() {
		s, _ := svc.State(name)
		if s.Project.Run == nil {
			continue
		}
		w, err := svc.o.Projects.Workspace(ctx, s.Project.Run.Settings, nil)
		if err != nil {
			return api.Reply{}, err
		}
		branches, err := w.Branches(ctx)
		if err != nil { // a state folder that was rebuilt from exported entries has no repository
			svc.o.Log.Warn("branches to verify against", "project", name, "error", err)
		}
		for _, branch := range branches {
			heads, err := w.Heads(ctx, branch)
			if err != nil {
				svc.o.Log.Warn("heads of a branch", "branch", branch, "error", err)
				continue
			}
			for _, h := range heads {
				a, err := store.ParseAnchor(h)
				if err != nil {
					return api.Reply{Text: fmt.Sprintf("✗ a commit on %s has a footer that cannot be read: %v", branch, err)}, nil
				}
				a.Source = "a commit on " + branch
				known = append(known, a)
			}
		}
	}
	breaks, err := svc.o.Store.VerifyAgainst(ctx, known)
	if err != nil {
		return api.Reply{}, err
	}
	result := struct {
		OK      bool     `json:"ok"`
		Anchors int      `json:"anchors"`
		Breaks  []string `json:"breaks"`
	}{len(breaks) == 0, len(known), []string{}}
	text := fmt.Sprintf("✓ ledger whole, checked against %d commits", len(known))
	if len(breaks) > 0 {
		text = fmt.Sprintf("✗ ledger altered: %d places", len(breaks))
		for _, b := range breaks {
			result.Breaks = append(result.Breaks, b.String())
			text += "\n  " + b.String()
		}
	}
	r, err := reply(text, result)
	r.OK = result.OK
	return r, err
}
