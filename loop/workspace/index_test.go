package workspace

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// recordGit puts a program in git's place that notes the sub-commands, and returns
// them and forgets them.
func recordGit(t *testing.T, w *Workspace) (commands func() []string) {
	t.Helper()
	dir := t.TempDir()
	log := filepath.Join(dir, "log")
	text := fmt.Sprintf("#!/bin/sh\nfor a; do case $a in core.*|-c|--*=*) ;; --*) ;; *.*=*) ;; *) echo $a >>%s; break ;; esac; done\nexec %s \"$@\"\n", log, w.program)
	must(t, os.WriteFile(filepath.Join(dir, "git"), []byte(text), 0o755))
	w.program = filepath.Join(dir, "git")
	return func() []string {
		data, _ := os.ReadFile(log)
		os.Remove(log)
		return strings.Fields(string(data))
	}
}

// TestRestoreComparesFilesWithoutGit checks that a folder that holds the tree
// already costs no checkout, whoever the files belonged to, and that git reads none
// of them again at the capture.
func TestRestoreComparesFilesWithoutGit(t *testing.T) {
	uid := -1
	if os.Geteuid() == 0 {
		uid = 65534
	} else {
		t.Log("not root: files keep their owner")
	}
	w := workspace(t, shop(t), func(o *Options) { o.SessionUID, o.SessionGID = uid, uid })
	base := begin(t, w, "r1")
	commands := recordGit(t, w)
	must(t, w.Restore(t.Context(), only("r1", base.Tree)))
	if got := commands(); !slices.Contains(got, "read-tree") {
		t.Fatalf("no checkout at first: %q", got)
	}
	must(t, os.Chtimes(folder{filepath.Dir(w.Work(only("r1", "")).Dir), "work"}.index(), time.Time{}, time.Now().Add(time.Second))) // the clock's tick is over
	taken := session(t, w, base, "", all, func(dir string) {
		if got := commands(); slices.Contains(got, "read-tree") || slices.Contains(got, "update-index") {
			t.Errorf("the second restore ran %q", got)
		}
		writeFile(t, dir, "cart/cart.go", "package cart // new\n")
	})
	if got := paths(taken.Files); !slices.Equal(got, []string{"cart/cart.go"}) {
		t.Fatalf("captured %q", got)
	}
	if got := commands(); slices.Contains(got, "read-tree") {
		t.Errorf("the capture ran %q", got)
	}
	must(t, w.Restore(t.Context(), only("r1", taken.Tree)))
	if got := commands(); slices.Contains(got, "read-tree") || slices.Contains(got, "update-index") {
		t.Errorf("the restore of what was captured ran %q", got)
	}
	if got := git(t, w.Work(only("r1", "")).Dir, "-c", "safe.directory=*", "status", "--porcelain"); got != "" {
		t.Errorf("git status says %q", got)
	}
}

// TestCaptureSeesWhatLooksUnchanged checks that a file with other content is
// captured, and undone, though size, time and rights are as before.
func TestCaptureSeesWhatLooksUnchanged(t *testing.T) {
	w := workspace(t, shop(t))
	base := begin(t, w, "r1")
	must(t, w.Restore(t.Context(), only("r1", base.Tree)))
	forge := func(dir string) {
		file := filepath.Join(dir, "cart/cart.go")
		info, err := os.Stat(file)
		must(t, err)
		must(t, os.WriteFile(file, []byte("package carp\n"), 0o644))
		must(t, os.Chtimes(file, info.ModTime(), info.ModTime()))
	}
	taken := session(t, w, base, "", all, forge)
	if got := paths(taken.Files); !slices.Equal(got, []string{"cart/cart.go"}) {
		t.Fatalf("captured %q", got)
	}
	must(t, w.Restore(t.Context(), only("r1", base.Tree)))
	forge(w.Work(only("r1", "")).Dir)
	must(t, w.Restore(t.Context(), only("r1", base.Tree)))
	if got := readFile(t, w.Work(only("r1", "")).Dir, "cart/cart.go"); got != "package cart\n" {
		t.Errorf("the file has %q after the restore", got)
	}
}

// TestIndexKnowsTheFilesOfGit checks the reader of an index against git, with both
// hashes, and that what it cannot read knows nothing.
func TestIndexKnowsTheFilesOfGit(t *testing.T) {
	for _, format := range []string{"sha1", "sha256"} {
		t.Run(format, func(t *testing.T) {
			setHome(t)
			dir := t.TempDir()
			git(t, dir, "init", "-q", "--object-format="+format)
			must(t, os.MkdirAll(filepath.Join(dir, "a/b"), 0o755))
			for _, name := range []string{"x", "run.sh", "a/b/" + strings.Repeat("n", 130), "a/ünïcode", "a/empty"} {
				writeFile(t, dir, name, strings.Repeat(name, len(name)%3))
			}
			must(t, os.Chmod(filepath.Join(dir, "run.sh"), 0o700))
			must(t, os.Symlink("x", filepath.Join(dir, "link")))
			git(t, dir, "add", "-A")
			f := folder{filepath.Join(dir, ".git"), ""}
			must(t, os.Rename(filepath.Join(dir, ".git/index"), f.index()))
			git := func(args ...string) string {
				t.Setenv("GIT_INDEX_FILE", f.index())
				return git(t, dir, args...)
			}
			if x := f.readIndex(format); x.tree != "" {
				t.Errorf("it holds tree %s before there is one", x.tree)
			}
			tree := git("write-tree")
			must(t, os.Chtimes(f.index(), time.Time{}, time.Now().Add(time.Second)))
			x := f.readIndex(format)
			if x.tree != tree {
				t.Errorf("it holds tree %q, want %s", x.tree, tree)
			}
			stat := func(name string) *unix.Stat_t {
				var st unix.Stat_t
				must(t, unix.Lstat(filepath.Join(dir, name), &st))
				return &st
			}
			names := strings.Split(git("-c", "core.quotePath=false", "ls-files"), "\n")
			if len(names) != 6 || len(x.at) != 6 {
				t.Fatalf("%d files, and the index has %d", len(names), len(x.at))
			}
			for _, name := range names {
				if !x.clean(name, stat(name)) {
					t.Errorf("%s is not clean", name)
				}
			}
			must(t, os.Chmod(filepath.Join(dir, "x"), 0o755))
			writeFile(t, dir, "a/empty", "not\n")
			for _, name := range []string{"x", "a/empty"} {
				if x.clean(name, stat(name)) {
					t.Errorf("%s is clean after a change", name)
				}
				x.setOwner(name, stat(name))
			}
			must(t, x.save())
			if x = f.readIndex(format); x.tree != tree {
				t.Errorf("it holds tree %q after a change of owner", x.tree)
			}
			git("fsck", "--strict") // reads the index
			for name, broken := range map[string][]byte{
				"cut":     x.data[:len(x.data)/2],
				"short":   x.data[:10],
				"damaged": append(append([]byte{}, x.data[:40]...), append([]byte{^x.data[40]}, x.data[41:]...)...),
			} {
				must(t, os.WriteFile(f.index(), broken, 0o600))
				if x := f.readIndex(format); x.tree != "" || x.clean("run.sh", stat("run.sh")) {
					t.Errorf("%s: it knows something", name)
				}
			}
			must(t, os.WriteFile(f.index(), x.data, 0o600))
			git("update-index", "--index-version", "4")
			if x := f.readIndex(format); x.tree != "" || x.clean("run.sh", stat("run.sh")) {
				t.Error("version 4: it knows something")
			}
		})
	}
}
