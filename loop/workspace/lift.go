package workspace

import (
	"context"
	"fmt"
	"slices"

	"github.com/nightporter/nightporter/loop/ledger"
)

// Lift makes the commit of one task on another base than the run's branch: on l.Onto
// or, where it changes files that branches of l.Over change, on the tip of the one that
// has all of their changes (docs/spec 9.4). It happens in our repository alone, and no
// ref leads to the commit. The same request may be repeated and gives the same commit.
func (w *Workspace) Lift(ctx context.Context, l ledger.LiftCommit) (ledger.Lifted, error) {
	defer w.lock()()
	lifted, err := w.lift(ctx, l)
	if err != nil {
		return ledger.Lifted{}, fmt.Errorf("lift %.12s: %w", l.Commit, err)
	}
	return lifted, nil
}

func (w *Workspace) lift(ctx context.Context, l ledger.LiftCommit) (ledger.Lifted, error) {
	need, files, err := w.overlap(ctx, l)
	if err != nil {
		return ledger.Lifted{}, err
	}
	under, ok := carrier(l.Over, need)
	if !ok {
		return ledger.Lifted{Why: fmt.Sprintf("it changes files of %s, which do not stand on each other", joinTasks(need))}, nil
	}
	lifted := ledger.Lifted{Onto: l.Onto, Files: files}
	if under != nil {
		lifted.Onto, lifted.On = under.Tip, under.ID
	}
	made, err := w.replay(ctx, ledger.RemakeBranch{
		Run: l.Run, Base: lifted.Onto, Author: l.Author, Committer: l.Committer, Time: l.Time,
		Steps: []ledger.RemakeStep{{Task: l.Task, Commit: l.Commit, Undo: l.Undo, Subject: l.Subject}},
	})
	switch {
	case err != nil:
		return ledger.Lifted{}, err
	case len(made.Needs) > 0:
		return ledger.Lifted{Why: "without the rest of the run its change conflicts in " + firstFive(made.Needs[0].Files)}, nil
	case made.Tip == lifted.Onto:
		return ledger.Lifted{Why: "the branch that it would stand on has its whole change"}, nil
	}
	lifted.Tip = made.Tip
	return lifted, nil
}

// overlap returns those of l.Over that change files that l.Commit changes, and these
// files.
func (w *Workspace) overlap(ctx context.Context, l ledger.LiftCommit) (need []ledger.LiftUnder, files []string, err error) {
	if len(l.Over) == 0 {
		return nil, nil, nil
	}
	own, err := w.changed(ctx, l.Commit+"^1", l.Commit)
	if err != nil {
		return nil, nil, err
	}
	for _, o := range l.Over {
		theirs, err := w.changed(ctx, o.Commit+"^1", o.Commit)
		if err != nil {
			return nil, nil, err
		}
		both := false
		for _, f := range theirs {
			if slices.ContainsFunc(own, func(mine ledger.FileChange) bool { return mine.Path == f.Path }) {
				files, both = append(files, f.Path), true
			}
		}
		if both {
			need = append(need, o)
		}
	}
	slices.Sort(files)
	return need, slices.Compact(files), nil
}

// carrier returns the lowest of the branches that has the changes of all that are
// needed; nil if none is. ok is false if there is no such branch.
func carrier(all, need []ledger.LiftUnder) (under *ledger.LiftUnder, ok bool) {
	if len(need) == 0 {
		return nil, true
	}
	for n := range all {
		if !slices.ContainsFunc(need, func(o ledger.LiftUnder) bool { return o.ID != all[n].ID && !slices.Contains(all[n].Has, o.ID) }) {
			return &all[n], true
		}
	}
	return nil, false
}

// joinTasks names the tasks of branches: "B1 and B2".
func joinTasks(all []ledger.LiftUnder) string {
	text := ""
	for n, o := range all {
		switch {
		case n > 0 && n == len(all)-1:
			text += " and "
		case n > 0:
			text += ", "
		}
		text += o.Task
	}
	return text
}
