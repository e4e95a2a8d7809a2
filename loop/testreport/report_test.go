package testreport_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nightporter/nightporter/loop/testreport"
)

var update = flag.Bool("update", false, "write the golden files anew")

// parse reads an output of testdata, whose commands ran in /work/p.
func parse(t testing.TB, file string) testreport.Report {
	t.Helper()
	return testreport.Parse(read(t, file), testreport.Ended{Exit: 1, Dirs: []string{"/work/p"}})
}

func read(t testing.TB, file string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", file))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// outputs returns the outputs in testdata, which real programs printed.
func outputs(t testing.TB) []string {
	t.Helper()
	files, err := filepath.Glob("testdata/*/*.txt")
	if err != nil || len(files) < 100 {
		t.Fatalf("%d outputs, %v", len(files), err)
	}
	for n := range files {
		files[n] = strings.TrimPrefix(files[n], "testdata/")
	}
	return files
}

// TestOutputs holds what is read of each output against a golden file.
func TestOutputs(t *testing.T) {
	got := map[string]*strings.Builder{}
	for _, file := range outputs(t) {
		dir := filepath.Dir(file)
		if got[dir] == nil {
			got[dir] = &strings.Builder{}
		}
		fmt.Fprintf(got[dir], "%s\n%s\n", strings.TrimSuffix(filepath.Base(file), ".txt"), show(parse(t, file)))
	}
	for dir, text := range got {
		golden := filepath.Join("testdata", dir+".golden")
		if *update {
			if err := os.WriteFile(golden, []byte(text.String()), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		compareText(t, dir, string(want), text.String())
	}
}

func compareText(t *testing.T, name, want, got string) {
	t.Helper()
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	for n := range max(len(w), len(g)) {
		if n >= len(w) || n >= len(g) || w[n] != g[n] {
			t.Errorf("%s.golden:%d differs; from there on it is now\n%s", name, n+1, strings.Join(g[min(n, len(g)):min(n+20, len(g))], "\n"))
			return
		}
	}
}

func show(r testreport.Report) string {
	var b strings.Builder
	fmt.Fprintf(&b, "  %s: %d passed, %d skipped", strings.Join(r.Runners, ", "), r.Passed, r.Skipped)
	if r.Build {
		b.WriteString(", build")
	}
	if r.Truncated {
		b.WriteString(", truncated")
	}
	b.WriteByte('\n')
	for _, n := range r.Ran {
		fmt.Fprintf(&b, "  ran %s: %d passed, %d failed, %d skipped", n.Runner, n.Passed, n.Failed, n.Skipped)
		if n.Reports > 0 {
			fmt.Fprintf(&b, "; %d reports, the last with %d passed", n.Reports, n.Last)
		}
		b.WriteByte('\n')
	}
	for n, f := range r.Failed {
		if n == 30 {
			fmt.Fprintf(&b, "  and %d more\n", len(r.Failed)-n)
			break
		}
		fmt.Fprintf(&b, "  %-9s %-10s %s | %s\n", f.Kind, f.Runner, f.File, f.Name)
	}
	return b.String()
}
