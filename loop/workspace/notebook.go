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

	"github.com/nightporter/nightporter/internal/settle"
	"github.com/nightporter/nightporter/loop/ledger"
)

// Limits of notebooks, in bytes. Prompts include notebooks, so they must be
// short.
const (
	maxNotebook = 256 << 10 // bytes of a file; beyond it the oldest items are dropped
	maxItem     = 16 << 10  // bytes of an item's text
)

// notebooks are the files of .ralph that sessions write through us, each with
// its heading.
var notebooks = map[ledger.MemoryKind]string{
	ledger.MemoryFact:     "# Memories",
	ledger.MemoryDecision: "# Decisions",
	ledger.MemoryNote:     "# Scratchpad",
}

// Notebook is the folder .ralph of a person's checkout. It is created on the
// first write, with a .gitignore that ignores the folder itself.
//
// The folder is the person's: they edit and remove its files, and may have put
// something else in its place. A Notebook reads and writes plain files in a
// real folder of that name and nothing else.
type Notebook struct {
	repo string

	mu  sync.Mutex
	own map[string]settle.Stamp // state of each file after our last write, in which reading it need not wait
}

// NewNotebook returns the notebook of the checkout at repo, an absolute path.
// It does no I/O.
func NewNotebook(repo string) *Notebook {
	return &Notebook{repo: repo, own: map[string]settle.Stamp{}}
}

// Check returns a *ledger.InputError with everything that would prevent a write,
// or nil. It creates nothing.
func (n *Notebook) Check() error {
	root, err := n.open(false)
	dir := n.repo // .ralph will be created there
	if root != nil {
		root.Close()
		dir = path.Join(n.repo, ".ralph")
	}
	if err == nil {
		err = unix.Faccessat(unix.AT_FDCWD, dir, unix.W_OK|unix.X_OK, 0)
	}
	if err != nil {
		return n.asInputError("look at .ralph", err)
	}
	return nil
}

// Keep appends an item to the notebook of its kind, unless the notebook has one
// with the same key. Beyond 256 kB it drops the oldest items that we wrote;
// text written by people stays, byte for byte.
func (n *Notebook) Keep(ctx context.Context, m ledger.Memory) error {
	heading, ok := notebooks[m.Kind]
	if !ok {
		return fmt.Errorf("keep memory: there is no notebook %q", m.Kind)
	}
	item := notebookItem(m)
	if item == "" {
		return errors.New("keep memory: it has no text")
	}
	err := n.update(ctx, inNotebooks(m.Kind.File()), func(old []byte) []byte {
		if m.Key != "" && hasItem(old, itemKey(m.Key)) {
			return old
		}
		return dropOldest(appendItem(old, heading, item))
	})
	if err != nil {
		return n.asInputError("keep memory", err)
	}
	return nil
}

// wavesFile is the file that shows other programs the state of a run's waves (docs/spec
// 7.5).
const wavesFile = "autopilot-state.json"

// KeepWaves writes the state of a run's waves, as JSON. Whatever the file had is gone:
// nightporter never reads it.
func (n *Notebook) KeepWaves(ctx context.Context, state []byte) error {
	if err := n.update(ctx, wavesFile, func([]byte) []byte { return state }); err != nil {
		return n.asInputError("keep the state of the waves", err)
	}
	return nil
}

// KeepPlan writes the newest plan, as JSON, to events/latest-plan.json.
func (n *Notebook) KeepPlan(ctx context.Context, plan []byte) error {
	var out bytes.Buffer
	if err := json.Indent(&out, plan, "", "  "); err != nil {
		return fmt.Errorf("keep plan: %w", err)
	}
	if out.Len() >= maxNotebook { // readers take the plan as a whole or not at all
		out.Reset()
		if err := json.Compact(&out, plan); err != nil {
			return fmt.Errorf("keep plan: %w", err)
		}
	}
	out.WriteByte('\n')
	if err := n.update(ctx, inNotebooks(ledger.PlanFile), func([]byte) []byte { return out.Bytes() }); err != nil {
		return n.asInputError("keep plan", err)
	}
	return nil
}

// Read returns a file below .ralph by its path in the repository
// (".ralph/agent/decisions.md"), or nil if there is no plain file of that name
// inside the folder. Of a large file it returns 256 kB in whole lines: the last
// ones of a notebook, because these are the newest, and the first ones of
// others.
func (n *Notebook) Read(ctx context.Context, file string) ([]byte, error) {
	rel, ok := strings.CutPrefix(file, ".ralph/")
	if !ok || !fs.ValidPath(rel) || rel == "." || ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	root, err := n.open(false)
	if root == nil || err != nil {
		return nil, ignoreAbsent(file, err)
	}
	defer root.Close()
	info, err := root.Stat(rel)
	if err != nil || !info.Mode().IsRegular() {
		return nil, ignoreAbsent(file, err)
	}
	// Without O_NONBLOCK, a pipe that has replaced the file would block us.
	f, err := root.OpenFile(rel, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, ignoreAbsent(file, err)
	}
	defer f.Close()
	if info, err = f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, ignoreAbsent(file, err)
	}
	tail := path.Dir(rel) == "agent" && path.Ext(rel) == ".md"
	data, err := readPart(f, info.Size(), tail)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", file, err)
	}
	return data, nil
}

// readPart reads a file, or of a large one as many whole lines as a notebook
// may have.
func readPart(f *os.File, size int64, tail bool) ([]byte, error) {
	var from int64
	if tail {
		from = max(0, size-maxNotebook-1) // one more byte: the end of the previous line
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
		return data[1:], nil // a single endless line
	}
	data = data[:maxNotebook]
	if i := bytes.LastIndexByte(data, '\n'); i >= 0 {
		data = data[:i+1]
	}
	return data, nil
}

// inNotebooks returns the path within .ralph of a path in the checkout.
func inNotebooks(file string) string { return strings.TrimPrefix(file, ".ralph/") }

// asInputError turns an error that a person can repair into a
// *ledger.InputError, and returns any other error as it is.
func (n *Notebook) asInputError(op string, err error) error {
	if _, ok := errors.AsType[*ledger.InputError](err); ok {
		return err
	}
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, unix.EROFS) {
		return inputError(ledger.Diagnostic{File: ".ralph", Text: fmt.Sprintf("cannot be written: %v", err),
			Remedy: "make it writable for the user that nightporter runs as: " + path.Join(n.repo, ".ralph")})
	}
	return fmt.Errorf("%s: %w", op, err)
}
