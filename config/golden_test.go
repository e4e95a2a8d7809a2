package config

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/nightporter/nightporter/loop/ledger"
)

var update = flag.Bool("update", false, "write what is shown into the golden files")

// writeFiles writes files into a new folder and changes to it. Files whose
// names suggest secrets get mode 0600, except those named "open".
func writeFiles(t *testing.T, files []txtar.File) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		name := filepath.Join(dir, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		mode := os.FileMode(0o644)
		if ext := filepath.Ext(name); (ext == ".token" || ext == ".env") && !strings.HasPrefix(filepath.Base(name), "open") {
			mode = 0o600
		}
		if err := os.WriteFile(name, f.Data, mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(name, mode); err != nil { // regardless of the umask
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	t.Setenv("CREDENTIALS_DIRECTORY", "")
	return dir
}

// loadWhole loads a configuration and checks what its projects need outside of
// it.
func loadWhole(file string) (*Config, error) {
	cfg, err := Load(file)
	if err != nil {
		return nil, err
	}
	var all []ledger.Diagnostic
	for _, p := range cfg.Projects {
		all = append(all, p.outside(cfg, "")...)
	}
	return cfg, newError(all)
}

// TestBad compares the message of every kind of mistake with its golden.
func TestBad(t *testing.T) {
	cases, err := filepath.Glob("testdata/bad/*.txtar")
	if err != nil || len(cases) == 0 {
		t.Fatal("no cases", err)
	}
	for _, name := range cases {
		golden, err := filepath.Abs(name)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			ar, err := txtar.ParseFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			files, want := ar.Files, ""
			if n := len(files); n > 0 && files[n-1].Name == "want" {
				files, want = files[:n-1], string(files[n-1].Data)
			}
			dir := writeFiles(t, files)
			cfg, err := loadWhole("nightporter.toml")
			var bad *Error
			if !errors.As(err, &bad) {
				t.Fatalf("Load = %v, %v; want an *Error", cfg, err)
			}
			got := strings.ReplaceAll(bad.Error(), dir, "$DIR") + "\n"
			if *update {
				ar.Files = slices.Concat(files, []txtar.File{{Name: "want", Data: []byte(got)}})
				if err := os.WriteFile(golden, txtar.Format(ar), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("shown differently (-want +got):\n%s", d)
			}
		})
	}
}
