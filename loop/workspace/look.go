package workspace

import (
	"context"

	"github.com/nightporter/nightporter/loop/ledger"
)

// Look inspects the user's repository as Begin does, and writes nothing, not
// even into our repository. It fills Head, HeadName, Author, Committer and Notes
// of the Base. Everything that would prevent a start is returned in one
// *ledger.InputError.
func (w *Workspace) Look(ctx context.Context) (ledger.Base, error) {
	t, err := w.inspect(ctx)
	if err != nil {
		return ledger.Base{}, err
	}
	base := ledger.Base{Head: t.head, HeadName: t.headName}
	author, _, note, err := w.identity(ctx, t)
	if err != nil {
		return ledger.Base{}, err
	}
	base.Author = author
	if w.o.Sign {
		if base.Committer, err = w.trySigning(ctx, t); err != nil {
			return ledger.Base{}, err
		}
	}
	if note != nil {
		base.Notes = append(base.Notes, *note)
	}
	w.addNotes(t, &base)
	theirs := &Workspace{o: w.o, program: w.program, gitDir: t.gitDir}
	tracked, err := theirs.listTree(ctx, t.head)
	if err != nil {
		return ledger.Base{}, err
	}
	for _, look := range []func(context.Context, userRepo, []treeEntry) ([]ledger.Diagnostic, error){theirs.lookAtSubmodules, theirs.lookAtLFS} {
		notes, err := look(ctx, t, tracked)
		if err != nil {
			return ledger.Base{}, err
		}
		base.Notes = append(base.Notes, notes...)
	}
	if len(w.o.RoomFiles) > 0 {
		if _, err := w.findRoomFiles(tracked); err != nil {
			return ledger.Base{}, err
		}
	}
	return base, nil
}
