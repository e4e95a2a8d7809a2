package workspace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/nightporter/nightporter/loop/ledger"
)

// ignoredPaths is what a session's folder holds besides work: paths that an
// ignore rule keeps out of the capture (docs/spec 4.1).
//
// Two sets of rules count, each by itself: those of the attempt's start, and
// those of the result, which are the ignore files that the session's scope lets
// it write, as it left them. A session can so leave something out, but the
// person's own rules hold whatever it does to them. What it leaves out is in no
// commit, no diff and no clone.
//
// Two kinds of path count as work all the same: files of the start tree, and
// paths that the task's own scope names.
type ignoredPaths struct {
	set   pathSet
	list  []string // the same, as git lists them: a folder ends with a slash
	named []string // paths of the scope at or below an ignored path
}

// has reports whether a walk from the top leaves out a path, with everything
// below it.
func (i ignoredPaths) has(p string) bool {
	if !i.covers(p) {
		return false
	}
	return !slices.ContainsFunc(i.named, func(n string) bool {
		return inFolder(p, n) || inFolder(n, p) // the path is named, or leads to one that is
	})
}

// covers reports whether a rule ignores a path or a folder above it.
func (i ignoredPaths) covers(p string) bool {
	for q := p; q != "."; q = path.Dir(q) {
		if i.set.has(q) {
			return true
		}
	}
	return false
}

// inFolder reports whether a path is the folder itself or lies below it.
func inFolder(p, folder string) bool {
	return p == folder || strings.HasPrefix(p, folder+"/")
}

// findIgnored finds out what the folder holds besides work. The folder's index
// must be that of the input tree.
func (l *sessionDiff) findIgnored(ctx context.Context, start string, scope *scope, leaveOut []string) error {
	entries, err := l.w.listTree(ctx, start)
	if err != nil {
		return err
	}
	atStart, err := l.w.rulesOf(ctx, entries)
	if err != nil {
		return err
	}
	file, err := writeRules(l.folder.dir, "ignore", atStart)
	if err != nil {
		return err
	}
	list, err := l.w.ignored(ctx, l.folder, file)
	if err != nil {
		return err
	}
	list = append(list, keptPaths(l.folder.dir)...)
	for _, folder := range leaveOut {
		if !l.holds(folder) {
			list = append(list, folder+"/")
		}
	}
	result, err := l.resultRules(ctx, scope, atStart, list)
	if err != nil {
		return err
	}
	if !sameRules(atStart, result) {
		if file, err = writeRules(l.folder.dir, "result-ignore", result); err != nil {
			return err
		}
		more, err := l.w.ignored(ctx, l.folder, file)
		if err != nil {
			return err
		}
		added, err := l.ignoredSince(ctx, entries, file)
		if err != nil {
			return err
		}
		list = slices.Concat(list, more, added)
	}
	set := newPathSet(list)
	l.ignored = ignoredPaths{set: set, list: list}
	for _, p := range scope.names {
		if (ignoredPaths{set: set}).covers(p) {
			l.ignored.named = append(l.ignored.named, p)
		}
	}
	return nil
}

// holds reports whether the session was given a file of a folder.
func (l *sessionDiff) holds(folder string) bool {
	for p := range l.input {
		if folder == "." || inFolder(p, folder) {
			return true
		}
	}
	return folder == "."
}

// ignoredSince lists files of the input tree that the rules ignore and the
// start tree does not have: an earlier session of the attempt made them before
// one wrote the rule.
func (l *sessionDiff) ignoredSince(ctx context.Context, start []treeEntry, rules string) ([]string, error) {
	old := make(map[string]bool, len(start))
	for _, e := range start {
		old[e.path] = true
	}
	made := false
	for p := range l.input {
		made = made || !old[p]
	}
	if !made {
		return nil, nil
	}
	out, err := l.w.run(ctx, call{gitDir: l.w.gitDir, work: l.folder.path(), index: l.folder.index(),
		args: []string{"ls-files", "-z", "--cached", "--ignored", "--exclude-from=" + rules}})
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(zlist(out), func(p string) bool { return old[p] }), nil
}

