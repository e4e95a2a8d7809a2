package messagelint

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestJargon checks that each word is found, and that plain words are not.
func TestJargon(t *testing.T) {
	for _, text := range []string{
		"Baseline: go test passes.", "Boundary level 3.", "Boundary 3 · Ledger 291:30", "6 verification red", "verification is red", "the branch tip is verified",
		"r1's red tip", "ended without an accepted event (exit 1, 1 refused)", "✓ claim claude 23:10", "✗ submit fail", "✗ #3 a1: go build", "a1", "the preflight",
		"the same tree as after round 1", "goes on from its tree", "the attempt converged", "attempt 1 stalled", "wall limit",
	} {
		if word, plain := Jargon(text); word == "" || plain == "" {
			t.Errorf("nothing is found in %q", text)
		}
	}
	for _, text := range []string{
		"At the start: go test passes.", "changed 1 file +4 −1", "Sessions write only into their own folders.", "q3 a · q3 b", "✓ given to claude (claim) 23:10", "A claim is not a result",
		"The branch fails its checks.", "tired", "Ledger 291:a1b2", "last event 01:57",
	} {
		if word, plain := Jargon(text); word != "" {
			t.Errorf("%q has %q: %s", text, word, plain)
		}
	}
}

// goldens are the folders whose golden files show what people read, below bot/.
var goldens = []string{"testdata", "notify/testdata", "report/testdata", "termlog/testdata", "inbound/testdata", "tui/testdata", "internal/acceptance/testdata", "slack/testdata"}

// notSaid matches lines of golden files that no person reads, or that are no words of
// nightporter: headings of a test, the keys of messages, quotes, and what a person typed.
var notSaid = regexp.MustCompile(`^\s*(===?|──|▸|>|┃|»|«)|^[\d:]+\s+> |^push |^edit |^\[`)

// TestJargonGoldens checks that no golden file of a chat or of the terminal shows a word
// that only readers of the source understand.
func TestJargonGoldens(t *testing.T) {
	read := 0
	for _, folder := range goldens {
		dir := os.DirFS(filepath.Join("..", "..", folder))
		files, err := fs.Glob(dir, "*.txt")
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			text, err := fs.ReadFile(dir, file)
			if err != nil {
				t.Fatal(err)
			}
			read++
			for n, line := range strings.Split(string(text), "\n") {
				if notSaid.MatchString(line) {
					continue
				}
				if word, plain := Jargon(line); word != "" {
					t.Errorf("bot/%s/%s:%d says %q, better %s: %s", folder, file, n+1, word, plain, line)
				}
			}
		}
	}
	if read < 60 {
		t.Errorf("only %d golden files were found: are they elsewhere now?", read)
	}
}

// spoken are the folders whose string literals people may read: messages, reasons,
// refusals, remedies and the help of commands. Prompts are for agents.
var spoken = []string{
	"bot", "cmd/nightporter", "config", "internal/daemon", "loop", "loop/engine", "loop/ledger", "loop/agent", "loop/people", "loop/request", "loop/task", "loop/workspace",
}

// exact are literals that keep the exact term, by a part of them, and why.
var exact = map[string]string{
	`boundary = `:                               "the name of a setting",
	"leave boundary out":                        "the name of a setting",
	"take boundary out":                         "the name of a setting",
	"docs/operating.md, Boundary":               "the name of a chapter",
	"Make boundary level 3 possible":            "doctor names the level",
	"and the boundary does not hide its socket": "doctor explains it",
	"configuration, state folder, boundary":     "the names of doctor's checks",
	"; do not edit it.":                         "the file that draws a pattern, in the pattern's own words",
	"verification red":                          "a value of the ledger; bot.RedoText says it to people",
	"ended without an event":                    "a value of the ledger; bot.RedoText says it to people",
	"no event":                                  "a value of the ledger; bot.EndText says it to people",
	"wall limit":                                "a value of the ledger; bot.EndText says it to people",
	"baseline broke":                            "a sentence of the log",
}

// TestJargonSource checks the sentences in the source that people may read.
func TestJargonSource(t *testing.T) {
	used := map[string]bool{}
	for _, folder := range spoken {
		root := filepath.Join("..", "..", "..", folder)
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir() && (d.Name() == "testdata" || d.Name() == "internal" || path != root && strings.HasPrefix(folder, "loop")):
				return filepath.SkipDir
			case d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
				return nil
			}
			for pos, text := range sentences(t, path) {
				word, plain := Jargon(text)
				kept := false
				for part := range exact {
					if strings.Contains(text, part) {
						used[part], kept = true, true
					}
				}
				if word != "" && !kept {
					t.Errorf("%s says %q, better %s: %.120q", pos, word, plain, text)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for part := range exact {
		if !used[part] {
			t.Errorf("nothing says %q any more: take it out of the list", part)
		}
	}
}

// sentences returns the string literals of a file that have a space, by their position.
// Left out is what no person reads as a sentence: tags, the words of a log, and patterns.
func sentences(t *testing.T, path string) map[string]string {
	t.Helper()
	files := token.NewFileSet()
	f, err := parser.ParseFile(files, path, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec, *ast.Field:
			return false
		case *ast.CallExpr:
			if fn, is := n.Fun.(*ast.SelectorExpr); is && slices.Contains([]string{"Debug", "Info", "Warn", "Error", "Log", "MustCompile"}, fn.Sel.Name) && typeName(fn.X) != "t" {
				return fn.Sel.Name == "Warn" && typeName(fn.X) == "Projects" // a line of the status
			}
		case *ast.BasicLit:
			if text, err := strconv.Unquote(n.Value); err == nil && n.Kind == token.STRING && strings.Contains(text, " ") {
				found[files.Position(n.Pos()).String()] = text
			}
		}
		return true
	})
	return found
}
