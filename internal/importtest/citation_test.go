package importtest

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"unicode"
)

// A citation names the source of a rule in a comment, a page or a test, so
// that a reader can open it: "docs/spec 2.2", "docs/architecture.md 7",
// "docs/decisions/0005", or the path of another page. A list of sections
// ("docs/spec 2.2, 5.4") is several citations.

// self is this file. Its citations are samples, and many of them are dead.
const self = "internal/importtest/citation_test.go"

// outside are pages that were never in the repository, so nobody could open
// what cited them.
var outside = []string{"SPEC", "PHONE", "DESIGN", "FACTS", "STYLE"}

// gap is a blank, or a line end within a comment.
const gap = `(?:[ \t]|[ \t]*\n[ \t]*(?://|#|--)?[ \t]*)`

const (
	sectionNumber = `\d+(?:\.\d+)?`
	sectionList   = sectionNumber + `(?:,` + gap + sectionNumber + `|` + gap + `(?:and|or)` + gap + sectionNumber + `)*`
)

var (
	citedSection  = regexp.MustCompile(`\bdocs/(spec|architecture\.md)` + gap + `(` + sectionList + `)`)
	citedDecision = regexp.MustCompile(`\bdocs/decisions/(\d{4})\b`)
	// citedFile is a page's path. What precedes it must not make it a part of
	// another path or of an address.
	citedFile = regexp.MustCompile(`(?m)(?:^|[^\w/.-])(docs/[\w/-]+\.(?:md|png|svg|txt))\b`)
	// citedOutside is a citation of one of the pages in outside.
	citedOutside = regexp.MustCompile(`\b(?:` + strings.Join(outside, "|") + `)(?:\.md)?(?:` + gap + `(?:\d[\d.]*\d|\d|[A-E]\b)|\.md\b|[),;])`)
	// citedBeside is a section that a page of docs/spec names by its number alone.
	citedBeside = regexp.MustCompile(`\((` + sectionNumber + `)[,;)]`)
	// anchored is a link into a page: its path and its anchor.
	anchored = regexp.MustCompile(`\]\(([^)#:\s]*)#([^)\s]+)\)`)

	number       = regexp.MustCompile(sectionNumber)
	heading      = regexp.MustCompile(`(?m)^#{1,6} +(.+)$`)
	headedNumber = regexp.MustCompile(`^(` + sectionNumber + `) `)
	fenced       = regexp.MustCompile("(?ms)^```.*?^```")
)

// TestCitations finds citations that lead nowhere, in all text files.
func TestCitations(t *testing.T) {
	found, cited, err := deadCitations(os.DirFS(root(t)))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range found {
		t.Error(f)
	}
	if cited < 100 {
		t.Errorf("only %d citations were found: is the pattern right?", cited)
	}
}

// deadCitations returns what is wrong with citations below root, as
// "file:line: …", and how many citations there are.
func deadCitations(root fs.FS) (found []string, cited int, err error) {
	c := citations{root: root, sections: map[string]map[string]bool{}, anchors: map[string][]string{}}
	if err := c.readSections(); err != nil {
		return nil, 0, err
	}
	err = fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil // somebody's temporary file
		case err != nil:
			return err
		case d.IsDir() && name != "." && name != ".ci" && (strings.HasPrefix(d.Name(), ".") || d.Name() == "bin" || d.Name() == "node_modules"):
			return fs.SkipDir
		case !d.Type().IsRegular() || name == self:
			return nil
		}
		data, err := fs.ReadFile(root, name)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		text := string(data)
		if !bytes.ContainsRune(data, 0) && (mayCite(text) || strings.HasSuffix(name, ".md")) {
			c.check(name, text)
		}
		return nil
	})
	slices.Sort(c.found)
	return c.found, c.cited, err
}

// mayCite spares most files the patterns.
func mayCite(text string) bool {
	return strings.Contains(text, "docs/") || slices.ContainsFunc(outside, func(page string) bool { return strings.Contains(text, page) })
}

// citations is one search.
type citations struct {
	root     fs.FS
	sections map[string]map[string]bool // numbers of "spec" and "architecture.md"
	anchors  map[string][]string        // of each page that was linked to
	found    []string
	cited    int
}

