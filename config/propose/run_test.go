package propose_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/nightporter/nightporter/config/propose"
	"github.com/nightporter/nightporter/loop/testreport"
)

// TestProposalsRun runs what is proposed for small projects, without a network, as
// far as the programs are here: every command has to pass, in this order in one
// folder, and the tests have to be counted. With the failing test of the project it
// has to fail, and the report has to name that test.
func TestProposalsRun(t *testing.T) {
	archives, err := filepath.Glob("testdata/projects/*.txtar")
	if err != nil || len(archives) < 6 {
		t.Fatalf("%d projects, %v", len(archives), err)
	}
	for _, file := range archives {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			// The comment of an archive: "count RUNNER", "fails FILE NAME".
			var counted, broken, named string
			for line := range strings.Lines(string(archive.Comment)) {
				switch word, rest, _ := strings.Cut(strings.TrimSpace(line), " "); word {
				case "count":
					counted = rest
				case "fails":
					broken, named, _ = strings.Cut(rest, " ")
				}
			}
			dir := t.TempDir()
			for _, f := range archive.Files {
				name := filepath.Join(dir, strings.TrimSuffix(f.Name, ".broken"))
				if strings.HasSuffix(f.Name, ".broken") {
					continue
				}
				if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(name, f.Data, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			onPath := func(p string) bool { _, err := exec.LookPath(p); return err == nil }
			found := propose.Look(os.DirFS(dir), onPath)
			for _, c := range append(found.Setup, found.Verify...) {
				if c.Off != "" {
					t.Skipf("SKIPPED: %s: %s", c.Run, c.Off)
				}
			}
			if len(found.Verify) == 0 {
				t.Fatal("nothing is proposed")
			}
			output, err := runAll(dir, found)
			if err != nil {
				t.Fatalf("%v\n%s", err, output)
			}
			if counts := fmt.Sprint(testreport.Count(output)); !strings.Contains(counts, counted) {
				t.Errorf("counted %s, want %s\n%s", counts, counted, output)
			}
			for _, f := range archive.Files {
				if f.Name == broken+".broken" {
					if err := os.WriteFile(filepath.Join(dir, broken), f.Data, 0o644); err != nil {
						t.Fatal(err)
					}
				}
			}
			output, err = runAll(dir, found)
			if err == nil {
				t.Fatalf("it passes with %s broken\n%s", broken, output)
			}
			report := fmt.Sprint(testreport.Parse(output, testreport.Ended{Exit: 1, Dirs: []string{dir}}).Failed)
			if !strings.Contains(report, named) {
				t.Errorf("reported %s, want %s\n%s", report, named, output)
			}
		})
	}
}

// runAll runs all commands until one fails.
func runAll(dir string, found propose.Found) (string, error) {
	var output strings.Builder
	for _, run := range append(propose.Active(found.Setup), propose.Active(found.Verify)...) {
		cmd := exec.Command("sh", "-c", run)
		cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &output, &output
		cmd.Env = append(os.Environ(), "MAKEFLAGS=", "MAKELEVEL=", "NO_COLOR=1")
		if err := cmd.Run(); err != nil {
			return output.String(), fmt.Errorf("%s: %w", run, err)
		}
	}
	return output.String(), nil
}
