package workspace

import (
	"context"

	"github.com/nightporter/nightporter/loop"
)

// Look finds out about the user's repository what Begin would, and writes
// nothing: not there, nor into ours. Of the Base it fills Head, HeadName,
// Author and Notes. What would keep a run from starting is a
// *loop.InputError.
func (w *Workspace) Look(ctx context.Context) (loop.Base, error) {
	t, err := w.inspect(ctx)
	if err != nil {
		return loop.Base{}, err
	}
	base := loop.Base{Head: t.head, HeadName: t.headName}
	author, note, err := w.identity(ctx, t)
	if err != nil {
		return loop.Base{}, err
	}
	base.Author = author
	if note != nil {
		base.Notes = append(base.Notes, *note)
	}
	w.remark(t, &base)
	return base, nil
}
