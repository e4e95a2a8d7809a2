package messagelint

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
)

// makers maps each function whose first argument is a message key to the prefix
// that it puts in front of that argument.
var makers = map[string]string{"newMessage": "", "refusal": "", "message": "", "words": "", "unsettled": "", "receipt": "guidance.", "say": "status."}

// keysIn returns the keys in the files of a folder: complete ones, and the
// prefixes of those that are concatenated.
func keysIn(t *testing.T, dir fs.FS) (whole, begun map[string]string) {
	t.Helper()
	whole, begun = map[string]string{}, map[string]string{}
	files, err := fs.Glob(dir, "*.go")
	if err != nil {
		t.Fatal(err)
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
		take := func(e ast.Expr, front string) {
			switch e := e.(type) {
			case *ast.BasicLit:
				if key, err := strconv.Unquote(e.Value); err == nil && e.Kind == token.STRING && !strings.ContainsAny(key, " /%") && key != "" {
					whole[front+key] = name
				}
			case *ast.BinaryExpr:
				if lit, is := e.Y.(*ast.BasicLit); is && typeName(e.X) == "KeyDigest" {
					if end, err := strconv.Unquote(lit.Value); err == nil {
						whole["digest"+end] = name
					}
				}
				if lit, is := e.X.(*ast.BasicLit); is {
					if key, err := strconv.Unquote(lit.Value); err == nil {
						begun[front+key] = name
					}
				}
			}
		}
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				if fn, is := n.Fun.(*ast.Ident); is && len(n.Args) > 1 {
					if front, makes := makers[fn.Name]; makes {
						take(n.Args[0], front)
					}
				}
			case *ast.CompositeLit:
				if !strings.HasSuffix(typeName(n.Type), "Message") || strings.HasPrefix(typeName(n.Type), "Sent") || strings.HasPrefix(typeName(n.Type), "Queued") {
					return true
				}
				for _, e := range n.Elts {
					if kv, is := e.(*ast.KeyValueExpr); is && typeName(kv.Key) == "Key" {
						take(kv.Value, "")
					}
				}
			case *ast.AssignStmt: // m.Key = "again.away"
				for i, to := range n.Lhs {
					if to := typeName(to); (to == "Key" || to == "key") && i < len(n.Rhs) {
						take(n.Rhs[i], "")
					}
				}
			case *ast.ValueSpec: // KeyHelp = "help"
				for i, id := range n.Names {
					if strings.HasPrefix(id.Name, "Key") && i < len(n.Values) {
						take(n.Values[i], "")
					}
				}
			}
			return true
		})
	}
	return whole, begun
}

func typeName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return e.Sel.Name
	}
	return ""
}

// TestKeys compares the table with the source: it fails for a key that is not in
// the table, and for one that nothing sends.
func TestKeys(t *testing.T) {
	sent, begun := map[string]bool{}, map[string]bool{}
	for _, dir := range []string{".", "inbound", "delivery", "report", "notify"} {
		folder := os.DirFS(filepath.Join("..", "..", dir))
		if files, _ := fs.Glob(folder, "*.go"); len(files) == 0 {
			t.Errorf("bot/%s has no source: is it elsewhere now?", dir)
		}
		whole, beginnings := keysIn(t, folder)
		for key, file := range whole {
			sent[key] = true
			if _, known := lookUp(key); !known {
				t.Errorf("bot/%s/%s sends %q: say in the table of this package whether it is pushed, and what its last line begins with", dir, file, key)
			}
		}
		for key := range beginnings {
			begun[key] = true
		}
	}
	if len(sent) < 60 || len(begun) < 5 {
		t.Fatalf("only %d keys and %d beginnings were found: is the source elsewhere?", len(sent), len(begun))
	}
	for key := range Keys {
		found := sent[key]
		for b := range begun {
			found = found || strings.HasPrefix(key, b)
		}
		if star, all := strings.CutSuffix(key, "*"); all {
			found = begun[star] || star == "words."
		}
		if !found {
			t.Errorf("nothing sends %q any more: take it out of the table", key)
		}
	}
}

// TestKeysFound: the search finds planted keys.
func TestKeysFound(t *testing.T) {
	whole, begun := keysIn(t, fstest.MapFS{"a.go": {Data: []byte("package a\nvar _ = newMessage(\"new.one\", \"x\")\nvar _ = newMessage(\"ask.\"+kind, \"x\")\nvar _ = bot.Message{Key: \"other\"}\nvar _ = receipt(\"taken\", \"x\")")}})
	if len(whole) != 3 || whole["new.one"] == "" || whole["other"] == "" || whole["guidance.taken"] == "" || begun["ask."] == "" {
		t.Errorf("found %v and %v", whole, begun)
	}
}
