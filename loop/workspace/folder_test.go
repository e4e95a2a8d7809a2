package workspace

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

func TestRestoreGivesAnOrdinaryRepository(t *testing.T) {
	repo := shop(t)
	w := workspace(t, repo)
	base := begin(t, w, "r1")
	if err := w.Restore(t.Context(), only("r1", base.Tree)); err != nil {
		t.Fatal(err)
	}
	dir := w.Work(only("r1", "")).Dir
	if diff := cmp.Diff(shopFiles, files(t, dir)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	if got := git(t, dir, "status", "--porcelain"); got != "" {
		t.Errorf("git status says %q in a fresh work folder", got)
	}
	writeFile(t, dir, "cart/cart.go", "package cart // changed\n")
	if got := git(t, dir, "diff", "--stat"); !strings.Contains(got, "cart/cart.go") {
		t.Errorf("git diff says %q", got)
	}
	git(t, dir, "commit", "-qam", "mine")
	if got := git(t, dir, "rev-list", "--count", "HEAD"); got != "2" {
		t.Errorf("%s commits, want 2", got)
	}
	git(t, dir, "fsck", "--strict")
	for _, leak := range []string{"objects/info/alternates", "hooks", "shallow"} {
		if _, err := os.Lstat(filepath.Join(dir, ".git", leak)); err == nil {
			t.Errorf(".git/%s is there", leak)
		}
	}
	if out := git(t, dir, "config", "--local", "--list"); strings.Contains(out, w.o.State) || strings.Contains(out, repo) {
		t.Errorf("the session's configuration names our folders:\n%s", out)
	}
}

func TestRestoreUndoesWhateverIsThere(t *testing.T) {
	outside := t.TempDir()
	writeFile(t, outside, "precious.txt", "keep me\n")
	for _, c := range []struct {
		name string
		mess func(t *testing.T, dir string)
		also []string // paths that stay although the tree lacks them
	}{
		{"changed, deleted, new", func(t *testing.T, dir string) {
			writeFile(t, dir, "README.md", "other\n")
			must(t, os.Remove(filepath.Join(dir, "go.mod")))
			writeFile(t, dir, "new/deep/file", "x\n")
			must(t, os.MkdirAll(filepath.Join(dir, "empty/er"), 0o755))
		}, nil},
		{"ignored files stay", func(t *testing.T, dir string) {
			writeFile(t, dir, "node_modules/x/index.js", "x\n")
			writeFile(t, dir, "node_modules/x/.git/HEAD", "ref: x\n")
			writeFile(t, dir, "cart/deep/noise.log", "x\n")
			writeFile(t, dir, "cart/deep/other.txt", "x\n")
			writeFile(t, dir, "cart/only/a.log", "x\n") // every file in the folder is ignored, but not the folder itself
			must(t, os.MkdirAll(filepath.Join(dir, "cart/only/empty"), 0o755))
			writeFile(t, dir, "cart/only2/a.log", "x\n")
			must(t, unix.Mkfifo(filepath.Join(dir, "cart/only2/fifo"), 0o644))
			writeFile(t, dir, "web/out/x", "x\n")
			writeFile(t, dir, "out/x", "x\n") // ignored only below web
			writeFile(t, dir, "web/a/tmp/x", "x\n")
			writeFile(t, dir, "web/keep.log", "x\n") // no longer ignored by the rules
		}, []string{"cart/deep/noise.log", "cart/only/a.log", "cart/only2/a.log", "node_modules/x/.git/HEAD", "node_modules/x/index.js", "web/a/tmp/x", "web/out/x"}},
		{"a rule of the session's own hides nothing", func(t *testing.T, dir string) {
			writeFile(t, dir, ".gitignore", "*\n")
			writeFile(t, dir, "cart/.gitignore", "*\n")
			writeFile(t, dir, "cart/hidden.go", "x\n")
		}, nil},
		{"symbolic links out", func(t *testing.T, dir string) {
			must(t, os.RemoveAll(filepath.Join(dir, "cart")))
			must(t, os.Symlink(outside, filepath.Join(dir, "cart")))
			must(t, os.Remove(filepath.Join(dir, "go.mod")))
			must(t, os.Symlink(filepath.Join(outside, "precious.txt"), filepath.Join(dir, "go.mod")))
			must(t, os.Symlink(outside, filepath.Join(dir, "link")))
			must(t, os.Symlink(outside, filepath.Join(dir, "node_modules")))
		}, nil},
		{"file becomes folder and back", func(t *testing.T, dir string) {
			must(t, os.Remove(filepath.Join(dir, "go.mod")))
			writeFile(t, dir, "go.mod/x", "x\n")
			must(t, os.RemoveAll(filepath.Join(dir, "cart")))
			writeFile(t, dir, "cart", "x\n")
		}, nil},
		{"an ignored folder where a file belongs", func(t *testing.T, dir string) {
			must(t, os.Remove(filepath.Join(dir, "go.mod")))
			writeFile(t, dir, "go.mod/node_modules/x", "x\n")
		}, nil},
		{"rights", func(t *testing.T, dir string) {
			writeFile(t, dir, "closed/x", "x\n")
			must(t, os.Chmod(filepath.Join(dir, "README.md"), 0))
			must(t, os.Chmod(filepath.Join(dir, "go.mod"), 0o755))
			must(t, os.Chmod(filepath.Join(dir, "cart/cart.go"), 0o200))
			must(t, os.Chmod(filepath.Join(dir, "cart"), 0))
			must(t, os.Chmod(filepath.Join(dir, "closed"), 0))
			must(t, os.Chmod(filepath.Join(dir, "docs"), 0o555))
		}, nil},
		{"special files", func(t *testing.T, dir string) {
			must(t, unix.Mkfifo(filepath.Join(dir, "fifo"), 0o644))
			must(t, os.Remove(filepath.Join(dir, "go.mod")))
			must(t, unix.Mkfifo(filepath.Join(dir, "go.mod"), 0o644))
			fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
			must(t, err)
			defer unix.Close(fd)
			short := filepath.Join(t.TempDir(), "s") // the length of a socket's path is limited, so it is created here and moved like a file
			must(t, unix.Bind(fd, &unix.SockaddrUnix{Name: short}))
			if err := os.Rename(short, filepath.Join(dir, "socket")); err != nil {
				t.Logf("no socket in this test: %v", err)
			}
			if os.Geteuid() == 0 {
				must(t, unix.Mknod(filepath.Join(dir, "device"), unix.S_IFCHR|0o644, int(unix.Mkdev(1, 3))))
			}
		}, nil},
		{"pipes that git would open", func(t *testing.T, dir string) {
			must(t, unix.Mkfifo(filepath.Join(dir, ".gitattributes"), 0o644))
			must(t, unix.Mkfifo(filepath.Join(dir, "cart/.gitattributes"), 0o644))
			writeFile(t, dir, "README.md", "other\n")
			writeFile(t, dir, "cart/cart.go", "package other\n")
		}, nil},
		{"nested repositories", func(t *testing.T, dir string) {
			writeFile(t, dir, "nested/x", "x\n")
			git(t, filepath.Join(dir, "nested"), "init", "-q")
			writeFile(t, dir, "nested/node_modules/x", "x\n")
			git(t, filepath.Join(dir, "cart"), "init", "-q")
		}, nil},
		{".git is gone", func(t *testing.T, dir string) { must(t, os.RemoveAll(filepath.Join(dir, ".git"))) }, nil},
		{".git is a file", func(t *testing.T, dir string) {
			must(t, os.RemoveAll(filepath.Join(dir, ".git")))
			writeFile(t, dir, ".git", "gitdir: "+outside+"\n")
		}, nil},
		{".git is a link", func(t *testing.T, dir string) {
			must(t, os.RemoveAll(filepath.Join(dir, ".git")))
			must(t, os.Symlink(outside, filepath.Join(dir, ".git")))
		}, nil},
		{".git is corrupt", func(t *testing.T, dir string) {
			writeFile(t, dir, ".git/HEAD", "garbage")
			writeFile(t, dir, ".git/config", "[")
			must(t, os.RemoveAll(filepath.Join(dir, ".git/objects")))
		}, nil},
		{"all is gone", func(t *testing.T, dir string) { must(t, os.RemoveAll(dir)) }, nil},
		{"the folder is a link", func(t *testing.T, dir string) {
			must(t, os.RemoveAll(dir))
			must(t, os.Symlink(outside, dir))
		}, nil},
		{"our index is spoiled", func(t *testing.T, dir string) {
			writeFile(t, filepath.Dir(dir), "work-index", "garbage")
			writeFile(t, dir, "README.md", "other\n")
		}, nil},
		{"a deep tree", func(t *testing.T, dir string) {
			fd, err := unix.Open(dir, unix.O_DIRECTORY, 0)
			must(t, err)
			name := strings.Repeat("d", 200)
			for range 30 { // 6,000 bytes: longer than any path that can be opened
				must(t, unix.Mkdirat(fd, name, 0o755))
				next, err := unix.Openat(fd, name, unix.O_DIRECTORY, 0)
				must(t, err)
				must(t, unix.Close(fd))
				fd = next
			}
			must(t, unix.Close(fd))
		}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := workspace(t, shop(t))
			base := begin(t, w, "r1")
			must(t, w.Restore(t.Context(), only("r1", base.Tree)))
			dir := w.Work(only("r1", "")).Dir
			c.mess(t, dir)
			if err := w.Restore(t.Context(), only("r1", base.Tree)); err != nil {
				t.Fatal(err)
			}
			got := files(t, dir)
			want := map[string]bool{}
			for _, p := range append(c.also, shopFiles...) {
				want[p] = true
			}
			for _, p := range got {
				if !want[p] {
					t.Errorf("%s is there", p)
				}
				delete(want, p)
			}
			for p := range want {
				t.Errorf("%s is missing", p)
			}
			if got := git(t, dir, "status", "--porcelain"); got != "" {
				t.Errorf("git status says %q", got)
			}
			for file, mode := range map[string]fs.FileMode{"README.md": 0o600, "cart/cart.go": 0o600, "go.mod": 0o600} {
				if info, err := os.Lstat(filepath.Join(dir, file)); err != nil || info.Mode().Perm()&0o700 != mode {
					t.Errorf("%s: %v, %v", file, info.Mode(), err)
				}
			}
			if got := readFile(t, outside, "precious.txt"); got != "keep me\n" {
				t.Errorf("a file outside of the work folder is now %q", got)
			}
			if left, _ := os.ReadDir(outside); len(left) != 1 {
				t.Errorf("%d things in the folder outside, want 1", len(left))
			}
		})
	}
}

