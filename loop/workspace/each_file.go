package workspace

import (
	"context"
	"fmt"
)

// EachFile calls each with the regular files of a tree or commit for which take returns
// true, by path: with the first bytes of their content, at most limit.
func (w *Workspace) EachFile(ctx context.Context, tree string, limit int, take func(path string) bool, each func(path string, text []byte)) error {
	root, err := w.tree(ctx, tree)
	if err != nil {
		return fmt.Errorf("read the files of %s: %w", tree, err)
	}
	entries, err := w.list(ctx, root, false)
	if err != nil {
		return fmt.Errorf("read the files of %s: %w", tree, err)
	}
	texts, err := w.openTexts(ctx)
	if err != nil {
		return fmt.Errorf("read the files of %s: %w", tree, err)
	}
	defer texts.close()
	for _, e := range entries {
		if e.mode == modeSymlink || e.mode == modeGitlink || !take(e.path) {
			continue
		}
		text, _, err := texts.read(e.hash, limit)
		if err != nil {
			return fmt.Errorf("read the files of %s: %w", tree, err)
		}
		each(e.path, text)
	}
	return nil
}
