//go:build linux

package statelock_test

import (
	"errors"
	"testing"

	"github.com/nightporter/nightporter/internal/fake/netfs"
	"github.com/nightporter/nightporter/internal/statelock"
)

// TestNoLocks checks that a folder whose file system has no locks is refused, and
// says so, and that one on another network file system is taken once.
func TestNoLocks(t *testing.T) {
	f := netfs.Mount(t, t.TempDir(), netfs.Limits{NoLocks: true})
	lock, err := statelock.Take(f.Dir)
	var none *statelock.NoLocksError
	if !errors.As(err, &none) {
		t.Errorf("taken: %v, %v", lock, err)
	}
	f = netfs.Mount(t, t.TempDir(), netfs.Limits{Flat: true, NoLinks: true})
	if lock, err = statelock.Take(f.Dir); err != nil {
		t.Fatal(err)
	}
	var inUse *statelock.InUseError
	if _, err := statelock.Take(f.Dir); !errors.As(err, &inUse) {
		t.Errorf("taken twice: %v", err)
	}
	if err := lock.Release(); err != nil {
		t.Error(err)
	}
}
