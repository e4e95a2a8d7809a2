package importtest

import (
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// darwinPackage is a package as go list describes it.
type darwinPackage struct {
	ImportPath string
	Dir        string
	GoFiles    []string
	ImportMap  map[string]string // what the files name, where the package is another
	Standard   bool
}

// TestDarwin checks the types of all packages as on macOS, which nothing here runs on.
// Of other modules it reads declarations only: to compile them, and Go's own packages,
// would take as long as for Linux. Cgo is off, because no C compiler for macOS is here;
// the only C is SQLite.
func TestDarwin(t *testing.T) {
	cmd := exec.Command("go", "list", "-deps", "-json=ImportPath,Dir,GoFiles,ImportMap,Standard", "./...")
	cmd.Dir = root(t)
	cmd.Env = append(os.Environ(), "GOOS=darwin", "GOARCH=arm64", "CGO_ENABLED=0")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	checked := map[string]*types.Package{"unsafe": types.Unsafe}
	own := 0
	for list := json.NewDecoder(strings.NewReader(string(out))); ; { // what is imported comes first
		var p darwinPackage
		if err := list.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		if p.ImportPath == "unsafe" {
			continue
		}
		ours := p.ImportPath == module || strings.HasPrefix(p.ImportPath, module+"/")
		if ours {
			own++
		}
		checked[p.ImportPath] = p.check(t, ours, checked)
	}
	if own < 50 {
		t.Errorf("only %d packages of ours were found", own)
	}
}

// check returns the package's types. Its functions are checked if whole is set.
func (p darwinPackage) check(t *testing.T, whole bool, checked map[string]*types.Package) *types.Package {
	set := token.NewFileSet()
	var files []*ast.File
	for _, name := range p.GoFiles {
		f, err := parser.ParseFile(set, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	conf := types.Config{
		IgnoreFuncBodies: !whole,
		Sizes:            types.SizesFor("gc", "arm64"),
		Importer: importer(func(path string) (*types.Package, error) {
			if other, is := p.ImportMap[path]; is {
				path = other
			}
			return checked[path], nil
		}),
		Error: func(err error) { t.Error(err) },
	}
	types, _ := conf.Check(p.ImportPath, set, files, nil) // Error has the errors
	return types
}

type importer func(path string) (*types.Package, error)

func (i importer) Import(path string) (*types.Package, error) { return i(path) }

// notOnLinux are the files that stand for what only Linux has, with what the page says of
// it. "" is for tests, or changes nothing.
var notOnLinux = map[string]string{
	"cmd/nightporter/termios_other.go":         "",
	"internal/copytree/clone_other.go":         "files that share their content",
	"internal/daemon/daemontest/exit_other.go": "",
	"internal/daemon/load_other.go":            "",
	"internal/daemon/memory_other.go":          "",
	"internal/diskuse/network_other.go":        "state folders on network file systems",
	"internal/exchange/exchange_other.go":      "two files cannot be swapped",
	"internal/leaktest/leaktest_other.go":      "",
	"internal/programtest/disk_other.go":       "",
	"internal/settle/open_other.go":            "a program that has the list open is not noticed",
	"loop/agent/kernel_other.go":               "the boundary: namespaces",
	"loop/task/file_other.go":                  "",
	"store/driver_missing.go":                  "SQLite is written in C",
}

// TestLinuxOnly checks that docs/operating.md names everything that only Linux has.
func TestLinuxOnly(t *testing.T) {
	_, section, _ := strings.Cut(page(t, "docs/operating.md"), "\n### macOS\n")
	section, _, _ = strings.Cut(section, "\n## ")
	found := 0
	err := fs.WalkDir(os.DirFS(root(t)), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") {
			if d != nil && d.IsDir() && strings.HasPrefix(d.Name(), ".") && path != "." {
				return fs.SkipDir
			}
			return err
		}
		src, err := os.ReadFile(filepath.Join(root(t), path))
		if err != nil {
			return err
		}
		head, _, _ := strings.Cut(string(src), "\npackage ")
		if strings.HasSuffix(path, "_test.go") || !strings.Contains(head, "//go:build") || !strings.Contains(head, "!linux") {
			return nil
		}
		found++
		switch says, is := notOnLinux[path]; {
		case !is:
			t.Errorf("%s has no row: what is it that macOS lacks, and where does docs/operating.md say so?", path)
		case !strings.Contains(section, says):
			t.Errorf("docs/operating.md, macOS, does not say %q, which %s stands for", says, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if found != len(notOnLinux) {
		t.Errorf("%d files are built where Linux is not, and %d have a row", found, len(notOnLinux))
	}
}
