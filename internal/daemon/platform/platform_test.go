package platform

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/nightporter/nightporter/bot/transport"
	"github.com/nightporter/nightporter/config"
)

// optional names the cells that a row may leave empty.
var optional = []string{"PairLink", "BotName", "Ask", "NoticeStays", "SetMenu", "Reads"}

// TestTable checks that no row and no connection has an empty cell without a
// reason, and that each adapter passes the conformance suite.
func TestTable(t *testing.T) {
	names := map[string]bool{}
	for _, p := range All {
		t.Run(p.Name, func(t *testing.T) {
			if names[p.Name] || strings.ToLower(p.Name) != p.Name {
				t.Errorf("the name %q is another's, or begins no address", p.Name)
			}
			names[p.Name] = true
			cfg, tokens := example(t, p)
			conn, err := p.Connect(cfg, tokens, Hooks{})
			if err != nil {
				t.Fatal(err)
			}
			empty := append(emptyCells(p, "Lacks"), emptyCells(*conn)...)
			for _, cell := range empty {
				if !slices.Contains(p.Lacks, cell) {
					t.Errorf("the cell %s is empty; fill it in, or name it in Lacks", cell)
				}
			}
			for _, cell := range p.Lacks {
				if !slices.Contains(empty, cell) {
					t.Errorf("Lacks names %s, which is there", cell)
				}
				if !slices.Contains(optional, cell) {
					t.Errorf("no platform may lack %s", cell)
				}
			}
			if p.Section(config.Empty()) != nil || len(Used(config.Empty())) != 0 {
				t.Error("it is in use without a section")
			}
			if used := Used(cfg); len(used) != 1 || used[0].Name != p.Name {
				t.Errorf("its section makes %d platforms be used", len(used))
			}
			if files := TokenFiles(cfg); len(files) != len(p.Tokens) {
				t.Errorf("hidden from sessions: %q, of %d tokens", files, len(p.Tokens))
			}
			if !strings.Contains(conn.Cursor, p.Prefix()) {
				t.Errorf("the cursor %q is no name of this platform's", conn.Cursor)
			}
			text, err := os.ReadFile(filepath.Join("..", "..", "..", "bot", p.Name, "conformance_test.go"))
			if err != nil || !strings.Contains(string(text), "chattest.Run(t,") {
				t.Errorf("its adapter has no conformance test: %v", err)
			}
			project := reflect.TypeOf(config.Project{})
			if !slices.ContainsFunc(reflect.VisibleFields(project), func(f reflect.StructField) bool { return f.Tag.Get("toml") == p.ThreadKey }) {
				t.Errorf("a project has no key %q", p.ThreadKey)
			}
		})
	}
}

// TestAll checks that every adapter that passes the conformance suite has a
// row.
func TestAll(t *testing.T) {
	adapters, err := filepath.Glob(filepath.Join("..", "..", "..", "bot", "*", "conformance_test.go"))
	if err != nil || len(adapters) == 0 {
		t.Fatalf("%q, %v", adapters, err)
	}
	for _, file := range adapters {
		name := filepath.Base(filepath.Dir(file))
		if !slices.ContainsFunc(All, func(p Platform) bool { return p.Name == name }) {
			t.Errorf("the adapter bot/%s has no row in All", name)
		}
	}
}

// emptyCells returns the names of a row's empty fields, except for those given.
func emptyCells(row any, but ...string) []string {
	var out []string
	v := reflect.ValueOf(row)
	for n := range v.NumField() {
		if name := v.Type().Field(n).Name; v.Field(n).IsZero() && !slices.Contains(but, name) {
			out = append(out, name)
		}
	}
	return out
}

// example returns a configuration with the platform's section, and example
// tokens.
func example(t *testing.T, p Platform) (*config.Config, []transport.Secret) {
	t.Helper()
	cfg, dir := config.Empty(), t.TempDir()
	all := reflect.ValueOf(cfg).Elem()
	for n := range all.NumField() {
		if all.Type().Field(n).Tag.Get("toml") != p.Name {
			continue
		}
		section := reflect.New(all.Field(n).Type().Elem())
		for k := range section.Elem().NumField() {
			if key := section.Elem().Type().Field(k).Tag.Get("toml"); strings.HasSuffix(key, "token_file") {
				section.Elem().Field(k).SetString(filepath.Join(dir, key))
			}
		}
		all.Field(n).Set(section)
	}
	if p.Section(cfg) == nil {
		t.Fatalf("config.Config has no section [%s]", p.Name)
	}
	for _, token := range p.Tokens {
		if empty := emptyCells(token); len(empty) > 0 {
			t.Errorf("empty cells of a token: %v", empty)
		}
		if err := os.WriteFile(token.File(cfg), []byte(token.Example+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	read, err := p.ReadTokens(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return cfg, read
}
