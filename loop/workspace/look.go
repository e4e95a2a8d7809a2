package workspace

import (
	"context"

	"github.com/nightporter/nightporter/loop/ledger"
)

// Look finds out about the user's repository what Begin would, and writes
// nothing: not there, nor into ours. Of the Base it fills Head, HeadName,
// Author and Notes. What would keep a run from starting is a
// *ledger.InputError.
func (w *Workspace) Look(ctx context.Context) (ledger.Base, error) {
	t, err := w.inspect(ctx)
	if err != nil {
		return ledger.Base{}, err
	}
	base := ledger.Base{Head: t.head, HeadName: t.headName}
	author, note, err := w.identity(ctx, t)
	if err != nil {
		return ledger.Base{}, err
	}
	base.Author = author
	if note != nil {
		base.Notes = append(base.Notes, *note)
	}
	w.remark(t, &base)
	return base, nil
}
