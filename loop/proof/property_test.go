package proof

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// paths and texts are what random trees are made of: names that mean
// something, and contents of the wrong kind among the right ones.
var (
	paths = []string{"test.sh", "lib.sh", "Makefile", "GNUmakefile", "local.mk", "package.json", "web/package.json", ".npmrc", "jest.config.js", "vitest.config.ts", "pyproject.toml", "setup.cfg", "tox.ini", "Cargo.toml", "conftest.py", "tests", "tests/test_a.py", "tests/conftest.py", "tests/a.sh",
		"tests/a.sh/b", "src/a.test.js", "src/a.js", "src/lib.rs", "a/a_test.go", "a/b_test.go", "a/a.go", "go.mod", "a/go.mod", "go.work", "a/testdata/x", "b/a_test.go", "pytest.py", "src/testutil.js", "src/__snapshots__/a.snap", "vendor/modules.txt", "vendor/x/x.go", "node_modules/.bin/jest", "justfile", "bin/go"}
	contents = []string{"", "x", "exit 0\n", "\x00\x01\xff", "#!/bin/sh\n. ./lib.sh\nsh tests/a.sh\nmake -f local.mk t\n", "-include local.mk\nA = 1\nt test: u\n\t$(A) sh test.sh\nu:\n\tnpm test\n", "t:\n\ttrue\nifdef X\ntest: t\n\techo\nendif", "SHELL=/bin/true\ndefine x\n",
		`{"scripts":{"test":"jest && npm run a","a":"sh test.sh"},"jest":{"a":1}}`, `{"scripts":{"test":"true","pretest":"sh lib.sh"},"dependencies":{"a":"1"}}`, `{"scripts":{"test":"x"},"scripts":{}}`, `{"scripts":[1]}`, `{`, `[]`, "[tool.pytest.ini_options]\na = 1\n[project]\nx = 1", "[project]\nx = 2\n[tool]\npytest.b = 1\n", "tool = {pytest = {a = 1}, x = 1}", "[tool", "[pytest]\na = 1\n[testenv]\ndeps = x\ncommands = sh test.sh\n", "script-shell=x\nregistry=y\n",
		"[package]\nautotests = false\n[[test]]\nname = \"a\"\n", "fn a() {}\n#[cfg(test)]\nmod tests { fn x() {} }\n", "#[cfg(test)]\nmod tests { \"}", "package a\n\nimport \"example.com/assert\"\n\nfunc TestA(t *testing.T) {}\n", "func TestMain() { os.Exit(0) }", "module m\nreplace example.com/assert => ./x\n", "import json\nimport pytest\nos._exit(0)\n", "const a = require('./testutil')\ntest('a', () => {})\n", "test:\n    sh test.sh\n", "$X\n((((", "cd a; sh ../test.sh; cd -; ./x\n"}
	commandLines = []string{"sh test.sh", "./test.sh", "make test", "make", "npm test", "npm -w x run a", "pytest", "python -m pytest", "go test ./...", "cargo test", "tox", "just test", "$X", "cd web && npm t", "PATH=bin:$PATH go test", "for t in tests/*.sh; do . ./$t; done", "jest", "("}
)

func randomTree(t *rapid.T, label string, onto Files) Files {
	out := onto.with()
	for range rapid.IntRange(0, 10).Draw(t, label) {
		p := rapid.SampledFrom(paths).Draw(t, "path")
		// A tree has no file below a file.
		for q := range out {
			if strings.HasPrefix(q, p+"/") || strings.HasPrefix(p, q+"/") {
				delete(out, q)
			}
		}
		if rapid.IntRange(0, 5).Draw(t, "delete") == 0 {
			delete(out, p)
			continue
		}
		mode := rapid.SampledFrom([]string{modeFile, modeFile, modeFile, "100755", modeLink}).Draw(t, "mode")
		data := rapid.SampledFrom(contents).Draw(t, "content")
		if mode == modeLink {
			data = rapid.SampledFrom(paths).Draw(t, "target")
		}
		out[p] = Content{Data: []byte(data), Mode: mode}
	}
	return out
}

