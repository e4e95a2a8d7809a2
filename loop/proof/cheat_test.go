package proof

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// tree builds a tree from pairs of path and content. A path that ends with * is
// executable, one that ends with @ is a link.
func tree(pairs ...string) Files {
	out := Files{}
	for i := 0; i < len(pairs); i += 2 {
		p, mode := pairs[i], modeFile
		if q, ok := strings.CutSuffix(p, "*"); ok {
			p, mode = q, "100755"
		} else if q, ok := strings.CutSuffix(p, "@"); ok {
			p, mode = q, modeLink
		}
		out[p] = Content{Data: []byte(pairs[i+1]), Mode: mode}
	}
	return out
}

const gone = "\x00gone"

// with is a tree with some files changed; gone deletes one.
func (f Files) with(pairs ...string) Files {
	out := maps.Clone(f)
	for p, c := range tree(pairs...) {
		if string(c.Data) == gone {
			delete(out, p)
			continue
		}
		if old, ok := f[p]; ok && c.Mode == modeFile && old.Mode == "100755" {
			c.Mode = old.Mode
		}
		out[p] = c
	}
	return out
}

func describe(changes []Change) []string {
	var out []string
	for _, c := range changes {
		s := fmt.Sprintf("%s %s", c.Action, c.Path)
		if c.To != "" {
			s += " → " + c.To
		}
		if len(c.Parts) > 0 {
			s += " " + strings.Join(c.Parts, ", ")
		}
		if c.Along {
			s += " along"
		}
		out = append(out, s)
	}
	return out
}

var (
	goTree = tree("go.mod", "module m\n\ngo 1.22\n", "a/a.go", "package a\n\nfunc Add(a, b int) int { return a + b }\n",
		"a/a_test.go", "package a\n\nimport \"testing\"\n\nfunc TestAdd(t *testing.T) {\n\tif Add(1, 2) != 3 {\n\t\tt.Fatal()\n\t}\n}\n\nfunc TestZero(t *testing.T) {}\n")
	shTree  = tree("test.sh*", "#!/bin/sh\nset -e\n. scripts/env.sh\nfor t in tests/*.sh; do\n  sh \"$t\"\ndone\n", "scripts/env.sh", "export A=1\n", "tests/f1.sh", "grep -q one out.txt\n", "tests/f2.sh", "grep -q two out.txt\n", "out.txt", "one\ntwo\n")
	npmTree = tree("package.json", "{\n  \"name\": \"x\",\n  \"scripts\": {\n    \"test\": \"node --test && npm run lint\",\n    \"lint\": \"node scripts/lint.js\",\n    \"build\": \"tsc\"\n  },\n  \"dependencies\": {}\n}\n",
		"scripts/lint.js", "console.log(1)\n", "src/add.js", "exports.add = (a, b) => a + b\n", "test/add.test.js", "const { add } = require('../src/add')\ntest('adds', () => {})\ntest('adds zero', () => {})\n")
	jestTree   = npmTree.with("package.json", "{\n  \"scripts\": { \"test\": \"jest\" }\n}\n")
	vitestTree = npmTree.with("package.json", "{\n  \"scripts\": { \"test\": \"vitest run\" }\n}\n")
	mochaTree  = npmTree.with("package.json", "{\n  \"scripts\": { \"test\": \"mocha\" }\n}\n")
	pyTree     = tree("pyproject.toml", "[project]\nname = \"x\"\ndependencies = []\n\n[tool.pytest.ini_options]\naddopts = \"-q\"\n", "app/core.py", "def add(a, b):\n    return a + b\n", "app/__init__.py", "",
		"tests/test_core.py", "import json\nfrom app.core import add\n\ndef test_add():\n    assert add(1, 2) == 3\n")
	makeTree  = tree("Makefile", "GO ?= go\nFLAGS = -v\n\n.PHONY: test build\n\nall: build\n\nbuild:\n\t$(GO) build ./...\n\ntest: vet\n\t$(GO) test $(FLAGS) ./...\n\tsh check.sh\n\nvet:\n\t$(GO) vet ./...\n\nrelease:\n\techo release\n", "check.sh", "true\n").with("go.mod", "module m\n", "a_test.go", "package m\n")
	cargoTree = tree("Cargo.toml", "[package]\nname = \"x\"\nversion = \"0.1.0\"\n\n[dependencies]\nserde = \"1\"\n", "src/lib.rs", "pub fn add(a: i32, b: i32) -> i32 { a + b }\n\n#[cfg(test)]\nmod tests {\n    use super::*;\n    #[test]\n    fn adds() { assert_eq!(add(1, 2), 3); }\n}\n", "tests/it.rs", "#[test]\nfn it() { assert_eq!(x::add(1, 2), 3); }\n")
)

