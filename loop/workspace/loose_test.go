package workspace

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/nightporter/nightporter/loop/ledger"
)

// TestRepositoriesLikeGits makes the .git of sessions and rooms of both hash
// formats. The first is git's own; the later ones, which no git process makes,
// have the same folders and settings, and git finds nothing wrong with them.
func TestRepositoriesLikeGits(t *testing.T) {
	for _, format := range []string{"sha1", "sha256"} {
		t.Run(format, func(t *testing.T) {
			setHome(t)
			repo := filepath.Join(t.TempDir(), "shop")
			writeFile(t, repo, "a.txt", "a\n")
			git(t, repo, "init", "-q", "--object-format="+format)
			git(t, repo, "add", "-A")
			git(t, repo, "commit", "-q", "-m", "First")
			w := workspace(t, repo)
			base := begin(t, w, "r1")
			look := func(dir, tree string) (shape []string, config string) {
				t.Helper()
				git(t, dir, "fsck", "--strict")
				if out := git(t, dir, "status", "--porcelain"); out != "" {
					t.Errorf("changed in %s:\n%s", dir, out)
				}
				if got := git(t, dir, "rev-parse", "HEAD^{tree}"); got != tree {
					t.Errorf("HEAD of %s has tree %s, want %s", dir, got, tree)
				}
				for _, name := range files(t, filepath.Join(dir, ".git")) {
					if !strings.HasPrefix(name, "objects/") || strings.HasSuffix(name, "/") {
						shape = append(shape, name)
					}
				}
				return shape, git(t, dir, "config", "--local", "--list")
			}
			must(t, w.Restore(t.Context(), only("r1", base.Tree)))
			shape, config := look(w.Work(only("r1", "")).Dir, base.Tree)
			taken := session(t, w, base, "", all, func(dir string) { writeFile(t, dir, "b.txt", "b\n") })
			again, settings := look(w.Work(only("r1", "")).Dir, taken.Tree)
			if !slices.Equal(again, shape) || settings != config {
				t.Errorf("without git:\n%q\n%s\nby git:\n%q\n%s", again, settings, shape, config)
			}
			room, err := w.LayRoom(t.Context(), ledger.RoomUse{Tree: base.Commit}, true)
			must(t, err)
			look(room.Dir, base.Tree)
			room, err = w.LayRoom(t.Context(), ledger.RoomUse{Tree: taken.Tree, Parent: base.Commit}, true)
			must(t, err)
			look(room.Dir, taken.Tree)
			if got := git(t, room.Dir, "rev-parse", "HEAD^"); got != base.Commit {
				t.Errorf("the room's commit is on %s", got)
			}
			if _, err := w.LayRoom(t.Context(), ledger.RoomUse{Tree: base.Tree, Parent: "main"}, true); err == nil {
				t.Error("a room has a commit on a name")
			}
		})
	}
}

// TestListSizes asks for the sizes of a tree that was listed without.
func TestListSizes(t *testing.T) {
	w := workspace(t, shop(t))
	base := begin(t, w, "r1")
	for _, list := range []func(context.Context, string) ([]treeEntry, error){w.listTree, w.listSizes, w.listTree} {
		entries, err := list(t.Context(), base.Tree)
		must(t, err)
		if paths := len(entries); paths != len(shopFiles) {
			t.Errorf("%d files, want %d", paths, len(shopFiles))
		}
	}
	entries, err := w.listSizes(t.Context(), base.Tree)
	must(t, err)
	for _, e := range entries {
		if e.path == "README.md" && e.size != int64(len("A shop.\n")) {
			t.Errorf("README.md has %d bytes", e.size)
		}
	}
}
