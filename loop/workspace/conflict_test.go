package workspace

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// unresolved is a text as git leaves it after a merge with a conflict.
const unresolved = "one\n<<<<<<< HEAD\nours\n=======\ntheirs\n>>>>>>> nightporter/shop/r1\ntwo\n"

func TestCaptureRefusesConflicts(t *testing.T) {
	repo := shop(t)
	writeFile(t, repo, "testdata/merge.txt", unresolved)
	git(t, repo, "add", "-A")
	git(t, repo, "commit", "-qm", "A fixture")
	w := workspace(t, repo)
	base := begin(t, w, "r1")
	taken := session(t, w, base, "", all, func(dir string) {
		writeFile(t, dir, "cart/cart.go", "package cart\n\n"+unresolved)                // changed
		writeFile(t, dir, "cart/new.go", strings.ReplaceAll(unresolved, "\n", "\r\n"))  // new
		writeFile(t, dir, "cart/same.go", strings.ReplaceAll(unresolved, "\n", "\r\n")) // the same content again
		writeFile(t, dir, "docs/api.md", unresolved)                                    // out of scope
		writeFile(t, dir, "testdata/merge.txt", unresolved+"three\n")                   // was there at the start
		writeFile(t, dir, "testdata/copy.txt", unresolved)                              // so was its content
		writeFile(t, dir, "web/app/page.tsx", "Title\n=======\n")
		must(t, os.Symlink("<<<<<<< HEAD", filepath.Join(dir, "link")))
	})
	var got []string
	for _, f := range taken.Refused {
		got = append(got, fmt.Sprintf("%s:%d", f.File, f.Line))
	}
	want := []string{"cart/cart.go:4", "cart/new.go:2", "cart/same.go:2"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("refused (-want +got):\n%s", diff)
	}
	kept := []string{"link", "testdata/copy.txt", "testdata/merge.txt", "web/app/page.tsx"}
	if diff := cmp.Diff([][]string{kept, {"docs/api.md"}}, [][]string{paths(taken.Files), taken.Outside}); diff != "" {
		t.Errorf("files and outside (-want +got):\n%s", diff)
	}
	if got := readFile(t, w.Work(only("r1", "")).Dir, "cart/cart.go"); got != "package cart\n" {
		t.Errorf("the work folder still has %q", got)
	}
}

func TestConflictLine(t *testing.T) {
	long := strings.Repeat("x", 200<<10)
	for _, c := range []struct {
		name, text string
		line       int
	}{
		{"none", "", 0},
		{"a conflict", unresolved, 2},
		{"with the common ancestor", "<<<<<<< ours\na\n||||||| base\nb\n=======\nc\n>>>>>>> theirs\n", 1},
		{"without an end of line", "<<<<<<< a\n=======\n>>>>>>> b", 1},
		{"the second one is whole", "<<<<<<< a\nx\n" + unresolved, 4},
		{"after a long line", long + "\n" + unresolved, 3},
		{"in a long line", long + "<<<<<<< a\n=======\n>>>>>>> b\n", 0},
		{"long lines between", "<<<<<<< a\n" + long + "\n=======\n" + long + "\n>>>>>>> b\n", 1},
		{"a heading", "Title\n=======\n", 0},
		{"another order", ">>>>>>> b\n=======\n<<<<<<< a\n", 0},
		{"no middle", "<<<<<<< a\n>>>>>>> b\n", 0},
		{"indented", "  <<<<<<< a\n  =======\n  >>>>>>> b\n", 0},
		{"more signs", "<<<<<<<< a\n========\n>>>>>>>> b\n", 0},
		{"binary", "\x00" + unresolved, 0},
		{"not UTF-8", "\xff\n" + unresolved, 3},
	} {
		got, err := conflictLine(bufio.NewReaderSize(strings.NewReader(c.text), 64<<10))
		if err != nil || got != c.line {
			t.Errorf("%s: line %d (%v), want %d", c.name, got, err, c.line)
		}
	}
}

// TestConflictsOfManyFiles reads more than a pipe holds, and ends early.
func TestConflictsOfManyFiles(t *testing.T) {
	repo := shop(t)
	w := workspace(t, repo)
	base := begin(t, w, "r1")
	taken := session(t, w, base, "", all, func(dir string) {
		for n := range 300 {
			writeFile(t, dir, fmt.Sprintf("gen/%d.txt", n), strings.Repeat(fmt.Sprintln("line", n), 1000))
		}
		writeFile(t, dir, "gen/300.txt", unresolved)
	})
	if len(taken.Files) != 300 || len(taken.Refused) != 1 || taken.Refused[0].Line != 2 {
		t.Errorf("%d files, refused %+v", len(taken.Files), taken.Refused)
	}
	if _, err := w.conflicts(t.Context(), []string{strings.Repeat("0", 40), taken.Tree}); err == nil {
		t.Error("no error for a blob that is not there")
	}
	if got, err := w.conflicts(t.Context(), nil); len(got) > 0 || err != nil {
		t.Errorf("%v, %v for no blobs", got, err)
	}
}
