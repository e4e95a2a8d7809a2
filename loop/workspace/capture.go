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
	"time"

	"golang.org/x/sys/unix"

	"github.com/nightporter/nightporter/loop/ledger"
)

// Capture reads what a session left in the work folder without executing any of
// it, and records the changes that its scope allows as a tree.
//
// It considers tracked files and those that are not ignored (see ignoredPaths),
// except files that lay there, ignored, when the session began. Each path that
// differs from t.Input is one of: captured; Dropped (in no scope, undone
// silently); Outside (out of this scope, undone); Refused (cannot be in a
// commit, undone, a violation). Afterwards the work folder holds exactly the
// captured tree and ignored files, with a new .git, so that verification sees
// what would be committed. Of a session that left none of its files, nothing is
// captured. If added lines look like secrets, the tree is the input tree, unless
// t.Hold is set. The tree's commit is recorded on t.Ref. A scope that
// permits no path is a *ledger.InputError.
//
// Capturing the same session again gives the same result.
func (w *Workspace) Capture(ctx context.Context, t ledger.CaptureRequest) (ledger.Capture, error) {
	defer w.lock()()
	captured, err := w.capture(ctx, t)
	if err != nil {
		return ledger.Capture{}, fmt.Errorf("take over %s: %w", t.Session, err)
	}
	return captured, nil
}

func (w *Workspace) capture(ctx context.Context, t ledger.CaptureRequest) (ledger.Capture, error) {
	var captured ledger.Capture
	if !strings.HasPrefix(t.Ref, w.hiddenRef(t.Run, "")) {
		return captured, fmt.Errorf("ref %q is not below %s", t.Ref, w.hiddenRef(t.Run, ""))
	}
	// What a session sees are filled trees; what it changed is captured without what
	// they are filled with.
	bareInput, err := w.tree(ctx, t.Input)
	if err != nil {
		return captured, err
	}
	bareStart, err := w.tree(ctx, t.Start)
	if err != nil {
		return captured, err
	}
	input, err := w.filled(ctx, bareInput)
	if err != nil {
		return captured, err
	}
	start, err := w.filled(ctx, bareStart)
	if err != nil {
		return captured, err
	}
	scope, _, err := w.resolve(ctx, bareStart, t.Scope)
	if err != nil {
		return captured, err
	}
	tracked, err := w.listTree(ctx, bareStart)
	if err != nil {
		return captured, err
	}
	dir, err := w.laneDir(t.Run, t.Lane)
	if err != nil {
		return captured, err
	}
	l := &sessionDiff{w: w, folder: folder{dir, "work"}, start: start, submodules: gitlinksOf(tracked), input: map[string]treeEntry{}, refused: map[string]refusal{}}
	if before, ok := loadCapture(dir, t); ok {
		// A crash came after undoing changes and before the caller recorded the
		// result. The folder no longer shows the undone changes, so the saved
		// result counts.
		result, err := w.filled(ctx, before.Taken.Tree)
		if err != nil {
			return captured, err
		}
		if _, err := w.importTree(ctx, l.folder, result, start, before.Ignored...); err != nil {
			return captured, err
		}
		return before.Taken, w.record(ctx, t, before.Taken.Tree)
	}
	if err := l.read(ctx, input, scope, t, &captured); err != nil {
		return captured, err
	}
	changes, counted, err := w.countedChanges(ctx, input, l.tree)
	if err != nil {
		return captured, err
	}
	w.listings.put(listing{hash: l.tree, entries: applied(l.inputList, changes)})
	if l.emptied(changes) {
		captured.Refused = []ledger.Diagnostic{{Text: "every file that it was given is gone", Remedy: "delete only what the task wants deleted"}}
		changes = nil
	}
	kept, err := l.classify(ctx, scope, input, changes, &captured)
	if err != nil {
		return captured, err
	}
	captured.Tree = l.tree
	bare, converted, err := w.toPointers(ctx, tracked, kept)
	if err != nil {
		return captured, err
	}
	if len(kept) < len(changes) || len(kept) == 0 || converted || input != bareInput {
		if captured.Tree, err = w.applyChanges(ctx, dir, bareInput, bare); err != nil {
			return captured, err
		}
	}
	if err := w.unresolved(ctx, captured.Tree, t.Resolve, &captured.Refused); err != nil {
		return captured, err
	}
	if captured.Secrets, captured.Unscanned, err = l.findSecrets(ctx, t, kept); err != nil {
		return captured, err
	}
	if len(captured.Secrets) > 0 && !t.Hold {
		captured.Tree = bareInput // no ref leads to the tree with the secret
	}
	result, err := w.filled(ctx, captured.Tree)
	if err != nil {
		return captured, err
	}
	if captured.Files = counted; result != l.tree {
		if captured.Files, err = w.changed(ctx, input, result); err != nil {
			return captured, err
		}
	}
	if captured.Proof, err = w.proofFacts(ctx, dir, t.Proof, bareStart, captured.Tree); err != nil {
		return captured, err
	}
	captured.Lock = slices.ContainsFunc(captured.Files, func(f ledger.FileChange) bool { return isSetupInput(f.Path) })
	if err := saveCapture(dir, savedCapture{t, captured, l.ignored.list}); err != nil {
		return captured, err
	}
	if result == l.tree && len(l.refused) == 0 && l.skipped == 0 {
		err = w.tidyTree(ctx, l.folder, result, l.ignored.list)
	} else {
		_, err = w.importTree(ctx, l.folder, result, start, l.ignored.list...)
	}
	if err != nil {
		return captured, err
	}
	return captured, w.record(ctx, t, captured.Tree)
}

