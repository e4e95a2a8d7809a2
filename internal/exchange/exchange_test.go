package exchange_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/nightporter/nightporter/internal/exchange"
)

func TestFiles(t *testing.T) {
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	for _, path := range []string{a, b} {
		if err := os.WriteFile(path, []byte(path), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	err := exchange.Files(a, b)
	if errors.Is(err, errors.ErrUnsupported) {
		t.Skip("this system cannot exchange two files")
	}
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{a: b, b: a} {
		if got, err := os.ReadFile(path); err != nil || string(got) != want {
			t.Errorf("%s has %q, %v, want %q", path, got, err, want)
		}
	}
	if err := exchange.Files(a, filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("with a name that is not there: %v", err)
	}
}
