package workspace

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nightporter/nightporter/loop/ledger"
)

// TestMergePairs merges what two tasks did at the same time. Whatever git resolves by
// itself has the lines of both; all else is a conflict with its paths, never one side.
func TestMergePairs(t *testing.T) {
	var long strings.Builder
	for n := range 30 {
		long.WriteString("line " + string(rune('a'+n%26)) + "\n")
	}
	text := long.String()
	edit := func(from, to string) func(*testing.T, string) {
		return func(t *testing.T, dir string) {
			writeFile(t, dir, "a.txt", strings.Replace(text, from, to, 1))
		}
	}
	write := func(files ...string) func(*testing.T, string) { // names, each with its text
		return func(t *testing.T, dir string) {
			for n := 0; n < len(files); n += 2 {
				writeFile(t, dir, files[n], files[n+1])
			}
		}
	}
	run := func(args ...string) func(*testing.T, string) {
		return func(t *testing.T, dir string) { git(t, dir, args...) }
	}
	lock := func(more string) string { return "{\n  \"a\": 1" + more + "\n}\n" }
	for name, c := range map[string]struct {
		base         map[string]string
		ours, theirs func(t *testing.T, dir string)
		conflicts    []string
		want         map[string]string // files of the merged tree; "(none)" = not there
	}{
		"renamed and edited": {
			base: map[string]string{"a.txt": text}, ours: run("mv", "a.txt", "b.txt"), theirs: edit("line e", "LINE E"),
			want: map[string]string{"a.txt": "(none)", "b.txt": strings.Replace(text, "line e", "LINE E", 1)},
		},
		"renamed twice": {
			base: map[string]string{"a.txt": text}, ours: run("mv", "a.txt", "b.txt"), theirs: run("mv", "a.txt", "c.txt"),
			conflicts: []string{"a.txt", "b.txt", "c.txt"},
		},
		"two files get one name": {
			base: map[string]string{"a.txt": text, "b.txt": strings.ToUpper(text)}, ours: run("mv", "a.txt", "c.txt"), theirs: run("mv", "b.txt", "c.txt"),
			conflicts: []string{"c.txt"},
		},
		"a file in a folder that was renamed": {
			base: map[string]string{"old/a.txt": text, "old/b.txt": strings.ToUpper(text)}, ours: run("mv", "old", "new"), theirs: write("old/c.txt", "c\n"),
			conflicts: []string{"new/c.txt"},
		},
		"deleted and edited": {
			base: map[string]string{"a.txt": text}, ours: run("rm", "-q", "a.txt"), theirs: edit("line e", "LINE E"),
			conflicts: []string{"a.txt"},
		},
		"edited and deleted": {
			base: map[string]string{"a.txt": text}, ours: edit("line e", "LINE E"), theirs: run("rm", "-q", "a.txt"),
			conflicts: []string{"a.txt"},
		},
		"deleted twice": {
			base: map[string]string{"a.txt": text, "b.txt": "b\n"}, ours: run("rm", "-q", "a.txt"), theirs: run("rm", "-q", "a.txt", "b.txt"),
			want: map[string]string{"a.txt": "(none)", "b.txt": "(none)"},
		},
		"binary": {
			base: map[string]string{"x.bin": "a\x00b"}, ours: write("x.bin", "a\x00c"), theirs: write("x.bin", "a\x00d"),
			conflicts: []string{"x.bin"},
		},
		"the same binary": {
			base: map[string]string{"x.bin": "a\x00b"}, ours: write("x.bin", "a\x00c"), theirs: write("x.bin", "a\x00c"),
			want: map[string]string{"x.bin": "a\x00c"},
		},
		"a file and a folder": {
			ours: write("new", "file\n"), theirs: write("new/f", "folder\n"),
			conflicts: []string{"new"},
		},
		"mode and text": {
			base: map[string]string{"a.txt": text}, theirs: edit("line e", "LINE E"),
			ours: func(t *testing.T, dir string) { must(t, os.Chmod(filepath.Join(dir, "a.txt"), 0o755)) },
			want: map[string]string{"a.txt": "+x " + strings.Replace(text, "line e", "LINE E", 1)},
		},
		"far lines of one file": {
			base: map[string]string{"a.txt": text}, ours: edit("line b", "LINE B"), theirs: edit("line y", "LINE Y"),
			want: map[string]string{"a.txt": strings.Replace(strings.Replace(text, "line b", "LINE B", 1), "line y", "LINE Y", 1)},
		},
		"one line, merge=union": {
			base: map[string]string{"a.txt": text, ".gitattributes": "* merge=union\n"}, ours: edit("line e", "OURS"), theirs: edit("line e", "THEIRS"),
			conflicts: []string{"a.txt"},
		},
		"lines at the end, merge=union": {
			base: map[string]string{"log.md": "a\n", ".gitattributes": "*.md merge=union\n"}, ours: write("log.md", "a\nours\n"), theirs: write("log.md", "a\ntheirs\n"),
			conflicts: []string{"log.md"},
		},
		"one side brings merge=union": {
			base: map[string]string{"a.txt": text}, theirs: edit("line e", "THEIRS"),
			ours: func(t *testing.T, dir string) {
				edit("line e", "OURS")(t, dir)
				writeFile(t, dir, ".gitattributes", "* merge=union\n")
			},
			conflicts: []string{"a.txt"},
		},
		"a dependency each": {
			base: map[string]string{"package-lock.json": lock("")}, ours: write("package-lock.json", lock(",\n  \"b\": 2")), theirs: write("package-lock.json", lock(",\n  \"c\": 3")),
			conflicts: []string{"package-lock.json"},
		},
		"the same dependency": {
			base: map[string]string{"package-lock.json": lock("")}, ours: write("package-lock.json", lock(",\n  \"b\": 2")), theirs: write("package-lock.json", lock(",\n  \"b\": 2")),
			want: map[string]string{"package-lock.json": lock(",\n  \"b\": 2")},
		},
		"names that differ by case": {
			ours: write("new/Foo.go", "package a\n"), theirs: write("new/foo.go", "package b\n"),
			conflicts: []string{"new/Foo.go", "new/foo.go"},
		},
		"folders that differ by case": {
			ours: write("New/a.go", "package a\n"), theirs: write("new/b.go", "package b\n"),
			conflicts: []string{"New", "new"},
		},
		"renamed to another case": {
			base: map[string]string{"new/a.go": "package a\n"}, ours: run("mv", "new/a.go", "new/A.go"), theirs: write("new/b.go", "package b\n"),
			want: map[string]string{"new/A.go": "package a\n", "new/b.go": "package b\n", "new/a.go": "(none)"},
		},
		"a folder that has both cases": {
			base: map[string]string{"new/a.go": "package a\n", "New/a.go": "package a\n"}, ours: write("new/b.go", "b\n"), theirs: write("New/c.go", "c\n"),
			want: map[string]string{"new/b.go": "b\n", "New/c.go": "c\n"},
		},
		"two commits of a submodule": {
			base: map[string]string{".gitmodules": "[submodule \"lib\"]\n\tpath = lib\n\turl = ../lib\n"},
			ours: gitlink("1"), theirs: gitlink("2"),
			conflicts: []string{"lib"},
		},
		"a submodule, and a file": {
			base: map[string]string{"a.txt": text}, ours: gitlink("1"), theirs: edit("line e", "LINE E"),
			want: map[string]string{"a.txt": strings.Replace(text, "line e", "LINE E", 1)},
		},
	} {
		t.Run(name, func(t *testing.T) {
			repo := shopWith(t, c.base)
			w := workspace(t, repo)
			base := begin(t, w, "r1")
			side := func(run string, change func(t *testing.T, dir string)) ledger.Base {
				git(t, repo, "reset", "-q", "--hard", base.Commit)
				change(t, repo)
				git(t, repo, "add", "-A", "--", ":!lib") // the link of a submodule is in the index alone
				git(t, repo, "commit", "-qm", run)
				return begin(t, w, run)
			}
			ours, theirs := side("r2", c.ours), side("r3", c.theirs)
			m := ledger.MergeTree{Run: "r1", Base: base.Commit, Tree: ours.Tree, Onto: theirs.Commit}
			got, err := w.Merge(t.Context(), m)
			must(t, err)
			if diff := cmp.Diff(c.conflicts, got.Conflicts); diff != "" {
				t.Errorf("conflicts (-want +got):\n%s", diff)
			}
			for _, p := range slices.Sorted(maps.Keys(c.want)) {
				if text := mergedFile(t, w, got.Tree, p); text != c.want[p] {
					t.Errorf("%s: %q, want %q", p, text, c.want[p])
				}
			}
			m.Tree, m.Onto = theirs.Tree, ours.Commit
			if back, err := w.Merge(t.Context(), m); err != nil || back.Tree != got.Tree || !slices.Equal(back.Conflicts, got.Conflicts) {
				t.Errorf("the other way round: %+v, %v; want %+v", back, err, got)
			}
		})
	}
}

// gitlink sets the commit of the submodule lib.
func gitlink(digit string) func(*testing.T, string) {
	return func(t *testing.T, dir string) {
		git(t, dir, "update-index", "--add", "--cacheinfo", "160000,"+strings.Repeat(digit, 40)+",lib")
	}
}

// mergedFile returns a file of a tree as TestMergePairs writes it.
func mergedFile(t *testing.T, w *Workspace, tree, p string) string {
	t.Helper()
	data, err := w.Read(t.Context(), tree, p)
	must(t, err)
	entries, err := w.listTree(t.Context(), tree)
	must(t, err)
	for _, e := range entries {
		switch {
		case e.path != p:
		case e.mode == "100755":
			return "+x " + string(data)
		default:
			return string(data)
		}
	}
	return "(none)"
}
