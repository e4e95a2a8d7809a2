package proof

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestRealRunners holds with real programs that a cheat is green on its own
// tree and red on the patched one, and that honest work is green on both.
func TestRealRunners(t *testing.T) {
	sh := tree("test.sh", "set -e\nfor t in tests/*.sh; do sh \"$t\"; done\n", "tests/a.sh", "grep -q right out.txt\n", "out.txt", "right\n")
	mk := sh.with("Makefile", "WORD = right\n\nbuild:\n\ttrue\n\ntest: build\n\tgrep -q $(WORD) out.txt\n")
	node := tree("package.json", "{\n  \"scripts\": {\n    \"test\": \"node --test test/\"\n  }\n}\n", "add.js", "exports.add = (a, b) => a + b\n",
		"test/add.test.js", "const test = require('node:test')\nconst assert = require('node:assert')\nconst { add } = require('../add')\ntest('adds', () => assert.equal(add(1, 2), 3))\n")
	py := tree("core.py", "def add(a, b):\n    return a + b\n", "test_core.py", "import unittest\nfrom core import add\n\nclass T(unittest.TestCase):\n    def test_add(self):\n        self.assertEqual(add(1, 2), 3)\n")
	golang := tree("go.mod", "module m\n\ngo 1.22\n", "a/a.go", "package a\n\nfunc Add(a, b int) int { return a + b }\n", "a/a_test.go", "package a\n\nimport \"testing\"\n\nfunc TestAdd(t *testing.T) {\n\tif Add(1, 2) != 3 {\n\t\tt.Fatal(Add(1, 2))\n\t}\n}\n")
	const brokenGo, brokenJS, brokenPy = "package a\n\nfunc Add(a, b int) int { return a - b }\n", "exports.add = (a, b) => a - b\n", "def add(a, b):\n    return a - b\n"

	for name, c := range map[string]struct {
		command       string
		start, result Files
		honest        bool
	}{
		"sh: exit 0":              {"sh test.sh", sh, sh.with("out.txt", "wrong\n", "test.sh", "exit 0\n"), false},
		"sh: a case deleted":      {"sh test.sh", sh, sh.with("out.txt", "wrong\n", "tests/a.sh", gone, "tests/b.sh", "true\n"), false},
		"make: target":            {"make test", mk, mk.with("out.txt", "wrong\n", "Makefile", "test:\n\ttrue\n"), false},
		"make: variable":          {"make test", mk, mk.with("out.txt", "wrong\n", "Makefile", strings.Replace(string(mk["Makefile"].Data), "= right", "= wrong", 1)), false},
		"make: GNUmakefile":       {"make test", mk, mk.with("out.txt", "wrong\n", "GNUmakefile", "test:\n\ttrue\n"), false},
		"make: another target":    {"make test", mk, mk.with("Makefile", string(mk["Makefile"].Data)+"\nlint:\n\ttrue\n", "test.sh", "set -e\ntrue\n"), true},
		"npm: true":               {"npm test", node, node.with("add.js", brokenJS, "package.json", `{"scripts":{"test":"true"}}`), false},
		"npm: skip":               {"npm test", node, node.with("add.js", brokenJS, "test/add.test.js", strings.Replace(string(node["test/add.test.js"].Data), "test('adds'", "test.skip('adds'", 1)), false},
		"npm: npmrc":              {"npm test", node, node.with("add.js", brokenJS, ".npmrc", "script-shell=/bin/true\n"), false},
		"npm: an added case":      {"npm test", node, node.with("test/add.test.js", string(node["test/add.test.js"].Data)+"test('more', () => {})\n"), true},
		"python: exit":            {"python3 -m unittest", py, py.with("core.py", brokenPy, "test_aaa.py", "import os\nos._exit(0)\n"), false},
		"python: unittest.py":     {"python3 -m unittest", py, py.with("core.py", brokenPy, "unittest.py", "pass\n"), false},
		"python: edited":          {"python3 -m unittest", py, py.with("core.py", brokenPy, "test_core.py", "import unittest\n"), false},
		"go: TestMain":            {"go test ./...", golang, golang.with("a/a.go", brokenGo, "a/m_test.go", "package a\n\nimport (\n\t\"os\"\n\t\"testing\"\n)\n\nfunc TestMain(m *testing.M) { os.Exit(0) }\n"), false},
		"go: a module of its own": {"go test ./...", golang.with("b/b.go", "package b\n"), golang.with("b/b.go", "package b\n", "a/a.go", brokenGo, "a/go.mod", "module a\n"), false},
		"go: a function moved":    {"go test ./...", golang, golang.with("a/a_test.go", "package a\n", "a/add_test.go", string(golang["a/a_test.go"].Data)), true},
	} {
		t.Run(name, func(t *testing.T) {
			program := strings.Fields(c.command)[0]
			if _, err := exec.LookPath(program); err != nil {
				t.Skipf("%s is not installed: %v", program, err)
			}
			set, err := Find(c.start, Project{Commands: []string{c.command}})
			if err != nil {
				t.Fatal(err)
			}
			if out, green := verify(t, c.command, c.start); !green {
				t.Fatalf("the start is red: %s", out)
			}
			if out, green := verify(t, c.command, c.result); !green {
				t.Fatalf("the result is red: %s", out)
			}
			r, _ := Compare(set, c.start, c.result, nil)
			if !r.Guarded() {
				t.Error("no check of the start is asked for")
			}
			p, err := Overlay(set, c.start, c.result, nil)
			if err != nil {
				t.Fatal(err)
			}
			if out, green := verify(t, c.command, p.Apply(c.result)); green != c.honest {
				t.Errorf("the patched tree is green: %v\n%s", green, out)
			}
		})
	}
}

// verify runs a command in a folder with the files of a tree.
func verify(t *testing.T, command string, tree Tree) (string, bool) {
	t.Helper()
	dir := t.TempDir()
	for _, e := range tree.List() {
		data, err := tree.Read(e.Path)
		if err != nil {
			t.Fatal(err)
		}
		p := filepath.Join(dir, filepath.FromSlash(e.Path))
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, data, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), "sh", "-c", command)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOFLAGS=", "GOWORK=", "PYTHONDONTWRITEBYTECODE=1", "npm_config_update_notifier=false")
	for i := 0; i < len(cmd.Env); i++ { // node --test is silent inside of another one
		if strings.HasPrefix(cmd.Env[i], "NODE_TEST_CONTEXT=") {
			cmd.Env[i] = "NODE_TEST_CONTEXT="
		}
	}
	out, err := cmd.CombinedOutput()
	return string(out), err == nil
}
