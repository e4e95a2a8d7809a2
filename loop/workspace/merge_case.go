package workspace

import (
	"context"
	"slices"
)

// caseConflicts returns names of a merged tree that some file systems take for equal,
// where each side brought one of them: new/Foo.go and new/foo.go. git merges them
// cleanly, and a person on macOS or Windows could check out only one. Names that one side
// has both of are its own matter: a capture has refused them, or they are the user's.
func (w *Workspace) caseConflicts(ctx context.Context, a, b, merged string) ([]string, error) {
	fromB, err := w.addedPaths(ctx, a, merged)
	if err != nil || len(fromB) == 0 {
		return nil, err
	}
	fromA, err := w.addedPaths(ctx, b, merged)
	if err != nil || len(fromA) == 0 {
		return nil, err
	}
	byFold := map[string][]string{}
	for _, p := range fromA {
		addFolded(byFold, p)
	}
	var clash []string
	seen := map[string]bool{}
	for _, p := range fromB {
		own, other := collision(byFold, p)
		if own == "" || seen[own] {
			continue
		}
		seen[own] = true
		// A folder of which both spellings are older than the merge.
		old, err := w.hasPath(ctx, a, own)
		if err == nil && !old {
			old, err = w.hasPath(ctx, b, other)
		}
		if err != nil {
			return nil, err
		}
		if !old {
			clash = append(clash, own, other)
		}
	}
	slices.Sort(clash)
	return slices.Compact(clash), nil
}

// addedPaths returns the paths of a tree that another one has not.
func (w *Workspace) addedPaths(ctx context.Context, from, to string) ([]string, error) {
	out, err := w.run(ctx, call{gitDir: w.gitDir, args: []string{"diff-tree", "-r", "-z", "--no-renames", "--diff-filter=A", "--name-only", from, to}})
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(zlist(out), func(p string) bool { return p == "" }), nil
}

// hasPath reports whether a commit has a file or folder of exactly that name.
func (w *Workspace) hasPath(ctx context.Context, commit, p string) (bool, error) {
	out, err := w.run(ctx, call{gitDir: w.gitDir, args: []string{"ls-tree", "-z", "--name-only", "--full-tree", commit, p}})
	return len(out) > 0, err
}