// TestOverlaySettles holds for random trees that nothing is left to guard
// after Overlay, that the code stays the result's, and that the tests of the
// start are in the patched tree as they were.
func TestOverlaySettles(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		start := randomTree(t, "start", Files{})
		result := randomTree(t, "result", start)
		project := Project{Commands: rapid.SliceOfN(rapid.SampledFrom(commandLines), 0, 3).Draw(t, "commands")}
		set, err := Find(start, project)
		if err != nil {
			t.Fatal(err)
		}
		same, err := Compare(set, start, start.with(), nil)
		if err != nil || len(same.Changes)+len(same.NewTests)+len(same.Unknown) > 0 {
			t.Fatalf("the start differs from itself: %q %q %v", describe(same.Changes), same.NewTests, err)
		}
		settles(t, set, start, result)
		p, _ := Overlay(set, start, result, nil)
		again, _ := Overlay(set, start, result, nil)
		if fmt.Sprint(p) != fmt.Sprint(again) {
			t.Fatal("Overlay is not the same twice")
		}
		patched := newReader(p.Apply(result))
		a := newReader(start)
		for _, it := range set.Items {
			if it.Parts == nil && a.files[it.Path].Mode != modeRepo && it.Kind == KindTest && !moved(set, start, result, it.Path) && !sameIn(a, patched, it.Path) {
				t.Fatalf("%s is not the start's", it.Path)
			}
		}
		for q := range result {
			if _, proves := set.Item(q); !proves && start.has(q) && !sameIn(newReader(result), patched, q) && !shadowed(set, start, result, q) {
				t.Fatalf("%s is not the result's", q)
			}
		}
		if _, err := TestsOnStart(set, start, result); err != nil {
			t.Fatal(err)
		}
	})
}

func (f Files) has(p string) bool { _, ok := f[p]; return ok }

func sameIn(a, b *reader, p string) bool { return same(a, p, b, p) }

func moved(set Set, start, result Files, p string) bool {
	r, _ := Compare(set, start, result, nil)
	return slices.ContainsFunc(r.Changes, func(c Change) bool { return c.Action == Moved && (c.Path == p || c.To == p) })
}

// shadowed allows for files that the patched tree lacks because the start has
// something in their place, and for vendored files.
func shadowed(set Set, start, result Files, p string) bool {
	if strings.HasPrefix(p, "vendor/") || strings.HasPrefix(p, "node_modules/") {
		return true
	}
	r, _ := Compare(set, start, result, nil)
	return slices.ContainsFunc(r.Changes, func(c Change) bool { return c.Path == p }) || slices.ContainsFunc(set.Items, func(it Item) bool { return strings.HasPrefix(it.Path, p+"/") })
}