// readSections collects the numbered headings. A number that two sections of
// one document have is an error: a citation could not say which one it means.
func (c *citations) readSections() error {
	pages, err := fs.Glob(c.root, "docs/spec/*.md")
	if err != nil {
		return err
	}
	for _, name := range append(pages, "docs/architecture.md") {
		text, err := fs.ReadFile(c.root, name)
		if err != nil {
			return err
		}
		of := path.Base(name)
		if path.Dir(name) == "docs/spec" {
			of = "spec"
		}
		if c.sections[of] == nil {
			c.sections[of] = map[string]bool{}
		}
		for _, h := range heading.FindAllStringSubmatch(fenced.ReplaceAllString(string(text), ""), -1) {
			m := headedNumber.FindStringSubmatch(h[1])
			switch {
			case m == nil:
			case c.sections[of][m[1]]:
				return fmt.Errorf("%s: section %s is there twice", name, m[1])
			default:
				c.sections[of][m[1]] = true
			}
		}
	}
	return nil
}

func (c *citations) check(name, text string) {
	report := func(at int, format string, args ...any) {
		line := 1 + strings.Count(text[:at], "\n")
		c.found = append(c.found, fmt.Sprintf("%s:%d: %s", name, line, fmt.Sprintf(format, args...)))
	}
	for _, m := range citedSection.FindAllStringSubmatchIndex(text, -1) {
		of := text[m[2]:m[3]]
		for _, n := range number.FindAllString(text[m[4]:m[5]], -1) {
			if c.cited++; !c.sections[of][n] {
				report(m[0], "docs/%s has no section %s", of, n)
			}
		}
	}
	for _, m := range citedDecision.FindAllStringSubmatchIndex(text, -1) {
		c.cited++
		if match, err := fs.Glob(c.root, "docs/decisions/"+text[m[2]:m[3]]+"-*.md"); err != nil || len(match) != 1 {
			report(m[0], "there is no decision %s", text[m[2]:m[3]])
		}
	}
	for _, m := range citedOutside.FindAllStringIndex(text, -1) {
		report(m[0], "%q is a page outside of the repository; cite docs/spec", strings.Join(strings.Fields(text[m[0]:m[1]]), " "))
	}
	if invented(name) {
		return
	}
	prose := text
	if strings.HasSuffix(name, ".md") { // what stands in a fence is an example; the line numbers stay
		prose = fenced.ReplaceAllStringFunc(text, func(s string) string { return strings.Repeat("\n", strings.Count(s, "\n")) })
	}
	for _, m := range citedFile.FindAllStringSubmatchIndex(prose, -1) {
		c.cited++
		if _, err := fs.Stat(c.root, prose[m[2]:m[3]]); err != nil {
			at := strings.Count(prose[:m[2]], "\n")
			c.found = append(c.found, fmt.Sprintf("%s:%d: there is no %s", name, at+1, prose[m[2]:m[3]]))
		}
	}
	if path.Dir(name) == "docs/spec" {
		for _, m := range citedBeside.FindAllStringSubmatchIndex(prose, -1) {
			if c.cited++; !c.sections["spec"][prose[m[2]:m[3]]] {
				at := strings.Count(prose[:m[2]], "\n")
				c.found = append(c.found, fmt.Sprintf("%s:%d: docs/spec has no section %s", name, at+1, prose[m[2]:m[3]]))
			}
		}
	}
	if strings.HasSuffix(name, ".md") {
		c.links(name, prose)
	}
}

// invented reports whether the paths that a file names may belong to a made-up
// repository: tests, their data, and the hats, which are about the user's.
func invented(name string) bool {
	return strings.HasSuffix(name, "_test.go") || strings.Contains(name, "testdata/") || strings.HasPrefix(name, "internal/programtest/") || strings.HasPrefix(name, "config/presets/")
}

// links checks the anchors of a page's links.
func (c *citations) links(name, text string) {
	for _, m := range anchored.FindAllStringSubmatch(text, -1) {
		c.cited++
		to := name
		if m[1] != "" {
			to = path.Join(path.Dir(name), m[1])
		}
		if _, read := c.anchors[to]; !read {
			c.anchors[to] = []string{}
			page, err := fs.ReadFile(c.root, to)
			if err != nil {
				c.found = append(c.found, fmt.Sprintf("%s: links to %s: %v", name, to, err))
				continue
			}
			for _, h := range heading.FindAllStringSubmatch(fenced.ReplaceAllString(string(page), ""), -1) {
				c.anchors[to] = append(c.anchors[to], anchor(h[1]))
			}
		}
		if !slices.Contains(c.anchors[to], m[2]) {
			c.found = append(c.found, fmt.Sprintf("%s: %s has no heading #%s", name, to, m[2]))
		}
	}
}