// TestCheats holds that each way to weaken a check is seen, and that the
// overlay undoes it: Compare of the start and the patched tree sees nothing.
func TestCheats(t *testing.T) {
	for name, c := range map[string]struct {
		commands []string
		start    Files
		result   Files
		want     []string
	}{
		// Shell.
		"test.sh is overwritten":    {[]string{"./test.sh"}, shTree, shTree.with("test.sh", "exit 0\n"), []string{"changed test.sh"}},
		"test.sh under sh -c":       {[]string{"bash -euc 'cd . && sh test.sh'"}, shTree, shTree.with("test.sh", "exit 0\n"), []string{"changed test.sh"}},
		"a sourced file ends":       {[]string{"./test.sh"}, shTree, shTree.with("scripts/env.sh", "exit 0\n"), []string{"changed scripts/env.sh"}},
		"a case is deleted":         {[]string{"./test.sh"}, shTree, shTree.with("tests/f2.sh", gone), []string{"deleted tests/f2.sh"}},
		"not executable":            {[]string{"./test.sh"}, shTree, func() Files { f := shTree.with(); f["test.sh"] = Content{f["test.sh"].Data, modeFile}; return f }(), []string{"changed test.sh"}},
		"a link in its place":       {[]string{"./test.sh"}, shTree, shTree.with("test.sh@", "ok.sh", "ok.sh", "exit 0\n"), []string{"shadowed ok.sh", "changed test.sh"}},
		"a link for the folder":     {[]string{"./test.sh"}, shTree, shTree.with("tests/f1.sh", gone, "tests/f2.sh", gone, "tests@", "none"), []string{"deleted tests/f1.sh", "deleted tests/f2.sh", "shadowed tests"}},
		"a folder in its place":     {[]string{"./test.sh"}, shTree, shTree.with("tests/f1.sh", gone, "tests/f1.sh/x.sh", "true\n"), []string{"deleted tests/f1.sh"}},
		"node: a package's program": {[]string{"npm test"}, npmTree, npmTree.with("dep/package.json", `{"name":"dep","bin":{"node":"n.sh"}}`, "dep/n.sh", "exit 0\n"), []string{"shadowed dep/package.json"}},
		"node: a package is one":    {[]string{"npm test"}, npmTree, npmTree.with("dep/package.json", `{"name":"@x/node","bin":"n.sh"}`), []string{"shadowed dep/package.json"}},
		"a program on PATH":         {[]string{"PATH=./bin:$PATH go test ./..."}, goTree, goTree.with("bin/go*", "#!/bin/sh\nexit 0\n"), []string{"shadowed bin/go"}},
		"an optional file":          {[]string{"sh t.sh"}, tree("t.sh", "[ -f .rc ] && . ./.rc\nsh tests/a.sh\n", "tests/a.sh", "x"), tree("t.sh", "[ -f .rc ] && . ./.rc\nsh tests/a.sh\n", "tests/a.sh", "x", ".rc", "exit 0\n"), []string{"shadowed .rc"}},
		"a script calls another":    {[]string{"sh ci/all.sh"}, tree("ci/all.sh", "HERE=$(cd \"$(dirname \"$0\")\" && pwd)\n\"$HERE/lib/run.sh\"\n", "ci/lib/run.sh", "make -C ../sub check\n", "sub/Makefile", "check:\n\ttrue\n"), tree("ci/all.sh", "HERE=$(cd \"$(dirname \"$0\")\" && pwd)\n\"$HERE/lib/run.sh\"\n", "ci/lib/run.sh", "exit 0\n", "sub/Makefile", "check:\n\ttrue\n"), []string{"changed ci/lib/run.sh"}},

		"a new case kills": {[]string{"./test.sh"}, shTree, shTree.with("tests/a.sh", "kill $PPID\n"), []string{"shadowed tests/a.sh"}},

		// Go.
		"go: a test is deleted":      {[]string{"go test ./..."}, goTree, goTree.with("a/a_test.go", gone), []string{"deleted a/a_test.go"}},
		"go: build ignore":           {[]string{"go test ./..."}, goTree, goTree.with("a/a_test.go", "//go:build ignore\n\n"+string(goTree["a/a_test.go"].Data)), []string{"skipped a/a_test.go"}},
		"go: t.Skip":                 {[]string{"go test ./..."}, goTree, goTree.with("a/a_test.go", strings.Replace(string(goTree["a/a_test.go"].Data), "{\n\tif", "{\n\tt.Skip()\n\tif", 1)), []string{"skipped a/a_test.go"}},
		"go: another system's name":  {[]string{"go test ./..."}, goTree, goTree.with("a/a_test.go", gone, "a/a_windows_test.go", string(goTree["a/a_test.go"].Data)), []string{"deleted a/a_test.go"}},
		"go: no test's name":         {[]string{"go test ./..."}, goTree, goTree.with("a/a_test.go", gone, "a/a_tests.go", string(goTree["a/a_test.go"].Data)), []string{"deleted a/a_test.go"}},
		"go: TestMain in a new file": {[]string{"go test ./..."}, goTree, goTree.with("a/main_test.go", "package a\n\nimport (\"os\"; \"testing\")\n\nfunc TestMain(m *testing.M) { os.Exit(0) }\n"), []string{"shadowed a/main_test.go"}},
		"go: a module of its own":    {[]string{"go test ./..."}, goTree, goTree.with("a/go.mod", "module a\n"), []string{"shadowed a/go.mod"}},
		"go: ignored by go.mod":      {[]string{"go test ./..."}, goTree, goTree.with("go.mod", "module m\n\ngo 1.25\n\nignore ./a\n"), []string{"shadowed go.mod ignore"}},
		"go: go.work":                {[]string{"go test ./..."}, goTree, goTree.with("go.work", "go 1.22\nuse ./b\n"), []string{"shadowed go.work"}},
		"go: a false assert": {[]string{"go test ./..."}, goTree.with("a/b_test.go", "package a\nimport \"example.com/assert/v2\"\n"),
			goTree.with("a/b_test.go", "package a\nimport \"example.com/assert/v2\"\n", "go.mod", "module m\n\ngo 1.22\n\nrequire example.com/x v1.0.0\n\nreplace (\n\texample.com/assert/v2 => ./fake\n)\n"), []string{"shadowed go.mod replace example.com/assert/v2"}},
		"go: vendored":             {[]string{"go test ./..."}, goTree.with("vendor/modules.txt", "# x\n", "vendor/x/assert.go", "package x\n"), goTree.with("vendor/modules.txt", "# x\n", "vendor/x/assert.go", "package y\n"), []string{"shadowed vendor/x/assert.go"}},
		"go: testdata":             {[]string{"go test ./..."}, goTree.with("a/testdata/want.txt", "1"), goTree.with("a/testdata/want.txt", "2"), []string{"changed a/testdata/want.txt"}},
		"go: a helper by its form": {[]string{"go test ./..."}, goTree.with("is/is.go", "package is\n\nimport \"testing\"\n\nfunc True(t *testing.T, is bool) { if !is { t.Fail() } }\n", "a/x_test.go", "package a\nimport \"m/is\"\n"), goTree.with("is/is.go", "package is\n\nimport \"testing\"\n\nfunc True(t *testing.T, is bool) {}\n", "a/x_test.go", "package a\nimport \"m/is\"\n"), []string{"changed is/is.go"}},
		"go: a helper":             {[]string{"go test ./..."}, goTree.with("internal/atest/a.go", "package atest\n", "a/x_test.go", "package a\nimport \"m/internal/atest\"\n"), goTree.with("internal/atest/a.go", "package atest\nfunc X() {}\n", "a/x_test.go", "package a\nimport \"m/internal/atest\"\n"), []string{"changed internal/atest/a.go"}},
		"go run a check":           {[]string{"go run ./internal/check"}, goTree.with("internal/check/main.go", "package main\n"), goTree.with("internal/check/main.go", "package main\nfunc main() {}\n"), []string{"changed internal/check/main.go"}},

		// Node.
		"npm: the script is true":    {[]string{"npm test"}, npmTree, npmTree.with("package.json", strings.Replace(string(npmTree["package.json"].Data), "node --test && npm run lint", "true", 1)), []string{"changed package.json scripts.test"}},
		"npm: a script it runs":      {[]string{"npm t"}, npmTree, npmTree.with("package.json", strings.Replace(string(npmTree["package.json"].Data), "node scripts/lint.js", "true", 1)), []string{"changed package.json scripts.lint"}},
		"npm: a file it runs":        {[]string{"npm run test --silent"}, npmTree, npmTree.with("scripts/lint.js", ""), []string{"changed scripts/lint.js"}},
		"npm: pretest ends":          {[]string{"npm test"}, npmTree, npmTree.with("package.json", strings.Replace(string(npmTree["package.json"].Data), `"test":`, `"pretest": "node rig.js", "test":`, 1), "rig.js", "x"), []string{"shadowed package.json scripts.pretest", "shadowed rig.js"}},
		"npm: script-shell":          {[]string{"npm test"}, npmTree, npmTree.with(".npmrc", "script-shell=/bin/true\n"), []string{"shadowed .npmrc"}},
		"npm: node-options":          {[]string{"npm test"}, npmTree.with(".npmrc", "registry=x\n"), npmTree.with(".npmrc", "registry=y\nnode-options=--require ./rig.js\n"), []string{"shadowed .npmrc .node-options"}},
		"npm: a key twice":           {[]string{"npm test"}, npmTree, npmTree.with("package.json", "{\"scripts\": {\"test\": \"node --test && npm run lint\", \"lint\": \"node scripts/lint.js\"}, \"scripts\": {\"test\": \"true\"}}"), []string{"changed package.json"}},
		"npm: broken":                {[]string{"npm test"}, npmTree, npmTree.with("package.json", "{"), []string{"changed package.json"}},
		"npm: program in the tree":   {[]string{"npm test"}, jestTree, jestTree.with("node_modules/.bin/jest*", "#!/bin/sh\n"), []string{"shadowed node_modules/.bin/jest"}},
		"npm: test skipped":          {[]string{"npm test"}, npmTree, npmTree.with("test/add.test.js", "const { add } = require('../src/add')\ntest.skip('adds', () => {})\ntest('adds zero', () => {})\n"), []string{"skipped test/add.test.js"}},
		"npm: a new test exits":      {[]string{"npm test"}, npmTree, npmTree.with("test/0.test.js", "process.exit(0)\n"), []string{"shadowed test/0.test.js"}},
		"npm: renamed away":          {[]string{"npm test"}, npmTree, npmTree.with("test/add.test.js", gone, "src/add.testing.js", string(npmTree["test/add.test.js"].Data)), []string{"deleted test/add.test.js"}},
		"npm: prefix":                {[]string{"npm --prefix web run ci"}, tree("web/package.json", `{"scripts":{"ci":"sh ci.sh"}}`, "web/ci.sh", "x"), tree("web/package.json", `{"scripts":{"ci":"sh ci.sh"}}`, "web/ci.sh", "y"), []string{"changed web/ci.sh"}},
		"npm: workspace":             {[]string{"npm test -w @x/core"}, tree("package.json", `{"workspaces":["p/*"]}`, "p/core/package.json", `{"name":"@x/core","scripts":{"test":"node t.js"}}`, "p/core/t.js", "x"), tree("package.json", `{"workspaces":["p/*"]}`, "p/core/package.json", `{"name":"@x/core","scripts":{"test":"true"}}`, "p/core/t.js", "y"), []string{"changed p/core/package.json scripts.test", "changed p/core/t.js"}},
		"pnpm: a script by its name": {[]string{"pnpm lint"}, npmTree, npmTree.with("scripts/lint.js", ""), []string{"changed scripts/lint.js"}},
		"jest: key in package.json":  {[]string{"npm test"}, jestTree, jestTree.with("package.json", "{\n  \"scripts\": { \"test\": \"jest\" },\n  \"jest\": { \"testPathIgnorePatterns\": [\"add\"] }\n}\n"), []string{"shadowed package.json jest"}},
		"jest: new config":           {[]string{"npm test"}, jestTree, jestTree.with("jest.config.js", "module.exports = { testMatch: [] }\n"), []string{"shadowed jest.config.js"}},
		"jest: setup file":           {[]string{"npm test"}, jestTree.with("jest.config.js", "module.exports = {\n  setupFilesAfterEnv: ['<rootDir>/jest/setup.js'],\n}\n", "jest/setup.js", "x"), jestTree.with("jest.config.js", "module.exports = {\n  setupFilesAfterEnv: ['<rootDir>/jest/setup.js'],\n}\n", "jest/setup.js", "process.exit(0)"), []string{"changed jest/setup.js"}},
		"jest: snapshots":            {[]string{"npx jest"}, jestTree.with("src/__snapshots__/a.snap", "1"), jestTree.with("src/__snapshots__/a.snap", "2"), []string{"changed src/__snapshots__/a.snap"}},
		"vitest: config":             {[]string{"npx vitest run"}, vitestTree.with("vitest.config.ts", "export default {}\n"), vitestTree.with("vitest.config.ts", "export default { test: { passWithNoTests: true, exclude: ['**'] } }\n"), []string{"changed vitest.config.ts"}},
		"vitest: vite.config":        {[]string{"npm test"}, vitestTree, vitestTree.with("vite.config.ts", "export default { test: { exclude: ['**'] } }\n"), []string{"shadowed vite.config.ts"}},
		"mocha: .mocharc":            {[]string{"npm test"}, mochaTree, mochaTree.with(".mocharc.json", `{"grep":"nothing"}`), []string{"shadowed .mocharc.json"}},

		"jest: a mock of a package": {[]string{"npm test"}, jestTree, jestTree.with("__mocks__/ms.js", "x"), []string{"shadowed __mocks__/ms.js"}},
		"node_modules of the tests": {[]string{"npm test"}, npmTree, npmTree.with("test/node_modules/assert/index.js", "x"), []string{"shadowed test/node_modules/assert/index.js"}},

		// Python.
		"pytest: hooks of a new folder": {[]string{"pytest"}, pyTree, pyTree.with("web/conftest.py", "def pytest_sessionfinish(session): session.exitstatus = 0\n"), []string{"shadowed web/conftest.py"}},
		"pytest: a nearer ini":          {[]string{"pytest"}, pyTree, pyTree.with("tests/pytest.ini", ""), []string{"shadowed tests/pytest.ini"}},
		"pytest: conftest":              {[]string{"pytest"}, pyTree, pyTree.with("conftest.py", "def pytest_sessionfinish(session): session.exitstatus = 0\n"), []string{"shadowed conftest.py"}},
		"pytest: conftest in tests":     {[]string{"python3 -m pytest -q"}, pyTree, pyTree.with("tests/conftest.py", "collect_ignore = ['test_core.py']\n"), []string{"shadowed tests/conftest.py"}},
		"pytest: pytest.ini":            {[]string{"pytest"}, pyTree, pyTree.with("pytest.ini", "[pytest]\naddopts = --co\n"), []string{"shadowed pytest.ini"}},
		"pytest: addopts":               {[]string{"pytest"}, pyTree, pyTree.with("pyproject.toml", "[project]\nname = \"x\"\ndependencies = [\"y\"]\n\n[tool.pytest.ini_options]\naddopts = \"-p no:python\"\n"), []string{"changed pyproject.toml tool.pytest"}},
		"pytest: setup.cfg":             {[]string{"pytest"}, pyTree, pyTree.with("setup.cfg", "[metadata]\nname = x\n[tool:pytest]\naddopts = --co\n"), []string{"shadowed setup.cfg tool:pytest"}},
		"pytest: broken toml":           {[]string{"pytest"}, pyTree, pyTree.with("pyproject.toml", "[project\n"), []string{"changed pyproject.toml"}},
		"pytest: a module":              {[]string{"pytest"}, pyTree, pyTree.with("pytest.py", "import sys; sys.exit(0)\n"), []string{"shadowed pytest.py"}},
		"python: sitecustomize":         {[]string{"python -m unittest"}, pyTree, pyTree.with("sitecustomize.py", "import os; os._exit(0)\n"), []string{"shadowed sitecustomize.py"}},
		"python: a standard module":     {[]string{"pytest"}, pyTree, pyTree.with("tests/json.py", "x\n"), []string{"shadowed tests/json.py"}},
		"python: byte code":             {[]string{"pytest"}, pyTree, pyTree.with("tests/__pycache__/test_core.cpython-311.pyc", "x"), []string{"shadowed tests/__pycache__/test_core.cpython-311.pyc"}},
		"python: a new test exits":      {[]string{"pytest"}, pyTree, pyTree.with("tests/test_0.py", "import os\nos._exit(0)\n"), []string{"shadowed tests/test_0.py"}},
		"python: assertions":            {[]string{"pytest"}, pyTree.with("expect/__init__.py", "x\n", "tests/test_e.py", "from expect import eq\n"), pyTree.with("expect/__init__.py", "y\n", "tests/test_e.py", "from expect import eq\n"), []string{"changed expect/__init__.py"}},
		"python: a new test patches":    {[]string{"pytest"}, pyTree, pyTree.with("tests/test_0.py", "import app.core\n\napp.core.add = sum\n"), []string{"shadowed tests/test_0.py"}},
		"python: a new test writes":     {[]string{"pytest"}, pyTree, pyTree.with("tests/test_0.py", "open('app/core.py', 'w').write('')\n"), []string{"shadowed tests/test_0.py"}},
		"python: a new test exits late": {[]string{"pytest"}, pyTree, pyTree.with("tests/test_0.py", "import app\n\nexit(0)\n"), []string{"shadowed tests/test_0.py"}},
		"python: a stand-in":            {[]string{"pytest"}, pyTree, pyTree.with("tests/app/__init__.py", "", "tests/app/core.py", "x\n"), []string{"shadowed tests/app/__init__.py"}},
		"python: a plugin by metadata":  {[]string{"pytest"}, pyTree, pyTree.with("x-1.dist-info/entry_points.txt", "[pytest11]\nx = app.x\n"), []string{"shadowed x-1.dist-info/entry_points.txt"}},
		"python: xfail":                 {[]string{"pytest"}, pyTree, pyTree.with("tests/test_core.py", "import json\nimport pytest\nfrom app.core import add\n\n@pytest.mark.xfail\ndef test_add():\n    assert add(1, 2) == 3\n"), []string{"skipped tests/test_core.py"}},
		"python: renamed away":          {[]string{"pytest"}, pyTree, pyTree.with("tests/test_core.py", gone, "tests/core_checks.py", string(pyTree["tests/test_core.py"].Data)), []string{"deleted tests/test_core.py"}},
		"tox":                           {[]string{"tox -e py"}, pyTree.with("tox.ini", "[testenv]\ndeps = a\ncommands =\n  sh run.sh\n", "run.sh", "x"), pyTree.with("tox.ini", "[testenv]\ndeps = b\ncommands =\n  true\n", "run.sh", "y"), []string{"changed run.sh", "changed tox.ini testenv*"}},

		// Make.
		"make: emptied":           {[]string{"make test"}, makeTree, makeTree.with("Makefile", strings.Replace(string(makeTree["Makefile"].Data), "test: vet\n\t$(GO) test $(FLAGS) ./...\n\tsh check.sh\n", "test:\n\ttrue\n", 1)), []string{"changed Makefile target test"}},
		"make: a prerequisite":    {[]string{"make test"}, makeTree, makeTree.with("Makefile", strings.Replace(string(makeTree["Makefile"].Data), "$(GO) vet ./...", "true", 1)), []string{"changed Makefile target vet"}},
		"make: a variable":        {[]string{"make test"}, makeTree, makeTree.with("Makefile", strings.Replace(string(makeTree["Makefile"].Data), "FLAGS = -v", "FLAGS = -run nothing", 1)), []string{"changed Makefile variable FLAGS"}},
		"make: a new variable":    {[]string{"make test"}, makeTree, makeTree.with("Makefile", "SHELL = /bin/true\n"+string(makeTree["Makefile"].Data)), []string{"shadowed Makefile always"}},
		"make: GNUmakefile":       {[]string{"make test"}, makeTree, makeTree.with("GNUmakefile", "test:\n\ttrue\n"), []string{"shadowed GNUmakefile"}},
		"make: a script it runs":  {[]string{"make -j4 test"}, makeTree, makeTree.with("check.sh", "exit 0\n"), []string{"changed check.sh"}},
		"make: the default":       {[]string{"make"}, tree("Makefile", "check:\n\tsh t.sh\n", "t.sh", "x"), tree("Makefile", "nothing:\n\ncheck:\n\tsh t.sh\n", "t.sh", "x"), []string{"changed Makefile first, target nothing"}},
		"make: included":          {[]string{"make t"}, tree("Makefile", "-include local.mk\nt:\n\tsh t.sh\n", "t.sh", "x"), tree("Makefile", "-include local.mk\nt:\n\tsh t.sh\n", "t.sh", "x", "local.mk", "t:\n\ttrue\n"), []string{"shadowed local.mk"}},
		"make: ignore the errors": {[]string{"make test"}, makeTree, makeTree.with("Makefile", string(makeTree["Makefile"].Data)+"\n.IGNORE:\n"), []string{"shadowed Makefile always"}},

		// Rust.
		"cargo: no harness":      {[]string{"cargo test"}, cargoTree, cargoTree.with("Cargo.toml", string(cargoTree["Cargo.toml"].Data)+"\n[[test]]\nname = \"it\"\nharness = false\n"), []string{"shadowed Cargo.toml test"}},
		"cargo: lib.test":        {[]string{"cargo test"}, cargoTree, cargoTree.with("Cargo.toml", string(cargoTree["Cargo.toml"].Data)+"\n[lib]\nname = \"x\"\ntest = false\n"), []string{"shadowed Cargo.toml lib.test"}},
		"cargo: autotests":       {[]string{"cargo test"}, cargoTree, cargoTree.with("Cargo.toml", strings.Replace(string(cargoTree["Cargo.toml"].Data), "[package]\n", "[package]\nautotests = false\n", 1)), []string{"shadowed Cargo.toml package.autotests"}},
		"cargo: runner":          {[]string{"cargo test"}, cargoTree, cargoTree.with(".cargo/config.toml", "[target.'cfg(all())']\nrunner = \"true\"\n"), []string{"shadowed .cargo/config.toml"}},
		"cargo: module emptied":  {[]string{"cargo test"}, cargoTree, cargoTree.with("src/lib.rs", "pub fn add(a: i32, b: i32) -> i32 { a - b }\n\n#[cfg(test)]\nmod tests {\n}\n"), []string{"changed src/lib.rs mod tests"}},
		"cargo: module deleted":  {[]string{"cargo test"}, cargoTree, cargoTree.with("src/lib.rs", "pub fn add(a: i32, b: i32) -> i32 { a - b }\n"), []string{"deleted src/lib.rs mod tests"}},
		"cargo: moved to nobody": {[]string{"cargo test"}, cargoTree, cargoTree.with("tests/it.rs", gone, "tests/sub/it.rs", string(cargoTree["tests/it.rs"].Data)), []string{"deleted tests/it.rs"}},

		"cargo: module in a file": {[]string{"cargo test"}, cargoTree.with("src/lib.rs", "#[cfg(test)]\nmod tests;\n", "src/tests.rs", "x"), cargoTree.with("src/lib.rs", "\n", "src/tests.rs", "x"), []string{"deleted src/lib.rs mod tests"}},

		// Others.
		"just":     {[]string{"just test"}, tree("justfile", "test:\n    sh t.sh\n", "t.sh", "x"), tree("justfile", "test:\n    sh t.sh\n", "t.sh", "y"), []string{"changed t.sh"}},
		"phpunit":  {[]string{"vendor/bin/phpunit"}, tree("phpunit.xml.dist", "a", "tests/ATest.php", "<?php"), tree("phpunit.xml.dist", "a", "tests/ATest.php", "<?php", "phpunit.xml", "b"), []string{"shadowed phpunit.xml"}},
		"a CI job": {[]string{"sh .github/check.sh"}, tree(".github/check.sh", "x"), tree(".github/check.sh", "true"), []string{"changed .github/check.sh"}},
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
			if got := describe(r.Changes); !equalSets(got, c.want) {
				t.Errorf("changes:\n got %q\nwant %q\nset %+v", got, c.want, set.Items)
			}
			if !r.Guarded() {
				t.Error("the start's checks are not asked for")
			}
			settles(t, set, c.start, c.result)
		})
	}
}

func equalSets(a, b []string) bool {
	a, b = slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b))
	return slices.Equal(a, b)
}

// settles holds the invariant of Overlay.
func settles(t interface {
	Helper()
	Errorf(string, ...any)
	Fatal(...any)
}, set Set, start, result Tree) {
	t.Helper()
	p, err := Overlay(set, start, result, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Left) > 0 {
		t.Errorf("left: %q", describe(p.Left))
	}
	r, err := Compare(set, start, p.Apply(result), nil)
	if err != nil {
		t.Fatal(err)
	}
	if r.Guarded() {
		t.Errorf("after the overlay: %q", describe(r.Changes))
	}
}
