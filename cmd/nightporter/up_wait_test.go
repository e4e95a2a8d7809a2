package main_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/nightporter/nightporter/internal/programtest"
)

// mount mounts a file system at target until the end of the test.
func mount(t *testing.T, source, target, kind string, flags uintptr, data string) {
	t.Helper()
	if err := os.MkdirAll(target, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mount(source, target, kind, flags, data); err != nil {
		t.Skipf("SKIPPED: no file system can be mounted here: %v", err)
	}
	t.Cleanup(func() { _ = unix.Unmount(target, unix.MNT_DETACH) })
}

// awaitOutput waits until a process has printed text.
func awaitOutput(t *testing.T, p *programtest.Process, text string) {
	t.Helper()
	if err := programtest.WaitFor(text, func() (bool, error) { return strings.Contains(p.Out.String(), text), nil }); err != nil {
		t.Fatalf("%v\n%s", err, p.Out)
	}
}

// TestUpWaitsForDisk starts the daemon in a state folder whose file system is
// full or read-only, and mends it.
func TestUpWaitsForDisk(t *testing.T) {
	for name, c := range map[string]struct {
		harm, mend func(t *testing.T, dir string)
		says       string
	}{
		"full": {
			harm: func(t *testing.T, dir string) {
				mount(t, "none", dir, "tmpfs", 0, "size=64m")
				f, err := os.Create(filepath.Join(dir, "fill"))
				if err != nil {
					t.Fatal(err)
				}
				for block := make([]byte, 4096); ; {
					if _, err := f.Write(block); err != nil {
						break
					}
				}
				_ = f.Close()
			},
			mend: func(t *testing.T, dir string) { _ = os.Remove(filepath.Join(dir, "fill")) },
			says: "no space left on device",
		},
		"read-only": {
			harm: func(t *testing.T, dir string) { mount(t, "none", dir, "tmpfs", unix.MS_RDONLY, "") },
			mend: func(t *testing.T, dir string) {
				if err := unix.Mount("none", dir, "tmpfs", unix.MS_REMOUNT, ""); err != nil {
					t.Fatal(err)
				}
			},
			says: "read-only file system",
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := newTestSystemd(t)
			dir := filepath.Join(m.Dir, "disk")
			c.harm(t, dir)
			p, err := m.Machine.Start([]string{"NOTIFY_SOCKET=" + m.notifyPath}, "up", "--state", filepath.Join(dir, "state"))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(p.Kill)
			awaitOutput(t, p, "Not started yet")
			m.awaitNotification("STATUS=not started yet: ", p)
			m.awaitNotification("EXTEND_TIMEOUT_USEC=", p)
			m.awaitNotification("EXTEND_TIMEOUT_USEC=", p) // of a second try
			if n := strings.Count(p.Out.String(), c.says); n != 1 {
				t.Errorf("%q %d times, want once:\n%s", c.says, n, p.Out)
			}
			c.mend(t, dir)
			m.awaitNotification("READY=1", p)
			m.stop(p, syscall.SIGTERM, 0)
		})
	}
}

// TestUpWaitsForMount starts the daemon while the disk with its state folder is
// not mounted: no second ledger is made below the mount point.
func TestUpWaitsForMount(t *testing.T) {
	m := newTestSystemd(t)
	if err := os.WriteFile(m.Path("repo", "plan.md"), []byte("- [ ] **Task 1: One**\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	disk, point := m.Path("disk"), m.Path("point")
	if out, code, err := m.Output("nightporter", "run", "--pattern", "single", "--state", filepath.Join(disk, "np")); err != nil || code != 0 {
		t.Fatalf("exit %d, %v\n%s", code, err, out)
	}
	p, err := m.Machine.Start([]string{"NOTIFY_SOCKET=" + m.notifyPath}, "up", "--state", filepath.Join(point, "np"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Kill)
	awaitOutput(t, p, "has a branch of an earlier one: nightporter/shop/r1")
	m.awaitNotification("EXTEND_TIMEOUT_USEC=", p)
	if _, err := os.Stat(point); err == nil {
		t.Error("a state folder was made below the mount point")
	}
	mount(t, disk, point, "", unix.MS_BIND, "")
	m.awaitNotification("READY=1", p)
	if out := m.Out("nightporter", "status", "--json", "--state", filepath.Join(point, "np")); !strings.Contains(out, `"run":"r1","state":"ended"`) {
		t.Errorf("another ledger: %s", out)
	}
	m.stop(p, syscall.SIGTERM, 0)
}

// TestUpWaitEnds ends a daemon that waits, by a signal, and begins anew with the
// command that it prints.
func TestUpWaitEnds(t *testing.T) {
	m := newTestSystemd(t)
	for _, branch := range []string{"r1", "r2", "r10"} {
		m.Out("git", "-C", m.Path("repo"), "branch", "nightporter/shop/"+branch)
	}
	up := func() *programtest.Process {
		p, err := m.Machine.Start([]string{"NOTIFY_SOCKET=" + m.notifyPath}, "up", "--state", m.Path("new"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(p.Kill)
		return p
	}
	p := up()
	awaitOutput(t, p, "Not started yet")
	m.stop(p, syscall.SIGTERM, 0)
	_, after, _ := strings.Cut(p.Out.String(), "To begin anew, rename such branches:\n")
	command, _, _ := strings.Cut(strings.TrimSpace(after), "\n")
	m.Out("sh", "-c", command)
	if got := m.Out("git", "-C", m.Path("repo"), "branch", "--format=%(refname:short)"); got != "main\nnightporter-shop-r1-old\nnightporter-shop-r10-old\nnightporter-shop-r2-old\n" {
		t.Errorf("after %s:\n%s", command, got)
	}
	p = up()
	m.awaitNotification("READY=1", p)
	m.stop(p, syscall.SIGTERM, 0)
}
