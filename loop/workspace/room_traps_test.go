package workspace

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/nightporter/nightporter/loop/ledger"
)

// roomTraps are what a setup can leave in the folder of a layer so that sealing
// it, or laying a room over it, runs a program, writes or gives away a file
// outside, or never ends. outside is a folder with a file of another owner.
var roomTraps = []struct {
	name string
	set  func(t *testing.T, dir, trap, outside string)
}{
	{"git configuration and hooks", func(t *testing.T, dir, trap, _ string) {
		for _, key := range []string{"core.fsmonitor", "core.pager", "filter.x.clean", "filter.x.smudge", "filter.x.process", "uploadpack.packObjectsHook", "core.alternateRefsCommand"} {
			git(t, dir, "config", key, trap)
		}
		writeFile(t, dir, ".gitattributes", "* filter=x\n")
		writeFile(t, dir, ".git/info/attributes", "* filter=x\n")
		git(t, dir, "config", "core.hooksPath", filepath.Dir(trap))
		for _, hook := range []string{"post-index-change", "pre-commit", "reference-transaction", "post-checkout"} {
			must(t, os.Link(trap, filepath.Join(filepath.Dir(trap), hook)))
			must(t, os.MkdirAll(filepath.Join(dir, ".git/hooks"), 0o755))
			must(t, os.Symlink(trap, filepath.Join(dir, ".git/hooks", hook)))
		}
	}},
	{".git is a link", func(t *testing.T, dir, _, outside string) {
		must(t, os.RemoveAll(filepath.Join(dir, ".git")))
		must(t, os.Symlink(outside, filepath.Join(dir, ".git")))
	}},
	{"links in .git", func(t *testing.T, dir, _, outside string) {
		for _, name := range []string{"refs", "objects", "index", "HEAD"} {
			must(t, os.RemoveAll(filepath.Join(dir, ".git", name)))
			must(t, os.Symlink(outside, filepath.Join(dir, ".git", name)))
		}
	}},
	{"links for folders", func(t *testing.T, dir, _, outside string) {
		must(t, os.Symlink("/", filepath.Join(dir, "node_modules")))
		must(t, os.RemoveAll(filepath.Join(dir, "cart")))
		must(t, os.Symlink(outside, filepath.Join(dir, "cart")))
		must(t, os.RemoveAll(filepath.Join(dir, "web/app")))
		must(t, os.Symlink("../..", filepath.Join(dir, "web/app")))
	}},
	{"a link for a folder with a pipe", func(t *testing.T, dir, _, outside string) {
		must(t, os.RemoveAll(filepath.Join(dir, "cart")))
		must(t, unix.Mkfifo(filepath.Join(outside, ".gitattributes"), 0o644))
		must(t, os.Symlink(outside, filepath.Join(dir, "cart")))
	}},
	{"inaccessible", func(t *testing.T, dir, _, _ string) {
		writeFile(t, dir, "node_modules/closed/x", "x\n")
		writeFile(t, dir, "node_modules/secret", "x\n")
		must(t, os.Chmod(filepath.Join(dir, "node_modules/secret"), 0))
		must(t, os.Chmod(filepath.Join(dir, "node_modules/closed"), 0))
		must(t, os.Chmod(filepath.Join(dir, "README.md"), 0))
		must(t, os.Chmod(filepath.Join(dir, "cart"), 0))
		must(t, os.Chmod(filepath.Join(dir, ".git"), 0))
		must(t, os.Chmod(dir, 0))
	}},
	{"pipes", func(t *testing.T, dir, _, _ string) {
		for _, name := range []string{"pipe", ".gitattributes", ".gitmodules", "cart/.gitattributes", "cart/.gitignore", "node_modules/.gitattributes"} {
			must(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755))
			must(t, unix.Mkfifo(filepath.Join(dir, name), 0o644))
		}
		for _, name := range []string{"go.mod", "web/.gitignore", ".git/HEAD", ".git/config", ".git/index"} {
			must(t, os.RemoveAll(filepath.Join(dir, name)))
			must(t, unix.Mkfifo(filepath.Join(dir, name), 0o644))
		}
	}},
	{"sockets and devices", func(t *testing.T, dir, _, _ string) {
		must(t, os.MkdirAll(filepath.Join(dir, "node_modules"), 0o755))
		must(t, os.Remove(filepath.Join(dir, "go.mod")))
		for _, name := range []string{"node_modules/s", "go.mod"} {
			fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
			must(t, err)
			short := filepath.Join(os.TempDir(), "np"+strconv.FormatInt(time.Now().UnixNano(), 36)) // a socket's path is limited
			must(t, unix.Bind(fd, &unix.SockaddrUnix{Name: short}))
			must(t, unix.Close(fd))
			must(t, os.Rename(short, filepath.Join(dir, name)))
		}
		must(t, unix.Mknod(filepath.Join(dir, "node_modules/whiteout"), unix.S_IFCHR, 0))
	}},
	{"deep folders", func(t *testing.T, dir, _, _ string) {
		// Both are longer than the longest path, 4096 bytes. What lies in the place of
		// a tracked file is removed once; the rest is copied for each room.
		for top, below := range map[string]struct {
			name   string
			levels int
		}{"README.md": {"d", 2500}, "node_modules": {"folder-dir", 500}} {
			must(t, os.RemoveAll(filepath.Join(dir, top)))
			fd, err := unix.Open(dir, unix.O_DIRECTORY, 0)
			must(t, err)
			name := top
			for range below.levels {
				must(t, unix.Mkdirat(fd, name, 0o755))
				next, err := unix.Openat(fd, name, unix.O_DIRECTORY, 0)
				must(t, err)
				must(t, unix.Close(fd))
				fd, name = next, below.name
			}
			must(t, unix.Close(fd))
		}
	}},
	{"hard links", func(t *testing.T, dir, _, outside string) {
		must(t, os.MkdirAll(filepath.Join(dir, "node_modules"), 0o755))
		must(t, os.Remove(filepath.Join(dir, "go.mod")))
		for _, name := range []string{"node_modules/linked", "go.mod"} {
			must(t, os.Link(filepath.Join(outside, "precious.txt"), filepath.Join(dir, name)))
		}
	}},
	{"attributes", func(t *testing.T, dir, _, _ string) {
		writeFile(t, dir, ".gitattributes", "*.md text eol=crlf\n")
		writeFile(t, dir, "cart/.gitattributes", "*.go text eol=crlf\n")
		writeFile(t, dir, "README.md", "another\n")
		writeFile(t, dir, "cart/cart.go", "package other\n")
	}},
	{"repositories", func(t *testing.T, dir, trap, _ string) {
		must(t, os.Remove(filepath.Join(dir, "README.md")))
		for _, name := range []string{"README.md", "cart", "node_modules/x"} {
			writeFile(t, dir, name+"/file", "x\n")
			git(t, filepath.Join(dir, name), "init", "-q")
			git(t, filepath.Join(dir, name), "add", "-A")
			git(t, filepath.Join(dir, name), "commit", "-qm", "x")
			git(t, filepath.Join(dir, name), "config", "core.fsmonitor", trap)
		}
	}},
}

