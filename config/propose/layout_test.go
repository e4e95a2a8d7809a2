package propose_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/nightporter/nightporter/config/propose"
	"github.com/nightporter/nightporter/internal/golden"
)

// TestLayouts holds what is proposed for repositories as people have them. An
// archive of testdata/layouts has those of one world: each top folder is a
// repository, and its file PATH, if there is one, names the only programs that are
// installed. Every proposal has to be a configuration that loads.
func TestLayouts(t *testing.T) {
	archives, err := filepath.Glob("testdata/layouts/*.txtar")
	if err != nil || len(archives) < 12 {
		t.Fatalf("%d archives, %v", len(archives), err)
	}
	dir := repository(t, "shop")
	for _, file := range archives {
		world := strings.TrimSuffix(filepath.Base(file), ".txtar")
		t.Run(world, func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			layouts := map[string]fstest.MapFS{}
			for _, f := range archive.Files {
				layout, name, ok := strings.Cut(f.Name, "/")
				if !ok {
					t.Fatalf("%s lies in no layout", f.Name)
				}
				if layouts[layout] == nil {
					layouts[layout] = fstest.MapFS{}
				}
				mode := fs.FileMode(0o644)
				if bytes.HasPrefix(f.Data, []byte("#!")) {
					mode = 0o755
				}
				layouts[layout][name] = &fstest.MapFile{Data: f.Data, Mode: mode}
			}
			if len(layouts) < 3 {
				t.Errorf("%d layouts, want 3 or more", len(layouts))
			}
			cases := map[string]string{}
			for name, repo := range layouts {
				cases[name] = layoutText(t, dir, repo)
			}
			golden.Sections(t, "layouts/"+world, cases)
		})
	}
}

// layoutText renders what init says of a repository and writes for it.
func layoutText(t *testing.T, dir string, repo fstest.MapFS) string {
	t.Helper()
	onPath := func(string) bool { return true }
	if f := repo["PATH"]; f != nil {
		programs := strings.Fields(string(f.Data))
		onPath = func(p string) bool { return slices.Contains(programs, p) }
		delete(repo, "PATH")
	}
	found := propose.Look(repo, onPath)
	text := propose.Block(propose.Project{
		Name: "shop", Repo: dir, Source: "plan:a.md", Agent: "claude", Protected: []string{"main"}, Found: found,
	})
	load(t, text)
	var b strings.Builder
	fmt.Fprintf(&b, "languages: %s\n", strings.Join(found.Languages, ", "))
	for _, key := range []string{"setup", "verify"} {
		b.WriteString(section(text, key))
	}
	if setup := propose.Setup(repo, onPath); !slices.Equal(setup, propose.Active(found.Setup)) {
		fmt.Fprintf(&b, "unasked setup: %q\n", setup)
	}
	for _, n := range found.Notes {
		fmt.Fprintf(&b, "! %s\n", n)
	}
	if left := found.LeftOut(); left != "" {
		fmt.Fprintf(&b, "! %s\n", left)
	}
	return b.String()
}

// section returns a list of a configuration, with its comments.
func section(text, key string) string {
	if _, rest, ok := strings.Cut(text, "\n"+key+" = [\n"); ok {
		list, _, _ := strings.Cut(rest, "\n]\n")
		return key + " = [\n" + list + "\n]\n"
	}
	return key + ": nothing\n"
}