// applied returns the listing that results from changes of another one, both
// sorted by path.
func applied(entries []treeEntry, changes []change) []treeEntry {
	by := make(map[string]change, len(changes))
	for _, c := range changes {
		by[c.path] = c
	}
	out := make([]treeEntry, 0, len(entries)+len(changes))
	for _, e := range entries {
		c, changed := by[e.path]
		switch delete(by, e.path); {
		case !changed:
			out = append(out, e)
		case c.new.hash != "":
			out = append(out, c.new)
		}
	}
	for _, c := range by {
		if c.new.hash != "" {
			out = append(out, c.new)
		}
	}
	slices.SortFunc(out, func(a, b treeEntry) int { return strings.Compare(a.path, b.path) })
	return out
}

// savedCapture is the file format of a run's last capture.
type savedCapture struct {
	Asked   ledger.CaptureRequest `json:"asked"`
	Taken   ledger.Capture        `json:"taken"`
	Ignored []string              `json:"ignored,omitempty"` // paths that stay in the folder beside the tree
}

// saveCapture keeps the result of a capture until the next Restore.
func saveCapture(dir string, m savedCapture) error {
	data, err := json.Marshal(m)
	if err != nil {
		return err
	}
	return writeDurably(filepath.Join(dir, savedCaptureFile), data)
}

// loadCapture returns the saved result of the same capture, if its file is
// intact.
func loadCapture(dir string, t ledger.CaptureRequest) (savedCapture, bool) {
	m, err := readSavedCapture(dir)
	return m, err == nil && m.Asked.Session == t.Session && m.Asked.Ref == t.Ref && m.Asked.Input == t.Input
}

// readSavedCapture returns the saved result of the run's last capture.
func readSavedCapture(dir string) (savedCapture, error) {
	var m savedCapture
	data, err := os.ReadFile(filepath.Join(dir, savedCaptureFile))
	if err == nil {
		err = json.Unmarshal(data, &m)
	}
	return m, err
}

const savedCaptureFile = "taken.json"

// keptPaths returns the ignored paths that lay in the work folder when the
// session began.
func keptPaths(dir string) []string {
	data, err := os.ReadFile(filepath.Join(dir, "kept"))
	if err != nil {
		return nil
	}
	return zlist(data)
}

// record stores the tree as a commit on the session's hidden ref. The commit
// has the date of its parent, so that a repetition makes the same commit.
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
	now := time.Now()
	_ = os.Chtimes(w.baseLog(t.Run), now, now) // tells Maintain that the run is in use
	if err := w.dropStaleLock(ctx, filepath.Join(w.gitDir, filepath.FromSlash(t.Ref)+".lock")); err != nil {
		return err
	}
	_, err = w.gitOurs(ctx, "update-ref", t.Ref, hash) // without a log: there is one ref for each session
	return err
}

