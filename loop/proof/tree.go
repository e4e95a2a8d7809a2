package proof

import (
	"bytes"
	"path"
	"slices"
	"strings"
)

// Entry is one file of a Tree.
type Entry struct {
	Path string // relative to the tree's root, with slashes
	Mode string // git's mode: 100644, 100755, 120000, 160000
	ID   string // equal for equal content, such as git's blob hash; empty if unknown
	Size int64
}

// Mode of a symbolic link; Tree.Read returns its target. Mode of a nested
// repository; it is never read.
const (
	modeFile = "100644"
	modeLink = "120000"
	modeRepo = "160000"
)

// Tree is the files of a commit or of a folder. Both methods are called often
// for the same tree and must answer the same each time. List is in any order
// and without folders. Read of a path that List does not have is never called.
type Tree interface {
	List() []Entry
	Read(path string) ([]byte, error)
}

// Content is a file to write.
type Content struct {
	Data []byte
	Mode string
}

// Files is a Tree in memory.
type Files map[string]Content

// List returns the files in the order of their paths.
func (f Files) List() []Entry {
	out := make([]Entry, 0, len(f))
	for p, c := range f {
		out = append(out, Entry{Path: p, Mode: c.Mode, Size: int64(len(c.Data))})
	}
	slices.SortFunc(out, func(a, b Entry) int { return strings.Compare(a.Path, b.Path) })
	return out
}

// Read returns a file's content.
func (f Files) Read(p string) ([]byte, error) { return f[p].Data, nil }

// reader is a Tree with an index and a sticky error, so that code between the
// first failed Read and the end of a function need not look at it.
type reader struct {
	tree    Tree
	entries []Entry // by path
	files   map[string]Entry
	folders map[string]bool
	bases   map[string][]string // paths by base name
	cache   map[string][]byte
	err     error
}

func newReader(t Tree) *reader {
	r := &reader{tree: t, files: map[string]Entry{}, folders: map[string]bool{"": true}, bases: map[string][]string{}, cache: map[string][]byte{}}
	r.entries = slices.SortedFunc(slices.Values(t.List()), func(a, b Entry) int { return strings.Compare(a.Path, b.Path) })
	for _, e := range r.entries {
		r.files[e.Path] = e
		r.bases[path.Base(e.Path)] = append(r.bases[path.Base(e.Path)], e.Path)
		for dir := parent(e.Path); !r.folders[dir]; dir = parent(dir) {
			r.folders[dir] = true
		}
	}
	return r
}

// parent is path.Dir with "" for the root.
func parent(p string) string {
	if d := path.Dir(p); d != "." {
		return d
	}
	return ""
}

// inside reports whether p lies in the folder dir or below it.
func inside(p, dir string) bool { return dir == "" || strings.HasPrefix(p, dir+"/") }

func (r *reader) has(p string) bool { _, ok := r.files[p]; return ok }

// below returns the files in a folder and its folders.
func (r *reader) below(dir string) []Entry {
	if dir == "" {
		return r.entries
	}
	from, _ := slices.BinarySearchFunc(r.entries, dir+"/", func(e Entry, p string) int { return strings.Compare(e.Path, p) })
	to := from
	for to < len(r.entries) && strings.HasPrefix(r.entries[to].Path, dir+"/") {
		to++
	}
	return r.entries[from:to]
}

// read returns the content of a file, nil for a file that does not exist, is a
// nested repository, or cannot be read; the last is kept in r.err.
func (r *reader) read(p string) []byte {
	e, ok := r.files[p]
	if !ok || e.Mode == modeRepo || r.err != nil {
		return nil
	}
	if data, ok := r.cache[p]; ok {
		return data
	}
	data, err := r.tree.Read(p)
	if err != nil {
		r.err = err
		return nil
	}
	if len(data) <= maxText {
		r.cache[p] = data
	}
	return data
}

// text is read for files that are parsed. It returns false for a link, a file
// over maxText and a binary file.
func (r *reader) text(p string) ([]byte, bool) {
	e, ok := r.files[p]
	if !ok || e.Mode == modeLink || e.Mode == modeRepo || e.Size > maxText {
		return nil, false
	}
	data := r.read(p)
	if len(data) > maxText || bytes.IndexByte(data[:min(len(data), 8000)], 0) >= 0 {
		return nil, false
	}
	return data, r.err == nil
}

// same reports whether two trees have the same content and mode at two paths.
func same(a *reader, p string, b *reader, q string) bool {
	x, y := a.files[p], b.files[q]
	if x.Path == "" || y.Path == "" || mode(x) != mode(y) {
		return false
	}
	if x.ID != "" && y.ID != "" {
		return x.ID == y.ID
	}
	return x.Size == y.Size && bytes.Equal(a.read(p), b.read(q))
}

func mode(e Entry) string {
	if e.Mode == "" {
		return modeFile
	}
	return e.Mode
}

// laid is a tree with files written and removed.
type laid struct {
	base   *reader
	write  map[string]Content
	remove map[string]bool
}

func newLaid(base *reader) *laid {
	return &laid{base: base, write: map[string]Content{}, remove: map[string]bool{}}
}

// List returns the files of the tree as it is laid.
func (l *laid) List() []Entry {
	var out []Entry
	for _, e := range l.base.entries {
		if _, ok := l.write[e.Path]; !ok && !l.remove[e.Path] {
			out = append(out, e)
		}
	}
	return append(out, Files(l.write).List()...)
}

// Read returns the content of a file as it is laid.
func (l *laid) Read(p string) ([]byte, error) {
	if c, ok := l.write[p]; ok {
		return c.Data, nil
	}
	data := l.base.read(p)
	return data, l.base.err
}

// put writes a file and removes what stands in its place: files below its path
// and links or files at a folder of its path.
func (l *laid) put(p string, c Content) {
	for dir := parent(p); dir != ""; dir = parent(dir) {
		l.drop(dir)
	}
	for _, below := range l.base.below(p) {
		l.drop(below.Path)
	}
	for q := range l.write {
		if strings.HasPrefix(q, p+"/") {
			l.drop(q)
		}
	}
	l.write[p] = Content{Data: c.Data, Mode: mode(Entry{Mode: c.Mode})}
	delete(l.remove, p)
}

func (l *laid) drop(p string) {
	delete(l.write, p)
	l.remove[p] = true
}

// clean forgets removals of files that the base does not have, and writes that
// equal it.
func (l *laid) clean() {
	for p := range l.remove {
		if !l.base.has(p) {
			delete(l.remove, p)
		}
	}
	for p, c := range l.write {
		e, ok := l.base.files[p]
		if ok && mode(e) == c.Mode && bytes.Equal(l.base.read(p), c.Data) {
			delete(l.write, p)
		}
	}
}