// TestHostile holds that large, deep and broken files end nothing.
func TestHostile(t *testing.T) {
	deep := strings.Repeat
	for name, text := range map[string]string{
		"brackets": deep("(", 200000), "braces": deep("{ ", 100000), "substitutions": deep("$(", 100000), "back quotes": deep("`", 100001), "ifs": deep("if ", 80000), "whiles": deep("while ", 40000), "nots": deep("! ", 100000), "ands": deep("a && ", 40000) + "a", "pipes": deep("a | ", 40000) + "a",
		"arrays": "a = " + deep("[", 100000), "tables": "a = " + deep("{a=", 60000), "objects": deep(`{"scripts":`, 20000), "json arrays": `{"jest":` + deep("[", 9000) + deep("]", 9000) + "}", "a long line": deep("x", 250000), "too large": deep("x\n", 400000), "zeros": deep("\x00", 1000), "no newline": "a:\\", "define": "define x\n" + deep("y\n", 1000),
		"variables": "A = $(A)$(A)\nB = $(A)$(A)$(A)\n" + deep("t: $(B)\n", 2000), "doubling": "A1=x\nA2=$(A1)$(A1)\nA3=$(A2)$(A2)\nA4=$(A3)$(A3)\nA5=$(A4)$(A4)\nA6=$(A5)$(A5)\nA7=$(A6)$(A6)\nA8=$(A7)$(A7)\nA9=$(A8)$(A8)\ntest:\n\t$(A9)\n", "globs": "sh " + deep("*/", 40) + deep("{a,b}", 40), "words": "X=a; " + deep("X=$X$X; ", 100) + "sh $X",
		"functions": "f() { f; g; }; g() { f; }; f", "here": "cat <<A\n" + deep("$(", 1000), "rust": deep("#[cfg(test)]\nmod a {\n", 5000), "strings": deep("\"", 99999), "heredocs": deep("cat <<E\n", 5000), "cases": deep("case x in x) ", 20000), "arithmetic": "((" + deep("-", 100000) + "1))", "ternary": "((" + deep("a?", 50000) + "1))", "tests": "[[ " + deep("! ", 80000) + "a ]]", "sums": "((" + deep("a+", 50000) + "1))", "powers": "((" + deep("a**", 50000) + "1))",
	} {
		t.Run(name, func(t *testing.T) {
			if name != "too large" { // the limits' own size takes ten times as long and shows no more
				text = text[:min(len(text), 40<<10)]
			}
			start := tree("tests/test_b.py", "x", "src/a.test.js", "x")
			result := start.with("tests/test_c.py", text)
			for _, p := range []string{"test.sh", "Makefile", "package.json", "pyproject.toml", "setup.cfg", "src/lib.rs", "jest.config.js", "go.mod", "tests/test_a.py", ".npmrc", "justfile"} {
				start[p] = Content{Data: []byte(text), Mode: modeFile}
				result[p] = Content{Data: []byte(text + "\nx"), Mode: modeFile}
			}
			set, err := Find(start, Project{Commands: []string{"sh test.sh", "make test", "npm test", "tox", "just", text}})
			if err != nil {
				t.Fatal(err)
			}
			settles(t, set, start, result)
		})
	}
}

// failing is a tree whose files cannot be read.
type failing struct{ Files }

var errRead = errors.New("no such blob")

func (failing) Read(string) ([]byte, error) { return nil, errRead }

// TestUnreadable holds that a tree that fails is an error, never "no change".
func TestUnreadable(t *testing.T) {
	p := Project{Commands: []string{"./test.sh"}}
	if _, err := Find(failing{shTree}, p); !errors.Is(err, errRead) {
		t.Error(err)
	}
	set, _ := Find(shTree, p)
	if _, err := Compare(set, shTree, failing{shTree.with("test.sh", "x")}, nil); !errors.Is(err, errRead) {
		t.Error(err)
	}
	if _, err := Overlay(set, failing{shTree}, shTree.with("test.sh", "x"), nil); !errors.Is(err, errRead) {
		t.Error(err)
	}
	if _, err := TestsOnStart(set, shTree, failing{shTree.with("tests/f3.sh", "x")}); !errors.Is(err, errRead) {
		t.Error(err)
	}
}

func FuzzParts(f *testing.F) {
	for _, c := range contents {
		f.Add(c, contents[5])
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		for p, parts := range map[string][]string{"package.json": {"scripts.test", "jest"}, "pyproject.toml": {"tool.pytest", "test", "lib.test"}, "setup.cfg": iniRunner, ".npmrc": dotted(npmrcKeys), "Makefile": {"always", "target test", "variable A", "first"}, "a.rs": {"mod tests"}, "go.mod": {"replace a", "ignore"}} {
			out, ok := Lay(p, []byte(a), []byte(b), parts)
			if !ok {
				continue
			}
			x, _ := readParts(p, []byte(a))
			y, in := readParts(p, out)
			if !in || !equalParts(x, y, parts) {
				t.Fatalf("%s: %q", p, out)
			}
		}
		start := tree("test.sh", a, "Makefile", a, "package.json", a)
		set, err := Find(start, Project{Commands: []string{a, "sh test.sh", "make test", "npm test"}})
		if err != nil {
			t.Fatal(err)
		}
		settles(t, set, start, tree("test.sh", b, "Makefile", b, "package.json", b))
	})
}
