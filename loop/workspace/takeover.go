package workspace

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/nightporter/nightporter/loop/ledger"
)

// Capture reads what a session left in the work folder, without running
// anything of it, and records the part that its scope allows as a tree.
//
// What counts is tracked files and what the rules of t.Start do not ignore,
// except what already lay there, ignored, when the session began. Against
// t.Input every changed path is one of: taken; Dropped (never in any scope,
// undone in silence); Outside (out of this scope, undone); Refused (it cannot
// be in a commit, undone, a violation). The work folder is left with exactly
// the tree that is returned, what is ignored, and a new .git, so that a
// verification can be told nothing else by it. The tree's commit is recorded
// on t.Ref. A scope that leaves nothing to write is a *ledger.InputError.
//
// Taking over the same folder again gives the same result.
func (w *Workspace) Capture(ctx context.Context, t ledger.CaptureRequest) (ledger.Capture, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	taken, err := w.capture(ctx, t)
	if err != nil {
		return ledger.Capture{}, fmt.Errorf("take over %s: %w", t.Session, err)
	}
	return taken, nil
}

func (w *Workspace) capture(ctx context.Context, t ledger.CaptureRequest) (ledger.Capture, error) {
	var taken ledger.Capture
	if !strings.HasPrefix(t.Ref, w.hidden(t.Run, "")) {
		return taken, fmt.Errorf("ref %q is not below %s", t.Ref, w.hidden(t.Run, ""))
	}
	input, err := w.tree(ctx, t.Input)
	if err != nil {
		return taken, err
	}
	start, err := w.tree(ctx, t.Start)
	if err != nil {
		return taken, err
	}
	scope, _, err := w.resolve(ctx, start, t.Scope)
	if err != nil {
		return taken, err
	}
	dir, err := w.runDir(t.Run)
	if err != nil {
		return taken, err
	}
	l := &leftover{w: w, folder: folder{dir, "work"}, input: map[string]treeEntry{}, refused: map[string]offence{}}
	if before, ok := remembered(dir, t); ok {
		// A crash came between undoing and the caller's own record. What was
		// undone cannot be seen in the folder any more, so what was found
		// before it counts.
		if _, err := w.importTree(ctx, l.folder, before.Tree, start, keptPaths(dir)...); err != nil {
			return taken, err
		}
		return before, w.record(ctx, t, before.Tree)
	}
	if err := l.read(ctx, input, start); err != nil {
		return taken, err
	}
	changes, err := w.changes(ctx, input, l.tree)
	if err != nil {
		return taken, err
	}
	kept, err := l.judge(ctx, scope, input, changes, t.Scope.Never, &taken)
	if err != nil {
		return taken, err
	}
	if taken.Tree, err = w.applied(ctx, dir, input, kept); err != nil {
		return taken, err
	}
	if taken.Files, err = w.changed(ctx, input, taken.Tree); err != nil {
		return taken, err
	}
	taken.Lock = slices.ContainsFunc(taken.Files, func(f ledger.FileChange) bool { return installs(f.Path) })
	if err := remember(dir, t, taken); err != nil {
		return taken, err
	}
	if _, err := w.importTree(ctx, l.folder, taken.Tree, start, l.prune...); err != nil {
		return taken, err
	}
	return taken, w.record(ctx, t, taken.Tree)
}

// memo is the last take-over of a run and what came of it.
type memo struct {
	Asked ledger.CaptureRequest `json:"asked"`
	Taken ledger.Capture        `json:"taken"`
}

// remember keeps a take-over's result until the next restore.
func remember(dir string, t ledger.CaptureRequest, taken ledger.Capture) error {
	data, err := json.Marshal(memo{t, taken})
	if err != nil {
		return err
	}
	return writeDurably(filepath.Join(dir, memoFile), data)
}

// remembered returns the result of the same take-over, where its file is whole.
func remembered(dir string, t ledger.CaptureRequest) (ledger.Capture, bool) {
	data, err := os.ReadFile(filepath.Join(dir, memoFile))
	if err != nil {
		return ledger.Capture{}, false
	}
	var m memo
	if err := json.Unmarshal(data, &m); err != nil || m.Asked.Session != t.Session || m.Asked.Ref != t.Ref || m.Asked.Input != t.Input {
		return ledger.Capture{}, false
	}
	return m.Taken, true
}

