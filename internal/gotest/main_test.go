package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "write the golden file")

// TestSummary reads what go test -json said of a package each that passes,
// fails, panics, does not build, has no tests, and fails outside its tests.
func TestSummary(t *testing.T) {
	events, err := os.ReadFile(filepath.Join("testdata", "events.json"))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	s := newSummary(&out)
	if err := s.read(bytes.NewReader(events)); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintln(&out, s.line(312400*time.Millisecond))
	if !s.failed {
		t.Error("packages failed, and the summary does not")
	}
	golden := filepath.Join("testdata", "summary.txt")
	if *update {
		if err := os.WriteFile(golden, out.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got := out.String(); got != string(want) {
		t.Errorf("got:\n%s\nwant (-update writes it):\n%s", got, want)
	}
}

func TestLine(t *testing.T) {
	skipped := func(names ...string) (lines []string) {
		for _, name := range names {
			lines = append(lines,
				fmt.Sprintf(`{"Action":"output","Package":"a","Test":%q,"Output":"    a_test.go:1: SKIPPED: no node\n"}`, name),
				fmt.Sprintf(`{"Action":"output","Package":"a","Test":%q,"Output":"--- SKIP: %s (0.00s)\n"}`, name, name),
				fmt.Sprintf(`{"Action":"skip","Package":"a","Test":%q}`, name))
		}
		return lines
	}
	const passed, ended = `{"Action":"pass","Package":"a","Test":"TestA"}`, `{"Action":"pass","Package":"a"}`
	for _, c := range []struct {
		name   string
		events []string
		want   string
	}{
		{"all passed", []string{passed, ended}, "tests passed in 1m0s: 1 tests in 1 packages; none skipped"},
		{"one skipped", append(skipped("TestB"), passed, ended), "tests passed in 1m0s: 1 tests in 1 packages; 1 skipped: TestB (no node)"},
		{"many skipped", append(skipped("TestE", "TestD", "TestC", "TestB"), ended), "tests passed in 1m0s: 0 tests in 1 packages; 4 skipped: TestB, TestC and 2 more (no node)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newSummary(&bytes.Buffer{})
			if err := s.read(strings.NewReader(strings.Join(c.events, "\n"))); err != nil {
				t.Fatal(err)
			}
			if got := s.line(time.Minute); got != c.want || s.failed {
				t.Errorf("%q, failed %v, want %q", got, s.failed, c.want)
			}
		})
	}
}

// TestStacks: test2json takes what a test binary prints when it dies for output of the
// test whose line was last, which may have passed, or been skipped.
func TestStacks(t *testing.T) {
	output := func(test, text string) string {
		return fmt.Sprintf(`{"Action":"output","Package":"a","Test":%q,"Output":%q}`, test, text+"\n")
	}
	for _, verdict := range []string{"--- PASS: TestB (0.01s)", "--- SKIP: TestB (0.01s)", "    --- PASS: TestB (0.01s)"} {
		var out bytes.Buffer
		s := newSummary(&out)
		if err := s.read(strings.NewReader(strings.Join([]string{
			output("TestA", "=== RUN   TestA"), output("TestB", "=== RUN   TestB"),
			output("TestB", "    a_test.go:1: of no interest"), output("TestB", verdict),
			output("TestB", "=== NAME  TestB"),
			output("TestB", "panic: test timed out after 1s"), output("TestB", "goroutine 17 [running]:"),
			`{"Action":"pass","Package":"a","Test":"TestB"}`, `{"Action":"fail","Package":"a"}`,
		}, "\n"))); err != nil {
			t.Fatal(err)
		}
		if got, want := out.String(), "panic: test timed out after 1s\ngoroutine 17 [running]:\n"; got != want {
			t.Errorf("%s: %q, want %q", verdict, got, want)
		}
	}
}

// TestTwice: a package in two groups, each of which has some of its tests.
func TestTwice(t *testing.T) {
	s := newSummary(&bytes.Buffer{})
	for _, test := range []string{"TestA", "TestB"} {
		events := fmt.Sprintf(`{"Action":"pass","Package":"a","Test":%q}`+"\n"+`{"Action":"pass","Package":"a"}`, test)
		if err := s.read(strings.NewReader(events)); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := s.line(time.Minute), "tests passed in 1m0s: 2 tests in 1 packages; none skipped"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestParse(t *testing.T) {
	now := time.Unix(1000, 0)
	for _, c := range []struct {
		args string
		want string
	}{
		{"./...", "1000 [./...] [[]]"},
		{"-began 900 -race -- ./a ./b -- -v ./c", "900 [-race] [[./a ./b] [-v ./c]]"},
	} {
		began, common, groups, err := parse(strings.Fields(c.args), now)
		if got := fmt.Sprint(began.Unix(), common, groups); got != c.want || err != nil {
			t.Errorf("%s: %s, %v, want %s", c.args, got, err, c.want)
		}
	}
	if _, _, _, err := parse([]string{"-began", "soon"}, now); err == nil {
		t.Error("-began soon is taken")
	}
}