// TestRestoreHandsOver makes another session user the owner of the folder,
// except for a file that is hard-linked from elsewhere.
func TestRestoreHandsOver(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("handing over needs root")
	}
	const uid = 65534
	w := workspace(t, shop(t), func(o *Options) { o.SessionUID, o.SessionGID = uid, uid })
	base := begin(t, w, "r1")
	must(t, w.Restore(t.Context(), only("r1", base.Tree)))
	dir := w.Work(only("r1", "")).Dir
	secret := filepath.Join(w.o.State, "secret")
	writeFile(t, w.o.State, "secret", "secret\n")
	must(t, os.Remove(filepath.Join(dir, "go.mod")))
	must(t, os.Link(secret, filepath.Join(dir, "go.mod")))
	must(t, os.Link(secret, filepath.Join(dir, "cart/extra")))
	writeFile(t, dir, "node_modules/x", "x\n")

	_, err := w.Capture(t.Context(), captureRequest(base, base.Tree, all))
	must(t, err)
	must(t, w.Restore(t.Context(), only("r1", base.Tree)))
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		must(t, err)
		info, err := d.Info()
		must(t, err)
		if st := info.Sys().(*syscall.Stat_t); st.Uid != uid && !strings.Contains(path, "node_modules") {
			t.Errorf("%s belongs to %d", path, st.Uid)
		}
		return nil
	})
	must(t, err)
	info, err := os.Stat(secret)
	must(t, err)
	if st := info.Sys().(*syscall.Stat_t); st.Uid != 0 || readFile(t, w.o.State, "secret") != "secret\n" {
		t.Errorf("the file behind the hard link belongs to %d", st.Uid)
	}
	// The session user can work in the folder, like an agent.
	for _, p := range []string{w.o.State, filepath.Dir(w.o.State), filepath.Dir(filepath.Dir(w.o.State))} {
		must(t, os.Chmod(p, 0o755))
	}
	cmd := exec.CommandContext(t.Context(), "sh", "-c", "git status --porcelain && echo x >cart/new.go && git add -A && git commit -qm mine && git log --oneline | wc -l")
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=/dev/null"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid}}
	out, err := cmd.CombinedOutput()
	if err != nil || strings.TrimSpace(string(out)) != "2" {
		t.Errorf("the session user cannot work there: %v\n%s", err, out)
	}
	taken, err := w.Capture(t.Context(), captureRequest(base, base.Tree, all))
	must(t, err)
	if diff := cmp.Diff([]string{"cart/new.go"}, paths(taken.Files)); diff != "" {
		t.Errorf("taken (-want +got):\n%s", diff)
	}
}

func TestManyFiles(t *testing.T) {
	w := workspace(t, shop(t))
	base := begin(t, w, "r1")
	n := 3000
	taken := session(t, w, base, "", all, func(dir string) {
		for i := range n {
			writeFile(t, dir, fmt.Sprintf("gen/%d/f%d.txt", i%50, i), "x\n")
			writeFile(t, dir, fmt.Sprintf("node_modules/%d/f%d.txt", i%50, i), "x\n")
		}
	})
	if len(taken.Files) != n {
		t.Errorf("%d files taken, want %d", len(taken.Files), n)
	}
	must(t, w.Restore(t.Context(), only("r1", base.Tree)))
	if got := files(t, w.Work(only("r1", "")).Dir); len(got) != n+len(shopFiles) {
		t.Errorf("%d files, want the tree's %d and %d ignored ones", len(got), len(shopFiles), n)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
