package importtest

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// pure are the packages whose functions depend on their arguments alone: no
// I/O, clock, goroutine, lock or random number, so that a night can be
// replayed from its ledger (docs/architecture.md 2).
var pure = []string{"loop", "loop/cause", "loop/glob", "loop/history", "loop/ledger", "loop/outlook", "loop/payload", "loop/prompt", "loop/stats", "loop/testreport", "guidance"}

// pureImports is all that they import besides this module. It is a list
// of what is harmless rather than of what is not, so that a new import is
// looked at once.
var pureImports = []string{
	"bytes", "cmp", "crypto/sha256", "encoding/hex", "encoding/json", "errors", "fmt", "html", "iter", "maps", "math/bits", "net/netip", "path", "reflect", "regexp",
	"slices", "sort", "strconv", "strings", "time", "unicode", "unicode/utf8",

	publicSuffixes,
	"github.com/bmatcuk/doublestar/v4", // Match and ValidatePattern; nothing of it that opens a file
}

// impure are the functions in harmless packages that are not.
var impure = map[string][]string{
	"time": {
		"After", "AfterFunc", "Local", "LoadLocation", "NewTicker", "NewTimer", "Now", "Since", "Sleep", "Tick", "Until",
	},
	"fmt": {"Print", "Printf", "Println", "Scan", "Scanf", "Scanln"},
}

func TestCoreIsPure(t *testing.T) {
	for _, folder := range pure {
		names, err := filepath.Glob(filepath.Join(root(t), folder, "*.go"))
		if err != nil || len(names) == 0 {
			t.Fatalf("no files in %s: %v", folder, err)
		}
		for _, name := range names {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			found, err := impurities(path.Join(folder, filepath.Base(name)), text)
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range found {
				t.Error(f)
			}
		}
	}
}

// impurities are the places in a file's text where it does more than compute.
func impurities(name string, text []byte) ([]string, error) {
	set := token.NewFileSet()
	f, err := parser.ParseFile(set, name, text, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	var out []string
	object := func(pos token.Pos, format string, args ...any) {
		at := set.Position(pos)
		out = append(out, fmt.Sprintf("%s:%d %s; the core is pure", at.Filename, at.Line, fmt.Sprintf(format, args...)))
	}
	imported := map[string]string{} // local name → path
	for _, spec := range f.Imports {
		p, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(pureImports, p) && !strings.HasPrefix(p, module+"/") {
			object(spec.Pos(), "imports %s", p)
		}
		local := path.Base(p)
		if spec.Name != nil {
			local = spec.Name.Name
		}
		if local == "." {
			object(spec.Pos(), "imports %s without a name, so its functions cannot be told from its own", p)
		}
		imported[local] = p
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			object(n.Pos(), "starts a goroutine")
		case *ast.SelectStmt:
			object(n.Pos(), "selects on channels")
		case *ast.ChanType:
			object(n.Pos(), "has a channel")
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok && slices.Contains(impure[imported[x.Name]], n.Sel.Name) {
				object(n.Pos(), "uses %s.%s", imported[x.Name], n.Sel.Name)
			}
		case *ast.CallExpr:
			if x, ok := n.Fun.(*ast.Ident); ok && (x.Name == "print" || x.Name == "println") {
				object(n.Pos(), "prints")
			}
		}
		return true
	})
	return out, nil
}

func TestImpuritiesAreFound(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"goroutine", "package x\nfunc f() { go f() }", "x.go:2 starts a goroutine"},
		{"clock", "package x\nimport \"time\"\nvar now = time.Now()", "x.go:3 uses time.Now"},
		{"clock under another name", "package x\nimport c \"time\"\nfunc f() { _ = c.Since }", "x.go:3 uses time.Since"},
		{"clock as a value", "package x\nimport \"time\"\nvar clock = time.Now", "x.go:3 uses time.Now"},
		{"timer", "package x\nimport \"time\"\nfunc f() { time.Sleep(1) }", "x.go:3 uses time.Sleep"},
		{"zone of this machine", "package x\nimport \"time\"\nvar z = time.Local", "x.go:3 uses time.Local"},
		{"files", "package x\nimport \"os\"\nvar _ = os.Args", "x.go:2 imports os"},
		{"network", "package x\nimport _ \"net\"", "x.go:2 imports net"},
		{"chance", "package x\nimport \"math/rand/v2\"\nvar _ = rand.Int", "x.go:2 imports math/rand/v2"},
		{"lock", "package x\nimport \"sync\"\nvar mu sync.Mutex", "x.go:2 imports sync"},
		{"output", "package x\nimport \"fmt\"\nfunc f() { fmt.Println() }", "x.go:3 uses fmt.Println"},
		{"built-in output", "package x\nfunc f() { println(1) }", "x.go:2 prints"},
		{"channel", "package x\ntype t struct{ c chan int }", "x.go:2 has a channel"},
		{"dot import", "package x\nimport . \"time\"\nvar n = Now()", "x.go:2 imports time without a name"},
	} {
		t.Run(c.name, func(t *testing.T) {
			found, err := impurities("x.go", []byte(c.text))
			if err != nil {
				t.Fatal(err)
			}
			if !slices.ContainsFunc(found, func(f string) bool { return strings.HasPrefix(f, c.want) }) {
				t.Errorf("found %q, want %q", found, c.want)
			}
		})
	}
	fine := "package x\nimport (\"fmt\"; \"time\")\nfunc f(t time.Time) string { return fmt.Sprint(t.Add(time.Hour)) }"
	if found, err := impurities("x.go", []byte(fine)); err != nil || len(found) > 0 {
		t.Errorf("what is pure is objected to: %q %v", found, err)
	}
}
