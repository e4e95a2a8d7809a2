package triage

import (
	"iter"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/nightporter/nightporter/internal/regexp"
)

// Vocabulary is what a project calls its things. All lists are sorted and have no entry
// twice.
type Vocabulary struct {
	Routes     []string // "/orders/:id"
	Components []string // "OrderTable"
	Terms      []string // models, controllers and headings of the README
	URLs       []string // addresses that the README names
	Domains    []string // the project's own
	Siblings   []string // domains or names of sibling projects
}

// MostRead limits the bytes of a file that are read for the vocabulary.
const MostRead = 256 << 10

// routers have, by the ending of a file, the expressions whose first group is a route.
var routers = map[string][]*regexp.Regexp{
	".go": {regexp.MustCompile(`\.(?:HandleFunc|Handle|Get|Post|Put|Patch|Delete|GET|POST|PUT|PATCH|DELETE|Any|Route|Group|Mount)\(\s*"(?:[A-Z]+ )?(?:[\w.-]+)?(/[^"\s]*)"`)},
	".js": {
		regexp.MustCompile(`\bpath\s*[:=]\s*\{?\s*["'\x60](/[^"'\x60\s]*)`), // React Router and Vue Router
		regexp.MustCompile(`\b(?:app|router|api|server)\.(?:get|post|put|patch|delete|use|all)\(\s*["'\x60](/[^"'\x60\s]*)`),
	},
	".py": {
		regexp.MustCompile(`@[\w.]+\.(?:route|get|post|put|patch|delete|api_route)\(\s*[rf]?["'](/[^"'\s]*)`), // Flask and FastAPI
		regexp.MustCompile(`\b(?:re_)?path\(\s*r?["']\^?([^"'\s]+)`),                                          // Django
	},
	".rb":   {regexp.MustCompile(`(?m)^\s*(?:get|post|put|patch|delete|resources?|namespace|scope)\s*\(?\s*[:"']/?([\w/:-]+)`)},
	".html": {regexp.MustCompile(`(?:href|action)=["'](/[^/"'\s][^"'\s]*)`)},
}

// sameLanguage maps endings to the one that routers has.
var sameLanguage = map[string]string{".jsx": ".js", ".ts": ".js", ".tsx": ".js", ".mjs": ".js", ".vue": ".js", ".htm": ".html"}

var (
	componentPattern = regexp.MustCompile(`(?m)^\s*(?:export\s+)?(?:default\s+)?(?:function|class|const)\s+([A-Z][a-z0-9]+[A-Za-z0-9]*)\b`)
	modelPattern     = regexp.MustCompile(`(?m)^class\s+([A-Z][A-Za-z0-9]+)`)
	addressPattern   = regexp.MustCompile(`https?://[^\s)>\]"'<\x60]+`)
	headingPattern   = regexp.MustCompile(`(?m)^#{1,3}\s+(.+?)\s*#*$`)
)

// Reads reports whether Collect takes anything from a file with this path.
func Reads(name string) bool {
	ext := path.Ext(name)
	if same := sameLanguage[ext]; same != "" {
		ext = same
	}
	return !isForeign(name) && (routers[ext] != nil || strings.HasPrefix(strings.ToLower(name), "readme"))
}

