package agent

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/nightporter/nightporter/loop/ledger"
)

// TestCaches shows who sees what others wrote into the caches: trusted commands
// write for everybody, all others for those of the same name and what lies over
// it.
func TestCaches(t *testing.T) {
	t.Parallel()
	atEachLevel(t, func(t *testing.T, level int) {
		h := newFixture(t, level)
		n := 0
		run := func(use ledger.CacheUse, script, want string) {
			t.Helper()
			n++
			l := h.launch(fmt.Sprintf("r1-c%d", n))
			l.Kind, l.Cache, l.Command = ledger.KindVerify, use, "cd $GOCACHE && "+script
			h.start(l)
			if x := h.wait(l.Session); x.Code != 0 || x.Tail != want {
				t.Errorf("%+v: %s printed %q (exit %d), want %q", use, script, x.Tail, x.Code, want)
			}
		}
		trusted, task, check := ledger.CacheUse{Trusted: true}, ledger.CacheUse{Name: "task-1"}, ledger.CacheUse{Name: "check", Anew: true}
		// What an earlier release left, where any session could write.
		old := filepath.Join(h.state, "cache", "shop", "go-build")
		if err := os.MkdirAll(old, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(old, "dep"), []byte("poison"), 0o644); err != nil {
			t.Fatal(err)
		}
		run(check, "ls", "")
		run(trusted, "pwd; echo good >dep", old+"\n")
		run(task, "pwd; cat dep; echo poison >dep; echo mine >built; rm -f none", old+"\ngood\n")
		run(check, "cat dep; ls", "good\ndep\n")
		run(task, "cat dep built", "poison\nmine\n")
		run(ledger.CacheUse{Name: "layer-1"}, "echo new >module", "")
		run(ledger.CacheUse{Name: "check", Over: "layer-1", Anew: true}, "cat dep module; echo x >module", "good\nnew\n")
		run(ledger.CacheUse{Name: "check", Over: "layer-1"}, "cat module", "x\n")
		run(ledger.CacheUse{Name: "check", Over: "layer-1", Anew: true}, "cat module", "new\n")
		run(ledger.CacheUse{}, "cat dep; echo own >dep", "good\n")
		run(ledger.CacheUse{}, "cat dep", "good\n")
		run(ledger.CacheUse{Name: "task-1", Anew: true}, "ls", "dep\n")
		run(trusted, "cat dep; ls", "good\ndep\n")
		if err := os.Remove(filepath.Join(h.state, "caches", "shop", "base", "go-build", "dep")); err != nil {
			t.Fatal(err)
		}
		goOn, end := h.cachesBeside("long", ledger.CacheUse{Name: "long"})
		for i := range maxCaches + 2 {
			run(ledger.CacheUse{Name: fmt.Sprintf("task-%d", i+2)}, "ls", "")
		}
		goOn()
		end()                                                                                                         // its caches were used longest ago
		if kept, err := os.ReadDir(filepath.Join(h.state, "caches", "shop")); err != nil || len(kept) > maxCaches+3 { // the base, the last one, and the one in use
			t.Errorf("%d caches are kept, %v", len(kept), err)
		}
	})
}

// cachesBeside starts a session that writes a file into its caches. goOn lets it write
// another one, and list what it sees by the variable and by its HOME, which end checks.
func (h *fixture) cachesBeside(name string, use ledger.CacheUse) (goOn, end func()) {
	h.t.Helper()
	use.Beside = true
	l := h.launch("r1-" + name)
	gate, begun := filepath.Join(h.work, name+"-gate"), filepath.Join(h.work, name+"-begun")
	if err := errors.Join(unix.Mkfifo(gate, 0o666), os.Chmod(gate, 0o666)); err != nil { //nolint:gosec // for the session's user
		h.t.Fatal(err)
	}
	l.Kind, l.Cache = ledger.KindVerify, use
	l.Command = fmt.Sprintf("cd $GOCACHE && echo %[1]s >%[1]s && touch %[2]s && read x <%[3]s && echo %[1]s >$GOCACHE/%[1]s-late && echo %[1]s >~/.cargo/registry/%[1]s; ls $GOCACHE ~/.cargo/registry/", name, begun, gate)
	h.start(l)
	awaitChange(h.t, h.work, name+" is at work", func() bool { _, err := os.Stat(begun); return err == nil })
	goOn = func() {
		h.t.Helper()
		if err := os.WriteFile(gate, []byte("go\n"), 0o600); err != nil {
			h.t.Error(err)
		}
	}
	end = func() {
		h.t.Helper()
		x := h.wait(l.Session)
		if got := strings.Fields(x.Tail); x.Code != 0 || len(got) != 5 || !slices.Equal([]string{got[1], got[2], got[4]}, []string{name, name + "-late", name}) {
			h.t.Errorf("%s saw %q (exit %d)", name, x.Tail, x.Code)
		}
	}
	return goOn, end
}

