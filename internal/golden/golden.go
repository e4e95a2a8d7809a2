// Package golden compares what tests print with files below testdata. The flag
// -update of the test binary writes the files anew.
//
// Sections keeps all cases of a topic in one file, so that a change of wording
// touches one file a topic. A case's name states the intent, never the words that
// led to it.
package golden

import (
	"flag"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Update is set by -update: tests write their golden files instead of comparing.
var Update = flag.Bool("update", false, "write the golden files anew")

// Compare compares got with the file testdata/name.
func Compare(t testing.TB, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", filepath.FromSlash(name))
	if *Update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}

// Sections compares cases with testdata/topic.txt, which holds one section per
// case, sorted by name.
func Sections(t testing.TB, topic string, cases map[string]string) {
	t.Helper()
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(cases)) {
		b.WriteString("=== " + name + "\n" + strings.TrimRight(cases[name], "\n") + "\n\n")
	}
	Compare(t, topic+".txt", b.String())
}
