package workspace

import (
	"context"
	"os"
	"path/filepath"
	"strings"
)

// dirty lists the uncommitted paths of the checkout: changed files and
// untracked ones that are not ignored, folders with a trailing slash.
//
// It works on a copy of the user's index, so that git need not read unchanged
// files and a sparse checkout does not look deleted. Git dir and configuration
// are ours, so that none of the user's fsmonitor and filters runs.
func (w *Workspace) dirty(ctx context.Context, t userRepo, run string) ([]string, error) {
	dir, err := w.runDir(run)
	if err != nil {
		return nil, err
	}
	index := filepath.Join(dir, "dirty-index")
	defer os.Remove(index)
	// The user's settings for modes and line ends. These keys name no program.
	var config []string
	out, err := w.run(ctx, call{gitDir: t.gitDir, args: []string{"config", "--local", "-z", "--get-regexp", `^core\.(filemode|autocrlf|eol|ignorecase)$`}})
	if err != nil && exitCode(err) != 1 {
		return nil, err
	}
	for _, setting := range zlist(out) {
		key, value, given := strings.Cut(setting, "\n")
		if !given { // a key alone is true
			value = "true"
		}
		config = append(config, key+"="+value)
	}
	// A separate git dir: our repository stores bytes unconverted, but here the
	// user's conversions decide whether a file is changed.
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
			return nil // the exit code means that a file needs an update, which is a result here
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
	if err != nil { // no index, or one that cannot stand alone (a split index): read HEAD
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
		if !w.reserved(nil, strings.TrimSuffix(p, "/")) {
			list = append(list, strings.ToValidUTF8(p, "\uFFFD"))
		}
	}
	return list, nil
}
