package proof

import (
	"slices"
	"strings"
	"testing"
)

// shellTree is a product of shell scripts, which its tests run and source.
var shellTree = tree("test.sh", "for t in tests/*.sh; do sh \"$t\"; done\n", "tests/sum.sh", ". ./lib/sum.sh\n", "tests/more.sh", "sh lib/sum.sh\n", "lib/sum.sh", "echo 1\n")

// TestHonest holds that honest work asks for nothing: no change that guards.
func TestHonest(t *testing.T) {
	pkg := string(npmTree["package.json"].Data)
	for name, c := range map[string]struct {
		commands []string
		start    Files
		result   Files
		tests    []string // new ones
	}{
		"code only":                {[]string{"go vet ./... && go test ./..."}, goTree, goTree.with("a/a.go", "package a\n"), nil},
		"a new test":               {[]string{"go test ./..."}, goTree, goTree.with("a/b_test.go", "package a\n\nfunc TestB(t *testing.T) {}\n"), []string{"a/b_test.go"}},
		"a new package":            {[]string{"go test ./..."}, goTree, goTree.with("b/b.go", "package b\n", "b/main_test.go", "package b\nfunc TestMain(m *testing.M) { os.Exit(m.Run()) }\n"), []string{"b/main_test.go"}},
		"a package moves":          {[]string{"go test ./..."}, goTree, goTree.with("a/a.go", gone, "a/a_test.go", gone, "b/a.go", string(goTree["a/a.go"].Data), "b/a_test.go", string(goTree["a/a_test.go"].Data)), nil},
		"a dependency":             {[]string{"npm test"}, npmTree, npmTree.with("package.json", strings.Replace(pkg, `"dependencies": {}`, `"dependencies": {"ms": "2"}`, 1)), nil},
		"another script":           {[]string{"npm test"}, npmTree, npmTree.with("package.json", strings.Replace(pkg, `"tsc"`, `"tsc -b"`, 1)), nil},
		"package.json, spaces":     {[]string{"npm test"}, npmTree, npmTree.with("package.json", strings.ReplaceAll(pkg, "  ", "\t")), nil},
		"a greenfield project":     {[]string{"npm test"}, tree("README.md", "x"), tree("README.md", "x", "package.json", `{"scripts":{"test":"node run.js","pretest":"sh a.sh"},"jest":{}}`, "run.js", "x", "a.sh", "x", "test/a.test.js", "process.exit(1)", "jest.config.js", "x"), []string{"test/a.test.js"}},
		"the missing script":       {[]string{"npm test"}, tree("package.json", `{"scripts":{"build":"tsc"}}`), tree("package.json", `{"scripts":{"build":"tsc","test":"sh t.sh"}}`, "t.sh", "x"), nil},
		"the missing file":         {[]string{"set -e; sh test.sh"}, tree("a.c", ""), tree("a.c", "", "test.sh", ". ./lib.sh\n", "lib.sh", "x"), nil},
		"the missing makefile":     {[]string{"make check"}, tree("a.c", ""), tree("a.c", "", "Makefile", "SHELL=bash\ncheck: b\n\tsh t.sh\nb:\n", "t.sh", "x"), nil},
		"the missing target":       {[]string{"make check"}, tree("Makefile", "b:\n\ttrue\n"), tree("Makefile", "b:\n\ttrue\ncheck: c\n\tsh t.sh\nc:\n", "t.sh", "x"), nil},
		"another target":           {[]string{"make test"}, makeTree, makeTree.with("Makefile", strings.Replace(string(makeTree["Makefile"].Data), "echo release", "echo published", 1)), nil},
		"pyproject, dependency":    {[]string{"pytest"}, pyTree, pyTree.with("pyproject.toml", strings.Replace(string(pyTree["pyproject.toml"].Data), "dependencies = []", "dependencies = [\"x\"] # y", 1)), nil},
		"conftest of new tests":    {[]string{"pytest"}, pyTree, pyTree.with("web/tests/conftest.py", "x = 1\n", "web/tests/test_web.py", "def test_w(): pass\n"), []string{"web/tests/conftest.py", "web/tests/test_web.py"}},
		"a test with a class":      {[]string{"pytest"}, pyTree, pyTree.with("tests/test_s.py", "class TestS:\n    def test_s(self):\n        self.n = 1\n        assert self.n == 1\n"), []string{"tests/test_s.py"}},
		"a module moves":           {[]string{"pytest"}, pyTree, pyTree.with("app/__init__.py", gone, "app/core.py", gone, "src/app/__init__.py", "", "src/app/core.py", "x\n"), nil},
		"a checked source":         {[]string{"node --check src/add.js", "npm test"}, npmTree, npmTree.with("src/add.js", "exports.add = 1\n"), nil},
		"a program under test":     {[]string{"node src/add.js", "npm test"}, npmTree, npmTree.with("src/add.js", "exports.add = 1\n"), nil},
		"a module that is run":     {[]string{"python3 app/core.py", "pytest"}, pyTree, pyTree.with("app/core.py", "x\n"), nil},
		"a module json.py":         {[]string{"pytest"}, pyTree, pyTree.with("app/json.py", "x\n"), nil},
		"the module under test":    {[]string{"pytest"}, pyTree.with("tests/test_m.py", "import shop\n"), pyTree.with("tests/test_m.py", "import shop\n", "shop.py", "x\n"), nil},
		"a config of no test":      {[]string{"go test ./..."}, goTree, goTree.with("web/jest.config.js", "x"), nil},
		"a new crate":              {[]string{"cargo test"}, cargoTree, cargoTree.with("Cargo.toml", strings.Replace(string(cargoTree["Cargo.toml"].Data), "serde = \"1\"", "serde = { version = \"1\" }\nrand = \"0.8\"", 1)), nil},
		"rust code":                {[]string{"cargo test"}, cargoTree, cargoTree.with("src/lib.rs", "// more\n"+string(cargoTree["src/lib.rs"].Data)+"pub fn sub() {}\n"), nil},
		"a rust source moves":      {[]string{"cargo test"}, cargoTree, cargoTree.with("src/lib.rs", gone, "src/sum.rs", string(cargoTree["src/lib.rs"].Data)), []string{"src/sum.rs"}},
		"a product of scripts":     {[]string{"sh test.sh", "sh tests/more.sh"}, shellTree, shellTree.with("lib/sum.sh", "echo 2\n"), nil},
		"a package with a program": {[]string{"npm test"}, npmTree, npmTree.with("cli/package.json", `{"name":"cli","bin":{"shop":"shop.js"}}`), nil},
		"a product file":           {[]string{"npm test"}, npmTree, npmTree.with("src/add.js", "exports.add = 1\n"), nil},
		"a product fixture":        {[]string{"npm test"}, npmTree.with("src/mock-data.js", "1", "src/index.js", "require('./mock-data')"), npmTree.with("src/mock-data.js", "2", "src/index.js", "require('./mock-data')"), nil},
		"vendored, new list":       {[]string{"go test ./..."}, goTree.with("vendor/modules.txt", "# x\n", "vendor/x/a.go", "package x\n"), goTree.with("vendor/modules.txt", "# x v2\n", "vendor/x/a.go", "package y\n"), nil},
	} {
		t.Run(name, func(t *testing.T) {
			set, err := Find(c.start, Project{Commands: c.commands})
			if err != nil {
				t.Fatal(err)
			}
			r, err := Compare(set, c.start, c.result, nil)
			if err != nil {
				t.Fatal(err)
			}
			if r.Guarded() {
				t.Errorf("changes: %q", describe(r.Changes))
			}
			if !slices.Equal(r.NewTests, c.tests) {
				t.Errorf("new tests: %q, want %q", r.NewTests, c.tests)
			}
			settles(t, set, c.start, c.result)
		})
	}
}

