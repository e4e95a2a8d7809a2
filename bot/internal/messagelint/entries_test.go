package messagelint

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/nightporter/nightporter/loop/ledger"
)

// tellerFiles are the files of each teller, as a glob below the folder bot.
var tellerFiles = map[Teller]string{
	Console: "termlog/*.go", Notify: "notify/*.go", Report: "report/*.go", Log: "log.go", Evidence: "evidence.go",
}

// handledBy returns the entries, by Go type, that a teller's files handle: in
// the cases of a type switch and in type assertions.
func handledBy(t *testing.T, pattern string) map[string]bool {
	t.Helper()
	dir := os.DirFS(filepath.Join("..", ".."))
	files, err := fs.Glob(dir, pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("no files %s: %v", pattern, err)
	}
	found := map[string]bool{}
	take := func(e ast.Expr) {
		if s, is := e.(*ast.SelectorExpr); is && typeName(s.X) == "ledger" {
			found[s.Sel.Name] = true
		}
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		text, err := fs.ReadFile(dir, name)
		if err != nil {
			t.Fatal(err)
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, text, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.TypeSwitchStmt:
				for _, c := range n.Body.List {
					for _, e := range c.(*ast.CaseClause).List {
						take(e)
					}
				}
			case *ast.TypeAssertExpr:
				if n.Type != nil {
					take(n.Type)
				}
			}
			return true
		})
	}
	return found
}

// TestEntries compares the table with the ledger's entry types and with the code
// of the tellers.
func TestEntries(t *testing.T) {
	types := map[string]bool{}
	for _, body := range ledger.Bodies() {
		types[body.EntryType()] = true
		if _, ok := Entries[body.EntryType()]; !ok {
			t.Errorf("%q has no row: say who tells it, or that it is silent", body.EntryType())
		}
	}
	for name := range Entries {
		if !types[name] {
			t.Errorf("%q has a row and is no entry type", name)
		}
	}
	for teller, pattern := range tellerFiles {
		handles := handledBy(t, pattern)
		for _, body := range ledger.Bodies() {
			typ := reflect.TypeOf(body)
			says := slices.Contains(Entries[body.EntryType()], teller)
			if does := handles[typ.Name()]; does != says {
				t.Errorf("%q is told by %s: the table says %v, and bot/%s handles %s: %v", body.EntryType(), teller, says, pattern, typ.Name(), does)
			}
		}
	}
}
