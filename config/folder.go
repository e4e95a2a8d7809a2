package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/nightporter/nightporter/loop/ledger"
)

// readFolder reads every .toml file of a folder, which may be missing. It
// refuses a second file that defines the same name, because the order of
// reading would otherwise decide which one holds.
func readFolder[T any](l layer, kind string, read func(*document) (string, T, []ledger.Diagnostic)) (map[string]T, []ledger.Diagnostic) {
	dir := filepath.Join(l.dir, kind)
	entries, err := l.entries(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, []ledger.Diagnostic{unreadable(dir, err)}
	}
	out, from := map[string]T{}, map[string]string{}
	var problems []ledger.Diagnostic
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") || !strings.HasSuffix(e.Name(), ".toml") {
			continue
		}
		doc, ps := openDocument(l, filepath.Join(dir, e.Name()))
		if doc == nil {
			problems = append(problems, ps...)
			continue
		}
		name, v, ps := read(doc)
		problems = append(problems, ps...)
		if other, twice := from[name]; twice && name != "" {
			problems = append(problems, doc.atValue(doc.namePath(), fmt.Sprintf("%q is defined in %s, too: one name, one file", name, other)))
			continue
		}
		if name != "" { // a broken one, too: references to its name are right
			out[name], from[name] = v, e.Name()
		}
	}
	return out, problems
}

// entries lists a folder of the layer, sorted by name.
func (l layer) entries(dir string) ([]fs.DirEntry, error) {
	switch {
	case l.shipped:
		return presets.ReadDir(dir)
	case l.repo == "":
		return os.ReadDir(dir)
	}
	root, err := os.OpenRoot(l.repo)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	rel, err := filepath.Rel(l.repo, dir)
	if err != nil {
		return nil, err
	}
	st, err := root.Stat(rel)
	if err != nil {
		return nil, err
	}
	if !st.IsDir() {
		return nil, errors.New("not a folder")
	}
	f, err := root.OpenFile(rel, openFlags, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	entries, err := f.ReadDir(-1)
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, err
}

// shippedDocuments holds the documents of presets that were opened, by file. A daemon
// reads its hats at each start of a run, and a command at least twice.
var shippedDocuments sync.Map

// openDocument reads and parses one file of the layer.
func openDocument(l layer, file string) (*document, []ledger.Diagnostic) {
	if doc, ok := shippedDocuments.Load(file); ok && l.shipped {
		return doc.(*document), nil
	}
	var (
		src []byte
		err error
	)
	switch {
	case l.shipped:
		src, err = presets.ReadFile(file)
	case l.repo == "":
		src, err = readFile(file, maxHatBytes)
	default:
		src, err = readInside(l.repo, file, maxHatBytes)
	}
	if err != nil {
		return nil, []ledger.Diagnostic{unreadable(file, err)}
	}
	doc, problems := parseDocument(file, src)
	if doc != nil && l.shipped {
		doc.shipped = true
		shippedDocuments.Store(file, doc)
	}
	return doc, problems
}

// escapes is the text of os.Root's error about a link that is absolute or leads
// out of the root. The error itself is not exported.
const escapes = "path escapes from parent"

// unreadable returns a problem with a file or folder as a whole.
func unreadable(file string, err error) ledger.Diagnostic {
	p := ledger.Diagnostic{File: file, Text: systemText(err)}
	switch {
	case strings.HasSuffix(p.Text, escapes):
		p.Text = "a link that leads out of the repository, or is absolute"
		p.Remedy = "Put the file itself there: hats and patterns of a repository lie within it"
	case strings.HasSuffix(p.Text, notRegular):
		p.Remedy = "Hats and patterns are plain text files: move it elsewhere, or give it another ending than .toml"
	}
	return p
}

// namePath returns the path of the key that holds a hat's or a pattern's name.
func (d *document) namePath() []string {
	if d.has("hat", "name") {
		return []string{"hat", "name"}
	}
	return []string{"name"}
}
