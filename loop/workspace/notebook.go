package workspace

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/nightporter/nightporter/loop/ledger"
)

// Sizes of notebooks. They go into prompts: what is longer is read by nobody.
const (
	maxNotebook = 256 << 10 // of a file, after which its oldest items are dropped
	maxItem     = 16 << 10  // of the text of one item
)

// notebooks are the files of .ralph that sessions write through us, with the
// heading that each begins with.
var notebooks = map[ledger.MemoryKind]struct{ file, heading string }{
	ledger.MemoryFact:     {"agent/memories.md", "# Memories"},
	ledger.MemoryDecision: {"agent/decisions.md", "# Decisions"},
	ledger.MemoryNote:     {"agent/scratchpad.md", "# Scratchpad"},
}

// planFile is where hats load the newest plan from.
const planFile = "events/latest-plan.json"

// Notebook is the .ralph folder of a person's checkout (SPEC 11). It is made
// when there is something to write, and ignores itself (SPEC 9.1).
//
// The folder is the person's: they edit its files, remove them, and may have
// put something else in its place. Nothing is read or written but plain files
// in a real folder of that name.
type Notebook struct {
	repo string

	mu  sync.Mutex
	own map[string]stamp // of what we wrote last, by file: that needs no settling
}

// NewNotebook returns the notebook of the checkout at repo, an absolute path.
// It looks at nothing yet.
func NewNotebook(repo string) *Notebook {
	return &Notebook{repo: repo, own: map[string]stamp{}}
}

// Check says what would keep sessions' notes from being kept, an InputError,
// or nil. Nothing is made.
func (n *Notebook) Check() error {
	root, err := n.open(false)
	dir := n.repo // it will be made there
	if root != nil {
		root.Close()
		dir = path.Join(n.repo, ".ralph")
	}
	if err == nil {
		err = unix.Faccessat(unix.AT_FDCWD, dir, unix.W_OK|unix.X_OK, 0)
	}
	if err != nil {
		return n.fault("look at .ralph", err)
	}
	return nil
}

// Keep appends one item to the notebook of its kind, unless one with its key
// is there. Past 256 kB, the oldest items that we wrote are dropped; what
// people wrote stays, byte for byte.
func (n *Notebook) Keep(ctx context.Context, m ledger.Memory) error {
	book, ok := notebooks[m.Kind]
	if !ok {
		return fmt.Errorf("keep memory: there is no notebook %q", m.Kind)
	}
	item := notebookItem(m)
	if item == "" {
		return errors.New("keep memory: it has no text")
	}
	err := n.update(ctx, book.file, func(old []byte) []byte {
		if m.Key != "" && hasItem(old, itemKey(m.Key)) {
			return old
		}
		return shorten(appendItem(old, book.heading, item))
	})
	if err != nil {
		return n.fault("keep memory", err)
	}
	return nil
}

// KeepPlan writes events/latest-plan.json, which is the newest plan as JSON.
func (n *Notebook) KeepPlan(ctx context.Context, plan []byte) error {
	var out bytes.Buffer
	if err := json.Indent(&out, plan, "", "  "); err != nil {
		return fmt.Errorf("keep plan: %w", err)
	}
	if out.Len() >= maxNotebook { // it has to be read as a whole
		out.Reset()
		if err := json.Compact(&out, plan); err != nil {
			return fmt.Errorf("keep plan: %w", err)
		}
	}
	out.WriteByte('\n')
	if err := n.update(ctx, planFile, func([]byte) []byte { return out.Bytes() }); err != nil {
		return n.fault("keep plan", err)
	}
	return nil
}

// Read returns a file below .ralph by its path in the repository
// (".ralph/agent/decisions.md"), and nil where there is no plain file of that
// name inside the folder. Of a large one it returns 256 kB in whole lines: of
// a notebook the last ones, which are the newest, of others the first.
func (n *Notebook) Read(ctx context.Context, file string) ([]byte, error) {
	rel, ok := strings.CutPrefix(file, ".ralph/")
	if !ok || !fs.ValidPath(rel) || rel == "." || ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	root, err := n.open(false)
	if root == nil || err != nil {
		return nil, notRead(file, err)
	}
	defer root.Close()
	info, err := root.Stat(rel)
	if err != nil || !info.Mode().IsRegular() {
		return nil, notRead(file, err)
	}
	// Without O_NONBLOCK, a pipe that takes the file's place now would hold us up.
	f, err := root.OpenFile(rel, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, notRead(file, err)
	}
	defer f.Close()
	if info, err = f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, notRead(file, err)
	}
	tail := path.Dir(rel) == "agent" && path.Ext(rel) == ".md"
	data, err := readPart(f, info.Size(), tail)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", file, err)
	}
	return data, nil
}

// readPart reads a file, or so many whole lines of it as a notebook may have.
func readPart(f *os.File, size int64, tail bool) ([]byte, error) {
	var from int64
	if tail {
		from = max(0, size-maxNotebook-1) // one more: the end of the line before
	}
	data := make([]byte, maxNotebook+1)
	n, err := f.ReadAt(data, from)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if data = data[:n]; n <= maxNotebook {
		return data, nil
	}
	if tail {
		if i := bytes.IndexByte(data, '\n'); i >= 0 && i < maxNotebook {
			return data[i+1:], nil
		}
		return data[1:], nil // one endless line
	}
	data = data[:maxNotebook]
	if i := bytes.LastIndexByte(data, '\n'); i >= 0 {
		data = data[:i+1]
	}
	return data, nil
}

// fault says what a person can mend as such; everything else stays an error.
func (n *Notebook) fault(op string, err error) error {
	if _, ok := errors.AsType[*ledger.InputError](err); ok {
		return err
	}
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, unix.EROFS) {
		return stop(ledger.Finding{File: ".ralph", Text: fmt.Sprintf("cannot be written: %v", err),
			Fix: "make it writable for the user that nightporter runs as: " + path.Join(n.repo, ".ralph")})
	}
	return fmt.Errorf("%s: %w", op, err)
}
