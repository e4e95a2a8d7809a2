package proof

import (
	"encoding/json"
	"path"
	"slices"
	"strings"

	"github.com/nightporter/nightporter/internal/regexp"
)

// runnerModules are modules of Python's runners, and those that Python loads
// by itself. A file of such a name is found before the real one.
var runnerModules = []string{
	"sitecustomize", "usercustomize", "pytest", "_pytest", "pluggy", "iniconfig", "unittest", "doctest", "coverage", "pytest_cov", "xdist", "pytest_asyncio",
	"anyio", "nose", "nose2", "mock", "hypothesis", "py", "tox", "nox", "exceptiongroup", "trial", "behave", "robot", "mypy", "ruff", "flake8",
}

// standardModules are modules of Python's library that tests import often.
var standardModules = []string{
	"abc", "argparse", "ast", "asyncio", "base64", "builtins", "collections", "contextlib", "copy", "csv", "dataclasses", "datetime", "decimal", "difflib", "enum", "errno", "filecmp",
	"fractions", "functools", "glob", "hashlib", "importlib", "inspect", "io", "itertools", "json", "logging", "math", "operator", "os", "pathlib", "pickle", "platform", "pprint", "random", "re",
	"shlex", "shutil", "signal", "socket", "sqlite3", "statistics", "string", "struct", "subprocess", "sys", "tempfile", "textwrap", "threading", "time", "traceback", "types", "typing", "uuid", "warnings", "weakref", "xml", "zipfile",
}

// shadows are new files that take the place of something that proved and was
// not in the tree: a runner's module, a package's program, a build cache.
func (c *comparison) shadows() []string {
	langs := map[string]bool{}
	dirs := map[string]bool{"": true, "src": true, "lib": true}
	for _, it := range c.set.Items {
		if it.Kind == KindTest || it.Kind == KindScript {
			l := language(it.Path)
			langs[l] = true
			if l == "python" {
				dirs[parent(it.Path)] = true
			}
		}
	}
	langs["js"] = langs["js"] || c.set.programs["node"] || c.set.programs["npm"]
	langs["python"] = langs["python"] || c.set.programs["python"] || c.set.programs["pytest"]
	var out []string
	var imported map[string]bool
	vendored := c.vendorChanged()
	for _, e := range c.b.entries {
		p := e.Path
		if c.a.has(p) {
			if vendored(p) && !same(c.a, p, c.b, p) || strings.HasSuffix(p, ".pyc") && langs["python"] && !same(c.a, p, c.b, p) {
				out = append(out, p)
			}
			continue
		}
		base := path.Base(p)
		switch {
		case base == "package.json" && langs["js"] && c.bringsProgram(p):
			out = append(out, p)
		case vendored(p):
			out = append(out, p)
		case base == "go.mod" && langs["go"] && governs(p, c.set) && c.moduleAbove(parent(p)):
			out = append(out, p)
		case langs["python"] && strings.HasSuffix(base, ".pyc"), langs["python"] && strings.HasSuffix(base, ".pth"):
			out = append(out, p)
		case langs["python"] && base == "entry_points.txt" && entryPoints[path.Ext(parent(p))]:
			out = append(out, p) // pytest loads the plugins that it names
		case langs["python"]:
			name, dir := strings.TrimSuffix(base, ".py"), parent(p)
			if base == "__init__.py" {
				name, dir = path.Base(dir), parent(dir)
			} else if name == base {
				continue
			}
			if !dirs[dir] {
				continue
			}
			if imported == nil {
				imported = c.imported()
			}
			if imported[name] && c.standsIn(dir, name) {
				out = append(out, p)
				continue
			}
			if slices.Contains(runnerModules, name) || slices.Contains(standardModules, name) && imported[name] {
				if !c.a.has(strings.TrimPrefix(dir+"/"+name+".py", "/")) && !c.a.folders[strings.TrimPrefix(dir+"/"+name, "/")] {
					out = append(out, p)
				}
			}
		}
	}
	for _, e := range c.a.entries {
		if vendored(e.Path) && !c.b.has(e.Path) {
			out = append(out, e.Path)
		}
	}
	return out
}

// bringsProgram reports whether a package.json names a program as one that runs in
// the start's commands. Scripts find the programs of dependencies before others.
func (c *comparison) bringsProgram(p string) bool {
	text, _ := c.b.text(p)
	var pkg struct {
		Name string
		Bin  json.RawMessage
	}
	if json.Unmarshal(trimBOM(text), &pkg) != nil {
		return false
	}
	var one string
	if json.Unmarshal(pkg.Bin, &one) == nil && one != "" {
		return c.runs(path.Base(pkg.Name))
	}
	var named map[string]json.RawMessage
	_ = json.Unmarshal(pkg.Bin, &named) // of another form it names none
	for name := range named {
		if c.runs(name) {
			return true
		}
	}
	return false
}

// runs reports whether the start's commands run a program of this name, or a shell
// does before them.
func (c *comparison) runs(name string) bool {
	return c.set.programs[name] || name == "sh" || name == "env"
}

// entryPoints are the ends of folders with the metadata of a Python package. They
// are read wherever they lie on the path of modules.
var entryPoints = map[string]bool{".dist-info": true, ".egg-info": true}

// standsIn reports whether a module in a folder of tests is found before one of the
// same name that the product had and has.
func (c *comparison) standsIn(dir, name string) bool {
	if !c.match.test(strings.TrimPrefix(dir+"/x.py", "/")) {
		return false
	}
	for _, d := range []string{"", "src/", "lib/"} {
		file, folder := d+name+".py", d+name
		if c.a.has(file) && c.b.has(file) || c.a.folders[folder] && c.b.folders[folder] {
			return true
		}
	}
	return false
}

