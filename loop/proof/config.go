package proof

import (
	"path"
	"slices"
	"strings"

	"github.com/nightporter/nightporter/internal/regexp"
)

// configRule is a file that tells runners what to do.
type configRule struct {
	names []string // patterns of base names
	paths []string // or globs of paths
	parts []string // what proves of a mixed file; empty: all of it
	langs []string // the languages of the tests that it governs
	// programs are those that read the file: it counts only where one of them is
	// run. Empty: wherever there are tests of its languages.
	programs []string
}

const jsExt = ".*"

// configRules are the runners' configuration. A row that names no program
// concerns runners that are found in too many ways to look for them.
var configRules = []configRule{
	{names: []string{"jest.config" + jsExt, "jest.setup" + jsExt, "vitest.config" + jsExt, "vitest.workspace" + jsExt, "vitest.setup" + jsExt, ".mocharc", ".mocharc" + jsExt, "mocha.opts", "karma.conf" + jsExt,
		"playwright.config" + jsExt, "playwright-ct.config" + jsExt, "cypress.config" + jsExt, "cypress.json", "ava.config" + jsExt, "jasmine.json", "wdio.conf" + jsExt, ".nycrc", ".nycrc" + jsExt, ".c8rc" + jsExt, "web-test-runner.config" + jsExt,
		".taprc", "wallaby.js", "stryker.conf" + jsExt, "nightwatch.conf" + jsExt, "bunfig.toml", "babel.config" + jsExt, ".babelrc", ".babelrc" + jsExt, "angular.json"}, langs: []string{"js"}},
	{names: []string{"vite.config" + jsExt}, langs: []string{"js"}, programs: []string{"vitest"}},
	{names: []string{"package.json"}, parts: []string{"jest", "mocha", "vitest", "ava", "tap", "nyc", "c8", "jasmine", "karma", "cypress", "playwright", "stryker"}, langs: []string{"js"}},
	{names: []string{".npmrc"}, parts: dotted(npmrcKeys), langs: []string{"js"}, programs: []string{"npm", "pnpm", "npx", "pnpx", "yarn"}},
	{names: []string{".yarnrc", ".yarnrc.yml", ".pnpmfile.cjs", ".pnp.cjs", ".pnp.loader.mjs"}, langs: []string{"js"}, programs: []string{"yarn", "pnpm"}},
	{paths: []string{"**/.yarn/releases/**", "**/.yarn/plugins/**"}, langs: []string{"js"}, programs: []string{"yarn"}},
	{names: []string{"deno.json", "deno.jsonc"}, programs: []string{"deno"}},
	{names: []string{".eslintrc", ".eslintrc" + jsExt, "eslint.config" + jsExt, ".eslintignore"}, programs: []string{"eslint"}},
	{names: []string{"package.json"}, parts: []string{"eslintConfig", "eslintIgnore"}, programs: []string{"eslint"}},
	{names: []string{"tsconfig.json", "tsconfig.*.json"}, programs: []string{"tsc", "vue-tsc", "tsd", "svelte-check"}},
	{names: []string{"biome.json", "biome.jsonc"}, programs: []string{"biome"}},
	{names: []string{".prettierrc", ".prettierrc" + jsExt, "prettier.config" + jsExt, ".prettierignore"}, programs: []string{"prettier"}},
	{names: []string{".stylelintrc", ".stylelintrc" + jsExt}, programs: []string{"stylelint"}},

	{names: []string{"conftest.py", "pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml", ".coveragerc", "noxfile.py", "nose.cfg", ".noserc", "unittest.cfg"}, langs: []string{"python"}},
	{names: []string{"setup.cfg", "tox.ini"}, parts: iniRunner, langs: []string{"python"}},
	{names: []string{"pyproject.toml"}, parts: []string{"tool.pytest", "tool.coverage", "tool.tox", "tool.nose", "tool.unittest"}, langs: []string{"python"}},
	{names: []string{"ruff.toml", ".ruff.toml"}, programs: []string{"ruff"}},
	{names: []string{"pyproject.toml"}, parts: []string{"tool.ruff"}, programs: []string{"ruff"}},
	{names: []string{"mypy.ini", ".mypy.ini"}, programs: []string{"mypy"}},
	{names: []string{"pyproject.toml"}, parts: []string{"tool.mypy"}, programs: []string{"mypy"}},
	{names: []string{"setup.cfg", "tox.ini"}, parts: []string{"mypy*"}, programs: []string{"mypy"}},
	{names: []string{"pyproject.toml"}, parts: []string{"tool.black", "tool.isort"}, programs: []string{"black", "isort"}},
	{names: []string{"pyrightconfig.json"}, programs: []string{"pyright", "basedpyright"}},
	{names: []string{"pyproject.toml"}, parts: []string{"tool.pyright", "tool.basedpyright"}, programs: []string{"pyright", "basedpyright"}},
	{names: []string{".flake8"}, programs: []string{"flake8"}},
	{names: []string{"setup.cfg", "tox.ini"}, parts: []string{"flake8", "pycodestyle", "isort"}, programs: []string{"flake8", "pycodestyle", "isort"}},
	{names: []string{".pylintrc", "pylintrc"}, programs: []string{"pylint"}},
	{names: []string{"pyproject.toml"}, parts: []string{"tool.pylint"}, programs: []string{"pylint"}},
	{names: []string{"pyproject.toml"}, parts: []string{"tool.poe", "tool.taskipy", "tool.pdm.scripts"}, programs: []string{"poe", "task", "pdm"}},

	{names: []string{"Cargo.toml"}, parts: []string{"test", "bench", "bin", "example", "lib.test", "lib.doctest", "lib.harness", "package.autotests", "package.autobins", "package.workspace", "profile.test", "profile.dev", "workspace.members", "workspace.exclude", "workspace.default-members"}, langs: []string{"rs"}},
	{paths: []string{"**/.cargo/config.toml", "**/.cargo/config"}, langs: []string{"rs"}},
	{names: []string{"rust-toolchain", "rust-toolchain.toml"}, langs: []string{"rs"}},
	{names: []string{"nextest.toml", ".nextest.toml"}, langs: []string{"rs"}},
	{names: []string{"clippy.toml", ".clippy.toml", "rustfmt.toml", ".rustfmt.toml", "deny.toml"}, programs: []string{"cargo"}},

	{names: []string{"go.work"}, langs: []string{"go"}},
	{names: []string{"go.mod"}, parts: []string{"ignore"}, langs: []string{"go"}},
	{names: []string{".golangci.yml", ".golangci.yaml", ".golangci.toml", ".golangci.json"}, programs: []string{"golangci-lint"}},
	{names: []string{"staticcheck.conf"}, programs: []string{"staticcheck"}},

	{names: []string{"phpunit.xml", "phpunit.xml.dist", "phpunit.dist.xml", "pest.xml"}, langs: []string{"php"}},
	{names: []string{"composer.json"}, parts: []string{"scripts"}, langs: []string{"php"}, programs: []string{"composer"}},
	{names: []string{"phpstan.neon", "phpstan.neon.dist", "psalm.xml"}, programs: []string{"phpstan", "psalm"}},
	{names: []string{".rspec", ".rspec-local", "cucumber.yml"}, langs: []string{"rb"}},
	{names: []string{".rubocop.yml"}, programs: []string{"rubocop"}},
	{names: []string{"*.runsettings", "xunit.runner.json", "testconfig.json"}, langs: []string{"cs"}},
	{paths: []string{"**/.mvn/**", "**/.mvn/*", "**/gradle/wrapper/*"}, langs: []string{"java"}},
	{names: []string{"junit-platform.properties", "testng.xml", "gradle.properties"}, langs: []string{"java"}},
	{names: []string{"CTestCustom.cmake", "CTestTestfile.cmake"}, langs: nil, programs: []string{"ctest"}},
	{names: []string{".batsrc"}, langs: []string{"shell"}},
}

