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
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"github.com/nightporter/nightporter/loop"
)

// Sizes of notebooks. They go into prompts: what is longer is read by nobody.
const (
	maxNotebook = 256 << 10 // of a file, after which its oldest items are dropped
	maxItem     = 16 << 10  // of the text of one item
)

// notebooks are the files of .ralph that sessions write through us, with the
// heading that each begins with.
var notebooks = map[loop.MemoryKind]struct{ file, heading string }{
	loop.MemoryFact:     {"agent/memories.md", "# Memories"},
	loop.MemoryDecision: {"agent/decisions.md", "# Decisions"},
	loop.MemoryNote:     {"agent/scratchpad.md", "# Scratchpad"},
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

// Keep appends one item to the notebook of its kind, unless one with its key
// is there. Past 256 kB, the oldest items that we wrote are dropped; what
// people wrote stays, byte for byte.
func (n *Notebook) Keep(ctx context.Context, m loop.Memory) error {
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
	if _, ok := errors.AsType[*loop.InputError](err); ok {
		return err
	}
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, unix.EROFS) {
		return stop(loop.Finding{File: ".ralph", Text: fmt.Sprintf("cannot be written: %v", err),
			Fix: "make it writable for the user that nightporter runs as: " + path.Join(n.repo, ".ralph")})
	}
	return fmt.Errorf("%s: %w", op, err)
}

// itemKey is the comment that ends an item and makes it findable. It comes
// last, so that half an item is never taken for one.
func itemKey(key string) string { return "<!-- nightporter: " + oneLine(key) + " -->" }

const itemKeyStart = "<!-- nightporter: "

// hasItem reports whether a line of the notebook ends with the key.
func hasItem(text []byte, key string) bool {
	for line := range bytes.Lines(text) {
		if bytes.HasSuffix(bytes.TrimRight(line, " \t\r\n"), []byte(key)) {
			return true
		}
	}
	return false
}

// notebookItem writes a memory as one item of a Markdown list; "" where it
// has no text. All lines after the first are indented, so that none of them
// can begin another item, and none can hold a key.
func notebookItem(m loop.Memory) string {
	text := strings.ToValidUTF8(m.Text, "\uFFFD")
	cut := len(text) > maxItem
	if cut {
		end := maxItem
		for !utf8.RuneStart(text[end]) {
			end--
		}
		text = text[:end]
	}
	var lines []string
	for line := range strings.FieldsFuncSeq(text, func(r rune) bool { return strings.ContainsRune("\n\r\v\f\u0085\u2028\u2029", r) }) {
		if line = strings.TrimRight(plain(line), " "); line != "" {
			lines = append(lines, line)
		}
	}
	if lines == nil {
		return ""
	}
	if cut {
		lines = append(lines, fmt.Sprintf("(cut at %d kB)", maxItem>>10))
	}
	when := oneLine(m.Time)
	if t, err := time.Parse(time.RFC3339, m.Time); err == nil {
		when = t.Format("2006-01-02 15:04")
	}
	var about []string
	for _, s := range []string{when, oneLine(m.Hat), oneLine(m.Task), oneLine(m.Session)} {
		if s != "" {
			about = append(about, s)
		}
	}
	item := "- " + strings.Join(about, " · ") + ": " + strings.TrimLeft(strings.Join(lines, "\n  "), " ")
	switch {
	case m.Key == "":
	case len(lines) == 1:
		item += " " + itemKey(m.Key)
	default: // a line of its own: it must not spoil the end of a block of code
		item += "\n  " + itemKey(m.Key)
	}
	return item + "\n"
}

// plain makes a line of text harmless: no control or direction characters, no
// comment that could hide what follows or pose as a key.
func plain(line string) string {
	line = strings.ReplaceAll(line, "\t", "    ")
	line = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsControl(r):
			return ' '
		case unicode.Is(unicode.Bidi_Control, r):
			return -1
		}
		return r
	}, line)
	line = strings.ReplaceAll(line, "<!--", "&lt;!--")
	return strings.ReplaceAll(line, "-->", "--&gt;")
}

// oneLine is plain for what has to be one line.
func oneLine(s string) string {
	s = strings.NewReplacer("\u2028", " ", "\u2029", " ").Replace(strings.ToValidUTF8(s, "\uFFFD"))
	return strings.Join(strings.Fields(plain(s)), " ")
}

// appendItem returns the notebook with an item at its end.
func appendItem(old []byte, heading, item string) []byte {
	if len(old) == 0 {
		return []byte(heading + "\n\n" + item)
	}
	eol := "\n"
	if first, _, ok := bytes.Cut(old, []byte("\n")); ok && bytes.HasSuffix(first, []byte("\r")) {
		eol = "\r\n"
	}
	out := bytes.Clone(old)
	if !bytes.HasSuffix(out, []byte("\n")) {
		out = append(out, eol...)
	}
	last := bytes.TrimSuffix(bytes.TrimSuffix(out, []byte("\n")), []byte("\r"))
	last = last[bytes.LastIndexByte(last, '\n')+1:]
	if len(last) > 0 && !bytes.HasPrefix(last, []byte("- ")) && !bytes.HasPrefix(last, []byte("  ")) {
		out = append(out, eol...) // a list begins after an empty line
	}
	return append(out, strings.ReplaceAll(item, "\n", eol)...)
}

// shorten drops the oldest items that we wrote until the notebook fits, but
// never the newest. Ours are those that end with a key.
func shorten(text []byte) []byte {
	if len(text) <= maxNotebook {
		return text
	}
	type span struct{ from, to int }
	var ours []span
	from, at := -1, 0
	for line := range bytes.Lines(text) {
		switch {
		case bytes.HasPrefix(line, []byte("- ")):
			from = at
		case !bytes.HasPrefix(line, []byte("  ")):
			from = -1
		}
		at += len(line)
		end := bytes.TrimRight(line, " \t\r\n")
		if from >= 0 && bytes.HasSuffix(end, []byte(" -->")) && bytes.Contains(end, []byte(itemKeyStart)) {
			ours = append(ours, span{from, at})
			from = -1
		}
	}
	var out []byte
	over, kept := len(text)-maxNotebook, 0
	for i, s := range ours {
		if over <= 0 || i == len(ours)-1 {
			break
		}
		out = append(out, text[kept:s.from]...)
		kept = s.to
		over -= s.to - s.from
	}
	return append(out, text[kept:]...)
}
