package agent

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/nightporter/nightporter/loop/agent/adapter"
	"github.com/nightporter/nightporter/loop/ledger"
)

// OutputTail is what a session shows of itself while it is in hand.
type OutputTail struct {
	// Lines are what it did or printed last, the newest last. They are foreign
	// text: whoever shows them makes them harmless.
	Lines []string
	// At is when it printed or called hat last, zero where that is unknown.
	At time.Time
}

// glimpseSizes is how much of the output's end is looked at, in bytes: more
// only where little says too little. One line can hold all that a tool printed.
var glimpseSizes = []int64{64 << 10, 1 << 20}

// maxGlimpse is the most of one line, in bytes.
const maxGlimpse = 1000

// Glimpse returns the end of a session's output: at most most lines of it. It may be
// called at any time and never waits for the session. One that printed
// nothing, or is gone, has no lines.
func (r *Runner) Glimpse(session string, most int) (OutputTail, error) {
	folder := r.folder(session)
	var g OutputTail
	for _, name := range []string{fileTouch, fileHead, fileTail} {
		if info, err := os.Stat(filepath.Join(folder, name)); err == nil && info.ModTime().After(g.At) {
			g.At = info.ModTime()
		}
	}
	var s spec
	if err := readJSON(filepath.Join(folder, fileSpec), &s); err != nil {
		if isGone(err) {
			err = nil
		}
		return g, err
	}
	for _, size := range glimpseSizes {
		text, whole, err := outputEnd(folder, size)
		if err != nil {
			return g, fmt.Errorf("output of session %s: %w", session, err)
		}
		lines := printed(text, whole)
		tail, plain := r.tailOf(s)
		g.Lines = tail(lines, s.Plan.Dir, most)
		if plain && len(lines) == 0 && !whole {
			g.Lines = []string{"…" + text[len(text)-maxGlimpse:]}
		}
		if whole || len(g.Lines) >= most {
			break
		}
	}
	for n, line := range g.Lines {
		g.Lines[n] = line[:min(len(line), maxGlimpse)]
	}
	return g, nil
}

// tailOf returns how the session's output is read for people, and whether it is
// for people as it stands.
func (r *Runner) tailOf(s spec) (tail func(lines []string, dir string, most int) []string, plain bool) {
	if s.Kind != ledger.KindAgent {
		return adapter.WholeLines, true
	}
	a, err := r.o.Agents[s.Agent].adapter()
	if err != nil { // the configuration changed meanwhile
		return adapter.WholeLines, true
	}
	return a.Tail, a.Origin != adapter.FromPath
}

// printed are the lines of an output's end that hold anything. A progress bar
// that is drawn over itself is a line each time. Where the text is not the
// whole output, what it begins with is a part of a line and left out.
func printed(text string, whole bool) []string {
	if !whole {
		at := strings.IndexAny(text, "\n\r")
		if at < 0 {
			return nil
		}
		text = text[at+1:]
	}
	lines := strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' })
	return slices.DeleteFunc(lines, func(line string) bool { return strings.TrimSpace(line) == "" })
}

// outputEnd is the end of what is kept of a session's output, at most size
// bytes, and whether that is all of it.
func outputEnd(folder string, size int64) (text string, whole bool, err error) {
	for _, name := range []string{fileTail, fileTail + ".1", fileHead} {
		part, all, err := fileEnd(filepath.Join(folder, name), size-int64(len(text)))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return "", false, err
		}
		if text = part + text; !all && err == nil {
			return text, false, nil
		}
	}
	return text, true, nil
}

// fileEnd is the end of a file, at most size bytes, and whether that is all of
// it. A file that grows meanwhile is read as it was.
func fileEnd(path string, size int64) (text string, whole bool, err error) {
	f, err := os.Open(path)
	if err != nil {
		return "", false, err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return "", false, err
	}
	from := max(info.Size()-size, 0)
	part, err := io.ReadAll(io.NewSectionReader(f, from, info.Size()-from))
	return string(part), from == 0, err
}
