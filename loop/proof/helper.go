package proof

import (
	"path"
	"strings"

	"github.com/nightporter/nightporter/internal/regexp"
)

// helperName is what files and folders are called that only tests need. A
// name is asked for besides the imports: in a small library tests are the only
// ones to import what they test.
var helperName = regexp.MustCompile(`(^|[-_.])(?i:tests?|testing|testutils?|testhelpers?|testkit|testlib|mocks?|fixtures?|stubs?|fakes?|harness|asserts?|assertions?|expect|expectations?|matchers?)([-_.]|$)|[a-z](Test|Mock|Fixture|Harness)s?([A-Z.]|$)`)

var (
	jsImport = regexp.MustCompile(`(?:from\s*|import\s*\(?\s*|require\(\s*|\.mock\(\s*)["'](\.{1,2}/[^"'\n]*|\.{1,2})["']`)
	pyImport = regexp.MustCompile(`(?m)^\s*(?:from\s+(\.*[\w.]*)\s+import\s+([\w, ]+|\()|import\s+([\w., ]+))`)
	goImport = regexp.MustCompile(`"([\w./~-]+)"`)
	// goHelperForm is a parameter that only code for tests has.
	goHelperForm = regexp.MustCompile(`\btesting\.(?:TB|[TBF]\b)`)
	goModule     = regexp.MustCompile(`(?m)^module\s+"?([^\s"]+)`)
)

// helpers adds files that only tests and scripts import.
func (f *finder) helpers() {
	f.fileHelpers()
	f.goHelpers()
}

func isSource(p string) bool {
	l := language(p)
	return (l == "js" || l == "python") && !excluded(p)
}

// fileHelpers finds them for JavaScript, TypeScript and Python.
func (f *finder) fileHelpers() {
	candidates := map[string]bool{}
	for _, e := range f.entries {
		if f.items[e.Path] == nil && isSource(e.Path) && helperPath(e.Path) {
			candidates[e.Path] = true
		}
	}
	if len(candidates) == 0 || len(candidates) > maxReads {
		return
	}
	importers := map[string][]string{}
	reads := 0
	for _, e := range f.entries {
		if !isSource(e.Path) {
			continue
		}
		if reads++; reads > maxReads {
			f.note("more than %d source files: test helpers are known by their folder only", maxReads)
			return
		}
		text, _ := f.text(e.Path)
		for _, to := range f.imports(e.Path, string(text)) {
			if candidates[to] && to != e.Path {
				importers[to] = append(importers[to], e.Path)
			}
		}
	}
	// A helper may import another one: again until nothing is found.
	for again := true; again; {
		again = false
		for c := range candidates {
			ok := len(importers[c]) > 0
			for _, from := range importers[c] {
				it := f.items[from]
				ok = ok && it != nil && it.Parts == nil
			}
			if ok {
				f.whole(c, KindHelper, place{})
				delete(candidates, c)
				again = true
			}
		}
	}
}

func helperPath(p string) bool {
	base := path.Base(p)
	if helperName.MatchString(strings.TrimSuffix(base, path.Ext(base))) {
		return true
	}
	for _, s := range strings.Split(parent(p), "/") {
		if helperName.MatchString(s) {
			return true
		}
	}
	return false
}

// imports are the files of the tree that a source imports, as far as its text
// tells.
func (f *finder) imports(p, text string) []string {
	var out []string
	if language(p) == "js" {
		for _, m := range jsImport.FindAllStringSubmatch(text, maxFollows) {
			if q, ok := join(parent(p), m[1]); ok {
				if q, ok = f.jsModule(q); ok {
					out = append(out, q)
				}
			}
		}
		return out
	}
	for _, m := range pyImport.FindAllStringSubmatch(text, maxFollows) {
		for _, mod := range strings.Split(m[1]+m[3], ",") {
			mod, _, _ = strings.Cut(strings.TrimSpace(mod), " ")
			out = append(out, f.pyModule(p, mod)...)
			for _, name := range strings.Split(m[2], ",") {
				if name, _, _ = strings.Cut(strings.TrimSpace(name), " "); name != "" && name != "(" {
					out = append(out, f.pyModule(p, strings.TrimSuffix(mod, ".")+"."+name)...)
				}
			}
		}
	}
	return out
}

