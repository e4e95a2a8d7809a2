package workspace

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// newDotGit makes the .git of a folder that holds exactly the tree: a
// repository of one commit with a matching index, no hook and no reference to
// ours. It holds copies of the objects. With alternates a session could read
// our repository, or would break where the boundary forbids it; through hard
// links a session that runs as our own user could write into it.
func (w *Workspace) newDotGit(ctx context.Context, f folder, tree string) error {
	seed, err := w.seed(ctx, f.dir, tree)
	if err != nil {
		return fmt.Errorf("make .git: %w", err)
	}
	// Built beside the folder and renamed, so that a .git is complete or
	// missing.
	tmp := filepath.Join(f.dir, f.name+"-git")
	if err := os.RemoveAll(tmp); err != nil {
		return fmt.Errorf("make .git: %w", err)
	}
	if err := os.CopyFS(tmp, os.DirFS(seed)); err != nil {
		return fmt.Errorf("make .git: %w", err)
	}
	index, err := os.ReadFile(f.index())
	if err != nil {
		return fmt.Errorf("make .git: %w", err)
	}
	if err := os.WriteFile(filepath.Join(tmp, "index"), index, 0o644); err != nil {
		return fmt.Errorf("make .git: %w", err)
	}
	if w.o.SessionUID >= 0 {
		err := filepath.WalkDir(tmp, func(p string, _ fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			return os.Lchown(p, w.o.SessionUID, w.o.SessionGID)
		})
		if err != nil {
			return fmt.Errorf("make .git: %w", err)
		}
	}
	if err := os.Rename(tmp, filepath.Join(f.path(), ".git")); err != nil {
		return fmt.Errorf("make .git: %w", err)
	}
	return nil
}

// seed returns a .git for a tree, without an index. The last one is kept beside
// the work folder and reused, because most sessions begin with the tree of the
// previous capture.
func (w *Workspace) seed(ctx context.Context, dir, tree string) (string, error) {
	seed := filepath.Join(dir, "seed-"+tree)
	if _, err := os.Lstat(seed); err == nil {
		return seed, nil
	}
	tmp := filepath.Join(dir, "seed.new")
	if err := os.RemoveAll(tmp); err != nil {
		return "", err
	}
	format := formatOf(tree)
	config, err := w.initRepository(ctx, tmp, format)
	if err != nil {
		return "", err
	}
	commit, err := writeCommit(filepath.Join(tmp, "objects"), ownCommit(tree, "", "Start of this session\n"), format)
	if err != nil {
		return "", err
	}
	text := strings.Replace(config, "bare = true", "bare = false", 1) +
		"[user]\n\tname = " + ownName + "\n\temail = " + ownEmail + "\n[gc]\n\tauto = 0\n[commit]\n\tgpgSign = false\n"
	for _, file := range []struct{ name, text string }{{"config", text}, {"refs/heads/nightporter", commit + "\n"}} {
		if err := os.WriteFile(filepath.Join(tmp, file.name), []byte(file.text), 0o644); err != nil {
			return "", err
		}
	}
	if err := neutralizeAttributes(tmp); err != nil {
		return "", err
	}
	// It can be made again at any time, so it need not be durable.
	_, err = w.run(ctx, call{gitDir: w.gitDir, config: []string{"core.fsync=none"}, in: strings.NewReader(tree + "\n"),
		args: []string{"pack-objects", "--quiet", "--revs", filepath.Join(tmp, "objects", "pack", "pack")}})
	if err != nil {
		return "", err
	}
	old, err := os.ReadDir(dir)
	if err != nil {
		return "", err
	}
	for _, o := range old {
		if strings.HasPrefix(o.Name(), "seed-") {
			if err := os.RemoveAll(filepath.Join(dir, o.Name())); err != nil {
				return "", err
			}
		}
	}
	return seed, os.Rename(tmp, seed)
}
