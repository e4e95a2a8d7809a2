// Package storetest opens stores for the tests of other packages.
package storetest

import (
	"os"
	"testing"

	"github.com/nightporter/nightporter/store"
)

// Open opens the store of a folder and closes it at the end of the test.
func Open(t testing.TB, dir string) *store.Store {
	t.Helper()
	s, err := store.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// FastDir returns a folder in memory if the machine has one: a sync costs nothing
// there.
func FastDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "store-") //nolint:usetesting // t.TempDir is on a disk
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}