// sessionDiff compares a work folder after a session with the tree before it.
type sessionDiff struct {
	w      *Workspace
	folder folder
	start  string // tree that the attempt began with, filled

	submodules gitlinks // of that tree

	input     map[string]treeEntry // files before the session, by path
	inputList []treeEntry          // the same, sorted
	ignored   ignoredPaths         // what the scan leaves out
	tree      string               // all other files, as git would add them
	refused   map[string]refusal   // path → why it cannot be in a commit

	staged *index          // of the input tree
	same   map[string]bool // files that are unchanged by the index

	runs     []string // paths that run by themselves in this repository, besides those of the table
	fresh    newFiles
	newCount int // new files that git stores
	skipped  int // new files that it does not even read
}

// known reports whether the session was given a path.
func (l *sessionDiff) known(p string) bool {
	_, was := l.input[p]
	return was
}

// read scans the folder and adds the files that can be captured to our repository.
func (l *sessionDiff) read(ctx context.Context, input string, scope *scope, t ledger.CaptureRequest, captured *ledger.Capture) error {
	entries, err := l.w.listTree(ctx, input)
	if err != nil {
		return err
	}
	l.inputList = entries
	for _, e := range entries {
		if e.mode != modeGitlink { // an empty folder, whatever became of it
			l.input[e.path] = e
		}
	}
	if err := l.folder.ensure(); err != nil {
		return err
	}
	if err := l.refuseAttributes(entries); err != nil {
		return err
	}
	if err := l.findRunners(ctx, entries); err != nil {
		return err
	}
	if err := l.resetIndex(ctx, input); err != nil {
		return err
	}
	if err := l.findIgnored(ctx, l.start, scope, t.LeaveOut); err != nil {
		return err
	}
	present, err := l.scan(ctx)
	if err != nil {
		return err
	}
	return l.add(ctx, l.judgeNew(scope, t, present, captured))
}

// emptied reports whether the session left none of the files that it was given, and
// fewer than those in all: it emptied its work folder, or lost it. To commit what
// the scope permits of that would delete the project. One that moved or replaced
// every file leaves as many.
func (l *sessionDiff) emptied(changes []change) bool {
	gone := 0
	for _, c := range changes {
		if c.new.hash == "" {
			gone++
		}
	}
	return gone == len(l.input) && len(changes)-gone+len(l.refused)+l.skipped < gone
}

// resetIndex sets the folder's index to the input tree, unless it holds that one
// already. It keeps what the index knows about unchanged files, so that neither git
// nor the scan need to read these.
func (l *sessionDiff) resetIndex(ctx context.Context, input string) error {
	if l.staged = l.folder.readIndex(formatOf(input)); l.staged.tree == input {
		return nil
	}
	if err := l.w.dropStaleLock(ctx, l.folder.index()+".lock"); err != nil {
		return err
	}
	read := func() error {
		_, err := l.w.run(ctx, call{gitDir: l.w.gitDir, work: l.folder.path(), index: l.folder.index(), args: []string{"read-tree", "--reset", input}})
		return err
	}
	err := read()
	if err != nil && ctx.Err() == nil {
		os.Remove(l.folder.index())
		err = read()
	}
	if l.staged = l.folder.readIndex(formatOf(input)); l.staged.tree != input {
		l.staged = &index{} // git compares all files
	}
	return err
}

