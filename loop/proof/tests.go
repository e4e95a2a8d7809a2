package proof

import (
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/nightporter/nightporter/internal/regexp"
)

// testRule is how tests are named in one language. Bases are patterns of base
// names, and find what a runner finds; dirs are names of folders that hold only
// tests and what they need, with exts where other files lie there, too.
type testRule struct {
	bases []string
	dirs  []string
	exts  []string
}

const js = "{js,jsx,ts,tsx,mjs,cjs,mts,cts}"

type testRules []testRule

// isCase reports whether a rule finds tests, and not also scripts that run
// them, such as test.sh.
func (list testRules) isCase(rule int) bool {
	return rule >= len(list) || !slices.Contains(list[rule].bases, "test.sh")
}

// usualTests are the rules for all projects.
var usualTests = testRules{
	{bases: []string{"*_test.go"}},
	{bases: []string{"*.test." + js, "*.spec." + js, "*-test." + js, "*_test." + js, "*.e2e." + js, "*.e2e-spec." + js, "*.cy." + js, "*.test-d.ts"}},
	{bases: []string{"test_*.py", "*_test.py", "conftest.py", "tests.py"}},
	{bases: []string{"*Test.java", "*Tests.java", "*TestCase.java", "*IT.java", "*Test.kt", "*Tests.kt", "*Spec.kt", "*Test.scala", "*Spec.scala", "*Suite.scala", "*Test.groovy", "*Spec.groovy"}},
	{bases: []string{"*_spec.rb", "*_test.rb", "test_*.rb", "spec_helper.rb", "rails_helper.rb"}},
	{bases: []string{"*Test.php", "*.phpt"}},
	{bases: []string{"*Test.cs", "*Tests.cs", "*Test.fs", "*Tests.fs"}},
	{bases: []string{"*Test.swift", "*Tests.swift"}},
	{bases: []string{"*_test.exs", "*_test.ex"}},
	{bases: []string{"*_test.dart", "*_test.clj", "*_test.cljs", "*_test.cljc", "*Spec.hs", "*Test.hs", "*_spec.lua", "*_test.lua", "*_test.erl", "*_SUITE.erl", "*_test.ml", "*_test.zig", "*_test.nim"}},
	{bases: []string{"*_test.c", "*_test.cc", "*_test.cpp", "*_test.cxx", "*_tests.cpp", "*_unittest.cc", "*_unittest.cpp", "test_*.c", "test_*.cc", "test_*.cpp", "*Test.cpp", "*Tests.cpp"}},
	{bases: []string{"*_test.rs", "tests.rs", "test.rs"}},
	{bases: []string{"*.bats", "test.sh", "tests.sh", "test_*.sh", "test-*.sh", "*_test.sh", "*-test.sh", "*.test.sh", "run_tests.sh", "run-tests.sh"}},
	{dirs: []string{"testdata", "test", "tests", "__tests__", "__mocks__", "__fixtures__", "Tests", "e2e", "cypress", "androidTest", "integrationTest", "testFixtures", "test-fixtures", "test_fixtures"}},
	{dirs: []string{"spec", "specs"}, exts: []string{".rb", ".js", ".ts", ".jsx", ".tsx", ".mjs", ".cjs", ".php", ".lua", ".cr"}},
	{dirs: []string{"t"}, exts: []string{".t", ".pl", ".pm"}},
	{dirs: []string{"*.Tests", "*.Test", "*.UnitTests", "*.IntegrationTests"}},
}

// snapshots are what runners write for tests to compare with.
var snapshots = []string{"*.snap", "*.snap.*", "*.ambr", "*.approved.*", "*.golden", "*.verified.*"}

// matcher tells tests from other files.
type matcher struct {
	globs []string // the project's own, besides the usual names
	not   *matcher // what is no test although it looks like one; nil = nothing
}

// newTestMatcher returns the matcher of a project. Globs with a "!" before them take
// files out, whichever rule finds them.
func newTestMatcher(globs []string) *matcher {
	var own, not []string
	for _, g := range globs {
		if out, is := strings.CutPrefix(g, "!"); is {
			not = append(not, out)
		} else {
			own = append(own, g)
		}
	}
	m := newMatcher(own)
	m.not = newMatcher(not)
	return m
}

