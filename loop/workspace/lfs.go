package workspace

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/nightporter/nightporter/internal/fault"
	"github.com/nightporter/nightporter/internal/regexp"
	"github.com/nightporter/nightporter/loop/glob"
	"github.com/nightporter/nightporter/loop/ledger"
)

// lfsRef leads to a tree whose entries are the known objects of Git LFS: their
// contents, as blobs, under the ids that pointers name.
const lfsRef = contentRef + "lfs"

// maxLFSTotal limits the bytes that one run's start copies from the user's objects.
const maxLFSTotal = 1 << 30

// maxPointer is the size up to which Git LFS takes a file for a pointer.
const maxPointer = 1024

// pointerForm matches a pointer as Git LFS writes it, with extensions before the id.
var pointerForm = regexp.MustCompile(`\Aversion https://(?:git-lfs\.github\.com|hawser\.github\.com)/spec/v1\n(?:ext-\d-[^\n]*\n)*oid sha256:([0-9a-f]{64})\nsize (\d+)\n\z`)

// pointer is what a file of Git LFS is in a commit.
type pointer struct {
	id   string
	size int64
}

func parsePointer(text []byte) (p pointer, ok bool) {
	if len(text) > maxPointer {
		return p, false
	}
	m := pointerForm.FindSubmatch(text)
	if m == nil {
		return p, false
	}
	size, err := strconv.ParseInt(string(m[2]), 10, 64)
	return pointer{string(m[1]), size}, err == nil
}

func (p pointer) text() string {
	return fmt.Sprintf("version https://git-lfs.github.com/spec/v1\noid sha256:%s\nsize %d\n", p.id, p.size)
}

// lfsRules are the lines of a tree's .gitattributes that set a filter, in the order
// in which later ones win.
type lfsRules []lfsRule

type lfsRule struct {
	glob string
	lfs  bool // the filter is that of Git LFS
}

// has reports whether a path's filter is that of Git LFS.
func (r lfsRules) has(p string) bool {
	for _, rule := range slices.Backward(r) {
		if glob.Match(rule.glob, p) {
			return rule.lfs
		}
	}
	return false
}

// lfsRulesOf reads the attributes of a tree. Only what the user has committed
// decides which paths are Git LFS's; macros are not followed.
func (w *Workspace) lfsRulesOf(ctx context.Context, entries []treeEntry) (rules lfsRules, err error) {
	var files []treeEntry
	for _, e := range entries {
		if path.Base(e.path) == attributesFile && e.mode != modeSymlink && e.mode != modeGitlink {
			files = append(files, e)
		}
	}
	slices.SortStableFunc(files, func(a, b treeEntry) int { return strings.Count(a.path, "/") - strings.Count(b.path, "/") })
	for _, e := range files {
		text, ok := w.rules.get(e.hash)
		if !ok {
			data, err := w.fileContent(ctx, e.hash)
			if err != nil {
				return nil, err
			}
			text = string(data)
			w.rules.put(e.hash, text)
		}
		for line := range strings.Lines(text) {
			if rule, ok := parseLFSRule(path.Dir(e.path), line); ok {
				rules = append(rules, rule)
			}
		}
	}
	if !slices.ContainsFunc(rules, func(r lfsRule) bool { return r.lfs }) {
		return nil, nil
	}
	return rules, nil
}