// scan walks the folder and returns the files and links that git can add. It
// puts the others into refused. It compares them with the index.
func (l *sessionDiff) scan(ctx context.Context) (present []string, err error) {
	l.same = make(map[string]bool, len(l.staged.at))
	err = walk(l.folder.path(), func(parent int, base string, f found) (bool, error) {
		if err := ctx.Err(); err != nil {
			return false, context.Cause(ctx)
		}
		if f.path == ".git" || l.ignored.has(f.path) {
			return false, nil
		}
		if dotGit(base) {
			// A repository inside the repository: git would add a gitlink.
			l.refused[f.path] = refusal{"is a git repository inside the repository", "remove it when it is no longer needed, or make it in TMPDIR"}
			return false, nil
		}
		if why := badName(f.path); why != "" && !l.known(f.path) && f.kind != unix.S_IFDIR {
			l.refused[f.path] = refusal{why, "give it a plain name"}
			return false, nil
		}
		switch f.kind {
		case unix.S_IFDIR:
			if len(f.path) >= maxPath {
				l.refused[f.path] = refusal{"is nested too deep", "use fewer folders, or shorter names"}
				return false, nil
			}
			return true, nil
		case unix.S_IFLNK, unix.S_IFREG:
			if l.known(f.path) && l.staged.clean(f.path, &f.stat) {
				l.same[f.path] = true
				present = append(present, f.path)
				return false, nil
			}
		}
		switch f.kind {
		case unix.S_IFLNK:
			if !l.known(f.path) {
				target, err := readLink(parent, base)
				if err != nil {
					return false, fmt.Errorf("read link %s: %w", f.path, err)
				}
				if why := refuseLink(f.path, target); why.text != "" {
					l.refused[f.path] = why
					return false, nil
				}
			}
			present = append(present, f.path)
			return false, nil
		case unix.S_IFREG:
			why, err := l.checkFile(ctx, parent, base, f)
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
		l.refused[f.path] = refusal{specialKind(f.kind), "remove it when it is no longer needed, or make it in TMPDIR"}
		if base == attributesFile { // git would open it, and a pipe never answers
			if err := unix.Unlinkat(parent, base, 0); err != nil {
				return false, fmt.Errorf("remove %s: %w", f.path, err)
			}
		}
		return false, nil
	})
	return present, err
}

// specialKind names a kind that is neither file nor folder nor link.
func specialKind(kind uint32) string {
	switch kind {
	case unix.S_IFIFO:
		return "is a FIFO"
	case unix.S_IFSOCK:
		return "is a socket"
	}
	return "is a device"
}

// checkFile returns why a regular file cannot be captured, or a zero refusal.
func (l *sessionDiff) checkFile(ctx context.Context, parent int, base string, f found) (refusal, error) {
	if f.links > 1 && l.w.o.SessionUID >= 0 && f.uid != uint32(l.w.o.SessionUID) && f.uid != uint32(os.Geteuid()) {
		return refusal{"is a hard link to a file of somebody else", "copy the file instead"}, nil
	}
	if f.size > maxFile {
		// A large file that existed before with the same size may be unchanged;
		// git will find out.
		old, known := l.input[f.path]
		if !known {
			return tooLarge, nil
		}
		out, err := l.w.gitOurs(ctx, "cat-file", "-s", old.hash)
		if err != nil {
			return refusal{}, err
		}
		if size, err := strconv.ParseInt(out, 10, 64); err != nil || size != f.size {
			return tooLarge, nil //nolint:nilerr // an unparsable size counts as another size
		}
	}
	if f.mode&0o400 == 0 {
		if err := unix.Fchmodat(parent, base, f.mode|0o600, 0); err != nil {
			return refusal{}, fmt.Errorf("make %s readable: %w", f.path, err)
		}
	}
	return refusal{}, nil
}

// maxLoose is the number of new files above which git stores their contents in a
// pack: a pack is one file to sync, and what comes of "large" files goes there.
const maxLoose = 500

// add updates the index to the present files and writes its tree.
func (l *sessionDiff) add(ctx context.Context, present []string) error {
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
		c := call{gitDir: l.w.gitDir, work: l.folder.path(), index: l.folder.index(), in: zjoin(in), config: []string{"core.fsyncMethod=batch"},
			args: append([]string{"update-index"}, append(args, "-z", "--stdin")...)}
		if l.newCount > maxLoose {
			c.config = append(c.config, "core.bigFileThreshold=0")
		}
		_, err := l.w.run(ctx, c)
		return err
	}
	present = slices.DeleteFunc(slices.Clone(present), func(p string) bool { return l.same[p] })
	if len(gone)+len(present) == 0 && l.staged.tree != "" { // that of the input
		l.tree = l.staged.tree
		return nil
	}
	// Removals first: a folder may have become a file or a link.
	if err := index(gone, "--force-remove"); err != nil {
		return err
	}
	if err := index(present, "--add", "--replace"); err != nil {
		return err
	}
	out, err := l.w.run(ctx, call{gitDir: l.w.gitDir, index: l.folder.index(), args: []string{"write-tree"}})
	l.tree = strings.TrimSpace(string(out))
	if err == nil {
		l.w.trees.put(l.tree, l.tree)
	}
	return err
}

// applyChanges writes the tree that results from applying changes to tree.
func (w *Workspace) applyChanges(ctx context.Context, dir, tree string, changes []change) (string, error) {
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
	written, err := git(nil, "write-tree")
	if err == nil {
		w.trees.put(written, written)
	}
	return written, err
}
