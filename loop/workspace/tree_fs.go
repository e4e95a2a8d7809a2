package workspace

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"
)

// TreeFS returns the regular files of a tree or commit as a file system. Their
// content is read when it is asked for; sizes are unknown, and 0.
func (w *Workspace) TreeFS(ctx context.Context, tree string) (fs.FS, error) {
	entries, err := w.listTree(ctx, tree)
	if err != nil {
		return nil, fmt.Errorf("files of %.12s: %w", tree, err)
	}
	t := &treeFS{ctx: ctx, w: w, hash: map[string]string{}, below: map[string][]fs.DirEntry{".": nil}}
	for _, e := range entries {
		if e.mode == modeSymlink || e.mode == modeGitlink {
			continue
		}
		t.hash[e.path] = e.hash
		var node fs.FileInfo = treeInfo{name: path.Base(e.path), mode: 0o644}
		for p := e.path; p != "."; p = path.Dir(p) {
			dir := path.Dir(p)
			_, known := t.below[dir]
			t.below[dir] = append(t.below[dir], fs.FileInfoToDirEntry(node))
			if known {
				break
			}
			node = treeInfo{name: path.Base(dir), mode: fs.ModeDir | 0o755}
		}
	}
	for _, list := range t.below {
		slices.SortFunc(list, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	}
	return t, nil
}

// Holding returns those of some paths that a tree has: as files, links or folders.
func (w *Workspace) Holding(ctx context.Context, tree string, paths []string) (held []string, err error) {
	if len(paths) == 0 {
		return nil, nil
	}
	entries, err := w.listTree(ctx, tree)
	if err != nil {
		return nil, fmt.Errorf("files of %.12s: %w", tree, err)
	}
	for _, p := range paths {
		if slices.ContainsFunc(entries, func(e treeEntry) bool { return inFolder(e.path, p) }) {
			held = append(held, p)
		}
	}
	return held, nil
}

// treeFS implements fs.FS and fs.ReadDirFS.
type treeFS struct {
	ctx   context.Context //nolint:containedctx // fs.FS has no parameter for it
	w     *Workspace
	hash  map[string]string        // blobs by path
	below map[string][]fs.DirEntry // folders
}

func (t *treeFS) Open(name string) (fs.File, error) {
	if hash, ok := t.hash[name]; ok {
		return &treeFile{t: t, hash: hash, info: treeInfo{name: path.Base(name), mode: 0o644}}, nil
	}
	if _, ok := t.below[name]; ok {
		return &treeFile{t: t, info: treeInfo{name: path.Base(name), mode: fs.ModeDir | 0o755}}, nil
	}
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
}

func (t *treeFS) ReadDir(name string) ([]fs.DirEntry, error) {
	list, ok := t.below[name]
	if !ok {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return list, nil
}

// treeFile is an open file of a tree.
type treeFile struct {
	t       *treeFS
	hash    string
	info    treeInfo
	content io.Reader // nil before the first Read
}

func (f *treeFile) Stat() (fs.FileInfo, error) { return f.info, nil }
func (f *treeFile) Close() error               { return nil }

func (f *treeFile) Read(p []byte) (int, error) {
	if f.hash == "" {
		return 0, &fs.PathError{Op: "read", Path: f.info.name, Err: fs.ErrInvalid}
	}
	if f.content == nil {
		data, err := f.t.w.fileContent(f.t.ctx, f.hash)
		if err != nil {
			return 0, err
		}
		f.content = bytes.NewReader(data)
	}
	return f.content.Read(p)
}

// treeInfo describes a file or folder of a tree.
type treeInfo struct {
	name string
	mode fs.FileMode
}

func (i treeInfo) Name() string       { return i.name }
func (i treeInfo) Size() int64        { return 0 }
func (i treeInfo) Mode() fs.FileMode  { return i.mode }
func (i treeInfo) ModTime() time.Time { return time.Time{} }
func (i treeInfo) IsDir() bool        { return i.mode.IsDir() }
func (i treeInfo) Sys() any           { return nil }