// TestCachesBeside shows that sessions that are at work at the same time, as those of
// several lanes are, write each its own caches, and neither another's nor those of a
// check, also where a machine has no mounts to show them at one path.
func TestCachesBeside(t *testing.T) {
	t.Parallel()
	atEachLevel(t, func(t *testing.T, level int) {
		h := newFixture(t, level)
		goOne, endOne := h.cachesBeside("one", ledger.CacheUse{Name: "task-1"})
		goTwo, endTwo := h.cachesBeside("two", ledger.CacheUse{Name: "task-2"})
		goCheck, endCheck := h.cachesBeside("check", ledger.CacheUse{Name: "check", Anew: true})
		goOne()
		endOne()
		goTwo()
		endTwo()
		goCheck()
		endCheck()
		l := h.launch("r1-base")
		l.Kind, l.Cache, l.Command = ledger.KindVerify, ledger.CacheUse{Trusted: true}, "ls $GOCACHE ~/.cargo/registry/"
		h.start(l)
		if x := h.wait(l.Session); len(strings.Fields(x.Tail)) != 2 {
			t.Errorf("the project's own caches have %q", x.Tail)
		}
	})
}

// TestGrantedCaches shows that what a session writes into a folder that the
// configuration names as a cache reaches nobody else, where there are mounts.
func TestGrantedCaches(t *testing.T) {
	dir := t.TempDir()
	h := newFixture(t, 3, func(o *Options) { o.Cache = []string{dir} })
	if ok, why := h.runner.Mounts(); !ok {
		t.Skipf("SKIPPED: %s", why)
	}
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		session, command string
		use              ledger.CacheUse
	}{
		{"r1-c1", "echo good >" + dir + "/dep", ledger.CacheUse{Trusted: true}},
		{"r1-c2", "rm " + dir + "/dep; echo poison >" + dir + "/dep; grep -q poison " + dir + "/dep", ledger.CacheUse{Name: "task-1"}},
		{"r1-c3", "grep -q good " + dir + "/dep", ledger.CacheUse{Name: "check", Anew: true}},
	} {
		l := h.launch(c.session)
		l.Kind, l.Command, l.Cache = ledger.KindVerify, c.command, c.use
		h.start(l)
		if x := h.wait(l.Session); x.Code != 0 {
			t.Errorf("%s: exit %d\n%s", c.command, x.Code, x.Tail)
		}
	}
	if data, err := os.ReadFile(filepath.Join(dir, "dep")); err != nil || string(data) != "good\n" {
		t.Errorf("the folder holds %q, %v", data, err)
	}
}

// TestCacheDropped keeps no part of a cache under its name when its removal is
// cut off: a mount in it stands for a crash.
func TestCacheDropped(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("SKIPPED: only root can mount")
	}
	root := t.TempDir()
	stuck := filepath.Join(root, "task-1", "0", "go-mod")
	if err := os.MkdirAll(stuck, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mount("none", stuck, "tmpfs", 0, "size=64k"); err != nil {
		t.Fatal(err)
	}
	unmount := sync.OnceFunc(func() {
		for _, name := range []string{"task-1", cacheGone} {
			_ = unix.Unmount(filepath.Join(root, name, "0", "go-mod"), unix.MNT_DETACH)
		}
	})
	t.Cleanup(unmount)
	c := cacheSet{root: root, use: ledger.CacheUse{Name: "task-1", Anew: true}}
	if err := c.forget(); err == nil {
		t.Fatal("the mount was removed")
	}
	if _, err := os.Lstat(filepath.Join(root, "task-1")); err == nil {
		t.Error("a part of the cache is left under its name")
	}
	unmount()
	if err := c.forget(); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(root); err != nil || len(left) > 0 {
		t.Errorf("left are %v, %v", left, err)
	}
}

// TestUmask runs sessions of another user, at the level without mounts, below a
// daemon whose umask keeps others out.
func TestUmask(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("SKIPPED: only root runs sessions as another user")
	}
	h := newFixture(t, 2)
	defer syscall.Umask(syscall.Umask(0o077))
	l := h.launch("r1-c1")
	l.Kind, l.Command, l.Cache = ledger.KindVerify, "echo x >$GOCACHE/x && echo x >$HOME/x && cat $GOCACHE/x && umask", ledger.CacheUse{Name: "check", Anew: true}
	h.start(l)
	if x := h.wait(l.Session); x.Code != 0 || x.Tail != "x\n0022\n" {
		t.Errorf("printed %q (%s %s)", x.Tail, x.Reason, x.Text)
	}
}
