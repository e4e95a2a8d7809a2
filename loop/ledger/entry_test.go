package ledger_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/ledger/ledgertest"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestEntries pins the JSON of every type of entry, which is a contract: every
// later release must read an entry that an older one wrote.
func TestEntries(t *testing.T) {
	parsed, err := parser.ParseFile(token.NewFileSet(), "entries.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	declared := 0
	ast.Inspect(parsed, func(n ast.Node) bool {
		if f, ok := n.(*ast.FuncDecl); ok && f.Name.Name == "EntryType" {
			declared++
		}
		return true
	})
	if declared != len(ledger.Bodies()) {
		t.Errorf("%d types of entry, and Bodies lists %d", declared, len(ledger.Bodies()))
	}
	files := map[string]bool{}
	for _, zero := range ledger.Bodies() {
		typ := zero.EntryType()
		t.Run(typ, func(t *testing.T) {
			v := reflect.New(reflect.TypeOf(zero)).Elem()
			ledgertest.Fill(t, v, typ)
			want := ledger.Entry{
				Stream: ledger.ProjectStream("shop"), Time: time.Date(2026, 11, 19, 23, 10, 0, 0, time.UTC), Run: "r14", Task: "Task 5", Attempt: "a1",
				Session: "r14-25", Actor: "agent", Cause: "emit:r14-25", Body: v.Interface().(ledger.Body),
			}
			rec, err := want.Record()
			if err != nil {
				t.Fatal(err)
			}
			file := filepath.Join("testdata", "entries", typ+".json")
			files[file] = true
			var pretty bytes.Buffer
			if err := json.Indent(&pretty, rec.Body, "", "  "); err != nil {
				t.Fatal(err)
			}
			pretty.WriteByte('\n')
			if *update {
				if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(file, pretty.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			golden, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(golden), pretty.String()); diff != "" {
				t.Errorf("the JSON of %s changed; only adding is allowed: (-golden +now)\n%s", typ, diff)
			}
			rec.Body = golden
			got, err := rec.Entry()
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got, cmpopts.EquateEmpty(), cmp.Transformer("compact", compactJSON)); diff != "" {
				t.Errorf("the golden comes back as something else: (-want +got)\n%s", diff)
			}
		})
	}
	have, err := filepath.Glob("testdata/entries/*.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range have {
		if !files[file] {
			t.Errorf("%s: this type of entry is gone, and older ledgers have it", file)
		}
	}
}

func compactJSON(raw json.RawMessage) string {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return string(raw)
	}
	return b.String()
}
