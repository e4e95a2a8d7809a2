package workspace

import (
	"context"
	"fmt"

	"github.com/nightporter/nightporter/loop/ledger"
)

// startBranch fetches what the run starts from in place of the earlier run's branch:
// HEAD, or the branch that is set. It returns t with that as its head, and fills in
// base.
func (w *Workspace) startBranch(ctx context.Context, t userRepo, b ledger.Begin, base *ledger.Base) (userRepo, error) {
	ref, head := w.hiddenRef(b.Run, "head"), w.hiddenRef(b.Run, "head")
	if b.Base != "" { // the checkout is compared with its own HEAD
		head = w.hiddenRef(b.Run, "checkout")
	}
	if err := w.fetch(ctx, t, "HEAD", head, t.head); err != nil {
		return t, fmt.Errorf("begin: %w", err)
	}
	switch {
	case b.Base == "":
		return t, nil
	case b.BaseCommit != "":
		if err := w.setRef(ctx, ref, b.BaseCommit); err != nil {
			return t, fmt.Errorf("begin: %w", err)
		}
		t.head = b.BaseCommit
	default:
		tip, err := w.gitUser(ctx, t, "rev-parse", "--verify", "--quiet", "refs/heads/"+b.Base+"^{commit}")
		if exitCode(err) > 0 {
			return t, inputError(ledger.Diagnostic{
				Text:   fmt.Sprintf("base = %q: neither the remote nor %s has such a branch to start from", b.Base, w.o.Repo),
				Remedy: fmt.Sprintf("Name one that is there (git -C %s branch --all), or take base out to start from HEAD.", w.o.Repo),
			})
		}
		if err != nil {
			return t, fmt.Errorf("begin: %w", err)
		}
		if err := w.fetch(ctx, t, "refs/heads/"+b.Base, ref, tip); err != nil {
			return t, fmt.Errorf("begin: %w", err)
		}
		t.head = tip
	}
	t.headName = b.Base
	base.Head, base.HeadName, base.Set, base.Fetched = t.head, t.headName, true, b.BaseCommit != ""
	return t, nil
}

// baseNote names the commits of the user's HEAD that a run with a base of its own
// does not include. t is the repository as it is.
func (w *Workspace) baseNote(ctx context.Context, t userRepo, b ledger.Begin, base ledger.Base) []ledger.Diagnostic {
	if has, err := w.contains(ctx, base.Head, t.head); err != nil || has {
		return nil // the note is all that an error costs
	}
	return []ledger.Diagnostic{{
		Text:   fmt.Sprintf("work starts from %s, %.12s, as base says; the commits of HEAD (%s, %.12s) that it lacks are not included", b.Base, base.Head, t.headName, t.head),
		Remedy: "Should they be needed, merge them into " + b.Base + ", or take base out.",
	}}
}
