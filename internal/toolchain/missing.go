package toolchain

import (
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/nightporter/nightporter/internal/regexp"
	"github.com/nightporter/nightporter/loop/ledger"
)

// exact matches what names one version. Other words, such as system, latest,
// lts/* and ref:main, are the manager's to resolve, and are not judged.
var (
	exact    = regexp.MustCompile(`^(?:\d+(?:\.\d+)*(?:[-+.]?[a-z0-9]+)*|(?:stable|beta|nightly)(?:-\d{4}-\d\d-\d\d)?)$`)
	toolName = regexp.MustCompile(`^[a-z][a-z0-9_-]*$`)
)

// maxFile bounds what is read of a file.
const maxFile = 1 << 20

// Missing returns a finding for each version that a file in the top folder of a
// repository names, and that a manager of that file, installed in home, does not
// have. Files that cannot be read name nothing.
func Missing(repo fs.FS, home Home) (found []ledger.Diagnostic) {
	for _, f := range files {
		for _, name := range f.managers {
			m := Managers[slices.IndexFunc(Managers, func(m Manager) bool { return m.Name == name })]
			dir := home.Of(m)
			if dir == "" {
				continue // nobody obeys the file
			}
			wants := f.read(content(repo, f.name))
			slices.SortFunc(wants, func(a, b want) int { return strings.Compare(a.tool+" "+a.version, b.tool+" "+b.version) })
			for _, w := range wants {
				if !exact.MatchString(w.version) || !toolName.MatchString(w.tool) || m.installed(dir, w.tool, w.version) {
					continue
				}
				found = append(found, ledger.Diagnostic{
					File:   f.name,
					Text:   fmt.Sprintf("names %s %s, which %s has not installed, and sessions cannot", w.tool, w.version, m.Name),
					Remedy: "Run before: " + m.named(m.install, w.tool, w.version),
				})
			}
		}
	}
	return found
}

// content returns a file, "" for none.
func content(repo fs.FS, name string) string {
	f, err := repo.Open(name)
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }()
	data, err := io.ReadAll(io.LimitReader(f, maxFile))
	if err != nil {
		return ""
	}
	return string(data)
}