const memoFile = "taken.json"

// keptPaths is what lay ignored in the work folder when the session began.
func keptPaths(dir string) []string {
	data, err := os.ReadFile(filepath.Join(dir, "kept"))
	if err != nil {
		return nil
	}
	return zlist(data)
}

// record keeps the tree as a commit on the session's hidden ref. Its date is
// that of the commit it builds on, so that repeating it changes nothing.
func (w *Workspace) record(ctx context.Context, t ledger.CaptureRequest, tree string) error {
	c := commit{tree: tree, date: "@0 +0000", message: t.Session + "\n"}
	if t.StartRev != "" {
		date, err := w.laterDate(ctx, t.StartRev)
		if err != nil {
			return err
		}
		c.parents, c.date = []string{t.StartRev}, date
	}
	hash, err := w.commitTree(ctx, c)
	if err != nil {
		return err
	}
	return w.setRef(ctx, t.Ref, hash)
}

// leftover is a work folder after a session.
type leftover struct {
	w      *Workspace
	folder folder

	input   map[string]treeEntry // what the session began with
	prune   []string             // ignored, or there before: not looked into
	tree    string               // everything else, as git would add it
	refused map[string]offence   // path → why it cannot be in a commit
}

// read looks at the folder and adds what is there to our repository.
func (l *leftover) read(ctx context.Context, input, start string) error {
	entries, err := l.w.list(ctx, input)
	if err != nil {
		return err
	}
	for _, e := range entries {
		l.input[e.path] = e
	}
	if err := l.folder.ensure(); err != nil {
		return err
	}
	if err := l.readIndex(ctx, input); err != nil {
		return err
	}
	rules, err := l.w.ignoreFile(ctx, l.folder.dir, start)
	if err != nil {
		return err
	}
	if l.prune, err = l.w.ignored(ctx, l.folder, rules); err != nil {
		return err
	}
	l.prune = append(l.prune, keptPaths(l.folder.dir)...)
	present, err := l.look(ctx)
	if err != nil {
		return err
	}
	return l.add(ctx, present)
}

// readIndex brings the folder's index to the input tree. What it knows of
// files that did not change stays, so that these need not be read.
func (l *leftover) readIndex(ctx context.Context, input string) error {
	if err := l.w.dropStaleLock(ctx, l.folder.index()+".lock"); err != nil {
		return err
	}
	read := func() error {
		_, err := l.w.run(ctx, call{gitDir: l.w.gitDir, work: l.folder.path(), index: l.folder.index(), args: []string{"read-tree", "--reset", input}})
		return err
	}
	if err := read(); err == nil || ctx.Err() != nil {
		return err
	}
	os.Remove(l.folder.index())
	return read()
}

// look walks through the folder and returns the files and links that can be
// added; what cannot is put into refused.
func (l *leftover) look(ctx context.Context) (present []string, err error) {
	prune := newPathSet(l.prune)
	err = walk(l.folder.path(), func(parent int, base string, f found) (bool, error) {
		if err := ctx.Err(); err != nil {
			return false, context.Cause(ctx)
		}
		if f.path == ".git" || prune.has(f.path) && l.input[f.path].hash == "" {
			return false, nil
		}
		if dotGit(base) {
			// A repository inside the repository: what lies around it would be a
			// gitlink for git.
			l.refused[f.path] = offence{"is a git repository inside the repository", "remove it when it is no longer needed, or make it in TMPDIR"}
			return false, nil
		}
		switch f.kind {
		case unix.S_IFDIR:
			if len(f.path) >= maxPath {
				l.refused[f.path] = offence{"is nested too deep", "use fewer folders, or shorter names"}
				return false, nil
			}
			return true, nil
		case unix.S_IFLNK:
			present = append(present, f.path)
			return false, nil
		case unix.S_IFREG:
			why, err := l.lookAtFile(ctx, parent, base, f)
			if err != nil {
				return false, err
			}
			if why.text != "" {
				l.refused[f.path] = why
			} else {
				present = append(present, f.path)
			}
			return false, nil
		}
		l.refused[f.path] = offence{specialKind(f.kind), "remove it when it is no longer needed, or make it in TMPDIR"}
		return false, nil
	}, nil)
	return present, err
}

