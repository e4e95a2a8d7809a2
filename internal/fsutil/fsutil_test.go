package fsutil_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/nightporter/nightporter/internal/fsutil"
)

func TestReplace(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	for _, text := range []string{"one", "another", ""} {
		if err := fsutil.Replace(path, []byte(text), 0o640); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(path)
		if err != nil || string(got) != text {
			t.Errorf("read %q, %v, want %q", got, err, text)
		}
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if err := os.Mkdir(filepath.Join(dir, "folder"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := fsutil.Replace(filepath.Join(dir, "folder"), nil, 0o600); err == nil {
		t.Error("a folder was replaced by a file")
	}
	if err := fsutil.SyncDir(dir); err != nil {
		t.Error(err)
	}
	if err := fsutil.SyncDir(filepath.Join(dir, "none")); err == nil {
		t.Error("a folder that is not there was synced")
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 2 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
