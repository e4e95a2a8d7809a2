package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nightporter/nightporter/config"
)

// TestDuFloor checks that nobody is asked to stop nightporter for a few megabytes.
func TestDuFloor(t *testing.T) {
	state := t.TempDir()
	cache := filepath.Join(state, "caches", "shop", "base")
	if err := os.MkdirAll(cache, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(cache, "x"), bytes.Repeat([]byte("x"), 5e6), 0o600); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := diskUse(t.Context(), &out, state, config.Retention{}, false); err != nil {
		t.Fatal(err)
	}
	if text := out.String(); strings.Contains(text, "To free") || !strings.Contains(text, "5.0 MB") {
		t.Errorf("printed:\n%s", text)
	}
	for disk, want := range map[uint64]int64{0: 1, 1e9: 10e6, 10e9: 100e6, 4e12: 100e6} {
		if got := worthFreeing(disk); got != want {
			t.Errorf("worth freeing on a disk of %d: %d, want %d", disk, got, want)
		}
	}
}