// specialKind names what is neither file nor folder nor link.
func specialKind(kind uint32) string {
	switch kind {
	case unix.S_IFIFO:
		return "is a FIFO"
	case unix.S_IFSOCK:
		return "is a socket"
	}
	return "is a device"
}

// lookAtFile returns why a regular file cannot be taken over, or none.
func (l *leftover) lookAtFile(ctx context.Context, parent int, base string, f found) (offence, error) {
	if f.links > 1 && l.w.o.SessionUID >= 0 && f.uid != uint32(l.w.o.SessionUID) && f.uid != uint32(os.Geteuid()) {
		return offence{"is a hard link to a file of somebody else", "copy the file instead"}, nil
	}
	if f.size > maxFile {
		// A large file that was there and kept its size is worth reading; git
		// will tell whether it changed.
		old, known := l.input[f.path]
		if !known {
			return tooLarge, nil
		}
		out, err := l.w.ours(ctx, "cat-file", "-s", old.hash)
		if err != nil {
			return offence{}, err
		}
		if size, err := strconv.ParseInt(out, 10, 64); err != nil || size != f.size {
			return tooLarge, nil //nolint:nilerr // no number is as good as another size
		}
	}
	if f.mode&0o400 == 0 {
		if err := unix.Fchmodat(parent, base, f.mode|0o600, 0); err != nil {
			return offence{}, fmt.Errorf("make %s readable: %w", f.path, err)
		}
	}
	return offence{}, nil
}

// add brings the index to what is there and writes its tree.
func (l *leftover) add(ctx context.Context, present []string) error {
	there := make(map[string]bool, len(present))
	for _, p := range present {
		there[p] = true
	}
	var gone []string
	for p := range l.input {
		if !there[p] {
			gone = append(gone, p)
		}
	}
	index := func(in []string, args ...string) error {
		if len(in) == 0 {
			return nil
		}
		_, err := l.w.run(ctx, call{gitDir: l.w.gitDir, work: l.folder.path(), index: l.folder.index(), in: zjoin(in),
			args: append([]string{"update-index"}, append(args, "-z", "--stdin")...)})
		return err
	}
	// First what is gone: a folder can have become a file or a link.
	if err := index(gone, "--force-remove"); err != nil {
		return err
	}
	if err := index(present, "--add", "--replace"); err != nil {
		return err
	}
	out, err := l.w.run(ctx, call{gitDir: l.w.gitDir, index: l.folder.index(), args: []string{"write-tree"}})
	l.tree = strings.TrimSpace(string(out))
	return err
}

// applied writes the tree that the changes make of another.
func (w *Workspace) applied(ctx context.Context, dir, tree string, changes []change) (string, error) {
	if len(changes) == 0 {
		return tree, nil
	}
	index := filepath.Join(dir, "apply-index")
	os.Remove(index)
	os.Remove(index + ".lock")
	defer os.Remove(index)
	git := func(in *bytes.Buffer, args ...string) (string, error) {
		c := call{gitDir: w.gitDir, index: index, args: args}
		if in != nil {
			c.in = in
		}
		out, err := w.run(ctx, c)
		return strings.TrimSpace(string(out)), err
	}
	if _, err := git(nil, "read-tree", tree); err != nil {
		return "", err
	}
	var lines bytes.Buffer
	zero := strings.Repeat("0", len(tree))
	for _, gone := range []bool{true, false} { // removals first, as in add
		for _, c := range changes {
			switch {
			case gone && c.new.hash == "":
				fmt.Fprintf(&lines, "0 %s\t%s\x00", zero, c.path)
			case !gone && c.new.hash != "":
				fmt.Fprintf(&lines, "%s %s\t%s\x00", c.new.mode, c.new.hash, c.path)
			}
		}
	}
	if _, err := git(&lines, "update-index", "-z", "--index-info"); err != nil {
		return "", err
	}
	return git(nil, "write-tree")
}