// moduleAbove reports whether the start has a go.mod in a folder above.
func (c *comparison) moduleAbove(dir string) bool {
	for dir != "" {
		dir = parent(dir)
		if c.a.has(strings.TrimPrefix(dir+"/go.mod", "/")) {
			return true
		}
	}
	return false
}

// vendorChanged returns which dependencies in the tree may not differ: those
// below a list of dependencies that is the same.
func (c *comparison) vendorChanged() func(p string) bool {
	lists := []string{"package.json", "package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml", "bun.lock"}
	known := map[string]bool{}
	return func(p string) bool {
		if i := strings.Index("/"+p, "/vendor/"); i >= 0 {
			list := p[:i] + "vendor/modules.txt"
			return c.a.has(list) && same(c.a, list, c.b, list)
		}
		i := strings.Index("/"+p, "/node_modules/")
		if i < 0 {
			return false
		}
		if strings.HasPrefix(p[i:], "node_modules/.bin/") {
			return true
		}
		dir := p[:i]
		if same, ok := known[dir]; ok {
			return same
		}
		known[dir] = true
		for _, l := range lists {
			if (c.a.has(dir+l) || c.b.has(dir+l)) && !same(c.a, dir+l, c.b, dir+l) {
				known[dir] = false
			}
		}
		return known[dir]
	}
}

// imported are the modules that the start's Python tests import.
func (c *comparison) imported() map[string]bool {
	out := map[string]bool{}
	reads := 0
	for _, it := range c.set.Items {
		if language(it.Path) != "python" || reads > maxReads {
			continue
		}
		reads++
		for _, m := range pyImport.FindAllStringSubmatch(string(c.lines(c.a, it.Path)), maxFollows) {
			for _, mod := range strings.Split(m[1]+","+m[3], ",") {
				mod, _, _ = strings.Cut(strings.TrimSpace(mod), " ")
				mod, _, _ = strings.Cut(mod, ".")
				out[mod] = true
			}
		}
	}
	return out
}

// ends are how a new test can end or change the run of the others, which share
// its process.
var ends = map[string]*regexp.Regexp{
	"go":     regexp.MustCompile(`(?m)^func (?:TestMain|init)\(|\.(?:Exit|Kill|Abort|Exec)\(|flag\.|^\s*_ = func\(|^var .*\(|"C"$|go:linkname|"unsafe"`),
	"python": regexp.MustCompile(`(?m)_exit\b|sys\.exit|pytest\.exit|SystemExit|KeyboardInterrupt|os\.kill|os\.abort|os\.exec|^\s*(?:exit|quit)\(|def pytest_|pytest_plugins|setattr\(|sys\.modules|\bbuiltins\b|__import__|importlib|\bexec\(|\beval\(|(?:unittest|pytest|_pytest)(?:\.\w+)+\s*=[^=]|atexit|collect_ignore|load_tests|__dict__|\bvars\(|\.start\(\)|\.write_(?:text|bytes)\(|\bopen\([^)\n]*["'][rbt]*[wax+]`),
	"js":     regexp.MustCompile(`process\.(?:exit|kill|reallyExit|abort|on\(|exitCode)|process\[|prototype\.\w+\s*=|globalThis\.|global\.|\beval\(|new Function\(|Module\._|require\.cache|\.only\(`),
	"shell":  regexp.MustCompile(`\bkill\b|PPID|\btrap\b|>\s*\S*(?:test|tests)/`),
	"rb":     regexp.MustCompile(`\bexit\b|at_exit|abort\b|class \w+::TestCase|module (?:Minitest|RSpec)`),
	"php":    regexp.MustCompile(`\b(?:exit|die)\b|register_shutdown_function`),
	"exs":    regexp.MustCompile(`System\.(?:halt|stop)|ExUnit\.configure`),
	"java":   regexp.MustCompile(`System\.exit|Runtime\.getRuntime`),
	"cs":     regexp.MustCompile(`Environment\.Exit|AssemblyInitialize|ModuleInitializer`),
	"swift":  regexp.MustCompile(`\bexit\(`),
}

// pyAssign is an assignment to an attribute. In a module of the product it lasts
// for the tests after it.
var pyAssign = regexp.MustCompile(`(?m)^\s*(\w+)\.[\w.]+\s*=[^=]`)

// patches reports whether a new Python test assigns to an attribute of something
// that is not its own instance or class.
func patches(text []byte) bool {
	for _, m := range pyAssign.FindAllStringSubmatch(string(text), -1) {
		if name := m[1]; name != "self" && name != "cls" {
			return true
		}
	}
	return false
}

// endsRun reports whether a new test looks as if it could end the run of the
// start's tests, or change what they test: Jest takes mocks of packages without
// being told. A wrong guess costs one more verification.
func (c *comparison) endsRun(p string) bool {
	l := language(p)
	if strings.Contains("/"+p, "/__mocks__/") {
		return true
	}
	re := ends[l]
	text, ok := c.b.text(p)
	if re == nil || ok && !re.Match(text) && !(l == "python" && patches(text)) {
		return false
	}
	for _, it := range c.set.Items {
		if it.Kind == KindTest && language(it.Path) == l && (l != "go" || parent(it.Path) == parent(p)) {
			return true
		}
	}
	return false
}
