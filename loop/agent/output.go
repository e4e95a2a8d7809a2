package agent

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/nightporter/nightporter/internal/fsutil"
	"github.com/nightporter/nightporter/loop/agent/adapter"
)

// Sizes of the kept parts of a session's output (docs/spec 10).
const (
	headSize = 16 << 20
	tailSize = 4 << 20
	lastSize = 4 << 10 // ledger.Exit.Tail
)

// output keeps the first and the last part of a session's output, both cut
// between lines. The tail is written alternately to two files of tailSize, so
// that the end is on disk even if the supervisor dies.
type output struct {
	folder           string
	headMax, tailMax int64
	head             *os.File // nil after the head is full
	tail             *os.File // nil before the head is full
	size             int64    // size of the current file
	line             int64    // offset behind the head's last complete line
	total            int64
	last             []byte // end of the output, for ledger.Exit.Tail
}

func newOutput(folder string, headMax, tailMax int64) (*output, error) {
	head, err := os.OpenFile(filepath.Join(folder, fileHead), os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, err
	}
	return &output{folder: folder, headMax: headMax, tailMax: tailMax, head: head}, nil
}

// Write implements io.Writer. After an error it writes no more files, but still
// remembers the last lines.
func (o *output) Write(p []byte) (int, error) {
	o.total += int64(len(p))
	o.remember(p)
	n := len(p)
	if o.head != nil {
		room := int(min(o.headMax-o.size, int64(len(p))))
		if _, err := o.head.Write(p[:room]); err != nil {
			return 0, err
		}
		if i := bytes.LastIndexByte(p[:room], '\n'); i >= 0 {
			o.line = o.size + int64(i) + 1
		}
		o.size += int64(room)
		p = p[room:]
		if len(p) == 0 {
			return n, nil
		}
		if err := o.startTail(); err != nil {
			return 0, err
		}
	}
	for len(p) > 0 {
		if o.size >= o.tailMax {
			if err := o.rotateTail(); err != nil {
				return 0, err
			}
		}
		room := int(min(o.tailMax-o.size, int64(len(p))))
		if _, err := o.tail.Write(p[:room]); err != nil {
			return 0, err
		}
		o.size += int64(room)
		p = p[room:]
	}
	return n, nil
}

// startTail ends the head after its last complete line and starts the tail with
// the rest.
func (o *output) startTail() error {
	head, size := o.head, o.size
	o.head = nil
	defer func() { _ = head.Close() }()
	if err := o.rotateTail(); err != nil {
		return err
	}
	if o.line == 0 { // a single line fills the head
		_, err := head.WriteString(cutMark("line cut here: it is longer than what is kept"))
		return err
	}
	part := make([]byte, size-o.line)
	if _, err := head.ReadAt(part, o.line); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if err := head.Truncate(o.line); err != nil {
		return err
	}
	if over := int64(len(part)) - o.tailMax; over > 0 {
		part = part[over:] // close later cuts the incomplete first line
	}
	k, err := o.tail.Write(part)
	o.size += int64(k)
	return err
}

// rotateTail starts another file of the tail and drops the oldest.
func (o *output) rotateTail() error {
	path := filepath.Join(o.folder, fileTail)
	if o.tail != nil {
		if err := o.tail.Close(); err != nil {
			return err
		}
		o.tail = nil
		if err := os.Rename(path, path+".1"); err != nil {
			return err
		}
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	o.tail, o.size = f, 0
	return nil
}

// close joins the tail's two files and cuts them to complete lines.
func (o *output) close() error {
	if o.head != nil {
		return o.head.Close()
	}
	if o.tail == nil {
		return nil
	}
	if err := o.tail.Close(); err != nil {
		return err
	}
	path := filepath.Join(o.folder, fileTail)
	now, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	before, err := os.ReadFile(path + ".1")
	if errors.Is(err, os.ErrNotExist) {
		before, err = nil, nil
	}
	if err != nil {
		return err
	}
	all := slices.Concat(before, now)
	head, err := os.Stat(filepath.Join(o.folder, fileHead))
	if err != nil {
		return err
	}
	if head.Size()+int64(len(all)) == o.total && int64(len(all)) <= o.tailMax {
		return nil // head and tail are contiguous
	}
	cut := tailLines(all, int(o.tailMax))
	if err := fsutil.Replace(path, cut, 0o600); err != nil {
		return err
	}
	if err := os.Remove(path + ".1"); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// tailLines returns the end of text from the start of a line: at most size
// bytes and a mark for the omission. If a single line is longer, the mark says
// so.
func tailLines(text []byte, size int) []byte {
	over := len(text) - size
	if over > 0 {
		// The cut keeps one more byte, because it may fall exactly between two
		// lines.
		text = text[over-1:]
	}
	i := bytes.IndexByte(text, '\n')
	if i < 0 || i == len(text)-1 {
		if over > 0 {
			text = text[1:]
		}
		return append([]byte(cutMark("start of this line is missing")), text...)
	}
	return append([]byte(cutMark("output is missing here")), text[i+1:]...)
}

func cutMark(text string) string { return fmt.Sprintf("\n[nightporter: %s]\n", text) }

// remember remembers the end of the output in memory.
func (o *output) remember(p []byte) {
	o.last = append(o.last, p...)
	if size := 2 * lastSize; len(o.last) > 2*size {
		o.last = append(o.last[:0], o.last[len(o.last)-size:]...)
	}
}

// lastOf returns lastLines of a stored output.
func lastOf(r io.Reader) string {
	var o output
	buf := make([]byte, 64<<10)
	for {
		n, err := r.Read(buf)
		o.remember(buf[:n])
		if err != nil {
			return o.lastLines()
		}
	}
}

// lastLines returns the end of the output for ledger.Exit: at most 4 kB of
// valid UTF-8, from the start of a line if possible.
func (o *output) lastLines() string {
	text := string(o.last)
	if cut := len(text) - lastSize; cut > 0 {
		if i := strings.IndexByte(text[cut:], '\n'); i >= 0 && cut+i < len(text)-1 {
			text = text[cut+i+1:]
		} else {
			text = lineEnd(text, lastSize)
		}
	}
	return adapter.Clean(text, lastSize)
}

// openOutput reads the stored output of a session, head then tail.
func openOutput(folder string) (io.ReadCloser, error) {
	var parts multiFile
	for _, n := range []string{fileHead, fileTail + ".1", fileTail} {
		f, err := os.Open(filepath.Join(folder, n))
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, errors.Join(err, parts.Close())
		}
		parts = append(parts, f)
	}
	readers := make([]io.Reader, len(parts))
	for i, f := range parts {
		readers[i] = f
	}
	return struct {
		io.Reader
		io.Closer
	}{io.MultiReader(readers...), parts}, nil
}

type multiFile []*os.File

func (m multiFile) Close() error {
	var err error
	for _, f := range m {
		err = errors.Join(err, f.Close())
	}
	return err
}
