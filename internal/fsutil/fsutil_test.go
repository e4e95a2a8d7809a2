package fsutil_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/nightporter/nightporter/internal/fake/netfs"
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

// TestPublish checks that a name is given once, with links and without.
func TestPublish(t *testing.T) {
	for name, dir := range map[string]string{"links": t.TempDir(), "no links": netfs.Mount(t, t.TempDir(), netfs.Limits{NoLinks: true}).Dir} {
		path := filepath.Join(dir, "key")
		for n, text := range []string{"first", "second"} {
			temp := filepath.Join(dir, text)
			if err := os.WriteFile(temp, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			err := fsutil.Publish(temp, path)
			if n == 0 && err != nil || n == 1 && !errors.Is(err, fs.ErrExist) {
				t.Errorf("%s: %s: %v", name, text, err)
			}
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != "first" {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}