// resultRules returns the ignore files of the result: in the scope those of the
// folder, elsewhere those of the input tree, because changes of these are
// undone. It does not look into ignored folders.
func (l *sessionDiff) resultRules(ctx context.Context, scope *scope, atStart []ruleFile, ignored []string) ([]ruleFile, error) {
	writable := func(p string) bool { return scope.permits(p) && !l.w.reserved(scope.never, p) }
	var before []treeEntry
	for _, e := range l.input {
		if path.Base(e.path) == ignoreName && !writable(e.path) {
			before = append(before, e)
		}
	}
	slices.SortFunc(before, func(a, b treeEntry) int { return strings.Compare(a.path, b.path) })
	rules, err := l.w.rulesOf(ctx, before)
	if err != nil {
		return nil, err
	}
	// The rules of the top folder come first: they say which folders of
	// thousands of files are not worth a look.
	if writable(ignoreName) {
		top, err := readRules(unix.AT_FDCWD, filepath.Join(l.folder.path(), ignoreName))
		if err != nil {
			return nil, err
		}
		if top != nil && !slices.ContainsFunc(atStart, func(r ruleFile) bool { return r.path == ignoreName && bytes.Equal(r.text, top) }) {
			file, err := writeRules(l.folder.dir, "result-ignore", append(slices.Clone(rules), ruleFile{ignoreName, top}))
			if err != nil {
				return nil, err
			}
			more, err := l.w.ignored(ctx, l.folder, file)
			if err != nil {
				return nil, err
			}
			ignored = slices.Concat(ignored, more)
		}
	}
	skip := newPathSet(slices.DeleteFunc(slices.Clone(ignored), func(p string) bool { return !strings.HasSuffix(p, "/") }))
	err = walk(l.folder.path(), func(parent int, base string, f found) (bool, error) {
		switch {
		case ctx.Err() != nil:
			return false, context.Cause(ctx)
		case f.path == ".git":
			return false, nil
		case f.kind == unix.S_IFDIR:
			return !skip.has(f.path), nil
		case base != ignoreName || f.kind != unix.S_IFREG || !writable(f.path):
			return false, nil
		}
		text, err := readRules(parent, base)
		if text != nil {
			rules = append(rules, ruleFile{f.path, text})
		}
		return false, err
	})
	return rules, err
}

// selfIgnored lists the ignored paths of the work folder that lie in a folder
// whose ignore file ignores itself, such as a Python environment: no tree holds
// the rule that ignores them.
func selfIgnored(f folder) []string {
	list := keptPaths(f.dir)
	if m, err := readSavedCapture(f.dir); err == nil {
		list = slices.Concat(list, m.Ignored)
	}
	folders := map[string]bool{}
	for _, p := range list {
		if dir, is := strings.CutSuffix(p, "/"+ignoreName); is {
			folders[dir] = true
		}
	}
	return slices.DeleteFunc(list, func(p string) bool {
		for q := path.Clean(p); q != "."; q = path.Dir(q) {
			if folders[q] {
				return false
			}
		}
		return true
	})
}

// maxRules is the size in bytes of the largest ignore file that a session can
// write with an effect.
const maxRules = 1 << 20

// readRules reads an ignore file without following a link; nil for one that is
// missing, no regular file, or too large.
func readRules(parent int, name string) ([]byte, error) {
	fd, err := unix.Openat(parent, name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ELOOP) || errors.Is(err, unix.EACCES) || errors.Is(err, unix.ENXIO) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", name, err)
	}
	f := os.NewFile(uintptr(fd), name)
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() || info.Size() > maxRules {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(f, maxRules))
	if text == nil {
		text = []byte{}
	}
	return text, err
}

// sameRules reports whether two sets of ignore files are equal.
func sameRules(a, b []ruleFile) bool {
	texts := map[string]string{}
	for _, r := range a {
		texts[r.path] = string(r.text)
	}
	return len(a) == len(b) && !slices.ContainsFunc(b, func(r ruleFile) bool {
		text, ok := texts[r.path]
		return !ok || text != string(r.text)
	})
}

// scopeNames returns the paths that a task's own scope names, without those of
// items that stand for many paths. For a part they are those of its task: the
// scope of a part was written by a session.
func scopeNames(s ledger.Scope) []string {
	text := s.Task
	if s.Within != "" {
		text = s.Within
	}
	var names []string
	for _, i := range ledger.ParseScope(text) {
		p := i.Text
		if i.Kind != ledger.ScopePath && i.Kind != ledger.ScopeGlob && i.Kind != ledger.ScopeWord {
			continue
		}
		if n := strings.IndexAny(p, `*?[{\`); n >= 0 {
			p = p[:strings.LastIndexByte(p[:n], '/')+1] // dist/*.js names what lies in dist
		}
		if p = strings.TrimSuffix(p, "/"); p != "" && p != "." {
			names = append(names, path.Clean(p))
		}
	}
	return names
}
