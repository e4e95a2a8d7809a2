package workspace

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"github.com/nightporter/nightporter/loop/glob"
	"github.com/nightporter/nightporter/loop/ledger"
)

// contentRef begins the names of refs that lead to what a tree of the project names
// without holding it: the files of submodules and of Git LFS. Maintenance keeps them.
const contentRef = "refs/nightporter-content/"

// takeContent copies the files of the submodules and of Git LFS that a commit names
// from the user's checkout to our repository. What is not there is left out, with a
// note: nothing is ever fetched from a network.
func (w *Workspace) takeContent(ctx context.Context, t userRepo, commit string) (notes []ledger.Diagnostic, err error) {
	entries, err := w.listTree(ctx, commit)
	if err != nil {
		return nil, err
	}
	submodules, err := w.takeSubmodules(ctx, t, entries)
	if err != nil {
		return nil, fmt.Errorf("submodules: %w", err)
	}
	large, err := w.takeLFS(ctx, t, entries)
	if err != nil {
		return nil, fmt.Errorf("files of Git LFS: %w", err)
	}
	w.filledTrees.clear()
	return append(submodules, large...), nil
}

// filled returns the tree of a tree or commit as folders and rooms hold it: files of
// Git LFS in place of their pointers, the files of submodules in place of gitlinks.
// What is unknown stays a pointer, or a gitlink, which is an empty folder there.
// Trees of other repositories are themselves.
func (w *Workspace) filled(ctx context.Context, treeish string) (string, error) {
	tree, err := w.tree(ctx, treeish)
	if err != nil {
		return "", err
	}
	if full, ok := w.filledTrees.get(tree); ok {
		if full == tree {
			return tree, nil
		}
		// Nothing refers to it, so maintenance may have dropped it.
		if _, err := w.gitOurs(ctx, "cat-file", "-e", full); err == nil {
			return full, nil
		}
	}
	entries, err := w.listTree(ctx, tree)
	if err != nil {
		return "", err
	}
	changes, err := w.largeFiles(ctx, entries)
	if err != nil {
		return "", err
	}
	for _, e := range entries {
		if e.mode != modeGitlink {
			continue
		}
		files, err := w.submoduleFiles(ctx, e)
		if err != nil {
			return "", err
		}
		changes = append(changes, files...)
	}
	full := tree
	if len(changes) > 0 {
		if full, err = w.applyChanges(ctx, w.gitDir, tree, changes); err != nil {
			return "", fmt.Errorf("fill %.12s: %w", tree, err)
		}
	}
	w.filledTrees.put(tree, full)
	return full, nil
}

// gitlinks are the places of submodules in a tree.
type gitlinks []string

// gitlinksOf returns the gitlinks of a listing.
func gitlinksOf(entries []treeEntry) (links gitlinks) {
	for _, e := range entries {
		if e.mode == modeGitlink {
			links = append(links, e.path)
		}
	}
	return links
}

// of returns the submodule that a path is, or lies in, "" for none.
func (g gitlinks) of(p string) string {
	for _, l := range g {
		if inFolder(p, l) {
			return l
		}
	}
	return ""
}

// named reports the items of a task's scope that lie in submodules, in which nothing
// can be changed.
func (g gitlinks) named(in *inventory, task string) (wrong []ledger.Diagnostic) {
	if len(g) == 0 {
		return nil
	}
	for _, item := range ledger.ParseScope(task) {
		globs, _, _ := in.globsOf(item)
		for _, pattern := range globs {
			if of := g.of(strings.TrimSuffix(glob.Unescape(pattern), "/**")); of != "" {
				wrong = append(wrong, ledger.Diagnostic{
					Text:   fmt.Sprintf("scope %q lies in the submodule %s, which is a repository of its own and can only be read", item.Text, of),
					Remedy: "give the task to a project of that repository, or take it out of the scope",
				})
				break
			}
		}
	}
	return wrong
}

// existingRef returns what a ref of ours leads to, "" for no ref.
func (w *Workspace) existingRef(ctx context.Context, ref string) (string, error) {
	hash, err := w.gitOurs(ctx, "rev-parse", "--verify", "--quiet", ref)
	if exitCode(err) == 1 {
		return "", nil
	}
	return hash, err
}

// makeTree writes a tree of one level. lines have git mktree's form.
func (w *Workspace) makeTree(ctx context.Context, lines []string) (string, error) {
	out, err := w.run(ctx, call{gitDir: w.gitDir, in: bytes.NewReader([]byte(strings.Join(lines, "\x00") + "\x00")), args: []string{"mktree", "-z"}})
	return strings.TrimSpace(string(out)), err
}