// parseLFSRule reads a line of the attributes in a folder. It returns false for one
// that sets no filter.
func parseLFSRule(dir, line string) (rule lfsRule, ok bool) {
	line = strings.TrimSpace(line)
	pattern, rest, _ := strings.Cut(line, " ")
	if quoted, err := strconv.QuotedPrefix(line); err == nil && strings.HasPrefix(line, `"`) {
		rest = line[len(quoted):]
		pattern, _ = strconv.Unquote(quoted)
	} else if at := strings.IndexAny(line, " \t"); at > 0 {
		pattern, rest = line[:at], line[at:]
	}
	if pattern == "" || strings.HasPrefix(pattern, "#") || strings.HasPrefix(pattern, "[attr]") {
		return rule, false
	}
	for _, a := range strings.Fields(rest) {
		name, value, _ := strings.Cut(strings.TrimLeft(a, "-!"), "=")
		if name == "filter" {
			rule.lfs, ok = value == "lfs" && !strings.ContainsAny(a[:1], "-!"), true
		}
	}
	pattern = strings.ReplaceAll(pattern, "[[:space:]]", " ")            // as git lfs track writes a space
	pattern = strings.NewReplacer("{", `\{`, "}", `\}`).Replace(pattern) // which git takes as they are
	if !strings.Contains(pattern, "/") {
		pattern = "**/" + pattern
	}
	rule.glob = strings.TrimPrefix(pattern, "/")
	if dir != "." {
		rule.glob = glob.Literal(dir) + "/" + rule.glob
	}
	return rule, ok
}

// pointers returns the pointers among the files of a tree, by path.
func (w *Workspace) pointers(ctx context.Context, entries []treeEntry) (map[string]pointer, error) {
	rules, err := w.lfsRulesOf(ctx, entries)
	if err != nil || rules == nil {
		return nil, err
	}
	blobs, err := w.openBlobs(ctx)
	if err != nil {
		return nil, err
	}
	found := map[string]pointer{}
	for _, e := range entries {
		if e.mode == modeSymlink || e.mode == modeGitlink || !rules.has(e.path) {
			continue
		}
		text, err := blobs.read(e.hash)
		if err != nil {
			return nil, errors.Join(err, blobs.close())
		}
		if p, ok := parsePointer(text); ok {
			found[e.path] = p
		}
	}
	return found, blobs.close()
}

// largeFiles returns the changes that put the known files of Git LFS in place of
// their pointers.
func (w *Workspace) largeFiles(ctx context.Context, entries []treeEntry) (changes []change, err error) {
	pointers, err := w.pointers(ctx, entries)
	if err != nil || len(pointers) == 0 {
		return nil, err
	}
	known, err := w.lfsObjects(ctx)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if blob := known[pointers[e.path].id]; blob != "" {
			changes = append(changes, change{path: e.path, new: treeEntry{mode: e.mode, hash: blob, path: e.path}})
		}
	}
	return changes, nil
}

// lfsObjects returns the blobs of the known objects by their ids.
func (w *Workspace) lfsObjects(ctx context.Context) (map[string]string, error) {
	tree, err := w.existingRef(ctx, lfsRef)
	if err != nil || tree == "" {
		return nil, err
	}
	entries, err := w.listTree(ctx, tree)
	known := make(map[string]string, len(entries))
	for _, e := range entries {
		known[e.path] = e.hash
	}
	return known, err
}

// addLFSObjects adds to the known objects. None is ever taken out: attempts that are
// parked, and side refs, may need it.
func (w *Workspace) addLFSObjects(ctx context.Context, add map[string]string) error {
	known, err := w.lfsObjects(ctx)
	if err != nil {
		return err
	}
	before := len(known)
	if known == nil {
		known = map[string]string{}
	}
	maps.Copy(known, add)
	if len(known) == before {
		return nil
	}
	lines := make([]string, 0, len(known))
	for id, blob := range known {
		lines = append(lines, "100644 blob "+blob+"\t"+id)
	}
	tree, err := w.makeTree(ctx, lines)
	if err != nil {
		return err
	}
	return w.setRef(ctx, lfsRef, tree)
}

// lfsPath is the place of an object below a git dir.
func lfsPath(id string) string { return path.Join("lfs/objects", id[:2], id[2:4], id) }