// TestRoomTraps seals layers in which setup left traps, and lays rooms over them.
// Sessions run as another user if the test runs as root.
func TestRoomTraps(t *testing.T) {
	uid := -1
	if os.Geteuid() == 0 {
		uid = 65534
	}
	for _, c := range roomTraps {
		t.Run(c.name, func(t *testing.T) {
			bothWays(t, func(t *testing.T, mounts bool) {
				r := newRoomWorld(t, mounts, func(o *Options) { o.SessionUID, o.SessionGID = uid, uid })
				mark := filepath.Join(t.TempDir(), "ran")
				trap := filepath.Join(t.TempDir(), "trap")
				writeFile(t, filepath.Dir(trap), "trap", fmt.Sprintf("#!/bin/sh\necho \"$0 $*\" >>%s\ncat\n", mark))
				must(t, os.Chmod(trap, 0o755))
				outside := filepath.Join(r.w.o.State, "outside")
				writeFile(t, outside, "precious.txt", "keep me\n")

				git(t, t.TempDir(), "config", "--global", "safe.directory", "*")
				room, err := r.w.SetupRoom(t.Context(), r.use, 0)
				must(t, err)
				dir := room.Dir
				if mounts {
					dir = room.Mounts[0].Upper
				}
				c.set(t, dir, trap, outside)
				must(t, os.RemoveAll(mark))
				before := repoContent(t, outside)

				r.lay(r.use, true)
				other := r.tree("echo two >>README.md; rm -r web cart; mkdir node_modules; echo mine >node_modules/mine; echo x >cart")
				for _, use := range []ledger.RoomUse{r.use, {Tree: other, Parent: r.base.Commit, Setup: r.use.Setup}} {
					got := inRoom(t, r.lay(use, true), `git rev-parse HEAD^{tree}; git ls-files -z | xargs -0 sha256sum; test ! -e .git/hooks; git config --get-regexp 'fsmonitor|hooks|filter' || echo clean`)
					clone := filepath.Join(t.TempDir(), "clone")
					git(t, t.TempDir(), "clone", "-q", r.w.gitDir, clone)
					tree := git(t, clone, "rev-parse", use.Tree+"^{tree}")
					git(t, clone, "read-tree", "-u", "--reset", tree)
					want := tree + "\n" + command(t, clone, "git ls-files -z | xargs -0 sha256sum; echo clean")
					if got != want {
						t.Errorf("the room shows\n%s\nand a clone\n%s", got, want)
					}
				}
				if r.setup(r.use) {
					t.Error("the layer was not kept")
				}
				if got := readFile(t, filepath.Dir(mark), "ran"); got != "(none)" {
					t.Errorf("the trap ran:\n%s", got)
				}
				if after := repoContent(t, outside); fmt.Sprint(after) != fmt.Sprint(before) {
					t.Errorf("outside is now\n%v\nbefore\n%v", after, before)
				}
				info, err := os.Stat(filepath.Join(outside, "precious.txt"))
				must(t, err)
				if st := info.Sys().(*syscall.Stat_t); int(st.Uid) != os.Geteuid() {
					t.Errorf("the file outside belongs to %d", st.Uid)
				}
			})
		})
	}
}

// command runs a script in a folder and returns what it printed.
func command(t *testing.T, dir, script string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "sh", "-ec", script)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", script, err, out)
	}
	return strings.TrimSpace(string(out))
}
