package workspace

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/nightporter/nightporter/loop/ledger"
)

// submoduleRef returns the name of the ref to the files of a submodule's commit: to
// their tree, since the history is of no use here.
func submoduleRef(commit string) string { return contentRef + "submodules/" + commit }

// submodule returns the tree of a submodule's commit, "" if it is unknown.
func (w *Workspace) submodule(ctx context.Context, commit string) (string, error) {
	return w.existingRef(ctx, submoduleRef(commit))
}

// submoduleFiles returns the changes that put the files of a submodule in the place of
// its gitlink; none for a submodule whose files are unknown.
func (w *Workspace) submoduleFiles(ctx context.Context, link treeEntry) ([]change, error) {
	tree, err := w.submodule(ctx, link.hash)
	if err != nil || tree == "" {
		return nil, err
	}
	entries, err := w.listTree(ctx, tree)
	changes := []change{{path: link.path}}
	for _, e := range entries {
		if e.mode != modeGitlink { // a submodule of a submodule
			p := path.Join(link.path, e.path)
			changes = append(changes, change{path: p, new: treeEntry{mode: e.mode, hash: e.hash, path: p}})
		}
	}
	return changes, err
}

// takeSubmodules copies the files of submodules from the repositories that the
// user's checkout has of them.
func (w *Workspace) takeSubmodules(ctx context.Context, t userRepo, entries []treeEntry) (notes []ledger.Diagnostic, err error) {
	for _, e := range entries {
		if e.mode != modeGitlink {
			continue
		}
		tree, err := w.submodule(ctx, e.hash)
		if err != nil {
			return nil, err
		}
		if tree == "" {
			if tree, err = w.takeSubmodule(ctx, t, e); err != nil {
				return nil, fmt.Errorf("%s: %w", e.path, err)
			}
		}
		if tree == "" {
			notes = append(notes, w.submoduleMissing(e))
			continue
		}
		below, err := w.listTree(ctx, tree)
		if err != nil {
			return nil, err
		}
		for _, inner := range gitlinksOf(below) {
			notes = append(notes, ledger.Diagnostic{File: path.Join(e.path, inner), Text: "is a submodule of a submodule: sessions and verification do not have its files"})
		}
	}
	return notes, nil
}

// submoduleMissing is the note about a submodule without files.
func (w *Workspace) submoduleMissing(e treeEntry) ledger.Diagnostic {
	return ledger.Diagnostic{
		File: e.path, Text: fmt.Sprintf("is a submodule whose commit %.12s is not on this machine: sessions and verification do not have its files", e.hash),
		Remedy: "git -C " + w.o.Repo + " submodule update --init " + e.path,
	}
}

// lookAtSubmodules returns the notes of takeSubmodules about submodules that are not
// on this machine. It copies nothing.
func (w *Workspace) lookAtSubmodules(ctx context.Context, t userRepo, entries []treeEntry) (notes []ledger.Diagnostic, err error) {
	for _, e := range entries {
		if e.mode != modeGitlink {
			continue
		}
		gitDir, err := w.submoduleGitDir(ctx, t, e.path)
		if err != nil {
			return nil, err
		}
		if gitDir != "" {
			_, err = w.run(ctx, call{gitDir: gitDir, as: t.owner, args: []string{"rev-parse", "--verify", "--quiet", e.hash + "^{tree}"}})
		}
		if gitDir == "" || exitCode(err) > 0 {
			notes = append(notes, w.submoduleMissing(e))
		} else if err != nil {
			return nil, err
		}
	}
	return notes, nil
}

// takeSubmodule copies the files of one submodule. It returns "" if the user has no
// repository of it that holds the commit.
func (w *Workspace) takeSubmodule(ctx context.Context, t userRepo, e treeEntry) (string, error) {
	gitDir, err := w.submoduleGitDir(ctx, t, e.path)
	if err != nil || gitDir == "" {
		return "", err
	}
	theirs := call{gitDir: gitDir, as: t.owner, args: []string{"rev-parse", "--verify", "--quiet", e.hash + "^{tree}"}}
	out, err := w.run(ctx, theirs)
	if exitCode(err) > 0 {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	tree := strings.TrimSpace(string(out))
	pipe, pack := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		theirs.args, theirs.in, theirs.out = []string{"pack-objects", "--quiet", "--revs", "--stdout"}, strings.NewReader(tree+"\n"), pack
		_, err := w.run(ctx, theirs)
		pack.CloseWithError(err)
		ended <- err
	}()
	_, err = w.run(ctx, call{gitDir: w.gitDir, in: pipe, args: []string{"index-pack", "--stdin"}})
	pipe.CloseWithError(io.ErrClosedPipe)
	if packed := <-ended; exitCode(packed) > 0 {
		return "", nil // a part of it is missing, as in a partial clone
	}
	if err != nil {
		return "", err
	}
	return tree, w.setRef(ctx, submoduleRef(e.hash), tree)
}

// submoduleGitDir returns the git dir that the user's checkout has for a submodule: by
// the submodule's .git, or by its name in .gitmodules. "" for none.
func (w *Workspace) submoduleGitDir(ctx context.Context, t userRepo, p string) (string, error) {
	dotGit := filepath.Join(t.top, filepath.FromSlash(p), ".git")
	switch info, err := os.Stat(dotGit); {
	case err == nil && info.IsDir():
		return dotGit, nil
	case err == nil && info.Size() < 4096:
		data, err := os.ReadFile(dotGit)
		if dir, ok := strings.CutPrefix(strings.TrimSpace(string(data)), "gitdir: "); err == nil && ok {
			if !filepath.IsAbs(dir) {
				dir = filepath.Join(filepath.Dir(dotGit), dir)
			}
			return dir, nil
		}
	case err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission):
		return "", nil // such as a file in the place of the folder
	}
	out, err := w.run(ctx, call{gitDir: t.gitDir, args: []string{"config", "-z", "--blob", t.head + ":.gitmodules", "--get-regexp", `^submodule\..*\.path$`}})
	if exitCode(err) > 0 {
		return "", nil // no .gitmodules, or none that can be read
	}
	if err != nil {
		return "", err
	}
	for _, setting := range zlist(out) {
		key, value, _ := strings.Cut(setting, "\n")
		name := strings.TrimSuffix(strings.TrimPrefix(key, "submodule."), ".path")
		if path.Clean(value) != p || !filepath.IsLocal(name) {
			continue
		}
		dir := filepath.Join(t.commonDir, "modules", name)
		if _, err := os.Stat(filepath.Join(dir, "HEAD")); err == nil {
			return dir, nil
		}
	}
	return "", nil
}