// pyModule are the files that a module's name can mean to a file.
func (f *finder) pyModule(p, mod string) []string {
	var dirs []string
	if rel := strings.TrimLeft(mod, "."); rel != mod {
		dir := parent(p)
		for range len(mod) - len(rel) - 1 {
			dir = parent(dir)
		}
		dirs, mod = []string{dir}, rel
	} else {
		dirs = []string{"", "src", parent(p)}
	}
	var out []string
	for _, d := range dirs {
		for _, end := range []string{".py", "/__init__.py"} {
			if q, ok := join(d, strings.ReplaceAll(mod, ".", "/")+end); ok && f.has(q) {
				out = append(out, q)
			}
		}
	}
	return out
}

// goHelperName reports whether a package is called like one for tests:
// storetest, mocks.
func goHelperName(base string) bool {
	return helperName.MatchString(base) || strings.HasSuffix(base, "test") || strings.HasSuffix(base, "mock") || strings.HasSuffix(base, "mocks")
}

// goHelpers adds packages that only _test.go files import.
func (f *finder) goHelpers() {
	modules := map[string]string{} // folder → module path
	for _, p := range f.bases["go.mod"] {
		text, _ := f.text(p)
		if m := goModule.FindSubmatch(text); m != nil && !excluded(p) {
			modules[parent(p)] = string(m[1])
		}
	}
	candidates := map[string]string{} // import path → folder
	reads := 0
	for _, e := range f.entries {
		dir := parent(e.Path)
		if !strings.HasSuffix(e.Path, ".go") || strings.HasSuffix(e.Path, "_test.go") || excluded(e.Path) || f.items[e.Path] != nil {
			continue
		}
		if !goHelperName(path.Base(dir)) {
			if reads++; reads > maxReads {
				continue
			}
			if text, _ := f.text(e.Path); !goHelperForm.Match(text) {
				continue
			}
		}
		for mod := dir; ; mod = parent(mod) {
			if m, ok := modules[mod]; ok {
				candidates[strings.TrimSuffix(m+"/"+strings.TrimPrefix(strings.TrimPrefix(dir, mod), "/"), "/")] = dir
				break
			}
			if mod == "" {
				break
			}
		}
	}
	if len(candidates) == 0 {
		return
	}
	type use struct{ test, product bool }
	uses := map[string]use{}
	reads = 0
	for _, e := range f.entries {
		if !strings.HasSuffix(e.Path, ".go") || excluded(e.Path) {
			continue
		}
		if reads++; reads > maxReads {
			f.note("more than %d source files: test helpers are known by their folder only", maxReads)
			return
		}
		text, _ := f.text(e.Path)
		head, _, _ := strings.Cut(string(text), "\nfunc ")
		for _, m := range goImport.FindAllStringSubmatch(head, maxFollows) {
			dir, ok := candidates[m[1]]
			if !ok || dir == parent(e.Path) {
				continue
			}
			u := uses[dir]
			// A helper may be used by another one that is found by its name.
			if strings.HasSuffix(e.Path, "_test.go") || goHelperName(path.Base(parent(e.Path))) {
				u.test = true
			} else {
				u.product = true
			}
			uses[dir] = u
		}
	}
	for dir, u := range uses {
		if !u.test || u.product {
			continue
		}
		for _, e := range f.below(dir) {
			if parent(e.Path) == dir && strings.HasSuffix(e.Path, ".go") && f.items[e.Path] == nil {
				f.whole(e.Path, KindHelper, place{})
			}
		}
	}
}
