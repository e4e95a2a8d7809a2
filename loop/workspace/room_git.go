package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/nightporter/nightporter/internal/copytree"
	"github.com/nightporter/nightporter/loop/ledger"
)

// maxHistory limits the commits of a room's .git. They serve programs that make
// a version from the nearest tag.
const maxHistory = 10_000

// newRoomGit makes the .git of a layer: its commit, the history before it
// without files, and the tags in it. It has no remote and no hook. It returns
// the commit that HEAD names.
func (w *Workspace) newRoomGit(ctx context.Context, f folder, tree string, use ledger.RoomUse) (string, error) {
	head, _, err := w.roomCommit(ctx, tree, use, "")
	if err != nil {
		return "", err
	}
	git := filepath.Join(f.path(), ".git")
	if err := removeBelow(f.path(), ".git"); err != nil {
		return "", err
	}
	config, err := w.initRepository(ctx, git, formatOf(tree))
	if err != nil {
		return "", err
	}
	// Times and sizes of files show whether they changed; inode numbers differ
	// between a layer and a room over it.
	text := strings.Replace(config, "bare = true", "bare = false\n\tcheckStat = minimal\n\ttrustctime = false", 1) +
		"[user]\n\tname = " + ownName + "\n\temail = " + ownEmail + "\n[gc]\n\tauto = 0\n[commit]\n\tgpgSign = false\n"
	history, err := w.gitOurs(ctx, "rev-list", fmt.Sprintf("--max-count=%d", maxHistory), "--parents", head)
	if err != nil {
		return "", err
	}
	tags, err := w.gitOurs(ctx, "for-each-ref", "--merged="+head, "--format=%(objectname) %(refname)%(if)%(*objectname)%(then) %(*objectname)%(end)", "refs/tags")
	if err != nil {
		return "", err
	}
	objects, packed, shallow := historyObjects(history, tags)
	below, err := w.run(ctx, call{gitDir: w.gitDir, args: []string{"rev-list", "--objects", "--no-object-names", "--no-walk", head}})
	if err != nil {
		return "", err
	}
	files := map[string]string{"config": text, filepath.Join("refs", "heads", "nightporter"): head + "\n"}
	if packed != "" {
		files["packed-refs"] = "# pack-refs with: peeled fully-peeled sorted \n" + packed
	}
	if shallow != "" {
		files["shallow"] = shallow
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(git, name), []byte(text), 0o644); err != nil {
			return "", err
		}
	}
	if err := neutralizeAttributes(git); err != nil {
		return "", err
	}
	if err := w.packObjects(ctx, git, objects+string(below)); err != nil {
		return "", err
	}
	return head, copytree.File(f.index(), filepath.Join(git, "index"))
}

// historyObjects returns what the .git of a room holds of a history: the objects
// to copy, the lines of packed-refs, and those of shallow. history has a commit
// and its parents in each line; tags has an object, its name and, for an
// annotated tag, its commit.
func historyObjects(history, tags string) (objects, packed, shallow string) {
	var all, refs, cut strings.Builder
	known := map[string]bool{}
	lines := strings.Split(history, "\n")
	for _, line := range lines {
		commit, _, _ := strings.Cut(line, " ")
		known[commit] = true
	}
	for _, line := range lines {
		commits := strings.Fields(line)
		for i, c := range commits {
			if i == 0 {
				all.WriteString(c + "\n")
			} else if !known[c] {
				cut.WriteString(commits[0] + "\n")
				break
			}
		}
	}
	for line := range strings.Lines(tags) {
		f := strings.Fields(line)
		if len(f) < 2 || !known[f[len(f)-1]] && !(len(f) == 2 && known[f[0]]) {
			continue // of a commit that was cut off
		}
		refs.WriteString(f[0] + " " + f[1] + "\n")
		if len(f) == 3 {
			refs.WriteString("^" + f[2] + "\n")
			all.WriteString(f[0] + "\n")
		}
	}
	return all.String(), refs.String(), cut.String()
}

// roomCommit returns the commit that HEAD of a room names: the tree's own, or one
// with the tree's files on top of its parent, which is written into an objects
// folder ("" = of our repository). known is the last commit in its history that our
// repository has, or "".
func (w *Workspace) roomCommit(ctx context.Context, tree string, use ledger.RoomUse, into string) (head, known string, err error) {
	if use.Parent == "" {
		commit, err := w.gitOurs(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", use.Tree+"^{commit}")
		if err == nil {
			own, err := w.tree(ctx, commit)
			if err != nil || own == tree {
				return commit, commit, err
			}
			use.Parent = commit // the tree was filled
		}
	}
	const message = "What is verified\n"
	if into != "" {
		if use.Parent != "" && !fullHash.MatchString(use.Parent) {
			return "", "", fmt.Errorf("%q is no hash of a commit", use.Parent)
		}
		head, err = writeCommit(into, ownCommit(tree, use.Parent, message), formatOf(tree))
		return head, use.Parent, err
	}
	c := commit{tree: tree, date: "@0 +0000", message: message}
	if use.Parent != "" {
		c.parents = []string{use.Parent}
	}
	head, err = w.commitTree(ctx, c)
	return head, use.Parent, err
}

// roomHead points the .git of a room at the commit of its tree, and adds the
// commits that the layer's .git lacks, and the tree's objects. to is the upper
// folder or the room itself.
func (w *Workspace) roomHead(ctx context.Context, to, index string, l *layer, tree string, use ledger.RoomUse, objects []string) error {
	git := filepath.Join(to, ".git")
	for _, dir := range []string{"refs/heads", "objects/pack"} {
		if err := os.MkdirAll(filepath.Join(git, dir), 0o755); err != nil {
			return err
		}
	}
	head, known, err := w.roomCommit(ctx, tree, use, filepath.Join(git, "objects"))
	if err != nil || head == l.Commit {
		return err
	}
	if known != "" && known != l.Commit {
		commits, err := w.gitOurs(ctx, "rev-list", known, "^"+l.Commit)
		if err != nil {
			return err
		}
		objects = append(objects, strings.Fields(commits)...)
	}
	if len(objects) > 0 {
		if err := w.packObjects(ctx, git, strings.Join(objects, "\n")+"\n"); err != nil {
			return err
		}
	}
	if err := os.WriteFile(filepath.Join(git, "refs", "heads", "nightporter"), []byte(head+"\n"), 0o644); err != nil {
		return err
	}
	if err := os.Remove(filepath.Join(git, "index")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return copytree.File(index, filepath.Join(git, "index"))
}

// packObjects writes our objects, one hash a line, as a pack into a .git.
func (w *Workspace) packObjects(ctx context.Context, git, objects string) error {
	if err := os.MkdirAll(filepath.Join(git, "objects", "pack"), 0o755); err != nil {
		return err
	}
	_, err := w.run(ctx, call{gitDir: w.gitDir, config: []string{"core.fsync=none"}, in: strings.NewReader(objects),
		args: []string{"pack-objects", "--quiet", filepath.Join(git, "objects", "pack", "pack")}})
	return err
}
