package importtest

import (
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
)

// TestChildrenEnd holds packages whose tests start processes to internal/leaktest,
// which ends what they leave behind.
func TestChildrenEnd(t *testing.T) {
	tree := os.DirFS(root(t))
	starts, looks := map[string]string{}, map[string]bool{}
	err := fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return nil //nolint:nilerr // somebody's temporary file
		case d.IsDir() && name != "." && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".")):
			return fs.SkipDir
		case !strings.HasSuffix(name, "_test.go"):
			return nil
		}
		imports, err := importsOf(tree, name)
		if err != nil {
			return err
		}
		if slices.Contains(imports, "os/exec") {
			starts[path.Dir(name)] = path.Base(name)
		}
		if slices.Contains(imports, module+"/internal/leaktest") {
			looks[path.Dir(name)] = true
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(starts) < 10 {
		t.Fatalf("only %d packages start processes: is this the repository's root?", len(starts))
	}
	for folder, file := range starts {
		if !looks[folder] && folder != "internal/leaktest" {
			t.Errorf("%s/%s imports os/exec, and no TestMain of the package calls leaktest.Main", folder, file)
		}
	}
}
