package propose

import (
	"io/fs"
	"path"
	"slices"
)

// testFolders are names of folders that hold nothing but tests, and that loop/proof
// does not take for such without being told, because it knows tests by the names
// that their languages give them.
var testFolders = []string{
	"acceptance", "acceptance-tests", "acceptance_tests", "e2e-tests", "e2e_tests", "features", "functional-tests", "functional_tests",
	"integration-tests", "integration_tests", "qa", "regress", "regression", "regression-tests", "regression_tests", "smoke-tests", "smoke_tests", "system-tests", "system_tests",
}

// maxTests is the number of globs that are proposed.
const maxTests = 8

// tests returns globs for the setting "tests": folders of tests with unusual names,
// in the top folder and in its subfolders.
func (f *Found) tests(top folder) {
	for _, in := range append([]folder{top}, top.below()...) {
		if slices.Contains(testFolders, in.dir) {
			continue // named as a whole already
		}
		for _, name := range testFolders {
			dir := path.Join(in.dir, name)
			if info, err := fs.Lstat(top.fs, dir); err == nil && info.IsDir() && len(f.Tests) < maxTests {
				f.Tests = append(f.Tests, dir+"/**")
			}
		}
	}
}