// anchor is the fragment by which forges link to a heading.
func anchor(title string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(strings.TrimSpace(title)) {
		switch {
		case r == ' ':
			b.WriteByte('-')
		case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
			b.WriteRune(r)
		}
	}
	return b.String()
}

// TestDeadCitations finds each kind of citation in a small tree.
func TestDeadCitations(t *testing.T) {
	tree := fstest.MapFS{
		"docs/spec/loop.md":                 {Data: []byte("# 2 The loop\n\n## 2.2 One event\n")},
		"docs/architecture.md":              {Data: []byte("## 7 Sockets and `hat`\n\n[here](#7-sockets-and-hat)\n")},
		"docs/decisions/0005-shim.md":       {Data: []byte("# Shim\n")},
		"loop/testdata/a.txt":               {Data: []byte("docs/none.md\n")}, // of a made-up repository
		"docs/example.md":                   {Data: []byte("```\ndocs/none.md\n```\n")},
		"bin/nightporter":                   {Data: []byte("(docs/spec 9.9)")},
		".git/COMMIT_EDITMSG":               {Data: []byte("(docs/spec 9.9)")},
		"picture.png":                       {Data: []byte("docs/spec 9.9\x00")},
		"internal/importtest/arrow_test.go": {Data: []byte("// The shape of docs/architecture.md 7.\n")},
	}
	for _, tt := range []struct{ text, want string }{
		{"// (docs/spec 2.2)\n// docs/spec 2: all, docs/spec\n// 2.2, docs/decisions/0005, docs/architecture.md 7, docs/example.md.\n", ""},
		{"\n// (docs/spec 2.3)\n", "a.go:2: docs/spec has no section 2.3"},
		{"// (docs/spec 2.2, 9)\n", "a.go:1: docs/spec has no section 9"},
		{"// docs/spec 2 and\n// 3 say so\n", "a.go:1: docs/spec has no section 3"},
		{"// (docs/spec\n// 2.9)\n", "a.go:1: docs/spec has no section 2.9"},
		{"-- (docs/architecture.md 8)\n", "a.go:1: docs/architecture.md has no section 8"},
		{"// docs/decisions/0006\n", "a.go:1: there is no decision 0006"},
		{"// see docs/none.md\n", "a.go:1: there is no docs/none.md"},
		{"// https://example.com/docs/none.md docs/** tests/docs/none.md\n", ""},
		{"// (" + outside[0] + " 2.2)\n", "a.go:1: \"" + outside[0] + " 2.2\" is a page outside of the repository; cite docs/spec"},
		{"// measured (" + outside[3] + ".md D)\n", "a.go:1: \"" + outside[3] + ".md D\" is a page outside of the repository; cite docs/spec"},
		{"// (" + outside[1] + "\n// 3.4)\n", "a.go:1: \"" + outside[1] + " // 3.4\" is a page outside of the repository; cite docs/spec"},
		{"// as wide as a phone (" + outside[1] + ").\n", "a.go:1: \"" + outside[1] + ")\" is a page outside of the repository; cite docs/spec"},
	} {
		tree["a.go"] = &fstest.MapFile{Data: []byte(tt.text)}
		found, _, err := deadCitations(tree)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(found, "\n"); got != tt.want {
			t.Errorf("%q gives\n%s\nwant\n%s", tt.text, got, tt.want)
		}
	}

	delete(tree, "a.go")
	tree["docs/linked.md"] = &fstest.MapFile{Data: []byte("[there](architecture.md#7-sockets-and-hat) [and](spec/loop.md#23-none) [and](gone.md#x)\n")}
	tree["docs/spec/loop.md"].Data = append(tree["docs/spec/loop.md"].Data, "\n(2.2) and (2.7), (2.2; 3 times)\n"...)
	found, _, err := deadCitations(tree)
	want := []string{
		"docs/linked.md: docs/spec/loop.md has no heading #23-none",
		"docs/linked.md: links to docs/gone.md: open docs/gone.md: file does not exist",
		"docs/spec/loop.md:5: docs/spec has no section 2.7",
	}
	if err != nil || !slices.Equal(found, want) {
		t.Errorf("links give %q (%v), want %q", found, err, want)
	}
	tree["docs/spec/other.md"] = &fstest.MapFile{Data: []byte("## 2.2 Something else\n")}
	if _, _, err := deadCitations(tree); err == nil {
		t.Error("a section number that is there twice is no error")
	}
}