func dotted(keys []string) []string {
	var out []string
	for _, k := range keys {
		out = append(out, "."+k)
	}
	return out
}

func (r configRule) matches(p, base string) bool {
	for _, n := range r.names {
		if n == base || strings.Contains(n, "*") && baseMatch(n, base) {
			return true
		}
	}
	for _, g := range r.paths {
		if globMatch(g, p) {
			return true
		}
	}
	return false
}

// configs adds the runners' configuration.
func (f *finder) configs() {
	var rules [256][]configRule // by the first byte of their names
	var others []configRule
	for _, r := range configRules {
		if len(r.programs) > 0 && !f.runs(r.programs) {
			continue
		}
		if len(r.paths) > 0 {
			others = append(others, r)
		}
		for _, n := range r.names {
			one := r
			one.names, one.paths = []string{n}, nil
			if n[0] == '*' {
				others = append(others, one)
				continue
			}
			rules[n[0]] = append(rules[n[0]], one)
		}
	}
	for _, e := range f.entries {
		if excluded(e.Path) {
			continue
		}
		base := path.Base(e.Path)
		for _, list := range [][]configRule{rules[base[0]], others} {
			for _, r := range list {
				if !r.matches(e.Path, base) {
					continue
				}
				if len(r.parts) > 0 {
					f.part(e.Path, KindConfig, place{}, r.parts...)
				} else if it := f.items[e.Path]; it == nil || it.Parts != nil {
					f.whole(e.Path, KindConfig, place{})
				}
			}
		}
		if base == "go.mod" {
			f.goModule(e.Path)
		}
	}
	f.setups()
}

