package programtest

import (
	"bytes"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/nightporter/nightporter/internal/leaktest"
)

func TestMain(m *testing.M) { leaktest.Main(func() int { return Run(m) }) }

// TestBuildOnce: packages that run beside each other get programs that one of
// them linked.
func TestBuildOnce(t *testing.T) {
	DependOnSources(t)
	root, err := moduleRoot()
	if err != nil {
		t.Fatal(err)
	}
	shared := filepath.Join(root, ".cache", "programs")
	stat := func(name string) os.FileInfo {
		info, err := os.Stat(filepath.Join(shared, name))
		if err != nil {
			t.Fatal(err)
		}
		return info
	}
	before := map[string]os.FileInfo{"nightporter": stat("nightporter"), "hat": stat("hat"), "nightporter-shim": stat("nightporter-shim")}
	var wg sync.WaitGroup
	dirs := []string{t.TempDir(), t.TempDir(), t.TempDir()}
	for _, dir := range dirs {
		wg.Go(func() {
			if err := build(shared, dir); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	for name, info := range before {
		if !os.SameFile(info, stat(name)) {
			t.Errorf("%s was linked again", name)
		}
		want, err := os.ReadFile(filepath.Join(shared, name))
		if err != nil {
			t.Fatal(err)
		}
		for _, dir := range dirs {
			got, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil || !bytes.Equal(got, want) {
				t.Errorf("%s of %d bytes, want %d: %v", name, len(got), len(want), err)
			}
		}
	}
}
