package workspace

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestFlatRulesIgnoreTheSame compares one flat file of rules with git's own
// reading of all .gitignore files in place.
func TestFlatRulesIgnoreTheSame(t *testing.T) {
	setHome(t)
	dir := t.TempDir()
	git(t, dir, "init", "-q")
	rules := map[string]string{
		"":           "\ufeff*.log\n/top\nbuild/\n# comment\n\n\\#odd\nnot-this  \nspaced\\ \nkeep*\n!keep-me\n**/cache\nx/**/y\n",
		"sub":        "*.tmp\r\n/only-here\nnested/deep\n!special.log\nall/*\n!all/but\n**\n!*/\n!*.go\n",
		"sub/inner":  "!*.tmp\n",
		"we[i]rd *x": "/a\nb?\n",
	}
	var names []string
	for d := range rules {
		names = append(names, d)
	}
	slices.SortFunc(names, func(a, b string) int { return strings.Count(a, "/") - strings.Count(b, "/") + strings.Compare(a, b)/2 })
	slices.Sort(names)
	var flat bytes.Buffer
	for _, d := range names {
		writeFile(t, dir, filepath.Join(d, ".gitignore"), rules[d])
		flatten(&flat, filepath.ToSlash(filepath.Clean(d)), []byte(rules[d]))
	}
	for _, d := range []string{"", "sub/", "sub/inner/", "sub/all/", "we[i]rd *x/", "wexrd yx/", "other/"} {
		for _, f := range []string{"a.log", "special.log", "top", "build/x", "#odd", "not-this", "spaced ", "keep-me", "keep-not", "cache/x", "x/1/2/y",
			"a.tmp", "only-here", "nested/deep", "but", "main.go", "a", "b1"} {
			writeFile(t, dir, d+f, "x\n")
		}
	}
	file := filepath.Join(t.TempDir(), "rules")
	writeFile(t, filepath.Dir(file), "rules", flat.String())
	list := func(arg string) []string {
		return strings.Split(git(t, dir, "ls-files", "--others", "--ignored", "-z", arg), "\x00")
	}
	if diff := cmp.Diff(list("--exclude-per-directory=.gitignore"), list("--exclude-from="+file)); diff != "" {
		t.Errorf("ignored (-git +flat):\n%s\n%s", diff, flat.String())
	}
}