// TestNamed holds that what the task names is reported and left as it is.
func TestNamed(t *testing.T) {
	set, _ := Find(shTree, Project{Commands: []string{"./test.sh"}})
	result := shTree.with("test.sh", "exit 0\n", "tests/f1.sh", "true\n", "tests/f3.sh", "true\n")
	named := []string{"test.sh", "tests/f3.sh"}
	r, _ := Compare(set, shTree, result, named)
	if got := describe(r.Changes); !slices.Equal(got, []string{"changed test.sh", "changed tests/f1.sh"}) || !r.Changes[0].Named || r.Changes[1].Named {
		t.Errorf("%q %+v", got, r.Changes)
	}
	p, err := Overlay(set, shTree, result, named)
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Write) != 1 || string(p.Write["tests/f1.sh"].Data) != string(shTree["tests/f1.sh"].Data) || len(p.Remove) > 0 {
		t.Errorf("%+v", p)
	}
}

// TestOwnGlobs holds that a project's globs add to the usual names, and take away
// from them with a "!".
func TestOwnGlobs(t *testing.T) {
	start := tree("checks/a.txt", "1", "a_test.go", "x", "test/data.go", "x", "src/lib.rs", rustInline)
	result := tree("checks/a.txt", "2", "a_test.go", "y", "test/data.go", "y", "src/lib.rs", "", "checks/b.txt", "1")
	for _, c := range []struct{ globs, changed []string }{
		{nil, []string{"changed a_test.go", "deleted src/lib.rs mod tests", "changed test/data.go"}},
		{[]string{"checks"}, []string{"changed a_test.go", "changed checks/a.txt", "deleted src/lib.rs mod tests", "changed test/data.go"}},
		{[]string{"checks", "!test", "!**/*.rs"}, []string{"changed a_test.go", "changed checks/a.txt"}},
		{[]string{"checks", "!**"}, nil},
	} {
		set, _ := Find(start, Project{Tests: c.globs})
		r, _ := Compare(set, start, result, nil)
		if got := describe(r.Changes); !slices.Equal(got, c.changed) || slices.Contains(r.NewTests, "checks/b.txt") != (len(c.globs) == 1 || len(c.globs) == 3) {
			t.Errorf("%q: %q, new %q", c.globs, got, r.NewTests)
		}
	}
}