// takeLFS copies the objects that a tree's pointers name from the user's repository.
func (w *Workspace) takeLFS(ctx context.Context, t userRepo, entries []treeEntry) (notes []ledger.Diagnostic, err error) {
	rules, err := w.lfsRulesOf(ctx, entries)
	if err != nil || rules == nil {
		return nil, err
	}
	pointers, err := w.pointers(ctx, entries)
	if err != nil {
		return nil, err
	}
	set, err := w.userConfig(ctx, t, `^lfs\.storage$`)
	if err != nil {
		return nil, err
	}
	if at := set["lfs.storage"]; at != "" {
		return nil, inputError(ledger.Diagnostic{Text: "lfs.storage is " + at + ", and nightporter finds files of Git LFS in .git/lfs only", Remedy: "git -C " + w.o.Repo + " config --unset lfs.storage, and git lfs fetch"})
	}
	for _, dir := range []string{"lfs", "lfs/objects"} {
		at := filepath.Join(t.commonDir, dir)
		if info, err := os.Lstat(at); err == nil && !info.IsDir() {
			return nil, inputError(ledger.Diagnostic{Text: at + " is a link or a file, and nightporter keeps files of Git LFS in that folder only", Remedy: "move the folder that it leads to into its place"})
		}
	}
	known, err := w.lfsObjects(ctx)
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(t.commonDir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }()
	use := map[string]string{}
	var missing, large []string
	total := int64(0)
	for _, e := range entries {
		p, is := pointers[e.path]
		if !is {
			continue
		}
		blob := known[p.id]
		switch {
		case blob != "" || use[p.id] != "":
		case p.size > maxFile || total+p.size > maxLFSTotal:
			large = append(large, e.path)
			continue
		default:
			if blob, err = w.takeLFSObject(ctx, root, p); err != nil {
				return nil, err
			}
			total += p.size
		}
		if blob == "" {
			missing = append(missing, e.path)
		} else {
			use[p.id] = blob
		}
	}
	if len(missing) > 0 {
		notes = append(notes, w.lfsMissing(missing))
	}
	if len(large) > 0 {
		notes = append(notes, ledger.Diagnostic{Text: "files of Git LFS are larger than 50 MB, or 1 GB together, and sessions and verification see their pointers: " + firstFive(large)})
	}
	return notes, w.addLFSObjects(ctx, use)
}

// lfsMissing is the note about paths whose contents are not on this machine.
func (w *Workspace) lfsMissing(paths []string) ledger.Diagnostic {
	return ledger.Diagnostic{
		Text:   "files of Git LFS are not on this machine, and sessions and verification see their pointers: " + firstFive(paths),
		Remedy: "git -C " + w.o.Repo + " lfs fetch",
	}
}

// lookAtLFS returns the note of takeLFS about files that are not on this machine. It
// copies nothing. w is a Workspace of the user's repository.
func (w *Workspace) lookAtLFS(ctx context.Context, t userRepo, entries []treeEntry) ([]ledger.Diagnostic, error) {
	rules, err := w.lfsRulesOf(ctx, entries)
	if err != nil || rules == nil {
		return nil, err
	}
	pointers, err := w.pointers(ctx, entries)
	if err != nil {
		return nil, err
	}
	var missing []string
	for _, e := range entries {
		p, is := pointers[e.path]
		if !is {
			continue
		}
		if info, err := os.Stat(filepath.Join(t.commonDir, filepath.FromSlash(lfsPath(p.id)))); err != nil || info.Size() != p.size {
			missing = append(missing, e.path)
		}
	}
	if len(missing) == 0 {
		return nil, nil
	}
	return []ledger.Diagnostic{w.lfsMissing(missing)}, nil
}

// takeLFSObject stores an object of the user's as a blob of ours. It returns "" for
// one that is missing or damaged.
func (w *Workspace) takeLFSObject(ctx context.Context, root *os.Root, p pointer) (string, error) {
	f, err := root.OpenFile(lfsPath(p.id), os.O_RDONLY|syscall.O_NONBLOCK, 0) // a pipe would never answer
	if fault.Of(err) != "" {
		return "", err
	}
	if err != nil {
		return "", nil //nolint:nilerr // it is not there, or nothing that could be read
	}
	defer func() { _ = f.Close() }()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() || info.Size() != p.size {
		return "", err
	}
	sum := sha256.New()
	out, err := w.run(ctx, call{gitDir: w.gitDir, in: io.TeeReader(f, sum), args: []string{"hash-object", "-w", "--no-filters", "--stdin"}})
	if err != nil || hex.EncodeToString(sum.Sum(nil)) != p.id {
		return "", err
	}
	return strings.TrimSpace(string(out)), nil
}

