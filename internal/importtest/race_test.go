package importtest

import (
	"cmp"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestPlainPackages holds the packages that make test runs without the race
// detector to having no goroutines, their tests included: there would be
// nothing to find. A package that starts one comes off the Makefile's list.
func TestPlainPackages(t *testing.T) {
	list := regexp.MustCompile(`(?m)^PLAIN = (.*)$`).FindStringSubmatch(page(t, "Makefile"))
	if list == nil {
		t.Fatal("the Makefile has no line PLAIN = …")
	}
	for _, folder := range strings.Fields(list[1]) {
		files, err := filepath.Glob(filepath.Join(root(t), filepath.FromSlash(folder), "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		if len(files) == 0 {
			t.Errorf("%s is in the Makefile's PLAIN and has no files", folder)
		}
		for _, file := range files {
			set := token.NewFileSet()
			f, err := parser.ParseFile(set, file, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			for _, at := range concurrency(f) {
				t.Errorf("%v: goroutines, and the package is in the Makefile's PLAIN", set.Position(at))
			}
		}
	}
}

// TestSerialTests holds each name of the Makefile's SERIAL to one test, in a package
// that make test plays without the race detector, too: a pattern skips the tests of
// that name in every package.
func TestSerialTests(t *testing.T) {
	serial := regexp.MustCompile(`(?m)^SERIAL = (.*)$`).FindStringSubmatch(page(t, "Makefile"))
	both := regexp.MustCompile(`(?m)^BOTH = (.*)$`).FindStringSubmatch(page(t, "Makefile"))
	if serial == nil || both == nil {
		t.Fatal("the Makefile has no line SERIAL = …, or none BOTH = …")
	}
	found := map[string][]string{}
	err := fs.WalkDir(os.DirFS(root(t)), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && name != "." && strings.HasPrefix(d.Name(), ".") {
			return cmp.Or(err, fs.SkipDir)
		}
		if !strings.HasSuffix(name, "_test.go") {
			return nil
		}
		for _, m := range regexp.MustCompile(`(?m)^func (Test\w+)\(`).FindAllStringSubmatch(page(t, name), -1) {
			found[m[1]] = append(found[m[1]], "./"+path.Dir(name))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range strings.Split(serial[1], "|") {
		if in := found[name]; len(in) != 1 || !slices.Contains(strings.Fields(both[1]), in[0]) {
			t.Errorf("%s of the Makefile's SERIAL is a test of %v, want one of %s", name, in, both[1])
		}
	}
}

// concurrency finds where a file starts goroutines: by a statement, or by a call
// that does.
func concurrency(f *ast.File) (found []token.Pos) {
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			found = append(found, n.Pos())
		case *ast.CallExpr:
			if s, is := n.Fun.(*ast.SelectorExpr); is {
				switch s.Sel.Name {
				case "Go", "Parallel", "RunParallel", "AfterFunc":
					found = append(found, n.Pos())
				}
			}
		}
		return true
	})
	return found
}

func TestConcurrency(t *testing.T) {
	for code, want := range map[string]int{
		`x()`: 0, `go x()`: 1, `wg.Go(x)`: 1, `t.Parallel()`: 1, `b.RunParallel(x)`: 1, `time.AfterFunc(1, x)`: 1, `f := func() { go x() }; f()`: 1,
	} {
		f, err := parser.ParseFile(token.NewFileSet(), "a.go", "package a\nfunc f() { "+code+" }", 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := len(concurrency(f)); got != want {
			t.Errorf("%s: found %d, want %d", code, got, want)
		}
	}
}