// rustInline is a source with its tests in it.
const rustInline = "pub fn one() -> i32 { 1 }\n\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn ok() { assert_eq!(super::one(), 1); }\n}\n"

func TestSummary(t *testing.T) {
	for _, c := range []struct {
		commands []string
		start    Files
		result   Files
		want     string
	}{
		{[]string{"./test.sh"}, shTree.with("a_test.go", "func TestA(t *testing.T) {\n}\n"), shTree.with("test.sh", "exit 0\n"), "1 test deleted, test.sh +1 −6"},
		{[]string{"npm test"}, npmTree, npmTree.with("test/add.test.js", gone), "2 tests deleted"},
		{[]string{"./test.sh"}, shTree, shTree.with("test.sh", "#!/bin/sh\nset -e\n", "tests/f2.sh", gone), "1 test deleted, test.sh −4"},
		{[]string{"npm test"}, npmTree, npmTree.with("test/add.test.js", "test('adds', () => {})\n", "jest.config.js", "x"), "1 test deleted, new jest.config.js"},
		{[]string{"npm test"}, npmTree, npmTree.with("test/add.test.js", gone, "test/sum.test.js", string(npmTree["test/add.test.js"].Data)), "1 test moved"},
		{[]string{"npm test"}, npmTree, npmTree.with("package.json", strings.Replace(string(npmTree["package.json"].Data), "node --test", "true", 1)), "package.json scripts.test +1 −1"},
		{[]string{"go test ./..."}, goTree, goTree.with("a/a_test.go", "//go:build x\n"+string(goTree["a/a_test.go"].Data)), "1 test changed to skip"},
		{[]string{"make test"}, makeTree, makeTree.with("check.sh", "", "a_test.go", "package m\n\n", "Makefile", "test:\n"), "1 test changed, Makefile target test and 3 more +1 −8, 1 more"},
	} {
		set, _ := Find(c.start, Project{Commands: c.commands})
		r, _ := Compare(set, c.start, c.result, nil)
		if got := Summary(r.Changes, 1); got != c.want {
			t.Errorf("%q, want %q (%q)", got, c.want, describe(r.Changes))
		}
	}
}
