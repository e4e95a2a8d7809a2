package importtest

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestDocsNameEveryPackage holds docs/architecture.md against the tree.
func TestDocsNameEveryPackage(t *testing.T) {
	text := page(t, "docs/architecture.md")
	for folder := range arrows {
		if !strings.Contains(text, "`"+folder+"`") {
			t.Errorf("docs/architecture.md has no line on package %s", folder)
		}
	}
}

// settingTag finds the keys of nightporter.toml where they are declared. The
// text is read, not the package: this test must also run when that one does
// not compile because of an arrow.
var settingTag = regexp.MustCompile("`toml:\"([a-z_]+)\"")

// TestDocsNameEverySetting holds docs/operating.md against the configuration:
// every key, by its name between backticks.
func TestDocsNameEverySetting(t *testing.T) {
	text := page(t, "docs/operating.md")
	tags := settingTag.FindAllStringSubmatch(page(t, "config/config.go")+page(t, "config/values.go")+page(t, "config/hat.go")+page(t, "config/pattern.go"), -1)
	if len(tags) < 60 {
		t.Fatalf("only %d settings were found in package config", len(tags))
	}
	for _, tag := range tags {
		// Keys of small inline tables are named together, in braces.
		if !regexp.MustCompile("`[^`\n]*\\b" + tag[1] + "\\b[^`\n]*`").MatchString(text) {
			t.Errorf("docs/operating.md does not name the setting %q", tag[1])
		}
	}
}

var link = regexp.MustCompile(`\]\(([^)#:]+)(#[^)]*)?\)`)

// TestDocsLinkToWhatIsThere follows the links between pages.
func TestDocsLinkToWhatIsThere(t *testing.T) {
	pages, err := filepath.Glob(filepath.Join(root(t), "docs", "decisions", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/spec/*.md"} {
		more, err := filepath.Glob(filepath.Join(root(t), pattern))
		if err != nil {
			t.Fatal(err)
		}
		pages = append(pages, more...)
	}
	if len(pages) < 10 {
		t.Fatalf("only %d pages were found", len(pages))
	}
	links := 0
	for _, name := range pages {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range link.FindAllStringSubmatch(string(text), -1) {
			links++
			if _, err := os.Stat(filepath.Join(filepath.Dir(name), filepath.FromSlash(m[1]))); err != nil {
				t.Errorf("%s links to %s: %v", filepath.Base(name), m[1], err)
			}
		}
	}
	if links < 10 {
		t.Errorf("only %d links were found: is the pattern right?", links)
	}
}

func page(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root(t), filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
