package workspace

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// newDotGit puts a new .git into a folder that holds exactly the tree: a
// repository of one commit, with an index that is in step, no hook and no way
// to ours. It has copies of the objects: alternates would let a session read
// our repository (boundary permitting) or break when it may not, and hard
// links would let one that runs as ourselves write into it.
func (w *Workspace) newDotGit(ctx context.Context, f folder, tree string) error {
	seed, err := w.seed(ctx, f.dir, tree)
	if err != nil {
		return fmt.Errorf("make .git: %w", err)
	}
	// Built beside the folder and renamed, so that a .git is whole or missing.
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

// seed returns a ready-made .git for a tree, without an index. The last one is
// kept beside the work folder: most sessions begin on the tree that the
// take-over before them left.
func (w *Workspace) seed(ctx context.Context, dir, tree string) (string, error) {
	seed := filepath.Join(dir, "seed-"+tree)
	if _, err := os.Lstat(seed); err == nil {
		return seed, nil
	}
	commit, err := w.commitTree(ctx, commit{tree: tree, date: "@0 +0000", message: "Start of this session\n"})
	if err != nil {
		return "", err
	}
	tmp := filepath.Join(dir, "seed.new")
	if err := os.RemoveAll(tmp); err != nil {
		return "", err
	}
	format := "sha1"
	if len(tree) == 64 {
		format = "sha256"
	}
	// It can be made again at any time: durability would only cost.
	fast := []string{"core.fsync=none"}
	if _, err := w.run(ctx, call{config: fast, args: []string{"init", "--quiet", "--bare", "--template=", "--initial-branch=nightporter", "--object-format=" + format, tmp}}); err != nil {
		return "", err
	}
	config, err := os.ReadFile(filepath.Join(tmp, "config"))
	if err != nil {
		return "", err
	}
	text := strings.Replace(string(config), "bare = true", "bare = false", 1) +
		"[user]\n\tname = " + ownName + "\n\temail = " + ownEmail + "\n[gc]\n\tauto = 0\n[commit]\n\tgpgSign = false\n"
	for _, file := range []struct{ name, text string }{{"config", text}, {"refs/heads/nightporter", commit + "\n"}} {
		if err := os.WriteFile(filepath.Join(tmp, file.name), []byte(file.text), 0o644); err != nil {
			return "", err
		}
	}
	if err := os.MkdirAll(filepath.Join(tmp, "objects", "pack"), 0o755); err != nil {
		return "", err
	}
	if err := neutral(tmp); err != nil {
		return "", err
	}
	_, err = w.run(ctx, call{gitDir: w.gitDir, config: fast, in: strings.NewReader(commit + "\n"),
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
