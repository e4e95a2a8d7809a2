package workspace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/nightporter/nightporter/loop/ledger"
)

// Modes of tree entries, as git writes them.
const (
	modeTree    = "040000"
	modeSymlink = "120000"
	modeGitlink = "160000"
)

// treeEntry is a file of a tree.
type treeEntry struct {
	mode, hash, path string
	size             int64 // of a list with sizes; 0 for a submodule
}

// listTree returns the files of a tree, sorted by path. Do not change them: the
// last lists are kept, because one step often asks for the same few.
func (w *Workspace) listTree(ctx context.Context, treeish string) ([]treeEntry, error) {
	return w.list(ctx, treeish, false)
}

// listSizes is listTree with sizes, for which git has to look at each file.
func (w *Workspace) listSizes(ctx context.Context, treeish string) ([]treeEntry, error) {
	return w.list(ctx, treeish, true)
}

func (w *Workspace) list(ctx context.Context, treeish string, sizes bool) ([]treeEntry, error) {
	if entries, ok := w.listings.get(treeish, sizes); ok {
		return entries, nil
	}
	args := []string{"ls-tree", "-r", "-z", "--full-tree"}
	if sizes {
		args = append(args, "-l")
	}
	out, err := w.run(ctx, call{gitDir: w.gitDir, args: append(args, treeish)})
	if err != nil {
		return nil, err
	}
	var entries []treeEntry
	for _, rec := range zlist(out) {
		meta, p, ok := strings.Cut(rec, "\t")
		f := strings.Fields(meta) // mode, type, hash, and size
		if !ok || len(f) != 3 && len(f) != 4 {
			return nil, fmt.Errorf("git ls-tree answered %q", rec)
		}
		e := treeEntry{mode: f[0], hash: f[2], path: p}
		if sizes {
			e.size, _ = strconv.ParseInt(f[len(f)-1], 10, 64) // "-" for a submodule
		}
		entries = append(entries, e)
	}
	if fullHash.MatchString(treeish) {
		w.listings.put(listing{treeish, entries, sizes})
	}
	return entries, nil
}

// fileContent returns the content of a blob.
func (w *Workspace) fileContent(ctx context.Context, hash string) ([]byte, error) {
	var out bytes.Buffer
	_, err := w.run(ctx, call{gitDir: w.gitDir, args: []string{"cat-file", "blob", hash}, out: &out})
	return out.Bytes(), err
}

// change is a path in which two trees differ. An empty hash means that the path
// does not exist.
type change struct {
	path string
	new  treeEntry
}

// changes lists the paths in which the trees from and to differ.
func (w *Workspace) changes(ctx context.Context, from, to string) ([]change, error) {
	out, err := w.run(ctx, call{gitDir: w.gitDir, args: []string{"diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-ext-diff", from, to}})
	if err != nil {
		return nil, err
	}
	return parseRaw(zlist(out))
}

// parseRaw parses the output of --raw -z.
func parseRaw(recs []string) ([]change, error) {
	var list []change
	for i := 0; i+1 < len(recs); i += 2 { // records alternate: ":MODE MODE HASH HASH STATUS", path
		f := strings.Fields(recs[i])
		if len(f) != 5 {
			return nil, fmt.Errorf("git diff-tree answered %q", recs[i])
		}
		c := change{path: recs[i+1]}
		if f[4] != "D" {
			c.new = treeEntry{mode: f[1], hash: f[3], path: c.path}
		}
		list = append(list, c)
	}
	return list, nil
}

// countedChanges returns changes and changed with one look at the two trees.
func (w *Workspace) countedChanges(ctx context.Context, from, to string) ([]change, []ledger.FileChange, error) {
	if from == to {
		return nil, nil, nil
	}
	out, err := w.run(ctx, call{gitDir: w.gitDir, args: []string{"diff-tree", "-r", "-z", "--raw", "--numstat", "--no-renames", "--no-ext-diff", "--no-textconv", from, to}})
	if err != nil {
		return nil, nil, err
	}
	recs := zlist(out)
	n := 0
	for n+1 < len(recs) && strings.HasPrefix(recs[n], ":") { // all raw records come first, each with its path
		n += 2
	}
	list, err := parseRaw(recs[:n])
	if err != nil {
		return nil, nil, err
	}
	counted, err := parseCounts(recs[n:])
	return list, counted, err
}

// renames returns, for new paths of tree to, the removed path of tree from that
// was renamed to it by git's measure: at least half of the content is the same.
// Empty files never count as renamed.
func (w *Workspace) renames(ctx context.Context, from, to string) (map[string]string, error) {
	out, err := w.run(ctx, call{gitDir: w.gitDir, args: []string{"diff-tree", "-r", "-z", "--name-status", "-M", "--no-rename-empty", "--diff-filter=R", "--no-ext-diff", from, to}})
	if err != nil {
		return nil, err
	}
	moved := map[string]string{}
	recs := zlist(out)
	for i := 0; i+2 < len(recs); i += 3 { // records of three: "R087", from, to
		moved[recs[i+2]] = recs[i+1]
	}
	return moved, nil
}

