package task

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/nightporter/nightporter/loop/task/form"
)

// findRecognised returns those of the paths that are files of the form, and those
// whose JSON is broken: people should hear of the mistake. Paths are slash-separated
// and relative to the repository.
func findRecognised(repo string, r form.Recogniser, paths []string) []string {
	var found []string
	for _, p := range paths {
		if slices.Contains(found, p) || strings.ToValidUTF8(p, "") != p {
			continue
		}
		data, err := readBelow(repo, p)
		if err != nil {
			continue // init proposes only what it can read
		}
		if r.Recognise(p, data) != "" || len(data) > 0 && filepath.Ext(p) == ".json" && !json.Valid(data) {
			found = append(found, p)
		}
	}
	return found
}

var errNoFile = errors.New("is no regular file")

// readBelow reads a file of a repository. It follows no link that leads out of it,
// and reads at most what a task file can have.
func readBelow(repo, path string) ([]byte, error) {
	root, err := os.OpenRoot(repo)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }()
	name := filepath.FromSlash(path)
	if info, err := root.Stat(name); err != nil {
		return nil, err
	} else if !info.Mode().IsRegular() {
		return nil, errNoFile // opening a pipe would wait for its writer
	}
	f, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	return io.ReadAll(io.LimitReader(f, form.MaxBytes+1))
}

// globEscape quotes what filepath.Glob would take for a pattern.
func globEscape(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}
