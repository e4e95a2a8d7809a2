package workspace

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/nightporter/nightporter/loop/ledger"
)

// Undoes reports whether Capture would undo a session's change of a path because it is out
// of scope, as far as the path tells: the content of a file and the ignore rules that the
// session wrote count for Capture alone. tree is the one that the attempt began with. What
// is dropped without a word, such as the source file, is not reported.
func (w *Workspace) Undoes(ctx context.Context, use ledger.WorkUse, tree string, s ledger.Scope, p string) (bool, error) {
	p = filepath.ToSlash(filepath.Clean(p))
	if !filepath.IsLocal(p) || p == "." {
		return false, nil
	}
	bare, err := w.tree(ctx, tree)
	if err != nil {
		return false, fmt.Errorf("judge %s: %w", p, err)
	}
	r, _, err := w.resolve(ctx, bare, s)
	if err != nil {
		return false, err
	}
	by := runner(p)
	if held := by != "" && !r.namesRunner(p, by); w.reserved(s.Never, p) || !held && r.permits(p) {
		return false, nil
	}
	entries, err := w.listTree(ctx, bare)
	if err != nil {
		return false, fmt.Errorf("judge %s: %w", p, err)
	}
	if gitlinksOf(entries).of(p) != "" {
		return false, nil
	}
	if slices.ContainsFunc(entries, func(e treeEntry) bool { return e.path == p }) {
		return true, nil
	}
	ignored, err := w.ignores(ctx, use, entries, p)
	if err != nil {
		return false, fmt.Errorf("judge %s: %w", p, err)
	}
	return !ignored, nil
}

// ignores reports whether the ignore rules of a tree and the user's private ones leave out
// a path that the tree does not have. git judges it in an empty folder, by the rules alone.
func (w *Workspace) ignores(ctx context.Context, use ledger.WorkUse, entries []treeEntry, p string) (bool, error) {
	dir, err := w.laneDir(use.Run, use.Lane)
	if err != nil {
		return false, err
	}
	rules, err := w.rulesOf(ctx, entries)
	if err != nil {
		return false, err
	}
	scratch, err := os.MkdirTemp("", "nightporter-ignore-")
	if err != nil {
		return false, err
	}
	defer func() { _ = os.RemoveAll(scratch) }()
	empty, file := filepath.Join(scratch, "work"), filepath.Join(scratch, "rules")
	if err := os.Mkdir(empty, 0o700); err != nil {
		return false, err
	}
	if err := os.WriteFile(file, joinRules(dir, rules), 0o600); err != nil {
		return false, err
	}
	// The command refuses literal pathspecs. With ./ before it, no path has magic.
	_, err = w.run(ctx, call{
		gitDir: w.gitDir, work: empty, config: []string{"core.excludesFile=" + file}, env: []string{"GIT_LITERAL_PATHSPECS=0"},
		args: []string{"check-ignore", "--quiet", "--no-index", "--", "./" + p},
	})
	if exitCode(err) == 1 {
		return false, nil
	}
	return err == nil, err
}