// Collect reads the vocabulary from the files of a commit, path and content. domains are
// the project's own, and elsewhere those of other projects, as configured. The order of
// the files does not matter.
func Collect(files iter.Seq2[string, []byte], domains, elsewhere []string) Vocabulary {
	var v Vocabulary
	for name, content := range files {
		if isForeign(name) {
			continue
		}
		text := string(content[:min(len(content), MostRead)])
		ext := path.Ext(name)
		if same := sameLanguage[ext]; same != "" {
			ext = same
		}
		if ext == ".rb" && path.Base(name) != "routes.rb" {
			v.addRails(name)
			continue
		}
		for _, p := range routers[ext] {
			for _, m := range p.FindAllStringSubmatch(text, -1) {
				v.addRoute(m[1])
			}
		}
		switch ext {
		case ".js":
			v.addScript(name, text)
		case ".py":
			if strings.HasSuffix(name, "models.py") {
				for _, m := range modelPattern.FindAllStringSubmatch(text, -1) {
					v.Components = append(v.Components, m[1])
				}
			}
		case ".html":
			v.addPage(name)
		}
		if strings.HasPrefix(strings.ToLower(name), "readme") {
			v.addReadme(text)
		}
	}
	for _, d := range domains {
		if d = hostOf(d); d != "" {
			v.Domains = append(v.Domains, d)
		}
	}
	v.Siblings = slices.Clone(elsewhere)
	for _, list := range []*[]string{&v.Routes, &v.Components, &v.Terms, &v.URLs, &v.Domains, &v.Siblings} {
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
	return v
}

// isForeign reports whether a file is of a dependency, or is a test.
func isForeign(name string) bool {
	for _, part := range strings.Split(name, "/") {
		switch part {
		case "node_modules", "vendor", "dist", ".git", "testdata", "__tests__":
			return true
		}
	}
	base := path.Base(name)
	return strings.HasSuffix(base, "_test.go") || strings.Contains(base, ".test.") || strings.Contains(base, ".spec.") || strings.HasPrefix(base, "test_")
}

// addRoute adds a route, with :id for each of its parameters.
func (v *Vocabulary) addRoute(s string) {
	if p := normalPath(strings.Trim(s, "^$")); p != "" {
		v.Routes = append(v.Routes, p)
	}
}

// addScript adds the components of a file of JavaScript, and its route in Next.
func (v *Vocabulary) addScript(name, text string) {
	base := path.Base(name)
	stem := strings.TrimSuffix(base, path.Ext(base))
	switch path.Ext(name) {
	case ".jsx", ".tsx":
		for _, m := range componentPattern.FindAllStringSubmatch(text, -1) {
			v.Components = append(v.Components, m[1])
		}
	case ".vue":
		v.Components = append(v.Components, stem)
	}
	dir := path.Dir(strings.TrimPrefix(name, "src/"))
	if rest, ok := strings.CutPrefix(dir+"/", "app/"); ok && (stem == "page" || stem == "route") {
		var parts []string
		for _, p := range strings.Split(rest, "/") {
			if !strings.HasPrefix(p, "(") && !strings.HasPrefix(p, "@") { // groups and slots are no part of a route
				parts = append(parts, p)
			}
		}
		v.addRoute(strings.Join(parts, "/"))
	}
	if rest, ok := strings.CutPrefix(dir+"/", "pages/"); ok && !strings.HasPrefix(stem, "_") {
		if stem == "index" {
			stem = ""
		}
		v.addRoute(rest + stem)
	}
}

// addRails adds the name of a controller or model.
func (v *Vocabulary) addRails(name string) {
	stem := strings.TrimSuffix(path.Base(name), ".rb")
	switch {
	case strings.Contains("/"+name, "/app/controllers/"):
		stem = strings.TrimSuffix(stem, "_controller")
		if stem == "application" {
			return
		}
		v.addRoute(stem)
		v.Terms = append(v.Terms, strings.ReplaceAll(stem, "_", " "))
	case strings.Contains("/"+name, "/app/models/"):
		v.Terms = append(v.Terms, strings.ReplaceAll(stem, "_", " "))
	}
}

// addPage adds the route of a plain page.
func (v *Vocabulary) addPage(name string) {
	if strings.Contains("/"+name, "/templates/") {
		return
	}
	for _, root := range []string{"public/", "static/", "site/", "www/", "docs/"} {
		name = strings.TrimPrefix(name, root)
	}
	if strings.TrimSuffix(path.Base(name), path.Ext(name)) == "index" {
		v.addRoute(path.Dir(name))
		return
	}
	v.addRoute(name)
}

func (v *Vocabulary) addReadme(text string) {
	for _, m := range addressPattern.FindAllString(text, -1) {
		v.URLs = append(v.URLs, strings.TrimRight(m, ".,;:"))
	}
	for _, m := range headingPattern.FindAllStringSubmatch(text, -1) {
		words := wordsOf(foldText(m[1]))
		if len(words) == 0 || len(words) > 3 || usualHeadings[words[0]] {
			continue
		}
		v.Terms = append(v.Terms, strings.Join(words, " "))
	}
}

// usualHeadings begin headings that every README has.
var usualHeadings = map[string]bool{"install": true, "installation": true, "usage": true, "license": true, "contributing": true, "development": true,
	"getting": true, "quick": true, "table": true, "overview": true, "features": true, "test": true, "tests": true, "testing": true, "build": true,
	"setup": true, "requirements": true, "about": true, "authors": true, "changelog": true, "documentation": true, "faq": true, "support": true, "examples": true}

// hostOf returns the host of a domain as people write it.
func hostOf(s string) string {
	s = strings.ToLower(strings.TrimSpace(s))
	if !strings.Contains(s, "://") {
		s = "https://" + s
	}
	u, err := url.Parse(s)
	if err != nil {
		return ""
	}
	return strings.TrimPrefix(u.Hostname(), "www.")
}
