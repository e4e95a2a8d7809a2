package patch

import (
	"path"
	"slices"
	"strings"

	"github.com/nightporter/nightporter/loop/ledger"
)

// order sorts files so that the most telling comes first: changed checks, because
// they decide what a tick is worth; then code, tests, words and settings, and last
// what a program wrote. Within each, the file with the most changed lines is
// first.
func order(files []File) {
	slices.SortStableFunc(files, func(a, b File) int {
		if d := rank(a) - rank(b); d != 0 {
			return d
		}
		return max(b.Added, 0) + max(b.Removed, 0) - max(a.Added, 0) - max(a.Removed, 0)
	})
}

func rank(f File) int {
	switch {
	case f.Check:
		return 0
	case isGenerated(f.Path), f.Binary:
		return 6
	case f.Status == ledger.ChangeDeleted:
		return 4
	case f.Test:
		return 2
	case languageOf(f.Path) == nil:
		return 5
	case languageOf(f.Path).prose:
		return 3
	}
	return 1
}

var (
	lockfiles = []string{
		"go.sum", "package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml", "bun.lock", "Cargo.lock", "poetry.lock", "uv.lock",
		"Pipfile.lock", "Gemfile.lock", "composer.lock", "mix.lock", "pubspec.lock", "Podfile.lock", "flake.lock",
	}
	generatedEnds = []string{".min.js", ".min.css", ".map", ".pb.go", "_pb2.py", ".snap", ".golden", ".lock", ".svg"}
	generatedDirs = []string{"vendor", "node_modules", "dist", "generated", "third_party"}
)

// isGenerated reports whether a program usually writes the file.
func isGenerated(p string) bool {
	base := path.Base(p)
	if slices.Contains(lockfiles, base) || slices.ContainsFunc(generatedEnds, func(end string) bool { return strings.HasSuffix(base, end) }) {
		return true
	}
	for dir := range strings.SplitSeq(path.Dir(p), "/") {
		if slices.Contains(generatedDirs, dir) {
			return true
		}
	}
	return false
}
