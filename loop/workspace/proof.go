package workspace

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/nightporter/nightporter/loop/ledger"
	"github.com/nightporter/nightporter/loop/proof"
)

// proofFacts finds out what a tree changed of what proves it, against the tree
// that its attempt began with, and writes the trees by which that is verified
// (docs/spec 8.4). dir is the run's folder.
func (w *Workspace) proofFacts(ctx context.Context, dir string, q ledger.ProofRequest, start, result string) (*ledger.ProofFacts, error) {
	if !q.Asked() || start == result {
		return nil, nil
	}
	blobs, err := w.openBlobs(ctx)
	if err != nil {
		return nil, fmt.Errorf("what proves: %w", err)
	}
	facts, err := w.findProof(ctx, dir, blobs, q, start, result)
	if err := errors.Join(err, blobs.close()); err != nil {
		return nil, fmt.Errorf("what proves: %w", err)
	}
	return facts, nil
}

func (w *Workspace) findProof(ctx context.Context, dir string, blobs *blobReader, q ledger.ProofRequest, start, result string) (*ledger.ProofFacts, error) {
	from, err := w.proofTree(ctx, blobs, start)
	if err != nil {
		return nil, err
	}
	to, err := w.proofTree(ctx, blobs, result)
	if err != nil {
		return nil, err
	}
	set, err := proof.Find(from, proof.Project{Commands: q.Commands, Tests: q.Tests})
	if err != nil {
		return nil, err
	}
	named := namedPaths(q, from, to)
	report, err := proof.Compare(set, from, to, named)
	if err != nil {
		return nil, err
	}
	facts := &ledger.ProofFacts{Summary: proof.Summary(report.Changes, maxNamed), Unknown: append(set.Unknown, report.Unknown...), Tests: report.NewTests}
	for _, c := range report.Changes {
		facts.Changes = append(facts.Changes, ledger.CheckChange{
			Path: c.Path, To: c.To, Kind: string(c.Kind), Action: string(c.Action), Added: c.Added, Removed: c.Lost, Cases: c.Cases, Named: c.Named,
		})
	}
	if report.Guarded() {
		patch, err := proof.Overlay(set, from, to, named)
		if err != nil {
			return nil, err
		}
		if len(patch.Left) > 0 {
			facts.Unguarded = "the start's version of " + patch.Left[0].Path + " cannot be laid over it"
		} else if facts.Guard, err = w.patched(ctx, dir, result, patch); err != nil {
			return nil, err
		}
	}
	tests, err := proof.TestsOnStart(set, from, to)
	if err != nil {
		return nil, err
	}
	facts.NewCode = len(tests.Left) > 0
	if len(tests.Write)+len(tests.Remove) > 0 {
		if facts.OnStart, err = w.patched(ctx, dir, start, tests); err != nil {
			return nil, err
		}
	}
	if facts.OnStart == start {
		facts.OnStart = ""
	}
	// The ledger keeps as many as people read.
	facts.Changes = facts.Changes[:min(len(facts.Changes), maxProofList)]
	facts.Tests = facts.Tests[:min(len(facts.Tests), maxProofList)]
	facts.Unknown = facts.Unknown[:min(len(facts.Unknown), maxProofList)]
	return facts, nil
}

// maxNamed is the number of files that a summary names, and maxProofList that of
// the entries of each list of ProofFacts.
const (
	maxNamed     = 3
	maxProofList = 100
)

// namedPaths returns the paths that the words of a task name, in full or by their
// last part. A folder or glob of its scope names no file in it.
func namedPaths(q ledger.ProofRequest, trees ...proof.Tree) []string {
	words := map[string]bool{}
	for _, word := range strings.FieldsFunc(q.Task+"\n"+q.Scope, func(c rune) bool { return strings.ContainsRune(" \t\r\n`\"'()[]{}<>,;:!?", c) }) {
		words[strings.TrimSuffix(path.Clean(word), ".")] = true
	}
	named := map[string]bool{}
	for _, t := range trees {
		for _, e := range t.List() {
			if base := path.Base(e.Path); words[e.Path] || words[base] && strings.Contains(base, ".") || words[base] && base == "Makefile" {
				named[e.Path] = true
			}
		}
	}
	list := make([]string, 0, len(named))
	for p := range named {
		list = append(list, p)
	}
	slices.Sort(list)
	return list
}

// patched writes a patch of a tree.
func (w *Workspace) patched(ctx context.Context, dir, tree string, p proof.Patch) (string, error) {
	var changes []change
	for _, gone := range p.Remove {
		changes = append(changes, change{path: gone})
	}
	for file, c := range p.Write {
		out, err := w.run(ctx, call{gitDir: w.gitDir, in: bytes.NewReader(c.Data), args: []string{"hash-object", "-w", "--stdin"}})
		if err != nil {
			return "", err
		}
		mode := c.Mode
		if mode == "" {
			mode = "100644"
		}
		changes = append(changes, change{path: file, new: treeEntry{mode: mode, hash: strings.TrimSpace(string(out)), path: file}})
	}
	slices.SortFunc(changes, func(a, b change) int { return strings.Compare(a.path, b.path) })
	return w.applyChanges(ctx, dir, tree, changes)
}

// gitTree is a tree of our repository for package proof.
type gitTree struct {
	entries []proof.Entry
	hashes  map[string]string // by path
	blobs   *blobReader
}

func (w *Workspace) proofTree(ctx context.Context, blobs *blobReader, tree string) (*gitTree, error) {
	entries, err := w.listSizes(ctx, tree)
	if err != nil {
		return nil, err
	}
	t := &gitTree{hashes: map[string]string{}, blobs: blobs}
	for _, e := range entries {
		t.entries = append(t.entries, proof.Entry{Path: e.path, Mode: e.mode, ID: e.hash, Size: e.size})
		t.hashes[e.path] = e.hash
	}
	return t, nil
}

// List returns the tree's files.
func (t *gitTree) List() []proof.Entry { return t.entries }

// Read returns the content of a file.
func (t *gitTree) Read(p string) ([]byte, error) {
	hash, ok := t.hashes[p]
	if !ok {
		return nil, fmt.Errorf("%s is not in the tree", p)
	}
	return t.blobs.read(hash)
}

// blobReader reads many blobs with one git process.
type blobReader struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

func (w *Workspace) openBlobs(ctx context.Context) (*blobReader, error) {
	cmd := w.command(ctx, call{gitDir: w.gitDir, args: []string{"cat-file", "--batch"}})
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	return &blobReader{cmd: cmd, in: in, out: bufio.NewReader(out)}, cmd.Start()
}

func (b *blobReader) read(hash string) ([]byte, error) {
	if _, err := io.WriteString(b.in, hash+"\n"); err != nil {
		return nil, err
	}
	head, err := b.out.ReadString('\n')
	if err != nil {
		return nil, err
	}
	f := strings.Fields(head)
	if len(f) != 3 {
		return nil, fmt.Errorf("git cat-file answered %q", head)
	}
	size, err := strconv.Atoi(f[2])
	if err != nil {
		return nil, fmt.Errorf("git cat-file answered %q", head)
	}
	data := make([]byte, size+1) // and a line end
	if _, err := io.ReadFull(b.out, data); err != nil {
		return nil, err
	}
	return data[:size], nil
}

func (b *blobReader) close() error { return errors.Join(b.in.Close(), b.cmd.Wait()) }