func newMatcher(globs []string) *matcher {
	m := &matcher{}
	for _, g := range globs {
		g = strings.TrimPrefix(g, "./")
		switch {
		case strings.HasSuffix(g, "/"):
			g += "**"
		case g != "" && !strings.ContainsAny(g, `*?[{\`):
			m.globs = append(m.globs, g+"/**")
		}
		m.globs = append(m.globs, g)
	}
	return m
}

// excluded reports whether a file lies in a folder of dependencies.
func excluded(p string) bool {
	p = "/" + p
	return strings.Contains(p, "/node_modules/") || strings.Contains(p, "/vendor/") || strings.Contains(p, "/.git/") || strings.Contains(p, "/site-packages/")
}

// never reports whether a file is no test, whatever its name: the project says so,
// or it is of a dependency and no glob of the project names it.
func (m *matcher) never(p string) bool {
	return m.not != nil && m.not.named(p) || excluded(p) && !m.named(p)
}

// rule returns the rule that makes a file a test: its base name's, at least 0;
// a folder's, from 100; that of a glob of the project, from 200; -1 for no test.
func (m *matcher) rule(p string) int {
	if m.never(p) {
		return -1
	}
	for i, g := range m.globs {
		if globMatch(g, p) {
			return 200 + i
		}
	}
	base := path.Base(p)
	for i, r := range usualTests {
		for _, b := range r.bases {
			if baseMatch(b, base) {
				return i
			}
		}
	}
	segments := strings.Split(p, "/")
	for i, r := range usualTests {
		for _, d := range r.dirs {
			for _, s := range segments[:len(segments)-1] {
				if ok, _ := path.Match(d, s); ok && (len(r.exts) == 0 || slices.Contains(r.exts, path.Ext(p)) || fixture(segments)) {
					return 100 + i
				}
			}
		}
	}
	if isSnapshot(p) {
		return 100 + len(usualTests)
	}
	return -1
}

func fixture(segments []string) bool {
	return slices.Contains(segments, "fixtures") || slices.Contains(segments, "support") || slices.Contains(segments, "factories")
}

func (m *matcher) test(p string) bool { return m.rule(p) >= 0 }

func isSnapshot(p string) bool {
	return strings.Contains("/"+p, "/__snapshots__/") || slices.ContainsFunc(snapshots, func(s string) bool { return baseMatch(s, path.Base(p)) })
}

// baseMatch is path.Match for the patterns of the tables: the one set in
// braces is the JavaScript extensions.
func baseMatch(pattern, base string) bool {
	if stem, ok := strings.CutSuffix(pattern, js); ok {
		ext := strings.TrimPrefix(path.Ext(base), ".")
		if ext == "" || !strings.Contains(","+strings.Trim(js, "{}")+",", ","+ext+",") {
			return false
		}
		pattern, base = stem, strings.TrimSuffix(base, ext)
	}
	if before, after, ok := strings.Cut(pattern, "*"); ok && !strings.Contains(after, "*") {
		return len(base) > len(before)+len(after) && strings.HasPrefix(base, before) && strings.HasSuffix(base, after)
	}
	ok, _ := path.Match(pattern, base)
	return ok
}

// escape returns a glob that matches only the path p.
func escape(p string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`, `{`, `\{`).Replace(p)
}

func globMatch(glob, p string) bool {
	if len(glob) > 1000 || strings.Count(glob, "*")+strings.Count(glob, "{") > 20 {
		return false
	}
	ok, err := doublestar.Match(glob, p)
	return ok && err == nil
}

// tests adds the tests of the tree.
func (f *finder) tests() {
	for _, e := range f.entries {
		switch {
		case f.match.test(e.Path):
			k := KindTest
			if isSnapshot(e.Path) {
				k = KindSnapshot
			}
			if it := f.items[e.Path]; it == nil || it.Parts != nil {
				f.whole(e.Path, k, place{})
			}
		case strings.HasSuffix(e.Path, ".rs") && !f.match.never(e.Path):
			if data, ok := f.text(e.Path); ok && strings.Contains(string(data), "test") {
				if r := readRust(data).(rustFile); len(r.mods) > 0 {
					f.part(e.Path, KindTest, place{}, r.parts()...)
				}
			}
		}
	}
}

// language is the language of a test, by its extension; "" for others.
func language(p string) string {
	switch ext := path.Ext(p); ext {
	case ".js", ".jsx", ".ts", ".tsx", ".mjs", ".cjs", ".mts", ".cts", ".vue", ".svelte":
		return "js"
	case ".py":
		return "python"
	case ".java", ".kt", ".scala", ".groovy":
		return "java"
	case ".cs", ".fs", ".vb":
		return "cs"
	case ".sh", ".bats":
		return "shell"
	case ".go", ".rs", ".rb", ".php", ".swift", ".exs":
		return ext[1:]
	}
	return ""
}

// cases are how test cases are written.
var cases = map[string]*regexp.Regexp{
	"go":     regexp.MustCompile(`(?m)^func ((?:Test|Fuzz|Example)\w*)\(`),
	"js":     regexp.MustCompile("(?m)^\\s*(?:test|it|specify)(?:\\.[a-z]+)*\\(\\s*(?:\"([^\"\n]+)\"|'([^'\n]+)'|`([^`]+)`)"),
	"python": regexp.MustCompile(`(?m)^\s*(?:async )?def (test\w*)\(`),
	"rs":     regexp.MustCompile(`#\[(?:\w+::)?test[^\]]*\]\s*(?:#\[[^\]]*\]\s*)*(?:pub )?(?:async )?fn (\w+)`),
	"java":   regexp.MustCompile(`@(?:Parameterized)?Test\b(?:\([^)]*\))?\s*(?:@\w+(?:\([^)]*\))?\s*)*(?:public |internal |fun |void |suspend )*(\w+|` + "`[^`]+`" + `)\s*\(`),
	"rb":     regexp.MustCompile(`(?m)^\s*(?:it|specify|test|scenario)\s+["']([^"'\n]+)|^\s*def (test_\w+)`),
	"php":    regexp.MustCompile(`function (test\w*)\(`),
	"cs":     regexp.MustCompile(`\[(?:Fact|Theory|Test|TestMethod|TestCase)[^\]]*\]\s*(?:\[[^\]]*\]\s*)*public (?:async )?[\w<>]+ (\w+)\(`),
	"swift":  regexp.MustCompile(`func (test\w*)\(`),
	"exs":    regexp.MustCompile(`(?m)^\s*test "([^"\n]+)"`),
	"shell":  regexp.MustCompile(`(?m)^\s*@test "([^"\n]+)"|^\s*(test_\w+)\s*\(\)`),
}

// caseNames are the names of the test cases in a text.
func caseNames(p string, text string) []string {
	re := cases[language(p)]
	if re == nil || len(text) > maxText {
		return nil
	}
	var out []string
	for _, m := range re.FindAllStringSubmatch(text, maxFollows) {
		out = append(out, strings.Join(m[1:], ""))
	}
	return out
}

// skips are how a test is told not to count.
var skips = regexp.MustCompile(`\bt\.Skip|\b[tb]\.SkipNow|testing\.Short\(\)|//go:build|// \+build|\b(?:it|test|describe|suite|context)\.(?:skip|todo|only|fixme|fails|failing)\b|\b(?:xit|xdescribe|xtest|fit|fdescribe)\s*\(|\bskip:\s*(?:true|['"])|@?pytest\.mark\.(?:skip|skipif|xfail)|pytest\.(?:skip|xfail|importorskip)\(|unittest\.(?:skip|expectedFailure)|self\.skipTest|@(?:Disabled|Ignore)\b|#\[ignore|#\[cfg\(|\bpending\b|markTestSkipped|markTestIncomplete|Skip\s*=\s*"|XCTSkip|@tag :skip|@moduletag :skip|^\s*skip\b|__test__\s*=\s*False`)

// IsTest reports whether a file is a test, or what a test compares with, by the
// usual names. A project's own globs are not asked.
func IsTest(p string) bool {
	return newTestMatcher(nil).rule(p) >= 0
}
