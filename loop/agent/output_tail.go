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

// OutputTail is the latest output of a running session.
type OutputTail struct {
	// Lines are its latest actions or lines of output, the newest last. They
	// are foreign text, which the caller has to escape before showing it.
	Lines []string
	// At is the time of the last output or hat call, zero if unknown.
	At time.Time
}

// outputTailSizes are the amounts of output to read, in bytes. The larger one
// is tried when the smaller yields too few lines, because one line can contain
// a tool's whole output.
var outputTailSizes = []int64{64 << 10, 1 << 20}

// maxTailLine limits the length of one line, in bytes.
const maxTailLine = 1000

// OutputTail returns the end of a session's output, at most most lines. It may
// be called at any time and never waits for the session. A session without
// output, or without a folder, has no lines.
func (r *Runner) OutputTail(session string, most int) (OutputTail, error) {
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
	for _, size := range outputTailSizes {
		text, whole, err := outputEnd(folder, size)
		if err != nil {
			return g, fmt.Errorf("output of session %s: %w", session, err)
		}
		lines := nonEmptyLines(text, whole)
		tail, plain := r.tailFunc(s)
		g.Lines = tail(lines, s.Plan.Dir, most)
		if plain && len(lines) == 0 && !whole {
			g.Lines = []string{"…" + lineEnd(text, maxTailLine-len("…"))}
		}
		if whole || len(g.Lines) >= most {
			break
		}
	}
	for n, line := range g.Lines {
		g.Lines[n] = lineStart(line, maxTailLine)
	}
	return g, nil
}

// Passage is a part of what a session said or did.
type Passage = adapter.Passage

// Transcript returns what a session said and did last, in passages that have about
// most lines together, or all of it if that is less. It may be called at any time
// and never waits for the session.
func (r *Runner) Transcript(session string, most int) ([]Passage, error) {
	folder := r.folder(session)
	var s spec
	if err := readJSON(filepath.Join(folder, fileSpec), &s); err != nil {
		if isGone(err) {
			err = nil
		}
		return nil, err
	}
	for n, size := range outputTailSizes {
		text, whole, err := outputEnd(folder, size)
		if err != nil {
			return nil, fmt.Errorf("output of session %s: %w", session, err)
		}
		lines := nonEmptyLines(text, whole)
		if len(lines) == 0 && !whole { // a single line is longer than that
			lines = []string{"…" + lineEnd(text, maxTailLine-len("…"))}
		}
		var all []Passage
		if s.Kind == ledger.KindAgent {
			all = adapter.Transcript(lines, s.Plan.Dir)
		} else {
			all = adapter.PlainTranscript(lines)
		}
		if all, enough := lastPassages(all, most); enough || whole || n == len(outputTailSizes)-1 {
			return all, nil
		}
	}
	return nil, nil
}

// Limits of a transcript, in bytes. Whatever is left out of a line is its end.
const (
	maxTranscript = 128 << 10
	maxSaidLine   = 4 << 10
)

// lastPassages returns the last passages, which have at most most lines together,
// and whether there are more.
func lastPassages(all []Passage, most int) (last []Passage, more bool) {
	left := maxTranscript
	for _, p := range slices.Backward(all) {
		var kept []string
		for _, line := range slices.Backward(strings.Split(p.Text, "\n")) {
			if most--; most < 0 || left <= 0 {
				more = true
				break
			}
			line = lineStart(line, maxSaidLine)
			kept, left = append(kept, line), left-len(line)
		}
		if len(kept) > 0 {
			slices.Reverse(kept)
			p.Text = strings.Join(kept, "\n")
			last = append(last, p)
		}
		if more {
			break
		}
	}
	slices.Reverse(last)
	return last, more
}

// OutputStamp returns a value that differs once a session has printed more. It reads
// no output.
func (r *Runner) OutputStamp(session string) string {
	stamp := ""
	for _, name := range []string{fileHead, fileTail} {
		if info, err := os.Stat(filepath.Join(r.folder(session), name)); err == nil {
			stamp += fmt.Sprintf("%d.%d ", info.Size(), info.ModTime().UnixNano())
		}
	}
	return stamp
}

// LastAction returns the last tool call that a session's output shows, or the zero
// Action. It may be called at any time and never waits for the session.
func (r *Runner) LastAction(session string) (adapter.Action, error) {
	folder := r.folder(session)
	var s spec
	if err := readJSON(filepath.Join(folder, fileSpec), &s); err != nil || s.Kind != ledger.KindAgent {
		if isGone(err) {
			err = nil
		}
		return adapter.Action{}, err
	}
	for _, size := range outputTailSizes {
		text, whole, err := outputEnd(folder, size)
		if err != nil {
			return adapter.Action{}, fmt.Errorf("output of session %s: %w", session, err)
		}
		a := adapter.LastAction(nonEmptyLines(text, whole), s.Plan.Dir)
		if whole || a.String() != "" {
			return a, nil
		}
	}
	return adapter.Action{}, nil
}

// tailFunc returns the function that extracts readable lines from the session's
// output. plain reports that the output is already readable.
func (r *Runner) tailFunc(s spec) (tail func(lines []string, dir string, most int) []string, plain bool) {
	if s.Kind != ledger.KindAgent {
		return adapter.WholeLines, true
	}
	a, err := r.o.Agents[s.Agent].adapter()
	if err != nil { // the configuration has changed since
		return adapter.WholeLines, true
	}
	return a.Tail, a.Origin != adapter.FromPath
}

// nonEmptyLines returns the non-empty lines of an output's end. Each state of a
// redrawn progress bar counts as a line. Unless the text is the whole output,
// its first line is incomplete and left out.
func nonEmptyLines(text string, whole bool) []string {
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

// outputEnd returns the end of the stored output, at most size bytes, and
// whether that is the whole output.
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

// fileEnd returns the end of a file, at most size bytes, and whether that is
// the whole file. It ignores growth during the call.
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