// changed lists the files in which two trees or commits differ, with the numbers
// of added and removed lines; both are -1 for a binary file. A renamed file is
// one that was removed and one that was added.
func (w *Workspace) changed(ctx context.Context, from, to string) ([]ledger.FileChange, error) {
	a, err := w.tree(ctx, from)
	if err != nil {
		return nil, err
	}
	b, err := w.tree(ctx, to)
	if err != nil {
		return nil, err
	}
	out, err := w.run(ctx, call{gitDir: w.gitDir, args: []string{"diff-tree", "-r", "-z", "--numstat", "--no-renames", "--no-ext-diff", "--no-textconv", a, b}})
	if err != nil {
		return nil, err
	}
	return parseCounts(zlist(out))
}

// parseCounts parses the output of --numstat -z.
func parseCounts(recs []string) ([]ledger.FileChange, error) {
	var list []ledger.FileChange
	for _, rec := range recs {
		f := strings.SplitN(rec, "\t", 3)
		if len(f) != 3 {
			return nil, fmt.Errorf("git diff-tree answered %q", rec)
		}
		list = append(list, ledger.FileChange{Path: strings.ToValidUTF8(f[2], "\uFFFD"), Added: lineCount(f[0]), Removed: lineCount(f[1])})
	}
	return list, nil
}

// lineCount parses a number of --numstat; "-" stands for a binary file.
func lineCount(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		return -1
	}
	return n
}

// entry returns a file of a tree, by its exact path; none has an empty hash. A list
// of the tree that is kept spares the process.
func (w *Workspace) entry(ctx context.Context, tree, p string) (treeEntry, error) {
	if entries, ok := w.listings.get(tree, false); ok {
		if i, there := slices.BinarySearchFunc(entries, p, func(e treeEntry, p string) int { return strings.Compare(e.path, p) }); there && entries[i].mode != modeGitlink {
			return entries[i], nil
		}
		return treeEntry{}, nil
	}
	out, err := w.run(ctx, call{gitDir: w.gitDir, args: []string{"ls-tree", "-z", "--full-tree", tree, "--", p}})
	if err != nil {
		return treeEntry{}, err
	}
	meta, _, _ := strings.Cut(string(out), "\t")
	f := strings.Fields(meta)
	if len(f) != 3 || f[1] != "blob" {
		return treeEntry{}, nil
	}
	return treeEntry{mode: f[0], hash: f[2], path: p}, nil
}

// Read returns the content of a file in a tree or commit, or nil if there is
// none. It follows a symbolic link inside the tree (AGENTS.md is often a link
// to CLAUDE.md); a link that leads elsewhere counts as no file.
func (w *Workspace) Read(ctx context.Context, tree, file string) ([]byte, error) {
	root, err := w.tree(ctx, tree)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", file, err)
	}
	for hops, p := 0, path.Clean(file); hops < 5 && p != "." && !strings.HasPrefix(p, "../") && !path.IsAbs(p); hops++ {
		e, err := w.entry(ctx, root, p)
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", file, err)
		}
		if e.hash == "" {
			return nil, nil
		}
		data, err := w.fileContent(ctx, e.hash)
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", file, err)
		}
		if e.mode != modeSymlink {
			if data == nil {
				data = []byte{}
			}
			return data, nil
		}
		if leavesRepo(p, string(data)) {
			return nil, nil
		}
		p = path.Join(path.Dir(p), string(data))
	}
	return nil, nil
}

// errEnough stops git once a diff has reached its limit.
var errEnough = errors.New("enough")

// Diff returns the patch between two trees or commits as valid UTF-8. A longer
// one than limit bytes is cut at the end of a line and ends with a line that
// says so. A limit of 0 or less means no limit.
func (w *Workspace) Diff(ctx context.Context, from, to string, limit int) (string, error) {
	a, err := w.tree(ctx, from)
	if err != nil {
		return "", fmt.Errorf("diff: %w", err)
	}
	b, err := w.tree(ctx, to)
	if err != nil {
		return "", fmt.Errorf("diff: %w", err)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	out := &capped{limit: limit, full: func() { cancel(errEnough) }}
	_, err = w.run(ctx, call{gitDir: w.gitDir, out: out,
		args: []string{"diff-tree", "-r", "-p", "-M", "--no-color", "--no-ext-diff", "--no-textconv", "--src-prefix=a/", "--dst-prefix=b/", a, b}})
	if err != nil && !errors.Is(err, errEnough) {
		return "", fmt.Errorf("diff: %w", err)
	}
	data := out.data.Bytes()
	if !out.over {
		return strings.ToValidUTF8(string(data), "\uFFFD"), nil
	}
	data = data[:bytes.LastIndexByte(data, '\n')+1]
	return strings.ToValidUTF8(string(data), "\uFFFD") + fmt.Sprintf("[diff cut at %d bytes]\n", limit), nil
}

// capped collects up to limit bytes and calls full for any more.
type capped struct {
	data  bytes.Buffer
	limit int
	over  bool
	full  func()
}

// Write implements io.Writer.
func (c *capped) Write(p []byte) (int, error) {
	n := len(p)
	if room := c.limit - c.data.Len(); c.limit > 0 && n > room {
		p = p[:max(room, 0)]
		if !c.over {
			c.over = true
			c.full()
		}
	}
	c.data.Write(p)
	return n, nil
}