// toPointers puts pointers in the place of files that belong to Git LFS by the
// attributes of a tree, and keeps their contents. converted reports whether there
// was one.
func (w *Workspace) toPointers(ctx context.Context, entries []treeEntry, changes []change) (bare []change, converted bool, err error) {
	rules, err := w.lfsRulesOf(ctx, entries)
	if err != nil || rules == nil {
		return changes, false, err
	}
	changes = slices.Clone(changes)
	added := map[string]string{}
	for i, c := range changes {
		if c.new.hash == "" || c.new.mode == modeSymlink || !rules.has(c.path) {
			continue
		}
		data, err := w.fileContent(ctx, c.new.hash)
		if err != nil {
			return nil, false, err
		}
		if _, is := parsePointer(data); is || len(data) == 0 { // Git LFS leaves empty files as they are
			continue
		}
		sum := sha256.Sum256(data)
		p := pointer{hex.EncodeToString(sum[:]), int64(len(data))}
		added[p.id] = c.new.hash
		out, err := w.run(ctx, call{gitDir: w.gitDir, in: strings.NewReader(p.text()), args: []string{"hash-object", "-w", "--no-filters", "--stdin"}})
		if err != nil {
			return nil, false, err
		}
		changes[i].new.hash = strings.TrimSpace(string(out))
	}
	if len(added) == 0 {
		return changes, false, nil
	}
	return changes, true, w.addLFSObjects(ctx, added)
}

// publishLFS copies the objects that a commit's pointers add to the user's
// repository, where git lfs push finds them.
func (w *Workspace) publishLFS(ctx context.Context, parent, commit string) error {
	known, err := w.lfsObjects(ctx)
	if err != nil || len(known) == 0 {
		return err
	}
	t, err := w.openUser(ctx)
	if err != nil {
		return err
	}
	changes, err := w.changes(ctx, parent, commit)
	if err != nil {
		return err
	}
	var root *os.Root
	for _, c := range changes {
		if c.new.hash == "" || c.new.mode == modeSymlink || c.new.mode == modeGitlink {
			continue
		}
		if size, err := w.gitOurs(ctx, "cat-file", "-s", c.new.hash); err != nil {
			return err
		} else if n, err := strconv.Atoi(size); err != nil || n > maxPointer {
			continue
		}
		text, err := w.fileContent(ctx, c.new.hash)
		if err != nil {
			return err
		}
		p, is := parsePointer(text)
		if !is || known[p.id] == "" {
			continue
		}
		if root == nil {
			if root, err = os.OpenRoot(t.commonDir); err != nil {
				return err
			}
			defer func() { _ = root.Close() }()
		}
		if err := w.putLFSObject(ctx, t, root, p, known[p.id]); err != nil {
			return fmt.Errorf("object of Git LFS: %w", err)
		}
	}
	return nil
}

// putLFSObject writes one object, whole or not at all, for the repository's owner.
func (w *Workspace) putLFSObject(ctx context.Context, t userRepo, root *os.Root, p pointer, blob string) error {
	at := lfsPath(p.id)
	if info, err := root.Stat(at); err == nil && info.Size() == p.size {
		return nil
	}
	own := func(name string) error {
		if t.owner == nil {
			return nil
		}
		return root.Lchown(name, int(t.owner.Uid), int(t.owner.Gid))
	}
	dir := ""
	for _, part := range strings.Split(path.Dir(at), "/") {
		dir = path.Join(dir, part)
		if err := root.Mkdir(dir, 0o755); err == nil {
			err = own(dir)
			if err != nil {
				return err
			}
		} else if !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	part := at + ".nightporter"
	if err := root.Remove(part); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := root.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = w.run(ctx, call{gitDir: w.gitDir, args: []string{"cat-file", "blob", blob}, out: f})
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = own(part)
	}
	if err != nil {
		return err
	}
	return root.Rename(part, at)
}
