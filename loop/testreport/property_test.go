package testreport_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/testreport"
)

var ended = testreport.Ended{Exit: 1, Dirs: []string{"/work/p"}}

// TestDressing holds that colours, carriage returns, progress and other times
// change nothing.
func TestDressing(t *testing.T) {
	texts := map[string]string{}
	files := outputs(t)
	for _, file := range files {
		texts[file] = read(t, file)
	}
	rapid.Check(t, func(t *rapid.T) {
		text := texts[rapid.SampledFrom(files).Draw(t, "file")]
		want := testreport.Parse(text, ended)
		colour := rapid.SampledFrom([]string{"\x1b[31m", "\x1b[0;1m", "\x1b[38;5;12m", "\x1b(B"}).Draw(t, "colour")
		lines := strings.Split(text, "\n")
		every := rapid.IntRange(1, 7).Draw(t, "every")
		for n := range lines {
			if n%every == 0 && lines[n] != "" {
				lines[n] = colour + lines[n] + "\x1b[0m"
			}
		}
		end := rapid.SampledFrom([]string{"\n", "\r\n", " \n"}).Draw(t, "end")
		got := testreport.Parse(strings.Join(lines, end), ended)
		if !reflect.DeepEqual(want, got) {
			t.Fatalf("dressed up it says\n%s\ninstead of\n%s", show(got), show(want))
		}
	})
}

// weak reports whether a line could be a part of any runner's output.
func weak(f ledger.Failure) bool { return f.Runner == "lint" || f.Runner == "tool" }

// TestUnion holds that two outputs behind each other have the failures of both,
// in any order: no runner can hide another one's failures. Lines of linters and
// tools are left out: they are not read inside of a runner's section.
func TestUnion(t *testing.T) {
	files := slices.DeleteFunc(outputs(t), func(f string) bool {
		named := func(f ledger.Failure) bool { return f.Runner != "" && !weak(f) }
		return !slices.ContainsFunc(parse(t, f).Failed, named)
	})
	rapid.Check(t, func(rt *rapid.T) {
		a, b := rapid.SampledFrom(files).Draw(rt, "a"), rapid.SampledFrom(files).Draw(rt, "b")
		one, two := parse(t, a), parse(t, b)
		both := testreport.Parse(read(t, a)+"\n"+read(t, b), ended)
		for _, f := range slices.Concat(one.Failed, two.Failed) {
			// Of two reports of one runner, one may list a subtest alone and the other
			// below its parents: the same failure.
			same := func(g ledger.Failure) bool {
				return g.File == f.File && g.Runner == f.Runner &&
					(g.Name == f.Name || strings.HasSuffix(g.Name, " > "+f.Name) || strings.HasSuffix(f.Name, " > "+g.Name))
			}
			if f.Runner != "" && !weak(f) && !slices.ContainsFunc(both.Failed, same) {
				rt.Fatalf("%s then %s: %v is missing", a, b, f)
			}
		}
	})
}

// TestOrder holds that the order of packages, and of tests in a package,
// changes nothing.
func TestOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var packages []string
		for p := range rapid.IntRange(1, 5).Draw(t, "packages") {
			var tests []string
			for n := range rapid.IntRange(0, 4).Draw(t, "tests") {
				tests = append(tests, fmt.Sprintf("--- FAIL: TestN%d (0.0%ds)\n    a_test.go:%d: no\n", n, n, n))
			}
			tests = rapid.Permutation(tests).Draw(t, "order")
			packages = append(packages, strings.Join(tests, "")+fmt.Sprintf("FAIL\nFAIL\texample.com/p%d\t0.%03ds\n", p, rapid.IntRange(0, 999).Draw(t, "took")))
		}
		want := testreport.Parse(strings.Join(packages, ""), ended)
		got := testreport.Parse(strings.Join(rapid.Permutation(packages).Draw(t, "packages' order"), ""), ended)
		if !reflect.DeepEqual(want, got) {
			t.Fatalf("%s\ninstead of\n%s", show(got), show(want))
		}
	})
}

// FuzzParse holds that any output has a report that is in order, bounded and
// the same each time, and that a second run of the same is no new failure.
func FuzzParse(f *testing.F) {
	for _, file := range outputs(f) {
		if text := read(f, file); len(text) < 20_000 {
			f.Add(text)
		}
	}
	f.Add("")
	f.Add("\x1b]0;title\x07ok\x1b[")
	f.Fuzz(func(t *testing.T, text string) {
		r := testreport.Parse(text, ended)
		check(t, r)
		if again := testreport.Parse(text, ended); !reflect.DeepEqual(r, again) {
			t.Errorf("first\n%s\nthen\n%s", show(r), show(again))
		}
		s := r.Summary(3)
		if d := testreport.Compare(&s, &s); len(d.New) > 0 || len(d.Gone) > 0 || d.Fewer > 0 {
			t.Errorf("against itself: %+v", d)
		}
	})
}

func check(t *testing.T, r testreport.Report) {
	t.Helper()
	if len(r.Failed) == 0 {
		t.Error("a red command without a failure")
	}
	for n, f := range r.Failed {
		if f.Name == "" || f.Kind == "" || len(f.Name) > 310 || len(f.File) > 310 || strings.ContainsAny(f.Name+f.File, "\n\r\x1b") {
			t.Errorf("%q", f)
		}
		if n > 0 && r.Failed[n-1] == f {
			t.Errorf("twice: %v", f)
		}
	}
}
