//go:build linux

package netfs

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// TestLimits checks what a mounted folder can do, and what its limits keep it from.
func TestLimits(t *testing.T) {
	for _, c := range []struct {
		limits                       Limits
		exchange, lock, chown, open1 error
	}{
		{},
		{limits: Limits{Flat: true}, exchange: syscall.EINVAL},
		{limits: Limits{NoLocks: true}, lock: syscall.ENOLCK},
		{limits: Limits{NoChown: true}, chown: syscall.EPERM},
		{limits: Limits{Stale: 2}, open1: syscall.ESTALE}, // the kernel tries once more itself,
	} {
		below := t.TempDir()
		for _, name := range []string{"a", "b"} {
			if err := os.WriteFile(filepath.Join(below, name), []byte(name), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		f := Mount(t, below, c.limits)
		a, b := filepath.Join(f.Dir, "a"), filepath.Join(f.Dir, "b")
		if _, err := os.ReadFile(a); !errors.Is(err, c.open1) {
			t.Errorf("%+v: the first read: %v", c.limits, err)
		}
		if err := unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE); !errors.Is(err, c.exchange) {
			t.Errorf("%+v: exchange: %v", c.limits, err)
		}
		if err := os.Chown(a, 1, 1); !errors.Is(err, c.chown) {
			t.Errorf("%+v: chown: %v", c.limits, err)
		}
		file, err := os.Open(b)
		if errors.Is(err, syscall.ESTALE) {
			file, err = os.Open(b)
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB); !errors.Is(err, c.lock) {
			t.Errorf("%+v: lock: %v", c.limits, err)
		}
		if err := file.Close(); err != nil {
			t.Error(err)
		}
	}
}
