package propose

import (
	"slices"
	"testing"
	"testing/fstest"
)

// TestSetup leaves out what would make files that look like work.
func TestSetup(t *testing.T) {
	repo := func(files ...string) fstest.MapFS {
		m := fstest.MapFS{}
		for i := 0; i < len(files); i += 2 {
			m[files[i]] = &fstest.MapFile{Data: []byte(files[i+1])}
		}
		return m
	}
	all := func(string) bool { return true }
	for _, c := range []struct {
		name   string
		repo   fstest.MapFS
		onPath func(string) bool
		want   []string
	}{
		{"nothing", repo("README.md", "x"), all, nil},
		{"Go", repo("go.mod", "module x", "go.sum", ""), all, nil},
		{"locked", repo("package.json", "{}", "package-lock.json", "{}", ".gitignore", "node_modules/"), all, []string{"npm ci"}},
		{"below", repo("web/package.json", "{}", "web/package-lock.json", "{}", ".gitignore", "node_modules/"), all, []string{"cd web && npm ci"}},
		{"not ignored", repo("package.json", "{}", "package-lock.json", "{}"), all, nil},
		{"no npm", repo("package.json", "{}", "package-lock.json", "{}", ".gitignore", "node_modules/"), func(string) bool { return false }, nil},
		{"pip", repo("requirements.txt", "x", ".gitignore", ".venv"), all, []string{"python3 -m venv .venv", ".venv/bin/pip install --quiet -r requirements.txt"}},
	} {
		if got := Setup(c.repo, c.onPath); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
