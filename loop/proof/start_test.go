package proof

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

// TestTestsOnStart holds which files the proof that a new test fails without
// the change is made of.
func TestTestsOnStart(t *testing.T) {
	rust := string(cargoTree["src/lib.rs"].Data)
	for name, c := range map[string]struct {
		start, result Files
		write         []string
		remove        []string
		left          []string
	}{
		"new and changed tests": {goTree, goTree.with("a/a.go", "package a // new\n", "a/a_test.go", "package a\n", "a/b_test.go", "package a\n", "a/testdata/x", "1", "c/c.go", "package c\n"), []string{"a/a_test.go", "a/b_test.go", "a/testdata/x"}, nil, nil},
		"a test that moved":     {goTree, goTree.with("a/a_test.go", gone, "a/sum_test.go", "package a\n"), []string{"a/sum_test.go"}, []string{"a/a_test.go"}, nil},
		"helpers and snapshots": {npmTree, npmTree.with("src/testutil.js", "1", "src/new.js", "1", "src/a.spec.ts", "import './testutil'\n", "src/__snapshots__/a.snap", "1", "jest.config.js", "x"), []string{"src/__snapshots__/a.snap", "src/a.spec.ts", "src/testutil.js"}, nil, nil},
		"conftest":              {pyTree, pyTree.with("tests/conftest.py", "x = 1\n", "tests/test_b.py", "x\n", "app/core.py", "y\n"), []string{"tests/conftest.py", "tests/test_b.py"}, nil, nil},
		"a rust module":         {cargoTree, cargoTree.with("src/lib.rs", strings.Replace(strings.Replace(rust, "a + b", "b + a", 1), "(1, 2), 3", "(2, 2), 4", 1)), []string{"src/lib.rs"}, nil, nil},
		"a new rust source":     {cargoTree, cargoTree.with("src/sub.rs", rust), nil, nil, []string{"shadowed src/sub.rs mod tests"}},
		"no test":               {goTree, goTree.with("a/a.go", "package a\n"), nil, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			set, _ := Find(c.start, Project{})
			p, err := TestsOnStart(set, c.start, c.result)
			if err != nil {
				t.Fatal(err)
			}
			if got := slices.Sorted(maps.Keys(p.Write)); !slices.Equal(got, c.write) || !slices.Equal(p.Remove, c.remove) || !slices.Equal(describe(p.Left), c.left) {
				t.Errorf("write %q, remove %q, left %q", got, p.Remove, describe(p.Left))
			}
			if w, ok := p.Write["src/lib.rs"]; ok && (!strings.Contains(string(w.Data), "a + b") || !strings.Contains(string(w.Data), "(2, 2), 4")) {
				t.Errorf("%s", w.Data)
			}
		})
	}
}
