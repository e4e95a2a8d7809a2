package loop_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// TestAnswerCodesAreConstants checks that code uses the constants of package
// ledger for answer codes, so that a misspelt code is a compile error.
func TestAnswerCodesAreConstants(t *testing.T) {
	seen := 0
	for _, root := range []string{".", "../bot", "../cmd", "../internal"} {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			set := token.NewFileSet()
			file, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			literal := func(e ast.Expr) {
				if lit, is := e.(*ast.BasicLit); is && lit.Kind == token.STRING {
					t.Errorf("%s: code %s is no constant", set.Position(lit.Pos()), lit.Value)
				}
			}
			code := func(e ast.Expr) bool {
				s, is := e.(*ast.SelectorExpr)
				return is && s.Sel.Name == "Code"
			}
			ast.Inspect(file, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.CallExpr:
					if s, is := n.Fun.(*ast.SelectorExpr); is && s.Sel.Name == "refuse" && len(n.Args) > 1 {
						seen++
						literal(n.Args[0])
					}
				case *ast.KeyValueExpr:
					if key, is := n.Key.(*ast.Ident); is && key.Name == "Code" {
						literal(n.Value)
					}
				case *ast.BinaryExpr:
					if code(n.X) {
						literal(n.Y)
					}
				case *ast.AssignStmt:
					for i, to := range n.Lhs {
						if code(to) && i < len(n.Rhs) {
							literal(n.Rhs[i])
						}
					}
				}
				return true
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if seen < 60 {
		t.Errorf("%d refusals found: the test looks for the wrong calls", seen)
	}
}
