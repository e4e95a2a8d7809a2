package workspace

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/nightporter/nightporter/loop/ledger"
)

// dropConflicts removes changes from kept that leave a merge conflict unresolved in
// a text file, and appends them to refused with the line. A file that held one at
// the attempt's start, there or elsewhere, is content.
func (l *sessionDiff) dropConflicts(ctx context.Context, kept []change, refused *[]ledger.Diagnostic) ([]change, error) {
	var blobs []string
	for _, c := range kept {
		if c.new.hash != "" && c.new.mode != modeSymlink {
			blobs = append(blobs, c.new.hash)
		}
	}
	lines, err := l.w.conflicts(ctx, blobs)
	if err != nil || len(lines) == 0 {
		return kept, err
	}
	entries, err := l.w.listTree(ctx, l.start)
	if err != nil {
		return nil, err
	}
	var had []string // the start's versions of the files
	for _, e := range entries {
		if slices.ContainsFunc(kept, func(c change) bool { return c.path == e.path && lines[c.new.hash] > 0 }) {
			had = append(had, e.hash)
		}
		delete(lines, e.hash)
	}
	before, err := l.w.conflicts(ctx, had)
	if err != nil {
		return nil, err
	}
	old := map[string]bool{}
	for _, e := range entries {
		old[e.path] = before[e.hash] > 0
	}
	return slices.DeleteFunc(slices.Clone(kept), func(c change) bool {
		line := lines[c.new.hash]
		if line == 0 || old[c.path] {
			return false
		}
		*refused = append(*refused, ledger.Diagnostic{File: strings.ToValidUTF8(c.path, "\uFFFD"), Line: line,
			Text: "has an unresolved merge conflict", Remedy: "resolve it; a file that has to show one can indent its markers"})
		return true
	}), nil
}

// unresolved appends those of the paths to refused that hold an unresolved conflict in
// a tree.
func (w *Workspace) unresolved(ctx context.Context, tree string, paths []string, refused *[]ledger.Diagnostic) error {
	if len(paths) == 0 {
		return nil
	}
	entries, err := w.listTree(ctx, tree)
	if err != nil {
		return err
	}
	of := map[string]string{} // blobs, by path
	var blobs []string
	for _, e := range entries {
		if slices.Contains(paths, e.path) && e.mode != modeSymlink && e.mode != modeGitlink {
			of[e.path], blobs = e.hash, append(blobs, e.hash)
		}
	}
	lines, err := w.conflicts(ctx, blobs)
	if err != nil {
		return err
	}
	for _, p := range slices.Sorted(maps.Keys(of)) {
		known := slices.ContainsFunc(*refused, func(d ledger.Diagnostic) bool { return d.File == p })
		if line := lines[of[p]]; line > 0 && !known && len(*refused) < maxListed {
			*refused = append(*refused, ledger.Diagnostic{File: strings.ToValidUTF8(p, "\uFFFD"), Line: line, Text: "has an unresolved merge conflict", Remedy: "resolve it"})
		}
	}
	return nil
}

// conflicts returns, for each blob that holds an unresolved merge conflict, the
// number of the line that it begins with.
func (w *Workspace) conflicts(ctx context.Context, blobs []string) (map[string]int, error) {
	slices.Sort(blobs)
	blobs = slices.Compact(blobs)
	if len(blobs) == 0 {
		return nil, nil
	}
	pipe, out := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		_, err := w.run(ctx, call{gitDir: w.gitDir, in: strings.NewReader(strings.Join(blobs, "\n") + "\n"), out: out, args: []string{"cat-file", "--batch"}})
		out.CloseWithError(err)
		ended <- err
	}()
	found := map[string]int{}
	err := func() error {
		stream, content := bufio.NewReader(pipe), bufio.NewReaderSize(nil, 64<<10)
		for _, blob := range blobs {
			head, err := stream.ReadString('\n')
			if err != nil {
				return err
			}
			f := strings.Fields(head)
			if len(f) != 3 || f[0] != blob {
				return fmt.Errorf("git cat-file answered %q", head)
			}
			size, err := strconv.ParseInt(f[2], 10, 64)
			if err != nil {
				return fmt.Errorf("git cat-file answered %q", head)
			}
			body := io.LimitReader(stream, size)
			content.Reset(body)
			line, err := conflictLine(content)
			if err != nil {
				return err
			}
			if line > 0 {
				found[blob] = line
			}
			if _, err := io.Copy(io.Discard, body); err != nil {
				return err
			}
			if _, err := stream.Discard(1); err != nil {
				return err
			}
		}
		return nil
	}()
	pipe.CloseWithError(io.ErrClosedPipe) // without a reader, git must not block
	if gitErr := <-ended; gitErr != nil && (err == nil || errors.Is(err, gitErr)) {
		err = gitErr
	}
	return found, err
}

// conflictLine returns the number of the line in which the first merge conflict of
// a text begins, and 0 for a text without one and for a binary file: the markers of
// git, in their order, each at the start of a line.
func conflictLine(r *bufio.Reader) (int, error) {
	const looked = 8000 // bytes in which git looks for a NUL to tell a binary file
	if start, err := r.Peek(looked); bytes.IndexByte(start, 0) >= 0 {
		return 0, nil
	} else if err != nil && !errors.Is(err, io.EOF) {
		return 0, err
	}
	begun, split := 0, false // the line of the first marker; the second one was seen
	for n, whole := 1, true; ; {
		line, err := r.ReadSlice('\n')
		switch {
		case !whole: // the rest of a long line
		case bytes.HasPrefix(line, []byte("<<<<<<< ")):
			begun, split = n, false
		case begun > 0 && bytes.Equal(bytes.TrimRight(line, " \r\n"), []byte("=======")):
			split = true
		case split && bytes.HasPrefix(line, []byte(">>>>>>> ")):
			return begun, nil
		}
		whole = !errors.Is(err, bufio.ErrBufferFull)
		switch {
		case errors.Is(err, io.EOF):
			return 0, nil
		case err != nil && whole:
			return 0, err
		case whole:
			n++
		}
	}
}