// runs reports whether one of the programs is run, or may be: a command that
// cannot be followed can run anything.
func (f *finder) runs(programs []string) bool {
	return len(f.unknown) > 0 || slices.ContainsFunc(programs, func(p string) bool { return f.programs[p] })
}

// goModule adds replacements, by a folder of the repository, of modules that
// tests import: a false assertion library passes everything.
func (f *finder) goModule(p string) {
	data, ok := f.text(p)
	if !ok {
		return
	}
	modules := readGoMod(data).(goMod).localReplaces()
	if len(modules) == 0 {
		return
	}
	reads := 0
	for _, e := range f.entries {
		if !strings.HasSuffix(e.Path, "_test.go") || excluded(e.Path) || !inside(e.Path, parent(p)) {
			continue
		}
		if reads++; reads > maxReads {
			break
		}
		text, _ := f.text(e.Path)
		for _, m := range modules {
			if strings.Contains(string(text), `"`+m+`"`) || strings.Contains(string(text), `"`+m+`/`) {
				f.part(p, KindConfig, place{}, "replace "+m)
			}
		}
	}
}

// setupKey are keys of JavaScript runners whose values are files that run
// before tests, or in their place.
var setupKey = regexp.MustCompile(`(?:setupFiles|setupFilesAfterEnv|globalSetup|globalTeardown|setupTestFrameworkScriptFile|require|runner|testRunner|reporters?|testEnvironment|environment|transform|preset|resolver|snapshotResolver|file|spec|preload|testSequencer|extends)["']?\s*[:=]`)

// setups adds the files that runners' configuration names.
func (f *finder) setups() {
	var configs []string
	for p, it := range f.items {
		if it.Kind == KindConfig {
			configs = append(configs, p)
		}
	}
	slices.Sort(configs)
	for _, p := range configs {
		switch path.Ext(p) {
		case ".js", ".cjs", ".mjs", ".ts", ".mts", ".cts", ".json", ".toml", ".yml", ".yaml", "", ".mocharc":
		default:
			continue
		}
		text, ok := f.text(p)
		if !ok {
			continue
		}
		for _, at := range setupKey.FindAllIndex(text, maxValues) {
			value := string(text[at[1]:min(len(text), at[1]+400)])
			// The values end where the next key begins.
			if i := strings.IndexAny(value, "}:"); i >= 0 {
				value = value[:i]
			}
			names := literals(value)
			for _, line := range strings.Split(value, "\n") { // YAML
				names = append(names, strings.TrimSpace(strings.TrimLeft(line, "- \t")))
			}
			for _, n := range names {
				n = strings.TrimPrefix(strings.TrimPrefix(n, "<rootDir>"), "/")
				q, ok := join(parent(p), n)
				if ok && n != "" {
					q, ok = f.jsModule(q)
				}
				if ok && n != "" && f.items[q] == nil && q != p {
					f.whole(q, KindConfig, place{via: p})
				}
			}
		}
	}
}

// governs reports whether a file of configuration that is not in the start can
// change what the start's tests or commands do.
func governs(p string, start *Set) bool {
	base := path.Base(p)
	for _, r := range configRules {
		if !r.matches(p, base) {
			continue
		}
		if len(r.langs) == 0 {
			return true
		}
		for _, it := range start.Items {
			if (it.Kind == KindTest || it.Kind == KindScript) && inside(it.Path, realm(p)) && slices.Contains(r.langs, language(it.Path)) {
				return true
			}
		}
	}
	return false
}

// realm is the folder that a file of configuration concerns.
func realm(p string) string {
	dir := parent(p)
	for {
		switch path.Base(dir) {
		case ".cargo", ".config", ".mvn", "wrapper", "config", "resources", "spec", "support":
			dir = parent(dir)
			continue
		}
		return dir
	}
}
