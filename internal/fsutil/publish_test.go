//go:build linux

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
