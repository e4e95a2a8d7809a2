package workspace

import (
	"context"
	"os"
	"path/filepath"
	"strings"
)

// dirty lists what the checkout has and HEAD has not: changed files, and new
// ones that are not ignored, whole folders with a trailing slash.
//
// The user's index is copied, so that files that did not change need not be
// read (and a sparse checkout does not look as if all were deleted); git dir
// and configuration are ours, so that their fsmonitor and filters stay still.
func (w *Workspace) dirty(ctx context.Context, t theirs, run string) ([]string, error) {
	dir, err := w.runDir(run)
	if err != nil {
		return nil, err
	}
	index := filepath.Join(dir, "dirty-index")
	defer os.Remove(index)
	// What the user's git thinks of modes and line ends; these keys name no program.
	var config []string
	for _, key := range []string{"core.filemode", "core.autocrlf", "core.eol", "core.ignorecase"} {
		if v, err := w.inTheirs(ctx, t, "config", "--local", "--get", key); err == nil {
			config = append(config, key+"="+v)
		}
	}
	// A git dir of its own, because ours leaves encodings as they are stored,
	// and here it counts what the user's git makes of them.
	look := filepath.Join(dir, "dirty-git")
	defer os.RemoveAll(look)
	if _, err := w.run(ctx, call{config: []string{"core.fsync=none"}, args: []string{"init", "--quiet", "--bare", "--template=", "--object-format=" + t.format, look}}); err != nil {
		return nil, err
	}
	env := []string{"GIT_OBJECT_DIRECTORY=" + filepath.Join(w.gitDir, "objects")}
	git := func(args ...string) ([]byte, error) {
		return w.run(ctx, call{gitDir: look, work: t.top, index: index, config: config, env: env, args: args})
	}
	refresh := func() error {
		_, err := git("update-index", "-q", "--refresh")
		if exitCode(err) == 1 {
			return nil // something needs an update: what we are here for
		}
		return err
	}
	data, err := os.ReadFile(filepath.Join(t.gitDir, "index"))
	if err == nil {
		err = os.WriteFile(index, data, 0o600)
	}
	if err == nil {
		err = refresh()
	}
	if err != nil { // none, or one that cannot stand alone (a split index): from HEAD then
		os.Remove(index)
		if _, err := git("read-tree", t.head); err != nil {
			return nil, err
		}
		if err := refresh(); err != nil {
			return nil, err
		}
	}
	changed, err := git("diff-index", "-z", "--name-only", "--ignore-submodules=all", "--no-ext-diff", t.head, "--")
	if err != nil {
		return nil, err
	}
	args := []string{"ls-files", "-z", "--others", "--directory", "--no-empty-directory", "--exclude-per-directory=.gitignore",
		"--exclude-from=" + filepath.Join(dir, "exclude")}
	fresh, err := git(args...)
	if err != nil {
		return nil, err
	}
	var list []string
	for _, p := range append(zlist(changed), zlist(fresh)...) {
		if !w.never(nil, strings.TrimSuffix(p, "/")) {
			list = append(list, strings.ToValidUTF8(p, "\uFFFD"))
		}
	}
	return list, nil
}
